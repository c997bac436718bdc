import type { Clock } from '../ports/clock.ts';
import type { SteadyClock } from './steady-clock.ts';

/** One timer for the soonest of many instants; asking for a later one costs nothing. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #time: SteadyClock;
  readonly #wake: () => void;
  #at = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;
  #stopped = false;

  constructor(clock: Clock, time: SteadyClock, wake: () => void) {
    this.#clock = clock;
    this.#time = time;
    this.#wake = wake;
  }

  wakeBy(at: number): void {
    if (this.#stopped || at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    // Turns count whole milliseconds.
    this.#cancel = this.#clock.setTimer(Math.max(0, this.#time.until(Math.ceil(at))), () => {
      this.#at = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }
}
