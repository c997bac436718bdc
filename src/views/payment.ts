import type { Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Balance } from '../domain/reading.ts';
import { payable } from '../wording/quantity-wording.ts';

export interface Payment {
  readonly balance: Balance;
  /** For another 30 days and at least what clears the balance's alerts, rounded up to what a person would pay. */
  readonly micros: Micros;
  /** By when: so that the money arrives before the balance may be empty. Null where no forecast says; not after `now` where it is due. */
  readonly dueAt: number | null;
}

/** What is to be paid for a balance; null where nothing is, or where nobody can say. `clearsAt` clears its open alerts. */
export function paymentOf(
  runway: Runway,
  {
    left,
    clearsAt,
    now,
    currency,
  }: {
    readonly left: Micros;
    readonly clearsAt: Micros | null;
    readonly now: number;
    readonly currency: string | null;
  },
): Payment | null {
  const clearing = clearsAt === null ? 0 : clearsAt - left - (runway.expected?.amountMicros ?? 0);
  const micros = Math.max(runway.restoreMicros ?? 0, clearing);
  if (micros <= 0) return null;
  const { payBy, runwayMs, forecast, emptyAt } = runway;
  const dueAt = payBy ?? (runwayMs !== null && runwayMs <= 0 ? now : (forecast?.earliest ?? emptyAt));
  return { balance: runway.balance, micros: payable(micros, currency), dueAt };
}
