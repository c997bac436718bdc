import { describe, expect, it, test } from 'vitest';
import { sumUp } from '../../src/domain/one-sum.ts';
import { payDaysOf } from '../../src/engine/payments.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { payCron } from '../../src/schema/times.ts';
import { planPayments } from '../../src/views/payment-plan.ts';
import { saySum } from '../../src/wording/sum-wording.ts';
import { dayMs, hourMs, units } from '../support/account-facts.ts';
import { buildAccountView } from '../support/built-views.ts';
import { makeAccount, makeProvider } from '../support/settings.ts';
import { showingAccounts } from '../support/showing-accounts.ts';
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

  it('is the same however its parts were grouped', () => {
    const parts = [7, 7, 7].map((micros) => ({ currency: 'CNY', micros }));
    expect(sumUp(parts, money).micros).toBe(sumUp([{ currency: 'RMB', micros: 21 }], money).micros);
  });

  it('is exact where the sum of one currency is past what a number holds exactly', () => {
    const large = [9_007_199_254_000_001, 9_007_199_254_000_001, 1, 1, 1, 1, 1, 1, 1, 1];
    const parts = large.map((micros) => ({ currency: 'CNY', micros }));
    expect(sumUp(parts, money).micros).toBe(2_179_742_219_468_001);
    const owed = large.map((micros) => ({ currency: 'CNY', micros: -micros }));
    expect(sumUp(owed, money).micros).toBe(-2_179_742_219_468_001);
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

test('a sum names what is not in it as its language lists things', async () => {
  const sum = { currency: 'EUR', micros: units(5), date: '2026-11-20', missing: ['USD', 'credits'] };
  const chinese = { language: await loadLanguage('zh-CN'), timezone: 'UTC', now };
  expect(saySum(sum, chinese)).toContain('不含 USD、credits：');
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

/** What accounts that spend ten an hour around the clock must be paid in which run, where a payment takes working days. */
async function plan(payDays: string, daysLeft: Readonly<Record<string, number>>, leadTimeMs = dayMs) {
  const poll = { kind: 'every', everyMs: hourMs } as const;
  const accounts = Object.keys(daysLeft).map((id) => makeAccount(id, { poll, leadTimeMs }));
  const parts = { accounts, rules: [], payDays: payCron(payDays), money, routes: [] };
  const world = await startWorld(parts, { startAt: now - 10 * dayMs, sleepMs: hourMs });
  for (let hour = 240; hour >= 0; hour--) {
    for (const [id, days] of Object.entries(daysLeft)) world.provider.set(id, 240 * days + 10 * hour);
    if (hour > 0) await world.pass(hourMs);
  }
  return planPayments(world.views, world.now);
}

const dayOf = (at: number | null) => (at === null ? null : new Date(at).toISOString().slice(5, 10));

test.each([
  // What leaves on Friday, 20 November, comes after the weekend: too late.
  [1, 19],
  // As does what leaves on Monday, the 16th, and nothing leaves on the weekend before.
  [5, 13],
])(
  'a payment of %i days that must be sent before a day begins is due on the working day before, to the last minute',
  async (leadDays, day) => {
    const { payments } = await plan('fri', { soon: 14 }, leadDays * dayMs);
    expect(payments[0]?.dueAt).toBe(Date.UTC(2026, 10, day, 23, 59));
  },
);

describe('pay runs', () => {
  it('count money as sent when their day is over: paid on a Friday, it comes after the weekend', async () => {
    // The money must be sent before Friday, 20 November, begins.
    const weekly = await plan('fri', { soon: 14 });
    expect(weekly.payments.map(({ dueAt, runAt = null }) => [dayOf(dueAt), dayOf(runAt)])).toEqual([
      ['11-19', '11-13'],
    ]);
    // The money of 11 December, a Friday, comes on the 14th: three days more than if it were sent as that day begins.
    const { payments } = await plan('11', { rarely: 20 });
    expect((payments[0]?.micros ?? 0) / units(240) + 20).toBeGreaterThan(42);
  });

  it.each([
    ['thu', null],
    ['0 9 * * thu', '11-12'],
    ['0 23 * * thu', null],
  ])(
    '%s: hold what is due on a Thursday evening where their money has left by then',
    async (payDays, run) => {
      const { payments } = await plan(payDays, { soon: 10 });
      expect(payments.map(({ dueAt, runAt = null }) => [dayOf(dueAt), dayOf(runAt)])).toEqual([
        ['11-12', run],
      ]);
    },
  );

  it('hold what is due before the next one, and so much that nothing is empty before the money of that arrives', async () => {
    // The money of the run of the 15th, a Sunday, arrives on 16 November, that of the 1st on 1 December and of the next on the 15th.
    const { runs, payments } = await plan('1,15', { now: 4, soon: 12, later: 33, last: 90 });
    expect(runs.map(({ at, payments: own }) => [dayOf(at), own.map(({ account }) => account.id)])).toEqual([
      [null, ['now']],
      ['11-15', ['soon']],
      ['12-01', ['later']],
    ]);
    const lasts = (id: string, days: number) => {
      const micros = payments.find(({ account }) => account.id === id)?.micros ?? 0;
      return micros / units(240) + days;
    };
    expect(lasts('now', 4)).toBeGreaterThan(7.5);
    expect(lasts('soon', 12)).toBeGreaterThan(22.5);
    expect(lasts('later', 33)).toBeGreaterThan(36.5);
  });

  it('hold what lasts 30 days but not until the money of the next one, where they are rare', async () => {
    const { runs, payments } = await plan('1', { otp: 33 });
    expect(runs.map(({ at }) => dayOf(at))).toEqual(['12-01']);
    expect((payments[0]?.micros ?? 0) / units(240)).toBeGreaterThan(22);
  });

  it('are still to come on their own day', async () => {
    const { runs } = await plan('mon', { otp: 9 });
    expect(runs.map(({ at }) => dayOf(at))).toEqual(['11-09']);
  });
});

it('what an account needs that cannot be read is not known, though nothing was due when it was', async () => {
  const read = buildAccountView({ payments: [] });
  const lost = buildAccountView({ id: 'lost', payments: [], isRead: false });
  const views = showingAccounts((await startWorld()).views, [read, lost]);
  expect((await planPayments(views, now)).unknown).toEqual([lost]);
});

it('what should have been paid days ago comes before what nobody can date, as in the list of alerts', async () => {
  const due = (id: string, dueAt: number | null, isEmpty = false) => {
    const payment = {
      balance: 'sms',
      micros: units(10),
      covers: 'alerts',
      dueAt,
      isEmpty,
      isDue: true,
    } as const;
    return buildAccountView({ id, payments: [payment] });
  };
  const accounts = [due('undated', null), due('late', now - 3 * dayMs), due('empty', now, true)];
  const { payments } = await planPayments(showingAccounts((await startWorld()).views, accounts), now);
  expect(payments.map(({ account }) => account.id)).toEqual(['empty', 'late', 'undated']);
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
    const account = world.daemon.state.accounts.get('otp');
    return account && payDaysOf(world.daemon.state, account);
  };
  const [first, fifteenth] = ['0 0 1 * *', '0 0 15 * *'];
  expect(await runOf(first, fifteenth)).toBe(first);
  expect(await runOf(null, fifteenth)).toBe(fifteenth);
  expect(await runOf(null, null)).toBeNull();
});
