import { dayMs } from '../domain/duration.ts';
import type { Payment, Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance } from '../domain/reading.ts';
import { clearingBalance, spendingLookback } from '../rules/about-rules.ts';
import { alertKindOf } from '../rules/registry.ts';
import { payBy } from '../spending/local-week.ts';
import { runway } from '../spending/runway.ts';
import { payable } from '../wording/quantity-wording.ts';
import { emptyAt, type WatchedAccount } from './state.ts';

/** What follows from the spending of a balance; null before the first reading. */
export function runwayOf(account: WatchedAccount, balance: Balance, now: number): Runway | null {
  const { reading } = account.poll;
  if (reading?.balances[balance] === undefined) return null;
  const lookbackMs = spendingLookback(account.rules, balance);
  const { log, spending, settings } = account;
  const seen = runway({ log, spending, reading, balance, floorMicros: emptyAt(account), lookbackMs, now });
  const coming = account.expected.filter((topUp) => topUp.balance === balance && topUp.by >= now);
  const comingMicros = coming.reduce((sum, topUp) => sum + topUp.amountMicros - topUp.receivedMicros, 0);
  const expected = { amountMicros: comingMicros, by: Math.max(...coming.map(({ by }) => by)) };
  const first = seen.forecast?.earliest ?? null;
  // What arrives before the balance may be empty puts off the next payment.
  const left = amountOf(reading, balance) - seen.emptyMicros + comingMicros;
  const neededAt =
    first !== null && comingMicros > 0 && expected.by <= first
      ? (spending.forecastAt(reading, balance, left)?.earliest ?? null)
      : first;
  const known = neededAt !== null && settings.leadTimeMs !== null && seen.emptyAt !== null;
  const { restoreMicros } = seen;
  return {
    ...seen,
    payBy: known ? payBy(spending.week, neededAt, settings.leadTimeMs) : null,
    restoreMicros: restoreMicros === null ? null : Math.max(0, restoreMicros - comingMicros),
    expected: comingMicros === 0 ? null : { ...expected, comment: coming[0]?.comment ?? '' },
  };
}

/**
 * Whether a balance may run out within 24 hours by the forecast (`earliest`), or such an alert is pending or
 * firing. A balance that is used up without an alert is not polled more often.
 */
export function isNearEmpty(account: WatchedAccount, now: number): boolean {
  for (const alert of account.alerts.values())
    if (alert.state !== 'inactive' && alertKindOf(alert).emptinessRank !== undefined) return true;
  const { reading } = account.poll;
  if (reading === null) return false;
  return account.settings.balances.some(({ id: balance }) => {
    const left = amountOf(reading, balance) - emptyAt(account);
    const earliest = left > 0 ? account.spending.forecastAt(reading, balance, left)?.earliest : null;
    return earliest != null && earliest < now + dayMs;
  });
}

interface Owed {
  readonly left: Micros;
  /** What clears the open alerts of the balance. */
  readonly clearsAt: Micros | null;
  readonly now: number;
  readonly currency: string | null;
}

/** What is to be paid for a balance; null where nothing is, or where nobody can say. */
export function paymentOf(runway: Runway, { left, clearsAt, now, currency }: Owed): Payment | null {
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
