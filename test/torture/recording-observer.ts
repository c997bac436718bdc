import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Incident } from '../../src/domain/alert.ts';
import type { Outcome } from '../../src/domain/reading.ts';
import type { AccountSettings } from '../../src/domain/settings.ts';
import type { Delivery } from '../../src/ports/channel.ts';
import type { Batch, DamagedRecord } from '../../src/ports/store.ts';
import type { SqliteStore } from '../../src/store/sqlite/port.ts';
import type { Observer, Send } from './observer.ts';

/** Some of the daemon's calls come from promises that nobody waits for: a violation found there must not be lost. */
export class RecordingObserver implements Observer {
  /** Every incident that was stored, as it was stored last. */
  readonly incidents = new Map<string, Incident>();
  /** Polls of which the process heard the end, and of which it is not on disk. */
  pollsLost = 0;
  /** When a process first ended, by the wall clock, or until when what it knew was stored. */
  firstEndAt = Number.POSITIVE_INFINITY;
  /** Since when what the process decides is in no batch that is stored, as far as it knows; null while it is. */
  #unstoredSince: number | null = null;
  readonly #now: () => number;
  readonly #isPolled: (poll: Batch['polls'][number]) => boolean;
  readonly #observer: Observer;
  readonly #found: (violation: unknown) => void;

  constructor(
    observer: Observer,
    parts: {
      readonly now: () => number;
      readonly isPolled: (poll: Batch['polls'][number]) => boolean;
      readonly found: (violation: unknown) => void;
    },
  ) {
    this.#observer = observer;
    this.#now = parts.now;
    this.#isPolled = parts.isPolled;
    this.#found = parts.found;
  }

  booted(daemon: Daemon, store: SqliteStore, lost: readonly DamagedRecord[]): void {
    this.#record(() => this.#observer.booted(daemon, store, lost));
  }

  dying(): void {
    this.#record(() => this.#observer.dying());
  }

  died(clean: boolean): void {
    this.firstEndAt = Math.min(this.firstEndAt, this.#unstoredSince ?? this.#now());
    this.#unstoredSince = null;
    this.#record(() => this.#observer.died(clean));
  }

  pinged(): void {
    this.#record(() => this.#observer.pinged());
  }

  heldBack(): void {
    this.#record(() => this.#observer.heldBack());
  }

  trespassed(what: string): void {
    this.#record(() => this.#observer.trespassed(what));
  }

  pollBegan(account: string, mayBeUnstored: boolean): void {
    this.#record(() => this.#observer.pollBegan(account, mayBeUnstored));
  }

  pollEnded(asked: AccountSettings, outcome: Outcome): void {
    this.pollsLost++;
    this.#record(() => this.#observer.pollEnded(asked, outcome));
  }

  beforeCommit(batch: Batch): void {
    this.#unstoredSince ??= this.#now();
    this.#record(() => this.#observer.beforeCommit(batch));
  }

  committed(batch: Batch, stored: boolean): void {
    if (stored) this.#unstoredSince = null;
    if (stored) this.pollsLost -= batch.polls.filter((each) => this.#isPolled(each)).length;
    if (stored) for (const incident of batch.incidents) this.incidents.set(incident.id, incident);
    this.#record(() => this.#observer.committed(batch, stored));
  }

  commitAnswered(heard: boolean): void {
    this.#unstoredSince = heard ? null : (this.#unstoredSince ?? this.#now());
    this.#record(() => this.#observer.commitAnswered(heard));
  }

  sending(send: Send): void {
    this.#record(() => this.#observer.sending(send));
  }

  arrived(send: Send): void {
    this.#record(() => this.#observer.arrived(send));
  }

  answered(send: Send, delivery: Delivery): void {
    this.#record(() => this.#observer.answered(send, delivery));
  }

  jumped(byMs: number): void {
    this.#record(() => this.#observer.jumped(byMs));
  }

  logged(level: string, fields: object, message: string): void {
    this.#record(() => this.#observer.logged(level, fields, message));
  }

  #record(notify: () => void): void {
    try {
      notify();
    } catch (error) {
      this.#found(error);
      throw error;
    }
  }
}
