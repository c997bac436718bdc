import { expect, test } from 'vitest';
import { english } from '../../src/wording/language.ts';
import {
  balanceName,
  endOf,
  sayEmptyAt,
  sayInterval,
  sayLength,
  sayPayable,
  sayRise,
  sayRunwayClause,
} from '../../src/wording/quantity-wording.ts';
import { buildRunway, dayMs, viewsNow } from '../support/built-views.ts';

const reader = { language: english, timezone: 'UTC', now: viewsNow };

test.each([
  [2_999_665_707, 'about 3,000.00 CNY'],
  [500_000_000, '500.00 CNY'],
  [1_397_900_000, 'about 1,400.00 CNY'],
  [10_000, '0.01 CNY'],
])('a rise of %i millionths is reported as %s', (micros, words) => {
  expect(sayRise(micros, { language: english, currency: 'CNY' })).toBe(words);
});

test.each([
  [4_123_400_000, '4,200.00 CNY'],
  [99_000_000, '99.00 CNY'],
  [101_000_000, '110.00 CNY'],
  [28_753_720_000, '29,000.00 CNY'],
  [120_001, '0.13 CNY'],
])('of %i millionths a person would pay %s', (micros, words) => {
  expect(sayPayable(micros, { language: english, currency: 'CNY' })).toBe(words);
});

test('nobody plans by the days of a runway beyond a year', () => {
  expect(sayLength(364 * dayMs, reader)).toBe('364 days');
  expect(sayLength(366 * dayMs, reader)).toBe('over a year');
  expect(sayLength(366 * dayMs, reader, () => '366d')).toBe('over a year');
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
  expect(sayInterval(forecast, reader, moment)).toBe(words);
});

test.each([
  [1, 4, 'hour-of-week', '2d, between 1d and 4d'],
  [1, 4.1, 'hour-of-week', 'perhaps in 24 hours, at the latest in 4 days'],
  [1, null, 'hour-of-day', 'perhaps in 24 hours, perhaps much later'],
  [0.1, 0.9, 'hour-of-week', '2d, between 0.1d and 0.9d'],
  [1, 9, 'mean-burn', '2d, between 1d and 9d'],
  [null, null, 'hour-of-week', '2d'],
] as const)('a range from day %s to day %s by the %s is told as %s', (from, to, basis, words) => {
  const at = (days: number | null) => (days === null ? null : viewsNow + days * dayMs);
  const forecast = { emptyAt: viewsNow + 2 * dayMs, earliest: at(from), latest: at(to), basis };
  const moment = (instant: number) => `${(instant - viewsNow) / dayMs}d`;
  expect(sayEmptyAt(forecast.emptyAt, forecast, reader, moment)).toBe(words);
});

test.each([
  ['SMS', 'SMS balance'],
  ['Balance', 'Balance'],
  ['Main balance', 'Main balance'],
  ['Imbalance', 'Imbalance balance'],
])('a balance with the label %s is called %s', (label, name) => {
  expect(balanceName(label)).toBe(name);
});

test('a forecast that nobody can date is said as one in a sentence too', () => {
  const forecast = {
    emptyAt: viewsNow + 2 * dayMs,
    earliest: viewsNow + dayMs / 48,
    latest: viewsNow + 42 * dayMs,
    basis: 'hour-of-week',
  } as const;
  const runway = buildRunway({ forecast, emptyAt: forecast.emptyAt, runwayMs: 2 * dayMs });
  expect(sayRunwayClause(runway, reader)).toBe(
    'lasts for an uncertain time, empty perhaps within hours, at the latest in 6 weeks',
  );
});
