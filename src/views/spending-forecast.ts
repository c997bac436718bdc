import { inSlices } from '../daemon/slices.ts';
import type { Micros } from '../domain/money.ts';
import { type OneSum, sumUp } from '../domain/one-sum.ts';
import { unitOf } from '../domain/reading.ts';
import type { ExpectedSpending } from '../spending/account-spending.ts';
import type { Views } from './create-views.ts';

const sliceOfAccounts = 100;

/** What a balance spends in the present month of its account's calendar, and in the next one. */
export interface MonthForecast {
  readonly account: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly balance: string;
  readonly currency: string;
  /** Later than the month's beginning where nothing was known before. */
  readonly knownSince: number;
  readonly spent: Micros;
  /** Median and 80 % range of the whole month; null while less than a day is known. */
  readonly total: ExpectedSpending | null;
  readonly next: ExpectedSpending | null;
}

/** What this month and the next will cost, by account; sums in one currency where rates are set. Made in slices. */
export async function forecastMonths(views: Pick<Views, 'accountIds' | 'accounts' | 'finance' | 'month'>) {
  const rows: MonthForecast[] = [];
  const unknown: string[] = [];
  for await (const ids of inSlices(views.accountIds(), sliceOfAccounts))
    for (const { id, balances, currency, labels } of await views.accounts(ids)) {
      const own = balances.flatMap((balance) => {
        const month = views.month(id, balance.id);
        if (month === null || currency === null) return [];
        const unit = unitOf({ balances, currency }, balance.id);
        return { account: id, labels, balance: balance.id, currency: unit, ...month };
      });
      rows.push(...own);
      if (own.every(({ total }) => total === null)) unknown.push(id);
    }
  const { money } = views.finance();
  const inOne = (pick: (row: MonthForecast) => Micros): OneSum | null =>
    money === null
      ? null
      : sumUp(
          rows.map((row) => ({ currency: row.currency, micros: pick(row) })),
          money,
        );
  const sums = {
    spent: inOne(({ spent }) => spent),
    total: inOne(({ spent, total }) => total?.micros ?? spent),
    next: inOne(({ next }) => next?.micros ?? 0),
  };
  return { rows, unknown, sums };
}
