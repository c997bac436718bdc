import type { Clock } from '../../src/ports/clock.ts';

/** The process may be held up for longer; the time beyond this is not made up for. */
const longestCatchUpMs = 5;

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/**
 * Time that runs at most `speed` times as fast as the real one and waits for the process: no timer is passed
 * over, however long the work before it took, and between two timers the event loop goes round. A process
 * that cannot keep up meets slower time, never a jump. Wall and monotonic clock agree.
 */
export function createPatientClock(speed: number): Clock {
  const startedAt = Date.now();
  const timers = new Set<Timer>();
  let now = startedAt;
  let target = now;
  let lookedAt = performance.now();
  let pumping = false;

  const pump = (): void => {
    const realNow = performance.now();
    target += Math.min(realNow - lookedAt, longestCatchUpMs) * speed;
    lookedAt = realNow;
    const next = earliest(timers);
    if (next === null) {
      pumping = false;
      return;
    }
    if (next.at > target) {
      now = Math.max(now, target);
      setTimeout(pump, 1);
      return;
    }
    now = Math.max(now, next.at);
    timers.delete(next);
    setImmediate(pump);
    next.fire();
  };

  return {
    now: () => Math.round(now),
    monotonic: () => now - startedAt,
    setTimer(delayMs, fire) {
      const timer = { at: now + delayMs, fire };
      timers.add(timer);
      if (!pumping) setImmediate(pump);
      pumping = true;
      return () => timers.delete(timer);
    },
  };
}

function earliest(timers: ReadonlySet<Timer>): Timer | null {
  let first: Timer | null = null;
  for (const timer of timers) if (first === null || timer.at < first.at) first = timer;
  return first;
}
