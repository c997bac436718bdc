import type { LiveViews } from './live-views.ts';

/** The views that answer: those of the daemon that owns the accounts, or of one that stands by. Asked for once a request. */
export class CurrentViews {
  #views: LiveViews;
  readonly #subscribers = new Map<() => void, () => void>();
  /** Sessions that ended here: a daemon that stands by may read what is stored again before the owner has ended them there. */
  readonly #endedSessions = new Set<string>();

  constructor(views: LiveViews) {
    this.#views = views;
  }

  get now(): LiveViews {
    return this.#views;
  }

  /** The views that answer, refreshed: others may have taken their place meanwhile. Rejects with `StorageError` as they do. */
  async refreshed(): Promise<LiveViews> {
    const views = this.#views;
    const failure = await views.refresh().catch((error: unknown) => ({ error }));
    if (views !== this.#views) return this.refreshed();
    if (failure !== undefined) throw failure.error;
    return views;
  }

  /** Other views answer from now on: subscribers are notified now, and then by those views. */
  become(views: LiveViews): void {
    this.#views = views;
    for (const [changed, leave] of [...this.#subscribers]) {
      leave();
      this.#subscribers.set(changed, views.subscribe(changed));
      changed();
    }
  }

  /** `LiveViews.subscribe` of the views that answer. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.set(changed, this.#views.subscribe(changed));
    return () => {
      this.#subscribers.get(changed)?.();
      this.#subscribers.delete(changed);
    };
  }

  /** Ends a session here at once, even if the order to end it cannot be stored. */
  endSession(id: string): void {
    this.#endedSessions.add(id);
  }

  isSessionEnded(id: string): boolean {
    return this.#endedSessions.has(id) || this.#views.isSessionEnded(id);
  }
}
