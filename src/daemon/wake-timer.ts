import type { Clock } from '../ports/clock.ts';
import type { SteadyClock } from './steady-clock.ts';

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
