import type { Clock } from '../ports/clock.ts';

/** Node fires longer timers at once, with a warning. */
const maxTimerMs = 2 ** 31 - 1;

/** A timer that does not keep the process alive. */
export function fireUnlessEnded(delayMs: number, fire: () => void): void {
  setTimeout(fire, delayMs).unref();
}

/** Long timers are built from short ones. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    const endsAt = performance.now() + delayMs;
    let cancel: () => void;
    const look = (): void => {
      const restMs = endsAt - performance.now();
      if (restMs > 0) wait(restMs);
      else fire();
    };
    // Node's timers fire up to a millisecond early; another timer for the rest would be up to two late.
    const wait = (restMs: number): void => {
      if (restMs < 1) {
        const immediate = setImmediate(look);
        cancel = () => clearImmediate(immediate);
      } else {
        const timer = setTimeout(look, Math.min(Math.ceil(restMs), maxTimerMs));
        cancel = () => clearTimeout(timer);
      }
    };
    wait(delayMs);
    return () => cancel();
  },
};
