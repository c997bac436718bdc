import { expect, it } from 'vitest';
import type { PeriodOutlook } from '../../src/spending/outlook.ts';
import { forecastSpending, groupForecasts } from '../../src/views/spending-forecast.ts';
import { units } from '../support/account-facts.ts';
import { buildAccountView } from '../support/built-views.ts';

/** So much spent, and at the end so much, from a tenth less to a tenth more; null: no forecast. */
function outlook(spent: number, total: number | null, over: Partial<PeriodOutlook> = {}) {
  const range =
    total === null ? null : { micros: units(total), low: units(total * 0.9), high: units(total * 1.1) };
  const period = { startsAt: 0, endsAt: 1, knownSince: 0, spent: units(spent), total: range, ...over };
  return { month: period, quarter: period, nextMonth: range };
}

const accounts = [
  { id: 'otp', team: 'identity', provider: 'a', currency: 'CNY', ...outlook(10, 20), budget: units(25) },
  { id: 'news', team: 'growth', provider: 'a', currency: 'RMB', ...outlook(30, 60), budget: units(70) },
  { id: 'fresh', team: 'growth', provider: 'b', currency: 'CNY', ...outlook(5, null), budget: null },
  {
    id: 'calls',
    team: 'growth',
    provider: 'b',
    currency: 'USD',
    ...outlook(1, 2, { knownSince: 1 }),
    budget: null,
  },
];
const rates = { date: '2026-11-20', base: 'CNY', amounts: { USD: '7' }, inverted: false };
const views = {
  accountIds: () => accounts.map(({ id }) => id),
  accounts: async (ids: readonly string[] = []) =>
    accounts
      .filter(({ id }) => ids.includes(id))
      .map(({ id, team, currency }) =>
        buildAccountView({
          id,
          labels: { team },
          currency,
          balances: [{ id: 'sms', label: 'SMS', alertsBelowZero: true }],
        }),
      ),
  finance: () => ({ money: { currency: 'CNY', rates } }),
  outlook: (id: string) => accounts.find((each) => each.id === id) ?? null,
};

it('groups add up by currency; their range is as wide as those of all of them', async () => {
  const { rows } = await forecastSpending(views);
  const teams = groupForecasts(rows, ({ account }) => Object.values(account.labels).join());
  expect(teams.map(({ group, currency, month }) => [group, currency, month.spent, month.total])).toEqual([
    ['growth', 'RMB', units(35), { micros: units(65), low: units(59), high: units(71) }],
    ['identity', 'CNY', units(10), { micros: units(20), low: units(18), high: units(22) }],
    ['growth', 'USD', units(1), { micros: units(2), low: units(1.8), high: units(2.2) }],
  ]);
  const providers = groupForecasts(rows, ({ provider }) => provider);
  expect(providers.map(({ group, currency }) => [group, currency])).toEqual([
    ['a', 'CNY'],
    ['b', 'CNY'],
    ['b', 'USD'],
  ]);
});

it('what has no forecast counts as spent so far, and is said; what was not watched from the beginning too', async () => {
  const { rows, unknown, without } = await forecastSpending(views);
  expect(unknown).toEqual(['fresh']);
  expect(without).toBe(1);
  const [yuan, dollars] = groupForecasts(rows, () => '');
  expect([yuan?.unknown, yuan?.balances, yuan?.month.isWhole]).toEqual([1, 3, true]);
  expect([dollars?.unknown, dollars?.month.isWhole]).toEqual([0, false]);
});

it('a budget is said where each that spends has one', async () => {
  const { rows } = await forecastSpending(views);
  const budgets = groupForecasts(rows, ({ provider }) => provider).map(({ budget }) => budget);
  expect(budgets).toEqual([units(95), null, null]);
});

it('one sum over all currencies is at the rates', async () => {
  const { sums } = await forecastSpending(views, ({ id }) => id !== 'news');
  const amounts = [sums.spent, sums.month, sums.quarter, sums.nextMonth].map((sum) => sum?.micros);
  expect(amounts).toEqual([units(15 + 7), units(25 + 14), units(25 + 14), units(20 + 14)]);
  expect(sums.month).toMatchObject({ currency: 'CNY', date: '2026-11-20', missing: [] });
});

it('one sum of what comes is not known where no balance has a forecast', async () => {
  const { rows, sums } = await forecastSpending(views, ({ id }) => id === 'fresh');
  expect(sums).toMatchObject({
    spent: { micros: rows[0]?.month.spent },
    month: null,
    quarter: null,
    nextMonth: null,
  });
});

it('one sum of what was spent is not known where no account was read, or its spending is still to be learned', async () => {
  const { sums, unknown } = await forecastSpending({ ...views, outlook: () => null });
  expect(sums).toEqual({ spent: null, month: null, quarter: null, nextMonth: null });
  expect(unknown).toEqual(accounts.map(({ id }) => id));
});

it('accounts that were not read, or whose spending is still to be learned, are counted beside the sums of the others', async () => {
  const outlook = (id: string) => (id === 'news' ? null : views.outlook(id));
  expect(await forecastSpending({ ...views, outlook })).toMatchObject({
    unknown: ['news', 'fresh'],
    without: 2,
  });
});
