import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reserve } from '../../src/engine/request-guard.ts';

test('the first request of a group starts at once', () => {
  expect(reserve(Number.NEGATIVE_INFINITY, 1000, 1)).toEqual({ startAt: 1000, nextFreeAt: 2001 });
});

test('the next one waits for its place', () => {
  expect(reserve(2000, 1100, 1)).toEqual({ startAt: 2000, nextFreeAt: 3001 });
});

test('a group that rested gets no burst', () => {
  const first = reserve(2000, 60_000, 4);
  expect(first).toEqual({ startAt: 60_000, nextFreeAt: 60_251 });
  expect(reserve(first.nextFreeAt, 60_000, 4).startAt).toBe(60_251);
});

test('however requests arrive, no second holds more of them than allowed', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 60 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 20 }), (waits, perSecond) => {
      let now = 0;
      let nextFreeAt = Number.NEGATIVE_INFINITY;
      const starts: number[] = [];
      for (const wait of waits) {
        now += wait;
        const reservation = reserve(nextFreeAt, now, perSecond);
        ({ nextFreeAt } = reservation);
        starts.push(reservation.startAt);
      }
      for (const [index, start] of starts.entries()) {
        const later = starts[index + perSecond];
        // A hair less than a second: starts are sums of fractions of milliseconds.
        if (later !== undefined) expect(later - start).toBeGreaterThan(999.999);
      }
    }),
  );
});
