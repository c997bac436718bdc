import { expect, test } from 'vitest';
import { slump, surge, type UnusualRule } from '../../src/rules/unusual.ts';
import { dayMs, factsAfter, hourMs, moneyBase, units } from '../support/account-facts.ts';
import { evaluate, explainRule } from '../support/evaluate.ts';
import { monday, officeHours, spendBy } from '../support/spending.ts';

const rule: UnusualRule = {
  ...moneyBase,
  id: 'more',
  type: 'surge',
  sensitivity: 'normal',
};

const begins = monday + 23 * dayMs + 2 * hourMs;

function factsOf(perHour: (at: number) => number, to: number) {
  return factsAfter(
    [...spendBy(perHour, { from: monday, to })].map((reading) => ({ ...reading, currency: 'CNY' })),
  );
}

test('a surge says how much more, since when, what that is an hour and when it empties the balance', () => {
  const facts = factsOf((at) => officeHours(at) + (at >= begins ? units(40) : 0), begins + hourMs / 2);
  expect(evaluate(rule, facts, null)).toMatchObject({ kind: 'breached', severity: 'warning' });
  const found = new Map(explainRule(rule, facts, null).facts.map(({ name, value }) => [name, value]));
  expect(found.get('since')).toEqual({ unit: 'duration', ms: hourMs / 2 });
  expect(found.get('times the usual')).toMatchObject({
    unit: 'text',
    text: expect.stringMatching(/^4[0-9]/),
  });
  expect(found.get('an hour, beyond the usual')).toMatchObject({ unit: 'money' });
  expect(found.get('empty at this pace')).toMatchObject({ unit: 'instant' });
});

test('what it rests on is explained: profile, level, drift, how good the forecasts were', () => {
  const facts = factsOf(officeHours, begins);
  const found = new Map(explainRule(rule, facts, null).facts.map(({ name, value }) => [name, value]));
  expect(found.get('usual in this hour')).toEqual({ unit: 'money', micros: units(1) });
  expect(found.get('usual in a week')).toEqual({ unit: 'money', micros: units(50 * 10 + 118) });
  expect(found.get('usual Monday 8:00, the busiest hour')).toEqual({ unit: 'money', micros: units(10) });
  expect(found.get('level')).toEqual({ unit: 'text', text: '100 % of what is usual at these hours' });
  expect(found.get('drift')).toEqual({ unit: 'text', text: '100 % of the profile, over two weeks' });
  expect(found.get('forecasts of 3d')).toMatchObject({
    text: expect.stringMatching(/^usually off by \d+ %$/),
  });
});

test('in its first week it is quiet, and says so', () => {
  const facts = factsOf(
    (at) => officeHours(at) + (at >= monday + 2 * dayMs ? units(40) : 0),
    monday + 3 * dayMs,
  );
  expect(evaluate(rule, facts, null)).toMatchObject({
    kind: 'unknown',
    why: expect.stringMatching(/^7[12] hours learned, needs a week/),
  });
});

test('spending as usual is ok', () => {
  expect(evaluate(rule, factsOf(officeHours, begins), null).kind).toBe('ok');
  expect(surge.describe(rule)).toContain('spent far more than usual at this hour of the week');
});

test('a change that lasted a day is reported with by how much and since when, though all is usual by then', () => {
  const since = monday + 36 * dayMs;
  const less: UnusualRule = { ...rule, id: 'less', type: 'slump' };
  const facts = factsOf((at) => officeHours(at) / (at >= since ? 3 : 1), since + dayMs + hourMs);
  expect(slump.isSurelyOk?.(less, facts)).toBe(false);
  expect(evaluate(less, facts, null).kind).toBe('breached');
  expect(evaluate(rule, facts, null).kind).toBe('ok');
  const found = new Map(explainRule(less, facts, null).facts.map(({ name, value }) => [name, value]));
  expect(found.get('lasting change')).toEqual({ unit: 'text', text: '0.33 times its former level' });
  expect(found.get('changed since')).toEqual({ unit: 'instant', at: since });
});
