import { expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { ReadingLog } from '../../src/spending/reading-log.ts';
import { runway } from '../../src/spending/runway.ts';
import { dayMs, hourMs, minuteMs, readingAt, steady, units } from '../support/account-facts.ts';
import { spendingIn } from '../support/spending.ts';

interface Otherwise {
  readonly floorMicros?: number;
  readonly laterMs?: number;
  /** Else nothing is learned of spending yet. */
  readonly learned?: boolean;
}

function runwayAfter(readings: readonly Reading[], over: Otherwise = {}) {
  const log = new ReadingLog({ windowMs: dayMs, pollIntervalMs: 5 * minuteMs });
  const spending = spendingIn();
  for (const reading of readings) {
    log.append(reading);
    if (over.learned) spending.read(reading);
  }
  const reading = readings.at(-1) ?? readingAt(0, 0);
  const { floorMicros = 0, laterMs = 0 } = over;
  const now = reading.at + laterMs;
  return {
    at: reading.at,
    ...runway({ log, spending, reading, balance: 'sms', floorMicros, lookbackMs: dayMs, now }),
  };
}

/** A day at 240 a day that ends at the balance given. */
function dayEndingAt(balance: number): Reading[] {
  return steady({ from: balance + 240, perHour: 10, until: 24 * 60 });
}

test('a steady account runs empty at the pace of its spending', () => {
  const { at, ...seen } = runwayAfter(dayEndingAt(480));
  expect(seen).toEqual({
    balance: 'sms',
    emptyMicros: 0,
    burnPerDay: units(240),
    runwayMs: 2 * dayMs,
    emptyAt: at + 2 * dayMs,
    confidence: 'high',
    forecast: {
      emptyAt: at + 2 * dayMs,
      earliest: at + dayMs,
      latest: at + 4 * dayMs,
      basis: 'mean-burn',
    },
    lookbackMs: 86_400_000,
    usualPerDay: null,
    restoreMicros: units(6720),
  });
});

test('the runway shrinks as the reading ages, the instant of emptiness stays', () => {
  const { at, runwayMs, emptyAt } = runwayAfter(dayEndingAt(480), { laterMs: 6 * hourMs });
  expect([runwayMs, emptyAt]).toEqual([2 * dayMs - 6 * hourMs, at + 2 * dayMs]);
  expect(runwayAfter(dayEndingAt(480), { laterMs: 3 * dayMs }).runwayMs).toBe(0);
});

test('the floor counts as empty', () => {
  const { runwayMs, restoreMicros } = runwayAfter(dayEndingAt(480), { floorMicros: units(240) });
  expect([runwayMs, restoreMicros]).toEqual([dayMs, units(6960)]);
});

test('an overdrawn account has no runway left, and its debt is part of what restores it', () => {
  expect(runwayAfter(dayEndingAt(-18.383))).toMatchObject({
    runwayMs: 0,
    emptyAt: null,
    restoreMicros: units(7218.39),
  });
});

test('an account that spends nothing does not run out', () => {
  expect(runwayAfter(steady({ from: 5, perHour: 0, until: 24 * 60 }))).toMatchObject({
    burnPerDay: 0,
    runwayMs: null,
    emptyAt: null,
    restoreMicros: 0,
  });
});

test('an account with thirty days of runway needs no top-up', () => {
  expect(runwayAfter(dayEndingAt(7200)).restoreMicros).toBe(0);
  expect(runwayAfter(dayEndingAt(7199.999999)).restoreMicros).toBe(units(0.01));
});

test('too little history tells nothing of the future', () => {
  expect(runwayAfter(steady({ from: 5, perHour: 1, until: 5 }))).toMatchObject({
    burnPerDay: null,
    runwayMs: null,
    emptyAt: null,
    confidence: 'none',
    restoreMicros: null,
  });
});

test('an overdrawn account has no runway left even where nothing is known of its burn', () => {
  expect(runwayAfter([readingAt(0, -5)])).toMatchObject({
    burnPerDay: null,
    runwayMs: 0,
    restoreMicros: null,
  });
});

/** Stands still at 100 for so many days, then falls as said, by minutes since then. */
function afterStandstill(days: number, leftAfter: (minutes: number) => number, minutes: number) {
  const begins = days * 24 * 60;
  return runwayAfter(
    Array.from({ length: (begins + minutes) / 5 + 1 }, (_, index) =>
      readingAt(index * 5, index * 5 < begins ? 100 : leftAfter(index * 5 - begins)),
    ),
    { learned: true },
  );
}

test.each([
  ['to nothing within hours', (minutes: number) => Math.max(0, 100 - minutes / 5)],
  ['to less than a message within hours', (minutes: number) => Math.max(0.02, 100 - minutes / 5)],
  ['to little in one poll', () => 0.03],
  ['to a fifth in one poll', () => 20],
  ['to little in one poll, less a refund', (minutes: number) => (minutes < 125 ? 0.03 : 3)],
  ['to nothing in one poll, less a refund', (minutes: number) => (minutes < 125 ? 0 : 0.01)],
  ['by three polls', (minutes: number) => 100 - Math.min(minutes / 5 + 1, 3) * 33],
])(
  'an account that stood still for a month and was spent %s is empty soon, days later too',
  (_, leftAfter) => {
    for (const days of [1.5, 4, 40])
      expect(afterStandstill(30, leftAfter, days * 24 * 60).runwayMs).toBeLessThan(hourMs);
  },
);

test('an account that spent half of what it has at once, and stands still then, is not taken for empty', () => {
  expect(afterStandstill(30, () => 60, 3 * 24 * 60).runwayMs).toBeNull();
});

test('an account that was spent in one poll, and has a tenth of that paid in later, is not taken for empty', () => {
  const paidIn = (minutes: number) => (minutes < 125 ? 0.03 : 10.03);
  expect(afterStandstill(30, paidIn, 3 * 24 * 60).runwayMs).toBeNull();
});

test('the hours before an account begins to spend do not make its first day longer, nor the payment for 30 days smaller', () => {
  const hourly = (minutes: number) => 100 - minutes / 30;
  for (const hours of [2, 6, 20]) {
    const { runwayMs, restoreMicros } = afterStandstill(3, hourly, hours * 60);
    expect((runwayMs ?? 0) / ((50 - hours) * hourMs)).toBeCloseTo(1, 1);
    expect((restoreMicros ?? 0) / units(30 * 48 - (100 - 2 * hours))).toBeCloseTo(1, 1);
  }
});

test('one fall, or less than an hour, is no pace yet', () => {
  expect(afterStandstill(3, () => 90, 5 * 60).runwayMs).toBe(9 * dayMs);
  expect(afterStandstill(3, (minutes) => 100 - minutes / 5, 45).runwayMs).toBeGreaterThan(9 * dayMs);
});
