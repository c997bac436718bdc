const windowMs = 1000;

/**
 * A limit of so many requests in any one second: a request is accepted when fewer than `perSecond` were accepted in the
 * second before it. Refused requests count for nothing.
 *
 * The interface names the limits and not how they are measured: the sliding window is the simulator's own choice.
 */
export class RateWindow {
  readonly perSecond: number;
  readonly #accepted: Float64Array;
  #oldest = 0;
  #count = 0;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
    this.#accepted = new Float64Array(perSecond);
  }

  /** Takes one place at `now` (milliseconds that never go back); false when the limit is reached. */
  take(now: number): boolean {
    this.#forget(now);
    if (this.#count === this.perSecond) return false;
    this.#accepted[(this.#oldest + this.#count) % this.perSecond] = now;
    this.#count += 1;
    return true;
  }

  /** How many requests would still be accepted at the instant of the last `take`. */
  get remaining(): number {
    return this.perSecond - this.#count;
  }

  #forget(now: number): void {
    while (this.#count > 0 && (this.#accepted[this.#oldest] ?? now) <= now - windowMs) {
      this.#oldest = (this.#oldest + 1) % this.perSecond;
      this.#count -= 1;
    }
  }
}
