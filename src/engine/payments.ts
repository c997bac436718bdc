import type { Payment, Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf } from '../domain/reading.ts';
import { clearingBalance } from '../rules/about-rules.ts';
import { payable } from '../wording/quantity-wording.ts';
import { runwayOf } from './runways.ts';
import type { WatchedAccount } from './watched-account.ts';

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
export function paymentsOf(account: WatchedAccount, now: number): readonly Payment[] {
  const { poll, rules, alerts, settings } = account;
  const open = rules.filter(({ id }) => (alerts.get(id)?.state ?? 'inactive') !== 'inactive');
  return settings.balances.flatMap(({ id: balance }) => {
    const runway = runwayOf(account, balance, now);
    if (poll.reading === null || runway === null) return [];
    const left = amountOf(poll.reading, balance);
    const { currency } = poll.reading;
    return paymentOf(runway, { left, clearsAt: clearingBalance(open, balance), now, currency }) ?? [];
  });
}
