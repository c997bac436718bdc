import type { Clock } from '../../src/ports/clock.ts';

/** A clock that stands still until the test moves it. Timers fire at once: nothing here waits. */
export class HandClock implements Clock {
  #elapsedMs = 0;
  readonly #startedAt: number;

  constructor(startedAt = Date.UTC(2026, 10, 20, 8, 0, 0)) {
    this.#startedAt = startedAt;
  }

  now(): number {
    return this.#startedAt + this.#elapsedMs;
  }

  monotonic(): number {
    return 5000 + this.#elapsedMs;
  }

  setTimer(_delayMs: number, fire: () => void): () => void {
    fire();
    return () => {};
  }

  advance(ms: number): void {
    this.#elapsedMs += ms;
  }
}
