import { expect, test } from 'vitest';
import {
  balanceName,
  endOf,
  formatPayable,
  formatRise,
  roughRunway,
  wordEmptyAt,
  wordInterval,
} from '../../src/wording/quantity-wording.ts';
import { buildRunway, dayMs, viewsNow } from '../support/built-views.ts';

test.each([
  [2_999_665_707, 'about 3,000.00 CNY'],
  [500_000_000, '500.00 CNY'],
  [1_397_900_000, 'about 1,400.00 CNY'],
  [10_000, '0.01 CNY'],
])('a rise of %i millionths is reported as %s', (micros, words) => {
  expect(formatRise(micros, 'CNY')).toBe(words);
});

test.each([
  [4_123_400_000, '4,200.00 CNY'],
  [99_000_000, '99.00 CNY'],
  [101_000_000, '110.00 CNY'],
  [28_753_720_000, '29,000.00 CNY'],
  [120_001, '0.13 CNY'],
])('of %i millionths a person would pay %s', (micros, words) => {
  expect(formatPayable(micros, 'CNY')).toBe(words);
});

test('nobody plans by the days of a runway beyond a year', () => {
  expect(roughRunway(364 * dayMs)).toBe('364 days');
  expect(roughRunway(366 * dayMs)).toBe('over a year');
  expect(roughRunway(366 * dayMs, () => '366d')).toBe('over a year');
  expect(endOf(buildRunway({ emptyAt: viewsNow + 364 * dayMs }), viewsNow)).toBe(viewsNow + 364 * dayMs);
  expect(endOf(buildRunway({ emptyAt: viewsNow + 366 * dayMs }), viewsNow)).toBeNull();
  expect(endOf(buildRunway({ emptyAt: viewsNow - 1 }), viewsNow)).toBeNull();
});

test.each([
  [1, 5, 'between 1d and 5d'],
  [-1, 5, 'between 0d and 5d'],
  [1, null, 'between 1d and much later'],
  [1, 3000, 'between 1d and much later'],
  [null, null, null],
])('what lies from day %s to day %s is said as %s', (from, to, words) => {
  const at = (days: number | null) => (days === null ? null : viewsNow + days * dayMs);
  const forecast = {
    emptyAt: at(2),
    earliest: at(from),
    latest: at(to),
    basis: 'hour-of-week',
  } as const;
  const moment = (instant: number) => `${(instant - viewsNow) / dayMs}d`;
  expect(wordInterval(forecast, { now: viewsNow, moment })).toBe(words);
});

test.each([
  [1, 4, 'hour-of-week', '2d, between 1d and 4d'],
  [1, 4.1, 'hour-of-week', 'between 1d and 4.1d, not known well'],
  [1, null, 'hour-of-day', 'between 1d and much later, not known well'],
  [0.1, 0.9, 'hour-of-week', '2d, between 0.1d and 0.9d'],
  [1, 9, 'mean-burn', '2d, between 1d and 9d'],
  [null, null, 'hour-of-week', '2d'],
] as const)('a range from day %s to day %s by the %s is told as %s', (from, to, basis, words) => {
  const at = (days: number | null) => (days === null ? null : viewsNow + days * dayMs);
  const forecast = { emptyAt: viewsNow + 2 * dayMs, earliest: at(from), latest: at(to), basis };
  const moment = (instant: number) => `${(instant - viewsNow) / dayMs}d`;
  expect(wordEmptyAt(forecast.emptyAt, forecast, { now: viewsNow, moment })).toBe(words);
});

test.each([
  ['SMS', 'SMS balance'],
  ['Balance', 'Balance'],
  ['Main balance', 'Main balance'],
  ['Imbalance', 'Imbalance balance'],
])('a balance with the label %s is called %s', (label, name) => {
  expect(balanceName(label)).toBe(name);
});
