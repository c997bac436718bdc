import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { ReadingLog } from '../../src/spending/reading-log.ts';
import { dayMs, factsNoon, hourMs, minuteMs, readingAt, steady, units } from '../support/account-facts.ts';

function logOf(
  readings: readonly Reading[],
  options: { windowMs?: number; pollIntervalMs?: number } = {},
): ReadingLog {
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs: 5 * minuteMs, ...options });
  for (const reading of readings) log.append(reading);
  return log;
}

/** Balances of a random walk with falls and now and then a top-up, at random distances. */
const walks = fc.array(
  fc.record({
    waitMs: fc.integer({ min: 1, max: 20 * minuteMs }),
    change: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: -5_000_000, max: 0 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 500_000_000 }) },
    ),
  }),
  { minLength: 1, maxLength: 60 },
);

function walk(steps: readonly { readonly waitMs: number; readonly change: number }[]): Reading[] {
  let at = factsNoon;
  let sms = units(100);
  return steps.map(({ waitMs, change }) => {
    at += waitMs;
    sms += change;
    return { at, balances: { sms, voip: -sms }, currency: 'CNY' };
  });
}

/** Nearly always a few seconds apart, now and then up to `slow` times 90 s. */
function burstsOfReadings({ seed, slow, count }: { seed: number; slow: number; count: number }): Reading[] {
  let at = factsNoon;
  let state = seed;
  return Array.from({ length: count }, (_, index) => {
    state = (state * 48_271) % 2_147_483_647;
    at += index % 50 === 0 ? (state % 90_000) * slow : state % 22_500;
    return { at, balances: { sms: -1000 * (state % 7), voip: -3 * index }, currency: 'CNY' };
  });
}

/** Falls since the last reading at or before an instant. */
function spentSince(log: ReadingLog, balance: string, instant: number): number {
  return log.length === 0 ? 0 : log.spentBetween(balance, Math.max(0, log.indexAt(instant)), log.length - 1);
}

test('an empty log answers every question', () => {
  const log = logOf([]);
  expect([log.length, log.at(log.length - 1), log.currency, log.at(0), log.indexAt(factsNoon)]).toEqual([
    0,
    null,
    null,
    null,
    -1,
  ]);
  expect([spentSince(log, 'sms', 0), log.toppedUpSince('voip', 0), log.readings(0)]).toEqual([0, 0, []]);
});

describe('falls are spending, rises are top-ups', () => {
  const log = logOf(
    [100, 90, 95, 80, 80, 300].map((sms, index) =>
      readingAt(index * 5, sms, { balances: { sms: units(sms), voip: units(sms * 2) } }),
    ),
  );

  test.each([
    ['over the whole log', 0, 25, 225],
    ['from a reading on', 5, 15, 225],
    ['from between two readings: the earlier one counts', 7, 15, 225],
    ['from the last fall on', 15, 0, 220],
    ['from the newest reading on', 25, 0, 0],
    ['from before the log', -600, 25, 225],
  ])('%s', (_, minutes, spent, toppedUp) => {
    const since = factsNoon + minutes * minuteMs;
    expect(spentSince(log, 'sms', since)).toBe(units(spent));
    expect(log.toppedUpSince('sms', since)).toBe(units(toppedUp));
    expect(spentSince(log, 'voip', since)).toBe(units(2 * spent));
  });

  test('the last spending is the reading that showed it', () => {
    expect(log.lastSpendingIndex('sms')).toBe(3);
  });
});

test('readings are found by instant', () => {
  const log = logOf(steady({ from: 100, perHour: 12, until: 30 }));
  expect(log.indexAt(factsNoon - 1)).toBe(-1);
  expect(log.indexAt(factsNoon)).toBe(0);
  expect(log.indexAt(factsNoon + 9 * minuteMs)).toBe(1);
  expect(log.indexAt(factsNoon + dayMs)).toBe(6);
  expect(log.readings(factsNoon + 20 * minuteMs)).toEqual([
    readingAt(20, 96),
    readingAt(25, 95),
    readingAt(30, 94),
  ]);
});

describe('memory', () => {
  test('a day of five-minute readings with jitter is kept whole', () => {
    const jittered = steady({ from: 1000, perHour: 10, until: 24 * 60 }).map((reading, index) => ({
      ...reading,
      at: reading.at + (index % 2 === 0 ? -14_999 : 14_999),
    }));
    expect(logOf(jittered).length).toBe(289);
  });

  test('what is older than the window goes, but for the balance at its start', () => {
    const log = logOf(steady({ from: 5000, perHour: 10, until: 3 * 24 * 60 + 2 }));
    expect(log.length).toBe(289);
    expect(log.instantAt(0)).toBe(factsNoon + 2 * dayMs);
  });

  test.each([
    ['a second', 1, dayMs, 1],
    ['twenty seconds', 20, 2 * dayMs, 20],
    ['five minutes over a month', 300, 40 * dayMs, 300],
  ])(
    'a reading every %s is thinned, and sums over any window stay right to a hundredth of it',
    (_, every, spanMs, perStep) => {
      const windowMs = Math.min(spanMs, 30 * dayMs);
      const log = new ReadingLog({ windowMs, pollIntervalMs: every * 1000 });
      let longest = 0;
      const end = factsNoon + spanMs;
      for (let at = factsNoon; at <= end; at += every * 1000) {
        log.append({
          at,
          balances: { sms: -(at - factsNoon) * perStep, voip: 0 },
          currency: 'CNY',
        });
        longest = Math.max(longest, log.length);
      }
      expect(longest).toBeLessThan(1400);
      for (const share of [1, 0.9, 0.5, 0.26, 0.24, 0.1, 0.03, 0.01]) {
        const spent = spentSince(log, 'sms', end - windowMs * share) / perStep;
        expect(spent / (windowMs * share)).toBeGreaterThanOrEqual(1 - 1e-9);
        expect(spent - windowMs * share).toBeLessThan(windowMs * share * 0.0105 + every * 1000);
      }
    },
  );

  test('a log that is younger than its window keeps its first reading, and what fell right after it', () => {
    const [first, ...others] = steady({ from: 100, perHour: 0, until: 12 * 60 });
    const fallen = others.map((reading) => ({ ...reading, balances: { sms: units(40), voip: 0 } }));
    const log = logOf(first === undefined ? [] : [first, ...fallen], { windowMs: 7 * dayMs });
    const late = readingAt(4 * 24 * 60, 40);
    log.append(late);
    log.append({ ...late, at: late.at + hourMs });
    expect(log.length).toBeLessThan(others.length);
    expect(log.spentBetween('sms', 0, log.length - 1)).toBe(units(60));
  });

  test('a log made from the stored readings equals the one that lived through them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), fc.integer({ min: 1, max: 40 }), (seed, slow) => {
        const windowMs = 2 * hourMs;
        const readings = burstsOfReadings({ seed, slow, count: 900 });
        const at = readings.at(-1)?.at ?? 0;
        const lived = logOf(readings, { windowMs, pollIntervalMs: 10_000 });
        const since = lived.reloadSince(at);
        const before = readings.findLast((reading) => reading.at < since);
        const stored = [...(before ? [before] : []), ...readings.filter((reading) => reading.at >= since)];
        const reloaded = logOf(stored, { windowMs, pollIntervalMs: 10_000 });
        expect(reloaded.readings(0)).toEqual(lived.readings(0));
        for (let index = 0; index < lived.length; index++) {
          const last = lived.length - 1;
          expect(reloaded.spentBetween('sms', index, last)).toBe(lived.spentBetween('sms', index, last));
          expect(reloaded.blindBetween(index, last)).toBeCloseTo(lived.blindBetween(index, last), 3);
        }
      }),
      // Gaps where the log begins.
      { numRuns: 20, examples: [[344_939_600, 1]] },
    );
  });

  test('a log made from stored readings finds no gaps in an account that is read more seldom than configured', () => {
    const settings = { windowMs: dayMs, pollIntervalMs: 5 * minuteMs };
    const readings = Array.from({ length: 200 }, (_, index) => readingAt(index * 20, 1000 - index));
    const lived = logOf(readings, settings);
    const since = lived.reloadSince(readings.at(-1)?.at ?? 0);
    const reloaded = logOf(
      readings.filter(({ at }) => at >= since),
      settings,
    );
    expect(lived.blindBetween(0, lived.length - 1)).toBe(0);
    expect(reloaded.readings(0)).toEqual(lived.readings(0));
    expect(reloaded.blindBetween(0, reloaded.length - 1)).toBe(0);
  });

  test('balances are as they were read through weeks with top-ups and weeks without', () => {
    const balanceOf = (hour: number): number => units(1000 * Math.floor((hour + 100) / 240)) - units(hour);
    const readings = Array.from({ length: 1000 }, (_, hour) => ({
      at: factsNoon + hour * hourMs,
      balances: { sms: balanceOf(hour), voip: 0 },
      currency: 'CNY',
    }));
    const log = logOf([], { pollIntervalMs: hourMs });
    for (const [hour, reading] of readings.entries()) {
      log.append(reading);
      expect(log.readings(0)).toEqual(readings.slice(Math.max(0, hour - 24), hour + 1));
    }
  });

  test('years of spending stay exact', () => {
    const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs: hourMs });
    const most = 4_000_000_000_000_001;
    for (let hour = 0; hour < 2000; hour++) {
      log.append({
        at: factsNoon + hour * hourMs,
        balances: { sms: hour % 24 === 0 ? most : 0, voip: 0 },
        currency: 'CNY',
      });
    }
    expect(spentSince(log, 'sms', factsNoon + 1975 * hourMs)).toBe(most);
  });

  test('a balance that stands still does not fall, though sums before it are past the range of money', () => {
    const micros = fc.integer({ min: 0, max: 9_000_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(micros, { minLength: 10, maxLength: 30 }), (moved) => {
        const read = [...moved, ...new Array(5).fill(moved.at(-1) ?? 0)].map((sms, index) => ({
          at: factsNoon + index * minuteMs,
          balances: { sms, voip: 0 },
          currency: 'VND',
        }));
        const log = logOf(read);
        expect(log.spentBetween('sms', moved.length - 1, log.length - 1)).toBe(0);
        expect(log.lastSpendingIndex('sms')).toBeLessThan(moved.length);
      }),
    );
  });
});

describe('gaps', () => {
  test.each([
    ['two and a half intervals is none', 12.5, 0],
    ['more than two and a half intervals is one', 12.6, 12.6],
  ])('%s', (_, minutes, blind) => {
    const log = logOf([readingAt(0, 9), readingAt(5, 9), readingAt(5 + minutes, 8)]);
    expect(log.blindBetween(0, 2)).toBeCloseTo(blind * minuteMs, 3);
    expect(log.spentBetween('sms', 0, 2)).toBe(units(1));
  });
});

describe('a clock that goes back', () => {
  const log = logOf([
    readingAt(0, 100),
    readingAt(5, 99),
    readingAt(600, 90),
    readingAt(605, 85),
    readingAt(10, 80),
  ]);

  test('takes the readings of the wrong time out, and keeps what was spent in them', () => {
    expect(log.readings(0)).toEqual([readingAt(0, 100), readingAt(5, 99), readingAt(10, 80)]);
    expect(spentSince(log, 'sms', factsNoon)).toBe(units(20));
  });

  test('starts no negative span: the time is blind', () => {
    expect(log.blindBetween(1, 2)).toBe(5 * minuteMs);
  });

  test('before the first reading starts a new log', () => {
    const restarted = logOf([readingAt(100, 9), readingAt(105, 8), readingAt(0, 7)]);
    expect(restarted.readings(0)).toEqual([readingAt(0, 7)]);
    expect(spentSince(restarted, 'sms', 0)).toBe(0);
  });

  test('a second reading of the same instant replaces the first, and no spending is lost', () => {
    const twice = logOf([readingAt(0, 9), readingAt(5, 8), readingAt(5, 7), readingAt(10, 7)]);
    expect(twice.length).toBe(3);
    expect(spentSince(twice, 'sms', factsNoon)).toBe(units(2));
    expect(twice.blindBetween(0, 2)).toBe(0);
  });
});

test('a reading is found by instant however regularly it was polled', () => {
  fc.assert(
    fc.property(
      walks,
      fc.integer({ min: 1, max: 40 * minuteMs }),
      fc.integer({ min: -hourMs, max: dayMs }),
      (steps, pollIntervalMs, afterMs) => {
        const readings = walk(steps);
        const log = logOf(readings, { pollIntervalMs, windowMs: 60 * dayMs });
        const instant = factsNoon + afterMs;
        const found = Array.from({ length: log.length }, (_, index) => log.instantAt(index));
        expect(log.indexAt(instant)).toBe(found.findLastIndex((at) => at <= instant));
      },
    ),
  );
});

test.each(['at rest', 'while the clock is set back'])(
  'a balance that nobody used for hours begins to be spent, %s: its sums are those of one that was always used',
  (when) => {
    const at = (index: number) => factsNoon + (when === 'at rest' || index < 100 ? index : 3) * 5 * minuteMs;
    const amounts = Array.from({ length: 101 }, (_, index) => units(index < 100 ? 70 : 60));
    const reading = (index: number, used: number): Reading => ({
      at: at(index),
      balances: { sms: units(500 - index), voip: (amounts[index] ?? 0) - used },
      currency: 'CNY',
    });
    const log = logOf(amounts.map((_, index) => reading(index, 0)));
    const used = logOf(amounts.map((_, index) => reading(index, index === 0 ? 0 : index)));
    const last = log.length - 1;
    expect(log.length).toBe(used.length);
    expect(log.spentBetween('voip', 0, last)).toBe(units(10));
    expect(used.spentBetween('voip', 0, last)).toBe(units(10) + 100);
    expect(log.spentBetween('sms', 0, last)).toBe(used.spentBetween('sms', 0, last));
    expect(log.balanceAt(last - 1, 'voip')).toBe(units(70));
    expect(log.blindBetween(0, last)).toBe(used.blindBetween(0, last));
  },
);

test('a change of currency starts a new series', () => {
  const log = logOf([readingAt(0, 900), readingAt(5, 800), readingAt(10, 100, { currency: 'USD' })]);
  expect([log.length, log.currency, spentSince(log, 'sms', 0), log.toppedUpSince('sms', 0)]).toEqual([
    1,
    'USD',
    0,
    0,
  ]);
});

describe('for any balance', () => {
  test('what was spent is never negative, and balances with top-ups and the change of the balance', () => {
    fc.assert(
      fc.property(walks, (steps) => {
        const readings = walk(steps);
        const log = logOf(readings);
        const last = log.length - 1;
        for (const balance of ['sms', 'voip'] as const) {
          for (let from = 0; from <= last; from++) {
            const spent = log.spentBetween(balance, from, last);
            const change = log.balanceAt(last, balance) - log.balanceAt(from, balance);
            expect(spent).toBeGreaterThanOrEqual(0);
            expect(log.toppedUpBetween(balance, from, last)).toBeGreaterThanOrEqual(0);
            expect(log.toppedUpBetween(balance, from, last) - spent).toBe(change);
          }
        }
      }),
    );
  });

  test('top-ups never change what was spent', () => {
    fc.assert(
      fc.property(walks, (steps) => {
        const withoutTopUps = steps.map((step) => ({ ...step, change: Math.min(0, step.change) }));
        const [left, right] = [logOf(walk(steps)), logOf(walk(withoutTopUps))];
        expect(spentSince(left, 'sms', 0)).toBe(spentSince(right, 'sms', 0));
      }),
    );
  });

  test('a fall in several steps spends the same as at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 40 }),
        (falls) => {
          const stepped = walk([
            { waitMs: 1, change: 0 },
            ...falls.map((fall) => ({ waitMs: minuteMs, change: -fall })),
          ]);
          const atOnce = [stepped[0], stepped.at(-1)].filter((reading) => reading !== undefined);
          expect(spentSince(logOf(stepped), 'sms', 0)).toBe(spentSince(logOf(atOnce), 'sms', 0));
        },
      ),
    );
  });
});
