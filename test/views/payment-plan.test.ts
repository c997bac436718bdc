import { describe, expect, it, test } from 'vitest';
import { sumUp } from '../../src/domain/one-sum.ts';
import { payCron } from '../../src/schema/times.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { planPayments } from '../../src/views/payment-plan.ts';
import { dayMs, hourMs, units } from '../support/account-facts.ts';
import { buildAccountView, buildPayment } from '../support/built-views.ts';
import { makeProvider } from '../support/settings.ts';
import { startWorld } from '../support/world.ts';

const amounts = { CNY: '0.121', VND: '0.000036' };
const rates = { date: '2026-11-20', base: 'EUR', amounts, inverted: false };
const money = { currency: 'EUR', rates, source: null };

describe('one sum over several currencies', () => {
  it('counts each at its rate, and its own currency as it is', () => {
    const sums = [
      { currency: 'RMB', micros: units(1000) },
      { currency: 'EUR', micros: units(5) },
      { currency: 'VND', micros: units(1_000_000) },
    ];
    expect(sumUp(sums, money)).toEqual({
      currency: 'EUR',
      date: '2026-11-20',
      micros: units(121 + 5 + 36),
      missing: [],
    });
  });

  it('says which currency or unit has no rate, once', () => {
    const [dollars, credits] = ['USD', 'credits'].map((currency) => ({ currency, micros: units(7) }));
    const sums = [dollars, dollars, credits, { currency: 'EUR', micros: units(1) }];
    const { micros, missing } = sumUp(
      sums.flatMap((sum) => sum ?? []),
      money,
    );
    expect({ micros, missing }).toEqual({ micros: units(1), missing: ['USD', 'credits'] });
  });
});

describe('rates of a table', () => {
  const table = { ...rates, amounts: { CNY: '7.7771', USD: '1.0912' }, inverted: true };
  const hundred = [{ currency: 'USD', micros: units(100) }];

  it.each([
    ['the currency of the table', 'EUR', 91_642_229],
    ['one of its currencies, by the table', 'CNY', 712_710_777],
    ['the same one', 'USD', 100_000_000],
  ])('make sums in %s, exact to the millionth', (_, currency, micros) => {
    expect(sumUp(hundred, { currency, rates: table })).toMatchObject({ micros, missing: [] });
  });

  it('round half a millionth away from zero', () => {
    const half = { ...rates, amounts: { CNY: '0.5' } };
    const sums = [1, -1, 3, -3].map((micros) =>
      sumUp([{ currency: 'CNY', micros }], { currency: 'EUR', rates: half }),
    );
    expect(sums.map(({ micros }) => micros)).toEqual([1, -1, 2, -2]);
  });

  it('that were never read, or lack the currency of the sum, leave every other one out by name', () => {
    const own = { currency: 'GBP', micros: units(3) };
    for (const known of [null, table])
      expect(sumUp([...hundred, own], { currency: 'GBP', rates: known })).toMatchObject({
        micros: units(3),
        missing: ['USD'],
      });
  });
});

// Monday 9 November 2026, noon.
const now = Date.UTC(2026, 10, 9, 12);

const plan = (payDays: string, due: readonly (readonly [id: string, dueAt: number])[]) => {
  const accounts = due.map(([id, dueAt]) =>
    buildAccountView({ id, payments: [{ ...buildPayment(100, dueAt), isDue: false }] }),
  );
  const cron = payCron(payDays) ?? '';
  return planPayments(
    {
      ...{ accountIds: () => accounts.map(({ id }) => id), accounts: async () => accounts },
      finance: () => ({
        money,
        runBefore: (_, at) => (at === null ? null : cronCalendar.previous(cron, 'UTC', at)),
      }),
    },
    now,
  );
};

describe('pay runs', () => {
  it('hold what is due before the next one; what is due before the first cannot wait', async () => {
    const { runs, total } = await plan('1,15', [
      ['tomorrow', now + dayMs],
      ['in a week', now + 7 * dayMs],
      ['before the first', Date.UTC(2026, 10, 30, 23)],
      ['on the first', Date.UTC(2026, 11, 1, 8)],
    ]);
    expect(runs.map(({ at, payments }) => [at, payments.map(({ account }) => account.id)])).toEqual([
      [null, ['tomorrow']],
      [Date.UTC(2026, 10, 15), ['in a week', 'before the first']],
      [Date.UTC(2026, 11, 1), ['on the first']],
    ]);
    expect(runs.map(({ sums }) => sums.map(({ micros }) => micros / units(1)))).toEqual([
      [100],
      [200],
      [100],
    ]);
    expect(total?.micros).toBe(units(48.4));
  });

  it('are still to come on their own day', async () => {
    const { runs } = await plan('mon', [['today', now + hourMs]]);
    expect(runs.map(({ at }) => at)).toEqual([Date.UTC(2026, 10, 9)]);
  });
});

test.each([
  ['1,15', '0 0 1,15 * *'],
  ['fri', '0 0 * * fri'],
  ['mon, thu', '0 0 * * mon,thu'],
  ['0 0 * * 5#1', '0 0 * * 5#1'],
  ['32', null],
  ['0', null],
  ['friday', null],
])('pay days %s are %s', (written, cron) => {
  expect(payCron(written)).toBe(cron);
});

it('pay days are those of the provider entry where it has its own, and none where nothing says', async () => {
  const runOf = async (own: string | null, common: string | null) => {
    const world = await startWorld({ provider: makeProvider({ payDays: own }), payDays: common });
    return world.views.finance().runBefore('otp', Date.UTC(2026, 10, 20));
  };
  const [first, fifteenth] = ['0 0 1 * *', '0 0 15 * *'];
  expect(await runOf(first, fifteenth)).toBe(Date.UTC(2026, 10, 1));
  expect(await runOf(null, fifteenth)).toBe(Date.UTC(2026, 10, 15));
  expect(await runOf(null, null)).toBeUndefined();
});
