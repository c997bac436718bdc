import { expect, test } from 'vitest';
import { farthestHours, LocalWeek } from '../../src/spending/local-week.ts';
import { cronCalendar } from '../../src/system/calendar.ts';

const hourMs = 3_600_000;

test.each([
  ['Europe/Berlin', Date.UTC(2027, 2, 20)],
  ['Europe/Berlin', Date.UTC(2027, 9, 20)],
  ['Asia/Kolkata', Date.UTC(2027, 0, 1) - hourMs / 2],
])('the hours ahead are the same made one by one as made at once (%s)', (timezone, from) => {
  const weekOf = () =>
    new LocalWeek({ calendar: cronCalendar, timezone, holidays: ['2027-03-29', '2027-11-01'] });
  const stepwise = weekOf();
  for (let hour = 0; hour < 300; hour++) {
    const startsAt = from + hour * hourMs;
    const slots = Uint8Array.from(stepwise.slotsFrom(startsAt));
    expect(slots).toEqual(weekOf().slotsFrom(startsAt));
    expect(slots).toHaveLength(farthestHours);
    expect(slots[0]).toBe(stepwise.hourAt(startsAt).slot);
  }
});
