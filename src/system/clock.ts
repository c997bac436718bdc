import type { Clock } from '../ports/clock.ts';

/** The longest timer of Node: longer ones fire at once, with a warning. */
const maxTimerMs = 2 ** 31 - 1;

/** A timer that does not keep the process alive. */
export function fireUnlessEnded(delayMs: number, fire: () => void): void {
  setTimeout(fire, delayMs).unref();
}

/** The system's clock. Longer timers are built from several short ones. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    const timer = new ExactTimer(performance.now() + delayMs, fire);
    timer.wait(delayMs);
    return () => timer.cancel();
  },
};

/** A class and not a closure, because a timer is made for every poll. */
class ExactTimer {
  readonly #endsAt: number;
  readonly #fire: () => void;
  #timeout: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(endsAt: number, fire: () => void) {
    this.#endsAt = endsAt;
    this.#fire = fire;
  }

  /** Node's timers may fire a millisecond early, so the rest is waited for. Checking in a loop would cost a third of a poll's processor time. */
  wait(restMs: number): void {
    if (restMs < 0.1) this.#immediate = setImmediate(look, this);
    else this.#timeout = setTimeout(look, Math.min(Math.ceil(restMs), maxTimerMs), this);
  }

  look(): void {
    const restMs = this.#endsAt - performance.now();
    if (restMs > 0) this.wait(restMs);
    else this.#fire();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
    clearImmediate(this.#immediate);
  }
}

function look(timer: ExactTimer): void {
  timer.look();
}
