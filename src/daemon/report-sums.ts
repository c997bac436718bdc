import type { ReportAccount, ReportMessage } from '../domain/message.ts';
import { currencyCode, type Micros } from '../domain/money.ts';
import { sumUp } from '../domain/one-sum.ts';
import { ownOf } from '../domain/own.ts';
import { type Balance, unitOf } from '../domain/reading.ts';
import { dayMs, isoDay } from '../domain/time.ts';
import { groupByRun } from '../engine/pay-runs.ts';
import { moneyOf } from '../engine/rates.ts';
import type { MonitorState } from '../engine/state.ts';
import { monthlyBudget } from '../rules/budget.ts';
import { addBudgets, addOutlooks, outlookOf } from '../spending/outlook.ts';

/** The sums of a report over all accounts: one sum, what the month comes to, and what the next pay runs must hold. */
export function sumReport(
  state: MonitorState,
  accounts: readonly ReportAccount[],
  now: number,
): Pick<ReportMessage, 'inOne' | 'months' | 'payRuns'> {
  const read = accounts.flatMap((account) => {
    const { reading, balances } = account;
    if (reading === null) return [];
    return balances.map(({ id }) => ({
      account,
      id,
      currency: unitOf({ balances, currency: reading.currency }, id),
    }));
  });
  const money = moneyOf(state);
  const inOne = (of: (account: ReportAccount, balance: Balance) => Micros | undefined) =>
    money &&
    sumUp(
      read.map(({ account, id, currency }) => ({ currency, micros: of(account, id) ?? 0 })),
      money,
    );
  const left = inOne(({ reading }, id) => ownOf(reading?.balances, id));
  const spent = inOne(({ spent: own }, id) => ownOf(own, id));
  const outlooks = read.flatMap(({ account: { id: account }, id, currency }) => {
    const watched = state.accounts.get(account);
    const outlook = watched && outlookOf(watched.spending, id, now);
    if (!watched || !outlook) return [];
    return { ...outlook, currency, budget: monthlyBudget(watched, id, outlook.month.spent) };
  });
  const payments = accounts.flatMap(({ payments: own, balances, reading }) =>
    own.map(({ micros, runAt, balance }) => ({
      micros,
      runAt,
      currency: unitOf({ balances, currency: reading?.currency ?? '' }, balance),
    })),
  );
  // It is another month already in zones ahead.
  const monthly = Map.groupBy(
    outlooks,
    ({ currency, month }) =>
      `${currencyCode(currency)} ${isoDay(month.startsAt + 15 * dayMs, 'UTC').slice(0, 7)}`,
  );
  return {
    inOne: left && spent && { left, spent },
    months: [...monthly.values()].map((own) => ({
      ...addOutlooks(own),
      currency: own[0]?.currency ?? '',
      startsAt: own[0]?.month.startsAt ?? now,
      budget: addBudgets(own),
    })),
    payRuns: groupByRun(payments, money).map(({ payments: { length: count }, ...run }) => ({
      ...run,
      count,
    })),
  };
}
