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
    /** Whichever is first: undici hears of an end only once connected, which a silent proxy keeps it from. */
    within: <T>(exchange: Promise<T>): Promise<T> => Promise.race([exchange, ended]),
    /** True when the time was up, as opposed to the caller giving up. */
    expired: () => own.signal.aborted,
    /** Begins again, with another length: each step of a long exchange has its own. */
    restart(ms: number): void {
      cancelTimer();
      cancelTimer = start(ms);
    },
    /** Ends the timer; to be called in every case. */
    clear(): void {
      cancelTimer();
      // A signal that somebody listens to is kept as long as `outer` lives.
      signal.removeEventListener('abort', end);
    },
  };
}

/** Waits. Where the exchange ends before, what was to follow never comes. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', clock.setTimer(ms, resolve), { once: true });
  });
}

/** Waits, and goes on at once where the exchange ends before. */
export async function pauseOrEnd(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = (): void => resolve();
  const cancel = clock.setTimer(ms, end);
  signal.addEventListener('abort', end, { once: true });
  await promise;
  cancel();
  // A signal that somebody listens to keeps every pause that it outlives.
  signal.removeEventListener('abort', end);
}
