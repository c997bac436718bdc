import type { Clock } from '../domain/ports.ts';

/** A signal that ends an exchange: at its own deadline, or when the caller gives up. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True when the time was up, as opposed to the caller giving up. */
  expired(): boolean;
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
  let expired = false;
  const cancelTimer = order.clock.setTimer(order.afterMs, () => {
    expired = true;
    controller.abort();
  });
  const giveUp = (): void => controller.abort();
  if (order.outer.aborted) giveUp();
  else order.outer.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    clear: () => {
      cancelTimer();
      order.outer.removeEventListener('abort', giveUp);
    },
  };
}
