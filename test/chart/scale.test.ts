import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundedRange, timeTicks, valueTicks } from '../../src/chart/scale.ts';
import { english } from '../../src/wording/language.ts';
import { sayDay } from '../../src/wording/moments.ts';

const dayMs = 86_400_000;
const count = 6;

describe('the labels of amounts', () => {
  it('are round numbers', () => {
    expect(valueTicks(0, 97, 4)).toEqual([0, 20, 40, 60, 80]);
    expect(valueTicks(-3, 4, 4)).toEqual([-2, 0, 2, 4]);
  });

  it('lie within a range whose ends are round and hold every value', () => {
    const amount = fc.integer({ min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(amount, fc.double({ min: 0.01, max: 1e9, noNaN: true }), (lowest, span) => {
        const range = roundedRange(lowest, lowest + span, 4);
        expect(range.lowest).toBeLessThanOrEqual(lowest);
        expect(range.highest).toBeGreaterThanOrEqual(lowest + span);
        expect(range.ticks.length).toBeGreaterThan(1);
        for (const tick of range.ticks) expect(tick).toBeGreaterThanOrEqual(range.lowest);
      }),
    );
  });
});

describe('the labels of times', () => {
  const noon = Date.parse('2026-11-20T12:00:00Z');
  const labels = (since: number, until: number, timezone = 'UTC') =>
    timeTicks({
      since,
      until,
      timezone,
      count,
      nameDay: (month, day) => sayDay(month, day, { language: english }),
    }).map(({ at, label }) => `${new Date(at).toISOString().slice(11, 16)} ${label}`);

  it.each([
    ['seconds for a minute', 60_000, '11:59 11:59:30'],
    ['hours for a day', dayMs, '18:00 18:00'],
    ['days for a week', 7 * dayMs, '00:00 18 Nov'],
    ['months for a year', 365 * dayMs, '00:00 Apr'],
  ])('are %s', (_name, span, expected) => {
    expect(labels(noon - span, noon)).toContain(expected);
  });

  it('are round where people are, also across a change of the clocks', () => {
    const india = Date.parse('2026-11-20T18:41:00Z');
    expect(labels(india, india + dayMs, 'Asia/Kolkata')).toContain('18:30 00:00');
    const berlin = Date.parse('2026-10-24T20:00:00Z');
    expect(labels(berlin, berlin + dayMs, 'Europe/Berlin')).toEqual(
      expect.arrayContaining(['22:00 00:00', '11:00 12:00', '17:00 18:00']),
    );
  });

  it('are few enough to be read, regardless of the span', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 1000 * dayMs }), (span) => {
        expect(labels(noon - span, noon).length).toBeLessThanOrEqual(2 * count);
      }),
    );
  });
});
