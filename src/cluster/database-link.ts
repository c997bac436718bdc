import type { StorageError } from '../domain/operator-error.ts';
import type { ClusterLook, ClusterMember } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';

/** Readings carry the dates of the machine's clock: one that is further off the database's owns nothing. */
export const maxSkewMs = 2000;
/** More addresses than a cluster has; where each start brings a new one, old ones are forgotten. */
const maxPeers = 32;

/** What a process last heard from the database that it shares, or why it hears nothing. Told to the log where it changes. */
export class DatabaseLink {
  readonly #log: Log;
  #look: ClusterLook | null = null;
  #trouble: StorageError | null = null;
  readonly #peers = new Map<string, ClusterMember>();
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
    return Math.abs(this.#skewMs) > maxSkewMs;
  }

  /** Who may be reached at another address than this, gone or not: whoever left may be there again since the last look. */
  peersBeside(address: string | null): readonly ClusterMember[] {
    return [...this.#peers.values()].filter(({ advertise }) => advertise !== address);
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
    for (const member of look.members) this.#keep(member);
    this.#skewMs = wallNow - look.databaseNow;
  }

  #keep(member: ClusterMember): void {
    if (member.advertise === null) return;
    this.#peers.delete(member.advertise);
    this.#peers.set(member.advertise, member);
    const [oldest = ''] = this.#peers.keys();
    if (this.#peers.size > maxPeers) this.#peers.delete(oldest);
  }

  failed(trouble: StorageError): void {
    if (this.#trouble?.message !== trouble.message)
      this.#log.warn({ err: trouble }, 'the shared database does not answer');
    this.#trouble = trouble;
  }
}
