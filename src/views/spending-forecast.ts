import { currencyCode, type Micros } from '../domain/money.ts';
import { sumUp } from '../domain/one-sum.ts';
import { unitOf } from '../domain/reading.ts';
import { addBudgets, addOutlooks } from '../spending/outlook.ts';
import type { Views } from './create-views.ts';
import { everyAccount } from './every-account.ts';
import type { AccountView } from './views.ts';

/** The spending of a balance in the present month and quarter of its account's calendar, and in the next month. */
export type SpendingForecast = ReturnType<typeof forecastsOf>[number];

function forecastsOf(views: Pick<Views, 'outlook'>, account: AccountView) {
  const { id, balances } = account;
  return balances.flatMap(({ id: balance }) => {
    const outlook = views.outlook(id, balance);
    if (outlook === null) return [];
    const currency = unitOf({ balances, currency: outlook.currency }, balance);
    return { ...outlook, account, balance, currency };
  });
}

/** The coming cost of accounts, with sums in one currency if set. `without`: balances without a forecast, those never read included. Made in slices. */
export async function forecastSpending(
  views: Pick<Views, 'accountIds' | 'accounts' | 'finance' | 'outlook'>,
  wantsAccount: (account: AccountView) => boolean = () => true,
) {
  const rows: SpendingForecast[] = [];
  const unknown: string[] = [];
  let without = 0;
  for await (const accounts of everyAccount(views))
    for (const account of accounts.filter(wantsAccount)) {
      const own = forecastsOf(views, account);
      rows.push(...own);
      const withForecast = own.filter(({ month }) => month.total !== null).length;
      without += account.balances.length - withForecast;
      if (withForecast === 0) unknown.push(account.id);
    }
  const { money } = views.finance();
  const inOne = (pick: (row: SpendingForecast) => Micros) => {
    const amounts = rows.map((row) => ({ currency: row.currency, micros: pick(row) }));
    return money && sumUp(amounts, money);
  };
  // Nothing is known of the future if no balance has a forecast, and nothing at all if none was read or learned yet.
  const isForecast = rows.some(({ month }) => month.total !== null);
  const expected: typeof inOne = (pick) => (isForecast ? inOne(pick) : null);
  const sums = {
    spent: rows.length === 0 ? null : inOne(({ month }) => month.spent),
    month: expected(({ month }) => month.total?.micros ?? month.spent),
    quarter: expected(({ quarter }) => quarter.total?.micros ?? quarter.spent),
    nextMonth: expected(({ nextMonth }) => nextMonth?.micros ?? 0),
  };
  return { rows, unknown, without, sums };
}

/** The forecasts by currency and `groupOf`, the most expensive first. */
export function groupForecasts(
  rows: readonly SpendingForecast[],
  groupOf: (row: SpendingForecast) => string,
) {
  const groups = Map.groupBy(rows, (row) => `${currencyCode(row.currency)} ${groupOf(row)}`);
  return [...groups.values()]
    .flatMap((own) =>
      own[0] === undefined
        ? []
        : {
            group: groupOf(own[0]),
            currency: own[0].currency,
            budget: addBudgets(own),
            ...addOutlooks(own),
          },
    )
    .toSorted((left, right) => right.month.total.micros - left.month.total.micros);
}

export type ForecastGroup = ReturnType<typeof groupForecasts>[number];
