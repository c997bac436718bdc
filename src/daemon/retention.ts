import { dayMs, hourMs } from '../domain/duration.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Store } from '../ports/store.ts';

const everyMs = hourMs;
/** In small steps with a pause in which polls go on. */
const stepMs = 50;
/** How long a clock is not trusted after it changed or was far ahead of the stored data. */
const distrustMs = dayMs;
/** A longer pause between two runs may be a wrong clock. */
const longPauseMs = 30 * dayMs;

/**
 * Deletes what is older than the retention, unless the clock may be wrong: that must not cost the history.
 */
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

  /** The work that is due, for when the store is free; null before that. */
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
