import type { Clock } from '../ports/clock.ts';

/** Longer timers than this fire at once in Node, with a warning. */
const maxTimerMs = 2 ** 31 - 1;

/** Keeps no process alive: what is to happen only to one that does not end by itself. */
export function fireUnlessEnded(delayMs: number, fire: () => void): void {
  setTimeout(fire, delayMs).unref();
}

/** The real clock. Timers of any length are built from short ones. */
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
    // Node's timers come up to a millisecond too soon; another one for what is left would come up to two too late.
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
