import type { Clock } from '../ports/clock.ts';

/** A larger difference between the clocks is a clock change or a sleep, a smaller one a correction. */
const jumpMs = 2000;
const wallStepMs = 1;
/** A timer that fires so late means that the process itself stood still (paused container, stopped process). */
const standstillMs = 2000;

/**
 * The daemon's time: the wall clock at the start, going on at the pace of the monotonic clock. It never jumps
 * by itself. When the wall clock does, `takeJump` tells by how much, and from then on the steady clock agrees
 * with it again.
 *
 * By `expectWake` it knows when somebody will ask again. The time after that counts as a jump as well: the process stood still and watched
 * nothing.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #baseMs: number;
  #aheadMs = 0;
  /** On the monotonic clock. */
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#baseMs = clock.now() - clock.monotonic();
  }

  /** A timer is set: somebody asks `takeJump` at this instant, or at once where it has passed. A stand-still that is over stays known. */
  expectWake(at: number): void {
    if (this.#lateMs <= standstillMs) this.#wakesAt = Math.max(at - this.#baseMs, this.#clock.monotonic());
  }

  /** The timer fired, or is set no more: what comes later is nobody's stand-still. */
  woke(): void {
    if (this.#lateMs <= standstillMs) this.#wakesAt = Number.POSITIVE_INFINITY;
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

  /** The distance that the wall clock moved; the steady clock follows it, small corrections silently. */
  takeJump(): number {
    const monotonic = this.#clock.monotonic();
    const driftMs = this.#clock.now() - this.#aheadMs - (this.#baseMs + monotonic);
    const lateMs = this.#lateMs;
    if (Math.abs(driftMs) > wallStepMs) this.#baseMs += driftMs;
    if (lateMs > standstillMs) this.#wakesAt = Number.POSITIVE_INFINITY;
    const jumped = Math.abs(driftMs) > jumpMs ? driftMs : 0;
    return Math.round(jumped + (lateMs > standstillMs ? lateMs : 0));
  }

  get #lateMs(): number {
    return this.#clock.monotonic() - this.#wakesAt;
  }

  /** Nothing has passed of a stand-still that nobody has taken yet: what is planned on waking moves along with it. */
  #exact(): number {
    return this.#baseMs + (this.#lateMs > standstillMs ? this.#wakesAt : this.#clock.monotonic());
  }
}

export type WakeTimer = ReturnType<typeof createWakeTimer>;

/** One timer for the soonest of many instants; asking for a later one costs nothing. */
export function createWakeTimer(clock: Clock, time: SteadyClock, wake: () => void) {
  let soonestAt = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;
  let isStopped = false;
  return {
    wakeBy(at: number): void {
      if (isStopped || at >= soonestAt) return;
      cancel();
      soonestAt = at;
      time.expectWake(at);
      // Turns count whole milliseconds.
      cancel = clock.setTimer(Math.max(0, time.until(Math.ceil(at))), () => {
        soonestAt = Number.POSITIVE_INFINITY;
        time.woke();
        wake();
      });
    },
    stop(): void {
      isStopped = true;
      cancel();
      time.woke();
    },
  };
}
