import { dayMs } from '../domain/duration.ts';
import type { Payment } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import { type Money, sumUp } from '../domain/one-sum.ts';
import { entryOf } from '../domain/provider-entry.ts';
import type { MonitorState } from './state.ts';

/** The last pay run of an account at or before an instant; null where it cannot wait for one, undefined where it has no pay days. */
export function runBefore(
  { accounts, settings, calendar }: Pick<MonitorState, 'accounts' | 'settings' | 'calendar'>,
  id: string,
  at: number | null,
): number | null | undefined {
  const account = accounts.get(id);
  const payDays = (account && entryOf(settings, account.settings).payDays) ?? settings.payDays;
  if (payDays === null) return undefined;
  return at === null ? null : calendar.previous(payDays, settings.timezone, at);
}

/** The last run at or before the payment is due that is not over: its day is the run's. `before` is `runBefore` of its account. */
export function runInTime(
  { isDue, dueAt }: Payment,
  now: number,
  before: (at: number | null) => number | null | undefined,
): number | null | undefined {
  const at = before(isDue ? null : dueAt);
  return typeof at === 'number' && at + dayMs <= now ? null : at;
}

interface PaymentInRun {
  readonly micros: Micros;
  readonly currency: string;
  /** Null: it cannot wait for a run; undefined: there are none. */
  readonly runAt: number | null | undefined;
}

/** The payments of each run, those that cannot wait for one first; empty where no pay days are set. */
export function groupByRun<Each extends PaymentInRun>(payments: readonly Each[], money: Money | null) {
  const inRuns = payments.filter(({ runAt }) => runAt !== undefined);
  return [...Map.groupBy(inRuns, ({ runAt = null }) => runAt)]
    .toSorted(([left], [right]) => (left ?? 0) - (right ?? 0))
    .map(([at, own]) => ({ at, payments: own, sums: sumsOf(own), total: money && sumUp(own, money) }));
}

function sumsOf(payments: readonly PaymentInRun[]) {
  return [...Map.groupBy(payments, ({ currency }) => currencyCode(currency)).values()].map((own) => ({
    currency: own[0]?.currency ?? '',
    micros: own.reduce((total, { micros }) => total + micros, 0),
  }));
}
