import { describe, expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import type { Severity } from '../../src/domain/severity.ts';
import { type BudgetRule, monthlyBudget } from '../../src/rules/budget.ts';
import { describeRule } from '../../src/rules/registry.ts';
import { dayMs, factsAfter, factsNoon, hourMs, minuteMs, units, verdict } from '../support/account-facts.ts';
import { asAnyRule } from '../support/any-rule.ts';
import { evaluate, explainRule } from '../support/evaluate.ts';
import { monday, officeHours, spendBy } from '../support/spending.ts';

const rule: BudgetRule = {
  id: 'budget',
  type: 'budget',
  by: 'spent',
  severity: 'critical',
  forMs: 0,
  recoverForMs: 0,
  match: {},
  builtIn: false,
  balance: 'sms',
  per: 'day',
  thresholds: { warning: units(50), critical: units(100) },
};

const midnight = factsNoon - 12 * hourMs;

function read(at: number, sms: number, currency = 'CNY'): Reading {
  return { at, balances: { sms: units(sms), voip: 0 }, currency };
}

/** A day of which nothing is hidden, until noon, in which so much was spent. */
function spentToday(amount: number): Reading[] {
  return [read(midnight - minuteMs, 1000), read(midnight, 1000), read(factsNoon, 1000 - amount)];
}

function factNames(readings: readonly Reading[], over: Partial<BudgetRule> = {}) {
  const facts = factsAfter(readings);
  return new Map(
    explainRule({ ...rule, ...over }, facts, null).facts.map(({ name, value }) => [name, value]),
  );
}

test.each<[string, number, Severity | null, string]>([
  ['nothing spent is ok', 0, null, 'ok'],
  ['a millionth below the budget is ok', 49.999999, null, 'ok'],
  ['at the first step it is a warning', 50, null, 'warning'],
  ['between the steps it stays one', 99.999999, 'warning', 'warning'],
  ['at the second step it is critical', 100, 'warning', 'critical'],
  ['it does not resolve while the period lasts', 100, 'critical', 'critical'],
])('%s', (_, amount, firing, expected) => {
  expect(verdict(evaluate(rule, factsAfter(spentToday(amount)), firing))).toBe(expected);
});

test('a top-up gives nothing back', () => {
  const facts = factsAfter([...spentToday(60), read(factsNoon + minuteMs, 5000)]);
  expect(evaluate(rule, facts, 'warning')).toMatchObject({
    kind: 'breached',
    value: { unit: 'money', micros: units(60) },
    threshold: { unit: 'money', micros: units(50) },
  });
});

test('the next period resolves it', () => {
  const facts = factsAfter([
    ...spentToday(120),
    read(midnight + dayMs - minuteMs, 880),
    read(midnight + dayMs + minuteMs, 879),
  ]);
  expect(evaluate(rule, facts, 'critical')).toMatchObject({
    kind: 'ok',
    value: { unit: 'money', micros: units(0.5) },
  });
});

describe('a period that is not known from its beginning', () => {
  const late = (amount: number) =>
    factsAfter([read(midnight + hourMs, 1000), read(factsNoon, 1000 - amount)]);

  test('gives no verdict below the budget, whether it fires or not, and says since when it knows', () => {
    for (const firing of [null, 'warning'] as const) {
      expect(evaluate(rule, late(10), firing)).toMatchObject({
        kind: 'unknown',
        why: 'spending is known since 2026-11-20 01:00 UTC only (10.00 CNY), not since the day began',
      });
    }
  });

  test('is over budget for certain where the known part is', () => {
    expect(verdict(evaluate(rule, late(100), null))).toBe('critical');
  });

  test('tells since when it knows, and when it was first read after a long gap', () => {
    expect(factNames([read(midnight + hourMs, 9), read(factsNoon, 8)]).get('known since')).toEqual({
      unit: 'instant',
      at: midnight + hourMs,
    });
    const gap = factNames([read(midnight - 6 * hourMs, 1000), read(midnight + 6 * hourMs, 880)]);
    expect(gap.get('first read in it')).toEqual({ unit: 'instant', at: midnight + 6 * hourMs });
    expect(gap.get('spent')).toEqual({ unit: 'money', micros: units(60) });
  });
});

describe('the total at the end', () => {
  test('is by the forecast where there is one', () => {
    const readings = [...spendBy(officeHours, { from: monday, to: monday + 15.5 * dayMs })];
    const found = factNames(
      readings.map((reading) => ({ ...reading, currency: 'CNY' })),
      { per: 'week' },
    );
    expect(found.get('reckoned by')).toEqual({ unit: 'text', text: 'the forecast' });
    const total = found.get('total at its end');
    // A week takes 50 hours of ten units and 118 of one.
    expect(total?.unit === 'money' ? total.micros / units(618) : 0).toBeCloseTo(1, 1);
  });

  test('is by the mean before', () => {
    const found = factNames(spentToday(30));
    expect(found.get('total at its end')).toEqual({ unit: 'money', micros: units(60) });
    expect(found.get('reckoned by')).toEqual({ unit: 'text', text: 'the mean of the period' });
  });

  test('is not known yet in the first hour', () => {
    const found = factNames([read(midnight, 10), read(midnight + 30 * minuteMs, 9)]);
    expect(found.get('total at its end')).toEqual({ unit: 'text', text: 'not known yet' });
  });
});

test('it gives no verdict in another currency than that of the account', () => {
  expect(verdict(evaluate(rule, factsAfter([read(factsNoon, 1, 'USD')]), null))).toBe('unknown');
});

test('it is described with its ladder', () => {
  expect(describeRule({ ...rule, balanceLabel: 'SMS' })).toBe(
    'spent of the SMS balance since the day began reaches 100.00 (critical), 50.00 (warning)',
  );
});

describe('a budget by the forecast', () => {
  // Office hours take 618 units a week; the month of the readings began with them, on Monday 5 January 2026.
  const readings = [...spendBy(officeHours, { from: monday, to: monday + 38 * dayMs })];
  const facts = { ...factsAfter(readings), currency: 'EUR' };
  const monthly = (amount: number, over: Partial<BudgetRule> = {}): BudgetRule => ({
    ...rule,
    ...{ by: 'forecast', per: 'month', thresholds: { warning: units(amount) } },
    ...over,
  });

  test('fires when the total at the period end will reach it, long before it is spent', () => {
    const said = evaluate(monthly(2000), facts, null);
    expect(said).toMatchObject({ kind: 'breached', severity: 'warning' });
    // February has four weeks.
    const total = said.value?.unit === 'money' ? said.value.micros : 0;
    expect(Math.abs(total / units(4 * 618) - 1)).toBeLessThan(0.02);
    expect(verdict(evaluate(monthly(2000, { by: 'spent' }), facts, null))).toBe('ok');
  });

  test('says when, and between which totals', () => {
    const found = new Map(
      explainRule(monthly(2000), facts, null).facts.map(({ name, value }) => [name, value]),
    );
    const [low, total, high] = ['total at least', 'total at its end', 'total at most'].map((name) => {
      const value = found.get(name);
      return value?.unit === 'money' ? value.micros : Number.NaN;
    });
    expect(low).toBeLessThan(total ?? 0);
    expect(total).toBeLessThan(high ?? 0);
    const reached = found.get('budget reached about');
    const at = reached?.unit === 'instant' ? reached.at : 0;
    expect(at).toBeGreaterThan(monday + 38 * dayMs);
    expect(at).toBeLessThan(Date.UTC(2026, 2, 1));
  });

  test('resolves when the total is a tenth under the budget, and is silent without a forecast', () => {
    expect(verdict(evaluate(monthly(2600), facts, 'warning'))).toBe('warning');
    expect(verdict(evaluate(monthly(2900), facts, 'warning'))).toBe('ok');
    expect(verdict(evaluate(monthly(10, { per: 'day' }), factsAfter(spentToday(60)), null))).toBe('unknown');
  });

  test('says of weeks in which nothing was left that spending is not known, not that the history is short', () => {
    const empty = Array.from({ length: 38 * 24 }, (_, hour) => read(monday + hour * hourMs, 0));
    expect(evaluate(monthly(10), factsAfter(empty), null)).toMatchObject({
      kind: 'unknown',
      why: 'less than a day of spending known: no forecast yet',
    });
  });
});

test('a budget of another currency than the balance is read in by now is none of it', () => {
  const monthly: BudgetRule = { ...rule, per: 'month' };
  const budgeted = (currency: string) =>
    monthlyBudget(
      {
        rules: [asAnyRule(monthly)],
        settings: { currency: 'CNY' },
        poll: { reading: read(factsNoon, 100, currency) },
      },
      'sms',
      0,
    );
  expect(budgeted('RMB')).toBe(units(100));
  expect(budgeted('USD')).toBeNull();
});

test.each<[string, readonly number[], number, number]>([
  ['the one that is reached first, while none is', [4000, 3000], 2000, 3000],
  ['the one that is reached, though another is not', [4000, 3000], 3500, 3000],
  ['the highest, where all are reached', [4000, 3000], 4000, 4000],
])('of several budgets of a month forecasts show %s', (_, amounts, spent, expected) => {
  const rules = amounts.map((amount) => {
    const thresholds = { info: units(amount / 2), warning: units(amount) };
    const monthly: BudgetRule = { ...rule, per: 'month', thresholds };
    return asAnyRule(monthly);
  });
  const poll = { reading: read(factsNoon, 100, 'CNY') };
  const account = { rules, settings: { currency: 'CNY' }, poll };
  expect(monthlyBudget(account, 'sms', units(spent))).toBe(units(expected));
});
