import { expect, test } from 'vitest';
import { LocalWeek, passLeadTime } from '../../src/spending/local-week.ts';

const dayMs = 86_400_000;

/** Monday 11 May 2026, noon in Berlin. */
const monday = Date.UTC(2026, 4, 11, 10);

const week = (holidays: readonly string[], weekend?: readonly ('fri' | 'sat' | 'sun')[]) =>
  new LocalWeek({ timezone: 'Europe/Berlin', holidays, ...(weekend && { weekend }) });

test.each<[string, LocalWeek, number]>([
  ['working days: two before Monday noon is Thursday noon', week([]), 4],
  ['the same where the usual weekend is given', week([], ['sat', 'sun']), 4],
  ['no holiday: with Friday off it is Wednesday noon', week(['2026-05-08']), 5],
  ['another weekend: Friday carries no payment, Sunday does', week([], ['fri', 'sat']), 4],
  ['every day where there is no weekend', week([], []), 2],
  ['holidays too where there is no weekend', week(['2026-05-10'], []), 2],
])('the lead time counts %s', (_name, local, days) => {
  expect(passLeadTime(local, monday, -2 * dayMs)).toBe(monday - days * dayMs);
});

test('what is paid by that instant has arrived in time, in hours of days that clocks make shorter too', () => {
  // Berlin's clocks went forward on Sunday 29 March 2026, and back on 25 October 2026.
  for (const at of [Date.UTC(2026, 2, 30, 7), Date.UTC(2026, 9, 26, 9, 30), monday])
    for (const leadTimeMs of [3_600_000, dayMs, 5.5 * dayMs])
      for (const local of [week([]), week([], []), week(['2026-03-27'])]) {
        const payBy = passLeadTime(local, at, -leadTimeMs);
        expect(passLeadTime(local, payBy, leadTimeMs)).toBe(at);
      }
});

test('a state that was learned without a weekend is one of the usual week', () => {
  expect(week([], []).key).toBe(week([]).key);
});
