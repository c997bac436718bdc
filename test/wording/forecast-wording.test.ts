import { expect, test } from 'vitest';
import { endOf, sayEmptyAt, sayInterval, sayLength } from '../../src/wording/forecast-wording.ts';
import { english } from '../../src/wording/language.ts';
import { buildRunway, dayMs, viewsNow } from '../support/built-views.ts';

const reader = { language: english, timezone: 'UTC', now: viewsNow };

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
