import type { Secret } from '../core/secret.ts';
import type { HeartbeatSettings } from './settings.ts';

/** Reaches an outside URL; resolves to whether it answered well. Never rejects. */
export type Ping = (url: Secret, signal: AbortSignal) => Promise<boolean>;

/** A poll or a message that is late by this much is overdue: the outside world shall notice that something hangs. */
export const overdueMs = 60_000;

/**
 * Tells an outside watcher that lowwater works (a dead man's switch). It goes out only while `healthy` says so, so that its
 * absence means something.
 */
export class Heartbeat {
  readonly #ping: Ping;
  #settings: HeartbeatSettings | null;
  #nextAt: number;
  #busy: AbortController | null = null;

  constructor(parts: {
    readonly ping: Ping;
    readonly settings: HeartbeatSettings | null;
    readonly now: number;
  }) {
    this.#ping = parts.ping;
    this.#settings = parts.settings;
    this.#nextAt = parts.now;
  }

  get nextAt(): number {
    return this.#settings === null ? Number.POSITIVE_INFINITY : this.#nextAt;
  }

  adopt(settings: HeartbeatSettings | null, now: number): void {
    this.#settings = settings;
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  /** Sends one when it is due; the result goes to `ended`, which logs what changed. */
  beat(it: {
    readonly now: number;
    readonly healthy: boolean;
    readonly ended: (reached: boolean) => void;
  }): void {
    if (this.#settings === null || it.now < this.#nextAt) return;
    this.#nextAt = it.now + this.#settings.everyMs;
    if (!it.healthy || this.#busy !== null) return;
    const controller = new AbortController();
    this.#busy = controller;
    void this.#ping(this.#settings.url, controller.signal).then((reached) => {
      this.#busy = null;
      it.ended(reached);
    });
  }

  shift(byMs: number): void {
    this.#nextAt += byMs;
  }

  abandon(): void {
    this.#busy?.abort();
  }
}
