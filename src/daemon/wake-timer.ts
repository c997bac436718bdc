import type { Clock } from '../ports/clock.ts';

/** One timer for the soonest of many instants; asking for a later one costs nothing. */
export class WakeTimer {
  readonly #dependencies: {
    readonly clock: Clock;
    readonly until: (at: number) => number;
    readonly wake: () => void;
  };
  #at = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(dependencies: {
    readonly clock: Clock;
    readonly until: (at: number) => number;
    readonly wake: () => void;
  }) {
    this.#dependencies = dependencies;
  }

  wakeBy(at: number): void {
    if (this.#stopped || at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    // Turns count whole milliseconds.
    const delayMs = Math.max(0, this.#dependencies.until(Math.ceil(at)));
    this.#cancel = this.#dependencies.clock.setTimer(delayMs, () => {
      this.#at = Number.POSITIVE_INFINITY;
      this.#dependencies.wake();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }
}
