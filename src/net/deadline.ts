import type { Clock } from '../ports/clock.ts';

/** A signal that ends an exchange: at its own deadline, or when the caller gives up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True when the time was up, as opposed to the caller giving up. */
  expired(): boolean;
  /**
   * What the exchange comes to, or its end, whichever is first: undici hears of an end only once it is connected, which a proxy that
   * says nothing keeps it from for minutes.
   */
  within<T>(exchange: Promise<T>): Promise<T>;
  /** Begins again, with another length: each step of a long exchange has its own. */
  restart(afterMs: number): void;
  /** Ends the timer; to be called in every case. */
  clear(): void;
}

/** Starts a deadline of `afterMs` that also ends with `outer`. */
export function startDeadline(order: {
  readonly clock: Clock;
  readonly afterMs: number;
  readonly outer: AbortSignal;
}): Deadline {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => undefined);
  controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  let expired = false;
  const start = (afterMs: number): (() => void) =>
    order.clock.setTimer(afterMs, () => {
      expired = true;
      controller.abort();
    });
  let cancelTimer = start(order.afterMs);
  const giveUp = (): void => controller.abort();
  if (order.outer.aborted) giveUp();
  else order.outer.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    within: (exchange) => Promise.race([exchange, ended]),
    expired: () => expired,
    restart: (afterMs) => {
      cancelTimer();
      cancelTimer = start(afterMs);
    },
    clear: () => {
      cancelTimer();
      order.outer.removeEventListener('abort', giveUp);
    },
  };
}
