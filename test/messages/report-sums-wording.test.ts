import { expect, test } from 'vitest';
import { wordSums } from '../../src/messages/report-sums-wording.ts';
import { english } from '../../src/wording/language.ts';
import { dayMs, units } from '../support/account-facts.ts';
import { buildReport } from '../support/messages.ts';

const now = Date.UTC(2026, 10, 20, 9);
const reader = { language: english, timezone: 'Asia/Shanghai', now };
/** Begins in Shanghai, on the last day of October in UTC. */
const startsAt = Date.UTC(2026, 9, 31, 16);
const total = { micros: units(18_900), low: units(18_300), high: units(19_500) };
const november = {
  ...{ currency: 'CNY', startsAt, budget: null, unknown: 0, balances: 3 },
  month: { spent: units(12_400), total, isWhole: true },
};
const week = { since: now - 7 * dayMs, until: now };
const words = (parts: Parameters<typeof buildReport>[0]) =>
  wordSums(buildReport({ ...week, ...parts }), reader);

test.each([
  [
    'what the month took, what it comes to and between which sums',
    {},
    ['Nov: 12,400.00 CNY so far, 18,900.00 CNY by its end (18,300.00 to 19,500.00)'],
  ],
  [
    'its budget',
    { budget: units(20_000) },
    ['Nov: 12,400.00 CNY so far, 18,900.00 CNY by its end (18,300.00 to 19,500.00); budget 20,000.00 CNY'],
  ],
  [
    'that nothing is known yet',
    { unknown: 3 },
    ['Nov: 12,400.00 CNY so far; what it comes to is not known yet'],
  ],
  [
    'what is not known of it',
    { unknown: 1, month: { ...november.month, isWhole: false } },
    [
      'Nov: 12,400.00 CNY so far, 18,900.00 CNY by its end (18,300.00 to 19,500.00)',
      'Not all of Nov was watched in CNY: what was spent before is not in it.',
      'Of 1 balance in CNY there is no forecast: it counts as spent so far.',
    ],
  ],
])('a weekly report says %s', (_, parts, expected) => {
  expect(words({ months: [{ ...november, ...parts }] })).toEqual(expected);
});

test('a daily report says nothing of the month', () => {
  expect(words({ months: [november], since: now - dayMs })).toEqual([]);
});

test('a report says the pay runs in three lines at most, what cannot wait for one first', () => {
  const run = { sums: [{ currency: 'CNY', micros: units(1900) }], total: null, count: 2 };
  const runs = [null, now + 5 * dayMs, now + 20 * dayMs, now + 30 * dayMs].map((at) => ({ ...run, at }));
  expect(words({ payRuns: runs })).toEqual([
    'Cannot wait for a run: 1,900.00 CNY for 2 balances',
    'Run of Wed 25 Nov 17:00 UTC+8: 1,900.00 CNY for 2 balances',
    'Run of Thu 10 Dec 17:00 UTC+8: 1,900.00 CNY for 2 balances',
  ]);
});

test('one sum says the day of its rates, and what is not in it', () => {
  const sum = { currency: 'EUR', micros: units(2300), date: '2026-11-19', missing: [] };
  const without = { ...sum, date: null, missing: ['CNY', 'USD'] };
  expect(words({ inOne: { left: sum, spent: without } })).toEqual([
    'Left in one currency: 2,300.00 EUR at the rates of 2026-11-19',
    'Spent in one currency: 2,300.00 EUR, without CNY, USD: no rates were read yet',
  ]);
});
