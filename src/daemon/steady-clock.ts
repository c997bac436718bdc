import type { Clock } from '../ports/clock.ts';

/**
 * A larger difference between wall and monotonic clock is a clock change or a sleep, a smaller one a
 * correction.
 */
const jumpMs = 2000;
const wallStepMs = 1;
/** Without a look for this much longer than usual the process itself stood still (paused container, stopped process). */
const standstillMs = 14_000;

/**
 * The daemon's time: the wall clock at the start, going on at the pace of the monotonic clock. It never jumps
 * by itself. When the wall clock does, `takeJump` tells by how much, and from then on the steady clock agrees
 * with it again.
 *
 * Somebody asks `takeJump` about every `lookEveryMs` (a second). A long time without that counts as a jump
 * as well: the process stood still and watched nothing.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #baseMs: number;
  #aheadMs = 0;
  #askedAt: number;
  readonly #pauseMs: number;

  constructor(clock: Clock, lookEveryMs = 1000) {
    this.#clock = clock;
    this.#pauseMs = lookEveryMs + standstillMs;
    this.#askedAt = clock.monotonic();
    this.#baseMs = clock.now() - this.#askedAt;
  }

  now(): number {
    return Math.floor(this.#exact());
  }

  /** With fraction; negative when it is over. */
  until(at: number): number {
    return at - this.#exact();
  }

  /** The wall clock is known to be ahead by so much: the next `takeJump` includes it. */
  correctBy(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  /**
   * How far the wall clock moved; the steady clock follows it. 0 when it did not; small corrections are
   * followed silently.
   */
  takeJump(): number {
    const monotonic = this.#clock.monotonic();
    const driftMs = this.#clock.now() - this.#aheadMs - (this.#baseMs + monotonic);
    const unwatchedMs = monotonic - this.#askedAt;
    if (Math.abs(driftMs) > wallStepMs) this.#baseMs += driftMs;
    this.#askedAt = monotonic;
    const jumped = Math.abs(driftMs) > jumpMs ? driftMs : 0;
    return Math.round(jumped + (unwatchedMs > this.#pauseMs ? unwatchedMs : 0));
  }

  #exact(): number {
    return this.#baseMs + this.#clock.monotonic();
  }
}
