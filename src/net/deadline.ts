import type { Clock } from '../ports/clock.ts';

export interface DeadlineLimits {
  readonly clock: Clock;
  readonly afterMs: number;
  readonly outer: AbortSignal;
}

/** A signal that ends an exchange: after `afterMs`, or when the caller gives up by `outer`. */
export function startDeadline({ clock, afterMs, outer }: DeadlineLimits) {
  const own = new AbortController();
  const signal = AbortSignal.any([own.signal, outer]);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  const end = (): void => reject(signal.reason);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const start = (ms: number): (() => void) => clock.setTimer(ms, () => own.abort());
  let cancelTimer = start(afterMs);
  return {
    signal,
    /** Ends with the exchange or the signal, whichever is first: undici notices a signal only once connected, which a silent proxy prevents. */
    within: <T>(exchange: Promise<T>): Promise<T> => Promise.race([exchange, ended]),
    /** True if the time was up, false if the caller gave up. */
    expired: () => own.signal.aborted,
    /** Begins again, with another length: each step of a long exchange has its own. */
    restart(ms: number): void {
      cancelTimer();
      cancelTimer = start(ms);
    },
    /** Ends the timer; to be called in every case. */
    clear(): void {
      cancelTimer();
      // A signal with a listener stays in memory as long as `outer` lives.
      signal.removeEventListener('abort', end);
    },
  };
}

/** Waits. If the exchange ends first, this never resolves. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', clock.setTimer(ms, resolve), { once: true });
  });
}

/** Waits, and resolves at once if the exchange ends first. */
export async function pauseOrEnd(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const cancel = clock.setTimer(ms, end);
  signal.addEventListener('abort', end, { once: true });
  await promise;
  cancel();
  // A listener would keep this pause in memory as long as the signal lives.
  signal.removeEventListener('abort', end);
}
