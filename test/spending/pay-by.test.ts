import { expect, test } from 'vitest';
import { LocalWeek, passLeadTime } from '../../src/spending/local-week.ts';
import { cronCalendar } from '../../src/system/calendar.ts';

const dayMs = 86_400_000;

/** Monday 11 May 2026, noon in Berlin. */
const monday = Date.UTC(2026, 4, 11, 10);

const week = (holidays: readonly string[]) =>
  new LocalWeek({ calendar: cronCalendar, timezone: 'Europe/Berlin', holidays });

test.each<[string, readonly string[], number, number]>([
  ['time as it passes where no holidays are given', [], 2, monday - 2 * dayMs],
  [
    'working days where they are: two before Monday noon is Thursday noon',
    ['2026-12-25'],
    2,
    monday - 4 * dayMs,
  ],
  ['no holiday is one: with Friday off it is Wednesday noon', ['2026-05-08'], 2, monday - 5 * dayMs],
])('the lead time counts %s', (_name, holidays, days, expected) => {
  expect(passLeadTime(week(holidays), monday, -days * dayMs)).toBe(expected);
});
