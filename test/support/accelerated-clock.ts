import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/system/clock.ts';

/**
 * Time that runs `speed` times as fast as the real one. Processes that share `startedAt` (real milliseconds
 * since 1970) agree on it, so that a daemon started after another finds no jump.
 */
export function accelerateClock(speed: number, startedAt: number): Clock {
  return {
    // Not Date.now(): its whole milliseconds are many here, and the two clocks would seem to jump apart.
    now: () => Math.round(startedAt + (performance.timeOrigin + performance.now() - startedAt) * speed),
    monotonic: () => performance.now() * speed,
    setTimer: (delayMs, fire) => systemClock.setTimer(delayMs / speed, fire),
  };
}
