import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { burnPerDay, isOneJump, measureBurn, runwayOf } from '../../src/spending/burn.ts';
import { ReadingLog } from '../../src/spending/reading-log.ts';
import {
  dayMs,
  factsAfter,
  factsNoon,
  hourMs,
  minuteMs,
  readingAt,
  steady,
  units,
} from '../support/account-facts.ts';

function burnOf(readings: readonly Reading[], options: { lookbackMs?: number; every?: number } = {}) {
  const { lookbackMs = dayMs, every = 5 } = options;
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs: every * minuteMs });
  for (const reading of readings) log.append(reading);
  return measureBurn({ log, balance: 'sms', lookbackMs });
}

test('the rate is what fell over the time in which it was seen', () => {
  const burn = burnOf(steady({ from: 100, perHour: 2, until: 180 }));
  expect(burn).toMatchObject({ spentMicros: units(6), observedMs: 3 * hourMs, blindMs: 0, readings: 37 });
  expect(burnPerDay(burn)).toBe(units(48));
});

test('only the lookback counts, from the last reading at its start', () => {
  const fast = steady({ from: 1000, perHour: 100, until: 120 });
  const slow = steady({ from: 800, perHour: 6, until: 60 }).slice(1);
  const later = slow.map((reading) => ({ ...reading, at: reading.at + 2 * hourMs }));
  const burn = burnOf([...fast, ...later], { lookbackMs: 58 * minuteMs });
  expect([burn.spentMicros, burn.observedMs]).toEqual([units(6), hourMs]);
});

test('nothing read is nothing known', () => {
  const burn = burnOf([]);
  expect([burn.confidence, burnPerDay(burn), runwayOf(burn, units(5))]).toEqual(['none', null, null]);
});

describe('gaps', () => {
  const hour = steady({ from: 100, perHour: 12, until: 60 });

  test('a fall over a gap counts with its time', () => {
    const burn = burnOf([...hour, readingAt(120, 76)]);
    expect([burn.spentMicros, burn.observedMs, burn.blindMs]).toEqual([units(24), 2 * hourMs, hourMs]);
  });

  test('a gap that a top-up ended counts neither way, for its spending cannot be seen', () => {
    const burn = burnOf([...hour, readingAt(120, 500)]);
    expect([burn.spentMicros, burn.observedMs, burn.blindMs]).toEqual([units(12), hourMs, hourMs]);
    expect(burnPerDay(burn)).toBe(units(288));
  });

  test('a gap over the start of the lookback does not count', () => {
    const burn = burnOf([readingAt(-600, 1000), ...hour], { lookbackMs: 2 * hourMs });
    expect([burn.spentMicros, burn.observedMs, burn.blindMs]).toEqual([units(12), hourMs, 0]);
  });
});

describe('confidence', () => {
  test.each<[string, number, number, number, string]>([
    ['one reading', 0, 5, dayMs, 'none'],
    ['less than ten minutes', 5, 5, dayMs, 'none'],
    ['ten minutes', 10, 5, dayMs, 'low'],
    ['less than an hour', 55, 5, dayMs, 'low'],
    ['an hour', 60, 5, dayMs, 'medium'],
    ['an hour in five readings', 60, 15, dayMs, 'low'],
    ['an hour and a quarter in six readings', 75, 15, dayMs, 'medium'],
    ['less than half of the lookback', 715, 5, dayMs, 'medium'],
    ['half of the lookback', 720, 5, dayMs, 'high'],
    ['a short lookback, an eighth of it', 1, 0.25, 8 * minuteMs, 'low'],
    ['a short lookback, less than an eighth', 0.75, 0.25, 8 * minuteMs, 'none'],
    ['a short lookback, half of it', 4, 0.25, 8 * minuteMs, 'high'],
  ])('after %s', (_, until, every, lookbackMs, confidence) => {
    expect(burnOf(steady({ from: 9, perHour: 1, until, every }), { lookbackMs, every }).confidence).toBe(
      confidence,
    );
  });

  test.each([
    ['high becomes medium', steady({ from: 9, perHour: 1, until: 60 }), 780, 'medium'],
    ['medium becomes low', steady({ from: 9, perHour: 1, until: 60 }), 180, 'low'],
    ['low becomes none', steady({ from: 9, perHour: 1, until: 15 }), 40, 'none'],
  ] as const)('where more than half of the time lies in gaps, %s', (_, readings, last, confidence) => {
    expect(burnOf([...readings, readingAt(last, 1)]).confidence).toBe(confidence);
  });
});

describe('runway', () => {
  const burn = burnOf(steady({ from: 1000, perHour: 10, until: 24 * 60 }));

  test.each([
    ['a day of spending lasts a day', units(240), dayMs],
    ['nothing lasts no time', 0, 0],
    ['less than nothing lasts no time', -1, 0],
    ['a fraction is rounded down', 1, 0],
    ['what lasts more than a hundred years does not run out', units(9_000_000), Number.POSITIVE_INFINITY],
  ])('%s', (_, available, expected) => {
    expect(runwayOf(burn, available)).toBe(expected);
  });

  test('without spending it does not run out', () => {
    expect(runwayOf({ ...burn, spentMicros: 0 }, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

test('the burn rate is never negative, no matter what the balance does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: -3600, max: 36_000 }), fc.integer({ min: -1e9, max: 1e9 })), {
        maxLength: 50,
      }),
      fc.integer({ min: 1, max: dayMs }),
      (steps, lookbackMs) => {
        let at = factsNoon;
        const readings = steps.map(([seconds, sms]) => {
          at += seconds * 1000;
          return { at, balances: { sms, voip: 0 }, currency: 'CNY' };
        });
        const burn = burnOf(readings, { lookbackMs });
        expect(burn.spentMicros).toBeGreaterThanOrEqual(0);
        expect(burn.observedMs).toBeGreaterThanOrEqual(0);
        expect(burn.blindMs).toBeGreaterThanOrEqual(0);
        expect(burnPerDay(burn) ?? 0).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});

test.each([
  ['1,001 that fall to 45 at once', [1001, 1000, 1000, 999, 45, 45, 44], true],
  ['steady spending', [100, 90, 80, 70, 60, 50, 40], false],
  ['nothing spent', [100, 100, 100, 100], false],
])('%s: one jump is %s', (_, amounts, expected) => {
  const { log } = factsAfter(amounts.map((sms, index) => readingAt(index * 5, sms)));
  expect(isOneJump({ log, balance: 'sms', lookbackMs: 24 * 3_600_000 })).toBe(expected);
});
