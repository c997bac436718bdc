import type { Clock } from '../ports/clock.ts';

/** A larger difference between the clocks is a clock change or a sleep, a smaller one a correction. */
const jumpMs = 2000;
const wallStepMs = 1;
/** A timer that fires later than this means that the process itself stood still (paused container, stopped process). */
const standstillMs = 2000;

/**
 * The daemon's time: the wall clock at the start, going on at the pace of the monotonic clock. It never jumps
 * by itself. When the wall clock jumps, `takeJump` says by how much, and the steady clock agrees
 * with it again from then on.
 *
 * `expectWake` tells it when `takeJump` is called next. A call that comes later counts as a jump as well: the process stood still and
 * observed nothing.
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

  /** A timer is set: `takeJump` is called at this instant, or at once if it has passed. A stand-still that has ended stays known. */
  expectWake(at: number): void {
    if (this.#lateMs <= standstillMs) this.#wakesAt = Math.max(at - this.#baseMs, this.#clock.monotonic());
  }

  /** The timer fired, or is cancelled: a later call of `takeJump` does not mean a stand-still. */
  woke(): void {
    if (this.#lateMs <= standstillMs) this.#wakesAt = Number.POSITIVE_INFINITY;
  }

  now(): number {
    return Math.floor(this.#exact());
  }

  /** Milliseconds until an instant, with a fraction; negative when it has passed. */
  until(at: number): number {
    return at - this.#exact();
  }

  /** The wall clock is known to be ahead by `aheadMs`: the next `takeJump` includes that. */
  correctBy(aheadMs: number): void {
    this.#aheadMs = aheadMs;
  }

  /** The distance by which the wall clock jumped. The steady clock follows it, and follows small corrections silently. */
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

  /** Until a stand-still is taken, its time has not passed: what is planned on waking then moves along with the jump. */
  #exact(): number {
    return this.#baseMs + (this.#lateMs > standstillMs ? this.#wakesAt : this.#clock.monotonic());
  }
}

export type WakeTimer = ReturnType<typeof createWakeTimer>;

/** One timer for the soonest of many instants. Asking for a later instant costs nothing. */
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
