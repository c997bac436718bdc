import type { Clock } from './ports.ts';

/** A difference between wall and monotonic clock above this is a jump (or a sleep of the machine), below it a correction. */
const jumpMs = 2000;

/**
 * The daemon's time: the wall clock at the start, going on at the pace of the monotonic clock. It never jumps by itself. When
 * the wall clock does, `takeJump` tells by how much, and from then on the steady clock agrees with it again.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #baseMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#baseMs = clock.now() - clock.monotonic();
  }

  now(): number {
    return Math.round(this.#baseMs + this.#clock.monotonic());
  }

  /** How far the wall clock has moved away, and follows it; 0 when it has not. Small corrections are followed without a word. */
  takeJump(): number {
    const driftMs = this.#clock.now() - (this.#baseMs + this.#clock.monotonic());
    this.#baseMs += driftMs;
    return Math.abs(driftMs) > jumpMs ? Math.round(driftMs) : 0;
  }
}
