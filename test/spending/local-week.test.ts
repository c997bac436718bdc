import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zoneOffsetMs } from '../../src/domain/time.ts';
import { farthestHours, LocalWeek } from '../../src/spending/local-week.ts';

const hourMs = 3_600_000;

test.each([
  ['Europe/Berlin', Date.UTC(2027, 2, 20)],
  ['Europe/Berlin', Date.UTC(2027, 9, 20)],
  ['Asia/Kolkata', Date.UTC(2027, 0, 1) - hourMs / 2],
])('the hours ahead are the same made one by one as made at once (%s)', (timezone, from) => {
  const weekOf = () => new LocalWeek({ timezone, holidays: ['2027-03-29', '2027-11-01'] });
  const stepwise = weekOf();
  for (let hour = 0; hour < 300; hour++) {
    const startsAt = from + hour * hourMs;
    const slots = Uint8Array.from(stepwise.slotsFrom(startsAt));
    expect(slots).toEqual(weekOf().slotsFrom(startsAt));
    expect(slots).toHaveLength(farthestHours);
    expect(slots[0]).toBe(stepwise.hourAt(startsAt).slot);
  }
});

test('the local hour of any instant is the same, no matter what was asked before', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ];
  const weeks = new Map(zones.map((timezone) => [timezone, new LocalWeek({ timezone, holidays: [] })]));
  const instant = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2035, 0, 1) });
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at) => {
      const wall = at + zoneOffsetMs(at, zone);
      expect(weeks.get(zone)?.hourAt(at).startsAt).toBe(at - (wall % hourMs));
      expect(weeks.get(zone)?.dayAt(at)).toBe(Math.floor(wall / (24 * hourMs)));
    }),
    { numRuns: 300 },
  );
});
