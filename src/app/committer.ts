import { batchStored, takeBatch } from './monitor/monitor.ts';
import type { MonitorState } from './monitor/state.ts';
import { type Clock, StorageError, type Store } from './ports.ts';

/**
 * What changed waits this long for more, so that many polls share one transaction, and a message that grows by thousands of alerts is
 * not written for each. Only what is about to be sent does not wait, nor that the provider asked to be left alone.
 */
const gatherMs = 100;
/** While the database cannot be written, it is tried again this often. */
const retryMs = 2000;

interface CommitterParts {
  readonly state: MonitorState;
  readonly store: Store;
  readonly clock: Clock;
  /** Called after each attempt: what waited for the commit goes on, stored or not. */
  readonly committed: (failure: StorageError | null) => void;
}

/**
 * Writes what changed, in one transaction for everything that changed at about the same time (group commit). While the
 * database cannot be written the changes stay in memory and everything goes on from there.
 */
export class Committer {
  readonly #parts: CommitterParts;
  #cancel: (() => void) | null = null;
  #armed: 'no' | 'gathering' | 'now' = 'no';
  #failing = false;
  #stopped = false;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
  }

  get failing(): boolean {
    return this.#failing;
  }

  /** Makes sure that what has changed is written soon; `waiting` says that a delivery waits for it. */
  schedule(waiting: boolean): void {
    const { changes } = this.#parts.state;
    if (this.#stopped) return;
    if (changes.empty && !waiting) return;
    const urgent = waiting || (changes.beganToWait && !this.#failing);
    if (this.#armed === 'now' || (this.#armed === 'gathering' && !urgent)) return;
    this.#cancel?.();
    this.#armed = urgent ? 'now' : 'gathering';
    const delayMs = urgent ? 0 : this.#failing ? retryMs : gatherMs;
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
    this.#armed = 'no';
    const failure = this.#write();
    this.#failing = failure !== null;
    this.#parts.committed(failure);
    if (failure !== null) this.schedule(false);
  }

  #write(): StorageError | null {
    const batch = takeBatch(this.#parts.state);
    if (batch === null) return null;
    try {
      this.#parts.store.commit(batch);
    } catch (error) {
      if (error instanceof StorageError) return error;
      throw error;
    }
    batchStored(this.#parts.state);
    return null;
  }
}
