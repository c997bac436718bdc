import type { Clock } from '../domain/ports.ts';

/** Longer timers than this fire at once in Node, with a warning. */
const longestTimerMs = 2 ** 31 - 1;

/** Keeps no process alive: what is to happen only to one that does not end by itself. */
export function fireUnlessEnded(delayMs: number, fire: () => void): void {
  setTimeout(fire, delayMs).unref();
}

/** The real clock. Timers of any length are built from short ones. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(delayMs, fire) {
    if (delayMs <= 0) {
      const immediate = setImmediate(fire);
      return () => clearImmediate(immediate);
    }
    let timer: NodeJS.Timeout;
    const arm = (restMs: number): void => {
      const stepMs = Math.min(restMs, longestTimerMs);
      timer = setTimeout(() => (restMs > stepMs ? arm(restMs - stepMs) : fire()), stepMs);
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};
