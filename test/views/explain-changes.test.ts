import { expect, it, test } from 'vitest';
import { explainChanges, reviewTime } from '../../src/views/review.ts';
import { units } from '../support/account-facts.ts';
import { buildAccountView, dayMs } from '../support/built-views.ts';

// Midnight of Friday 20 November 2026.
const until = Date.UTC(2026, 10, 20);
const since = until - 7 * dayMs;
const balances = [{ id: 'sms', label: 'SMS', alertsBelowZero: true }];
const account = (id: string, currency = 'CNY') =>
  buildAccountView({ id, name: id, currency, balances, pollIntervalMs: dayMs, timezone: 'UTC' });

/** Accounts that fall by so much at noon of each day, from 15 days ago on. */
function viewsOf(falls: Readonly<Record<string, (day: number) => number>>, currency?: string) {
  const accounts = Object.keys(falls).map((id) => account(id, currency));
  const readingsOf = (id: string) => {
    let left = 10_000;
    return Array.from({ length: 15 }, (_, day) => {
      left -= falls[id]?.(day) ?? 0;
      const at = until + (day - 15) * dayMs + dayMs / 2;
      return { at, currency: currency ?? 'CNY', balances: { sms: units(left) } };
    });
  };
  return {
    ...{ accountIds: () => Object.keys(falls), accounts: async () => accounts },
    ...{ incidents: async () => [], record: () => null },
    readings: async (id: string, from: number, to: number) =>
      readingsOf(id).filter(({ at }) => at >= from && at < to),
  };
}

const order = { timezone: 'UTC', groupBy: null, wantsAccount: () => true, wantsIncident: () => true };
const changesOf = async (views: ReturnType<typeof viewsOf>, from = since) =>
  explainChanges(await reviewTime(views, { ...order, since: from, until })).map((change) => ({
    ...change,
    accounts: change.accounts.map((each) => [each.account.id, each.more]),
  }));

it('names the accounts and the weekday that took more than before', async () => {
  // Days 8 to 14 are the time; day 11 is a Monday.
  const falls = {
    otp: (day: number) => (day === 11 ? 150 : 50),
    news: () => 20,
    calls: (day: number) => (day > 7 ? 12 : 10),
  };
  expect(await changesOf(viewsOf(falls))).toEqual([
    {
      currency: 'CNY',
      more: units(114),
      accounts: [
        ['otp', units(100)],
        ['calls', units(14)],
      ],
      weekday: { index: 1, more: units(102) },
    },
  ]);
});

test('what took less is said as that, what hardly changed not at all', async () => {
  const less = await changesOf(
    viewsOf({ otp: (day) => (day > 7 ? 5 : 50), news: (day) => (day > 7 ? 21 : 20) }),
  );
  expect(less[0]?.more).toBe(units(7 - 315));
  expect(less[0]?.accounts).toEqual([['otp', units(-315)]]);
  expect(await changesOf(viewsOf({ otp: (day) => (day > 7 ? 51 : 50) }))).toEqual([]);
});

test('no weekday is named where the time is not whole weeks', async () => {
  const falls = { otp: (day: number) => (day > 9 ? 90 : 50) };
  expect((await changesOf(viewsOf(falls), until - 5 * dayMs))[0]?.weekday).toBeNull();
});
