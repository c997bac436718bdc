import type { LiveViews } from './live-views.ts';

/** The views that answer: those of the daemon that owns the accounts, or one that stands by. Asked once a request. */
export class CurrentViews {
  #views: LiveViews;
  readonly #subscribers = new Map<() => void, () => void>();
  /** A daemon that stands by reads again what is stored before the owner has ended them there. */
  readonly #endedSessions = new Set<string>();

  constructor(views: LiveViews) {
    this.#views = views;
  }

  get now(): LiveViews {
    return this.#views;
  }

  /** Those that answer, refreshed: others may have begun to meanwhile. Rejects with `StorageError` as they do. */
  async refreshed(): Promise<LiveViews> {
    const views = this.#views;
    const failure = await views.refresh().catch((error: unknown) => ({ error }));
    if (views !== this.#views) return this.refreshed();
    if (failure !== undefined) throw failure.error;
    return views;
  }

  /** Others answer from now on: whoever watches is notified, and by them from now on. */
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

  /** Here at once, also where the order to end it cannot be stored. */
  endSession(id: string): void {
    this.#endedSessions.add(id);
  }

  isSessionEnded(id: string): boolean {
    return this.#endedSessions.has(id) || this.#views.isSessionEnded(id);
  }
}
