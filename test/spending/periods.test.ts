import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import type { Period } from '../../src/spending/periods.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

function reading(at: number, sms: number, currency = 'EUR'): Reading {
  return { at, balances: { sms, voip: 0 }, currency };
}

function learn(readings: readonly Reading[], timezone = 'UTC') {
  const spending = spendingIn(timezone);
  for (const each of readings) spending.read(each);
  return spending;
}

describe('the period in which an instant lies', () => {
  it.each<[string, string, Period, string, string, string]>([
    ['a day', 'UTC', 'day', '2026-11-20T12:00Z', '2026-11-20T00:00Z', '2026-11-21T00:00Z'],
    ['a day that begins now', 'UTC', 'day', '2026-11-20T00:00Z', '2026-11-20T00:00Z', '2026-11-21T00:00Z'],
    ['a day far east', 'Asia/Shanghai', 'day', '2026-11-20T17:00Z', '2026-11-20T16:00Z', '2026-11-21T16:00Z'],
    ['a week begins on Monday', 'UTC', 'week', '2026-11-22T23:59Z', '2026-11-16T00:00Z', '2026-11-23T00:00Z'],
    [
      'a Monday begins its week',
      'UTC',
      'week',
      '2026-11-23T00:00Z',
      '2026-11-23T00:00Z',
      '2026-11-30T00:00Z',
    ],
    ['a month', 'UTC', 'month', '2026-02-28T23:00Z', '2026-02-01T00:00Z', '2026-03-01T00:00Z'],
    ['the last month', 'UTC', 'month', '2026-12-31T23:00Z', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
    [
      'a day of 23 hours',
      'Europe/Berlin',
      'day',
      '2026-03-29T12:00Z',
      '2026-03-28T23:00Z',
      '2026-03-29T22:00Z',
    ],
    [
      'a day of 25 hours',
      'Europe/Berlin',
      'day',
      '2026-10-25T00:30Z',
      '2026-10-24T22:00Z',
      '2026-10-25T23:00Z',
    ],
    [
      'a month with both',
      'Europe/Berlin',
      'month',
      '2026-10-31T12:00Z',
      '2026-09-30T22:00Z',
      '2026-10-31T23:00Z',
    ],
    [
      'a day whose midnight does not exist',
      'Africa/Cairo',
      'day',
      '2026-04-24T12:00Z',
      '2026-04-23T22:00Z',
      '2026-04-24T21:00Z',
    ],
    [
      'a day whose last hour comes twice',
      'Africa/Cairo',
      'day',
      '2026-10-29T12:00Z',
      '2026-10-28T21:00Z',
      '2026-10-29T22:00Z',
    ],
  ])('%s', (_, timezone, period, at, startsAt, endsAt) => {
    const sum = learn([reading(Date.parse(at), 0)], timezone).since(period);
    const found = [sum?.startsAt, sum?.endsAt].map((instant) => new Date(instant ?? 0).toISOString());
    expect(found).toEqual([startsAt, endsAt].map((instant) => new Date(instant).toISOString()));
  });
});

describe('what was spent in a period', () => {
  const midnight = Date.UTC(2026, 10, 20);

  it('is falls alone: a top-up is no negative spending', () => {
    const found = learn([
      reading(midnight, 100),
      reading(midnight + hourMs, 70),
      reading(midnight + 2 * hourMs, 500),
      reading(midnight + 3 * hourMs, 490),
    ]);
    expect(found.since('day')?.spent.sms).toBe(40);
  });

  it('takes its share of a fall across its beginning, and knows all from there on', () => {
    const found = learn([reading(midnight - 15 * minuteMs, 100), reading(midnight + 5 * minuteMs, 60)]);
    expect(found.since('day')).toMatchObject({
      knownSince: midnight,
      watchedFrom: midnight + 5 * minuteMs,
      spent: { sms: 10 },
    });
  });

  it('is known from the first reading on only', () => {
    expect(learn([reading(midnight + hourMs, 100)]).since('day')?.knownSince).toBe(midnight + hourMs);
  });

  it('begins again in another currency', () => {
    const found = learn([
      reading(midnight, 100),
      reading(midnight + hourMs, 70),
      reading(midnight + 2 * hourMs, 9, 'USD'),
    ]);
    expect(found.since('month')).toMatchObject({ knownSince: midnight + 2 * hourMs, spent: { sms: 0 } });
  });

  it('survives a clock that is set back over midnight by seconds, not one that was wrong by a year', () => {
    const past = [reading(midnight - hourMs, 100), reading(midnight + 1000, 90)];
    const seconds = learn([...past, reading(midnight - 1000, 90), reading(midnight + 2000, 80)]);
    expect(seconds.since('day')).toMatchObject({ startsAt: midnight, spent: { sms: 10 } });
    const year = learn([...past, reading(midnight - 365 * dayMs, 90)]);
    expect(year.since('day')?.startsAt).toBe(midnight - 365 * dayMs);
  });

  it('is at a restart, in every zone, what it would have been without', () => {
    const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Africa/Cairo', 'America/Santiago');
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 40 * 60 }), fc.integer({ min: -50, max: 50 })),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(zone, steps, fc.nat(), (timezone, moves, cutAt) => {
        let at = midnight;
        let sms = 1000;
        const readings = moves.map(([minutes, move]) => {
          at += minutes * minuteMs;
          sms += move;
          return reading(at, sms);
        });
        const cut = 1 + (cutAt % readings.length);
        const after = spendingIn(timezone);
        after.restore(learn(readings.slice(0, cut), timezone).bytes() ?? new Uint8Array());
        for (const each of readings.slice(cut)) after.read(each);
        const straight = learn(readings, timezone);
        for (const period of ['day', 'week', 'month', 'quarter'] as const) {
          const sum = straight.since(period);
          expect(after.since(period)).toEqual(sum);
          expect(sum?.startsAt).toBeLessThanOrEqual(at);
          expect(sum?.endsAt).toBeGreaterThan(at);
        }
      }),
    );
  });
});

it('a month comes to what it took and what is predicted of it; the next one follows', () => {
  const spending = spendingIn();
  const [from, to] = [monday, monday + 38 * 86_400_000];
  for (const reading of spendBy(officeHours, { from, to })) spending.read(reading);
  const { month, nextMonth } = spending.outlook('sms', to) ?? {};
  // 12 February: four whole weeks are 618 units each; March has 31 days.
  const units = (micros: number | undefined) => Math.round((micros ?? 0) / 1e6);
  expect(Math.abs(units(month?.total?.micros) / (4 * 618) - 1)).toBeLessThan(0.02);
  expect(Math.abs(units(nextMonth?.micros) / ((31 / 7) * 618) - 1)).toBeLessThan(0.05);
  expect(month?.total?.low).toBeLessThan(month?.total?.micros ?? 0);
  expect(month?.spent).toBeLessThan(month?.total?.low ?? 0);
});

it('a month that began after the last reading has taken nothing that is known, and comes to what was predicted of it', () => {
  const spending = spendingIn();
  const to = monday + 38 * 86_400_000;
  for (const reading of spendBy(officeHours, { from: monday, to })) spending.read(reading);
  const before = spending.outlook('sms', to);
  const march = Date.UTC(2026, 2, 20);
  const { month, quarter } = spending.outlook('sms', march) ?? {};
  expect(month).toMatchObject({ spent: 0, total: before?.nextMonth, knownSince: march });
  expect(quarter).toEqual(before?.quarter);
});

it.each([1, 20, 40])(
  'an announced run %s days ahead adds its amount to what the quarter comes to, and nothing else',
  (days) => {
    const spending = spendingIn();
    const to = monday + 38 * dayMs;
    for (const reading of spendBy(officeHours, { from: monday, to })) spending.read(reading);
    const total = () => spending.outlook('sms', to)?.quarter.total?.micros ?? 0;
    const before = total();
    const window = { startsAt: to + days * dayMs, endsAt: to + days * dayMs + 3 * hourMs };
    const own = { id: 'r', account: 'otp', balance: 'sms', announcedAt: to, announcedBy: '', comment: '' };
    const announced = [{ ...own, ...window, amountMicros: 900_000_000, spentMicros: 0, usualMicros: 0 }];
    spending.adopt({ week: spending.week, floorMicros: 0, announced });
    expect(total() - before).toBe(900_000_000);
  },
);
