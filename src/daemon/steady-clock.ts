import type { Clock } from '../ports/clock.ts';

/**
 * A difference between wall and monotonic clock above this is a jump (or a sleep of the machine), below it a
 * correction.
 */
const jumpMs = 2000;
/** The wall clock counts whole milliseconds: a difference up to one is none. */
const wallStepMs = 1;
/**
 * Looked at after more than this many of the usual times, the process itself stood still: a paused container,
 * a stopped process.
 */
const sleepsPerPause = 15;

/**
 * The daemon's time: the wall clock at the start, going on at the pace of the monotonic clock. It never jumps
 * by itself. When the wall clock does, `takeJump` tells by how much, and from then on the steady clock agrees
 * with it again.
 *
 * Somebody asks `takeJump` about every `lookEveryMs` (a second). A long time without that is told as a jump
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
    this.#pauseMs = sleepsPerPause * lookEveryMs;
    this.#askedAt = clock.monotonic();
    this.#baseMs = clock.now() - this.#askedAt;
  }

  now(): number {
    return Math.floor(this.#exact());
  }

  /** The milliseconds until `at`, with their fraction; negative when it is over. */
  until(at: number): number {
    return at - this.#exact();
  }

  /** The wall clock turned out to be ahead of the truth by so much: `takeJump` tells of it. */
  correctBy(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  /**
   * How far the wall clock has moved away, and follows it; 0 when it has not. Small corrections are followed
   * without a word.
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
