import { type Clock, StorageError } from '../domain/ports.ts';
import { batchReturned, batchStored, changedOnlyReadings, isAllTaken, takeBatch } from '../engine/batch.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Claim } from './dispatcher.ts';
import type { Store } from './ports.ts';

/**
 * Alerts and messages are written at once, but no more often than this: a message that grows by thousands of
 * alerts is not written for each. What is about to be sent never waits, nor that the provider asked to be
 * left alone.
 */
const gatherMs = 100;
/**
 * Plain readings wait longer, because each commit waits for the disk: a crash costs at most these, and the
 * next poll makes up for it …
 */
const gatherReadingsMs = 500;
/** … unless there are so many that writing them would hold up the polls that come. */
const mostGathered = 500;
/** While the database cannot be written, it is tried again this often. */
const retryMs = 2000;

interface CommitterParts {
  readonly state: MonitorState;
  readonly store: Store;
  readonly clock: Clock;
  /** Called after each attempt with what waited for it: that goes on, stored or not. */
  readonly committed: (failure: StorageError | null, claims: readonly Claim[]) => void;
}

/**
 * Writes what changed, in one transaction for everything that changed at about the same time (group commit). While the
 * database cannot be written the changes stay in memory and everything goes on from there.
 */
export class Committer {
  readonly #parts: CommitterParts;
  /** Claims that the next batch holds: they go out once it is stored, those made later with a later one. */
  #claims: Claim[] = [];
  #cancel: (() => void) | null = null;
  /** The delay of the timer that runs; Infinity when none does. */
  #armedMs = Number.POSITIVE_INFINITY;
  #failing = false;
  /** When alerts or messages were last written, on the monotonic clock. */
  #alertsWrittenAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** Makes sure that what has changed is written soon, at once where claims wait for it. */
  schedule(claims: readonly Claim[] = []): void {
    this.#claims.push(...claims);
    const delayMs = this.#delay();
    if (this.#stopped || delayMs >= this.#armedMs) return;
    this.#cancel?.();
    this.#armedMs = delayMs;
    this.#cancel = this.#parts.clock.setTimer(delayMs, () => this.flush());
  }

  /** No further attempts: the database is about to be closed. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#stopped = true;
  }

  /** Writes now. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#armedMs = Number.POSITIVE_INFINITY;
    const claims = this.#claims;
    this.#claims = [];
    const failure = this.#write();
    this.#failing = failure !== null;
    this.#parts.committed(failure, claims);
    if (failure !== null) this.schedule();
  }

  #delay(): number {
    const { state } = this.#parts;
    if (this.#claims.length > 0) return 0;
    if (isAllTaken(state)) return Number.POSITIVE_INFINITY;
    if (this.#failing) return retryMs;
    const beganToWait = state.polls.urgent || state.backoffs.unsaved.size > 0;
    if (beganToWait || state.polls.size >= mostGathered) return 0;
    if (changedOnlyReadings(state)) return gatherReadingsMs;
    const sinceMs = this.#parts.clock.monotonic() - this.#alertsWrittenAt;
    return Math.max(0, Math.ceil(gatherMs - sinceMs));
  }

  #write(): StorageError | null {
    const { state, store, clock } = this.#parts;
    if (!changedOnlyReadings(state)) this.#alertsWrittenAt = clock.monotonic();
    const batch = takeBatch(state);
    if (batch === null) return null;
    try {
      store.commit(batch);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      batchReturned(state);
      return error;
    }
    batchStored(state, batch);
    return null;
  }
}
