import { expect, it, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { explainChanges } from '../../src/views/explain-changes.ts';
import { reviewTime } from '../../src/views/review.ts';
import { units } from '../support/account-facts.ts';
import { buildAccountView, dayMs } from '../support/built-views.ts';

// Midnight of Friday 20 November 2026.
const until = Date.UTC(2026, 10, 20);
const since = until - 7 * dayMs;
const balances = [{ id: 'sms', label: 'SMS', alertsBelowZero: true }];
const account = (id: string, currency = 'CNY') =>
  buildAccountView({ id, name: id, currency, balances, pollIntervalMs: dayMs, timezone: 'UTC' });

/** The readings of a time, and the last one before it, as the daemon gives them. */
function withLastBefore(readings: readonly Reading[], from: number, to: number): readonly Reading[] {
  return readings.filter(({ at }, place) => (readings[place + 1]?.at ?? at) >= from && at < to);
}

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
    ...{
      incidents: async () => [],
      record: () => null,
      damageEnd: () => Number.NEGATIVE_INFINITY,
      seriesSince: () => 0,
    },
    async *readingsInParts(id: string, from: number, to: number) {
      yield withLastBefore(readingsOf(id), from, to);
    },
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
      groups: [],
      weekday: { index: 1, more: units(102) },
      reasons: null,
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

const halfHours = Array.from({ length: 15 * 48 }, (_, step) => step);
/** Of the half hour that ends with a step: at midnight that of the day before. */
const dayOf = (step: number): number => Math.floor((step - 1) / 48);
const isBefore = (step: number): boolean => step <= 8 * 48;

/** Of an account that is read every half hour and fell by so much since the reading before. */
async function halfHourly(fall: (step: number) => number) {
  let left = 1_000_000;
  const readings = halfHours.map((step) => {
    left -= fall(step);
    const at = until - 15 * dayMs + (step * dayMs) / 48;
    return { at, currency: 'CNY', balances: { sms: Math.round(units(left)) } };
  });
  const otp = { ...account('otp'), pollIntervalMs: dayMs / 48 };
  const views = {
    ...{ accountIds: () => ['otp'], accounts: async () => [otp], incidents: async () => [] },
    ...{ record: () => null, damageEnd: () => Number.NEGATIVE_INFINITY, seriesSince: () => 0 },
    async *readingsInParts(_: string, from: number, to: number) {
      yield withLastBefore(readings, from, to);
    },
  };
  return explainChanges(await reviewTime(views, { ...order, since, until }))[0];
}

/** One to six messages in each half hour, or one to thirteen. */
const few = (step: number): number => 1 + ((step * 7) % 6);
const many = (step: number): number => 1 + ((step * 5) % 13);
const price = 0.0375;

it.each<[string, (step: number) => number, (step: number) => number]>([
  ['a price that rose by a third', few, () => 0.05],
  ['twice as many messages', many, () => price],
  ['both, the price on the fourth day', many, (step) => (dayOf(step) > 10 ? 0.05 : price)],
])('tells price from volume where every fall is a multiple of a message: %s', async (_, sent, priceNow) => {
  const found = await halfHourly((step) =>
    isBefore(step) ? few(step) * price : sent(step) * priceNow(step),
  );
  let [byPrice, byVolume] = [0, 0];
  for (const step of halfHours.slice(48 + 1)) {
    byVolume += (isBefore(step) ? -few(step) : sent(step)) * price;
    if (!isBefore(step)) byPrice += sent(step) * (priceNow(step) - price);
  }
  expect((found?.reasons?.price ?? -1) / units(1)).toBeCloseTo(byPrice, 0);
  expect((found?.reasons?.volume ?? -1) / units(1)).toBeCloseTo(byVolume, 0);
});

it.each<[string, (step: number) => number]>([
  ['two prices come together', (step) => (isBefore(step) ? 1 : 2) * (few(step) * price + (step % 3) * 0.045)],
  ['the provider rounds to cents', (step) => Math.ceil(few(step) * (isBefore(step) ? 0.375 : 0.5)) / 100],
])('says nothing of the price where %s', async (_, fall) => {
  expect(await halfHourly(fall)).toMatchObject({ reasons: null });
});

it('names the labels that took more', async () => {
  const views = viewsOf({
    otp: (day) => (day > 7 ? 90 : 50),
    news: () => 20,
    calls: (day) => (day > 7 ? 5 : 10),
  });
  const accounts = await views.accounts();
  const labelled = accounts.map((each) => ({
    ...each,
    labels: { team: each.id === 'otp' ? 'growth' : 'core' },
  }));
  const review = await reviewTime({ ...views, accounts: async () => labelled }, { ...order, since, until });
  expect(explainChanges(review)[0]?.groups).toEqual([{ label: 'growth', more: units(280) }]);
});
