import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import type { Period } from '../../src/spending/periods.ts';
import { spendingIn } from '../support/spending.ts';

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

  it('has a fall between two readings of one instant, and one in which the clock was set back', () => {
    const past = [reading(midnight, 100), reading(midnight, 90), reading(midnight + hourMs, 70)];
    expect(learn(past).since('day')?.spent.sms).toBe(30);
    const setBack = [...past, reading(midnight + hourMs - 2000, 65), reading(midnight + hourMs - 3000, 60)];
    expect(learn(setBack).since('day')?.spent.sms).toBe(40);
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
