import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import { thin } from '../../src/spending/thin.ts';
import { minuteMs } from '../support/account-facts.ts';

function history(balances: readonly (readonly [number, number])[]): Reading[] {
  return balances.map(([sms, voip], index) => ({
    at: index * minuteMs,
    balances: { sms, voip },
    currency: 'CNY',
  }));
}

const histories = fc
  .array(fc.tuple(fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: -1000, max: 1000 })), {
    maxLength: 400,
  })
  .map(history);

test('a history that is short enough comes back as it is', () => {
  const readings = history([
    [1, 2],
    [3, 4],
    [5, 6],
  ]);
  expect(thin(readings, 3)).toBe(readings);
  expect(thin([], 10)).toEqual([]);
});

test('a single dip and a single peak in a year survive', () => {
  const readings = history(
    Array.from({ length: 105_120 }, (_, index) => [index === 70_001 ? -5 : 100, index === 3 ? 900 : 7]),
  );
  const thinned = thin(readings, 500);
  expect(thinned.length).toBeLessThanOrEqual(500);
  expect(thinned).toContain(readings[70_001]);
  expect(thinned).toContain(readings[3]);
});

test.each([
  [0, [1, 3]],
  [2, [1, 3]],
  [3, [1, 3, 6]],
  [4, [0, 1, 3, 6]],
])('of %i points the lowest and the highest come before the ends', (points, places) => {
  const readings = history([
    [1, 1],
    [9, 9],
    [2, 2],
    [0, 0],
    [4, 4],
    [3, 3],
    [8, 8],
  ]);
  expect(thin(readings, points)).toEqual(places.map((place) => readings[place]));
});

test('few points go to the balance that moves', () => {
  const readings = history([
    [5, 7],
    [1, 7],
    [9, 7],
    [5, 7],
    [5, 7],
  ]);
  expect(thin(readings, 2)).toEqual([readings[1], readings[2]]);
});

test('a balance that came later keeps its dips too, and the points are no more than asked for', () => {
  const readings = Array.from({ length: 1000 }, (_, index): Reading => {
    const minutes = index < 320 ? {} : { minutes: index === 322 ? -5 : (index * 37) % 100 };
    return { at: index * minuteMs, balances: { sms: (index * 71) % 90, ...minutes }, currency: 'CNY' };
  });
  for (const points of [2, 5, 10, 50, 300]) {
    const thinned = thin(readings, points);
    expect(thinned.length).toBeLessThanOrEqual(points);
    if (points > 2) expect(thinned).toContain(readings[322]);
  }
});

test('regardless of the history, its extremes and ends stay, in order, within the points', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 6, max: 100 }), (readings, points) => {
      const thinned = thin(readings, points);
      expect(thinned.length).toBeLessThanOrEqual(points);
      expect([thinned[0], thinned.at(-1)]).toEqual([readings[0], readings.at(-1)]);
      for (const balance of ['sms', 'voip'] as const) {
        for (const extreme of [Math.min, Math.max]) {
          const ofAll = extreme(...readings.map((reading) => amountOf(reading, balance)));
          expect(extreme(...thinned.map((reading) => amountOf(reading, balance)))).toBe(ofAll);
        }
      }
      const places = thinned.map((reading) => readings.indexOf(reading));
      expect(places).toEqual([...new Set(places)].sort((left, right) => left - right));
    }),
  );
});
