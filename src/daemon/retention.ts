import { dayMs, hourMs } from '../domain/duration.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Store } from '../ports/store.ts';

/** Old records are deleted this often … */
const everyMs = hourMs;
/** … a small step at a time, with a pause in which polls go on. */
const stepMs = 50;
/** A clock that just jumped, or that stands far ahead of what is stored, is not believed for this long. */
const distrustMs = dayMs;
/** A pause longer than this between two runs of lowwater is doubted. */
const longPauseMs = 30 * dayMs;

/** Deletes what is older than the retention, unless the clock may be wrong: a wrong clock must not cost the history. */
export class Retention {
  readonly #store: Store;
  #nextAt: number;

  constructor(dependencies: { readonly store: Store; readonly aliveAt: number; readonly now: number }) {
    this.#store = dependencies.store;
    this.#nextAt =
      dependencies.now + (dependencies.now - dependencies.aliveAt > longPauseMs ? distrustMs : everyMs);
  }

  get nextAt(): number {
    return this.#nextAt;
  }

  distrustClock(now: number): void {
    this.#nextAt = now + distrustMs;
  }

  /** What there is to be done now, for when the store is free; null while it is not time yet. */
  due(retentionMs: number, now: number): (() => Promise<void>) | null {
    if (now < this.#nextAt) return null;
    this.#nextAt = now + everyMs;
    return async () => {
      if (await this.#pruneStep(now - retentionMs)) this.#nextAt = Math.min(this.#nextAt, now + stepMs);
    };
  }

  async #pruneStep(olderThan: number): Promise<boolean> {
    try {
      return await this.#store.prune(olderThan);
    } catch (error) {
      if (error instanceof StorageError) return false;
      throw error;
    }
  }
}
