import type { Log, StorageError } from '../domain/ports.ts';
import type { ClusterLook, ClusterMember } from './ports.ts';

/** Readings carry the dates of the machine's clock: one that is further off the database's owns nothing. */
export const mostSkewMs = 2000;

/** What a process last heard from the database that it shares, or why it hears nothing. Told to the log where it changes. */
export class Contact {
  readonly #log: Log;
  #look: ClusterLook | null = null;
  #trouble: StorageError | null = null;
  #skewMs = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The last look; null before the first. */
  get look(): ClusterLook | null {
    return this.#look;
  }

  /** Why the database did not answer the last time; null where it did. */
  get trouble(): StorageError | null {
    return this.#trouble;
  }

  /** Whether it answered the last time that it was asked. */
  get reaches(): boolean {
    return this.#look !== null && this.#trouble === null;
  }

  /** By how much the clock of this machine is ahead of the database's. */
  get skewMs(): number {
    return this.#skewMs;
  }

  get isClockOff(): boolean {
    return Math.abs(this.#skewMs) > mostSkewMs;
  }

  /** Null where nobody owns the accounts, or that is not known. */
  get owner(): ClusterMember | null {
    return this.#look?.members.find(({ incarnation }) => incarnation === this.#look?.owner) ?? null;
  }

  /** Another one each time that something was stored; null where that is not known now. */
  get revision(): string | null {
    return this.reaches ? `${this.#look?.epoch} ${this.#look?.batch}` : null;
  }

  /** `wallNow`: what this machine's clock showed when the database looked at its own, as far as that can be known. */
  heard(look: ClusterLook, wallNow: number): void {
    if (this.#trouble !== null) this.#log.info({}, 'the shared database answers');
    this.#trouble = null;
    this.#look = look;
    this.#skewMs = wallNow - look.databaseNow;
  }

  failed(trouble: StorageError): void {
    if (this.#trouble?.message !== trouble.message)
      this.#log.warn({ err: trouble }, 'the shared database does not answer');
    this.#trouble = trouble;
  }
}
