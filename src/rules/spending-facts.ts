import { count, type Fact, type ForecastBasis, listFacts, money, text } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ExpectedRun } from '../spending/expected-runs.ts';
import { measuredError } from '../spending/interval.ts';
import { driftOf, holidayOf, isDriftMeasured, levelOf } from '../spending/level.ts';
import { hoursPerWeek, type LocalWeek } from '../spending/local-week.ts';
import { sentences } from '../wording/phrase.ts';

const told = sentences('spendingFact', {
  unmeasured: 'not measured yet',
  busiest: 'usual {weekday} {hour}, the busiest hour',
  run: 'expected {day}, from {hour}:00',
  level: '{percent} % of what is usual at these hours',
  drift: '{percent} % of the profile, over two weeks',
  holidays: '{percent} % of the last day of the weekend',
  forecasts: 'forecasts of {duration}',
  off: 'usually off by {percent} %',
});

/** The days of runs, as names of facts. */
const days = sentences('runDay', {
  everyWeek: 'every {weekday}',
  everyOther: 'every other {weekday}',
  last: 'on the last day of the month',
  beforeLast: '{count, plural, one {# day} other {# days}} before the last of the month',
  day: 'on day {day} of the month',
  moved: '{day}, or the working day before',
});

const bases = sentences('basis', {
  'mean-burn': 'average spend (less than a day of spending known)',
  'hour-of-day': 'the hour of the day (under a week of history)',
  'hour-of-week': 'the hour of the week',
});

export function nameBasis(basis: ForecastBasis): string {
  return bases[basis]();
}

const unmeasured = text(told.unmeasured());

/** The base of a forecast: history, usual spending, present level, and past errors. */
export function spendingFacts(spending: AccountSpending, balance: Balance): Fact[] {
  const state = spending.state(balance);
  if (state === null) return [];
  const { hours, meanHour } = state;
  const usual = hours < 24 ? null : spending.usual(balance);
  const week = hours < hoursPerWeek ? null : usual;
  const about = (micros: number) => money(Math.round(micros));
  const percent = (share: number) => ({ percent: Math.round(share * 100) });
  return [
    ...listFacts({
      'hours learned': count(hours),
      'mean hour': hours > 0 ? about(meanHour) : unmeasured,
      'usual in this hour': usual ? about(usual.hour) : unmeasured,
      'usual in a week': week ? about(week.week) : usual && unmeasured,
      ...(week && { [nameBusiest(spending.week.whenIs(week.busiest.slot))]: about(week.busiest.hour) }),
    }),
    ...spending
      .runs(balance)
      .flatMap((run) =>
        listFacts({ [told.run({ day: nameRunDay(run), hour: run.hour })]: about(run.micros) }),
      ),
    ...listFacts({
      level: hours < 24 ? unmeasured : text(told.level(percent(levelOf(state)))),
      drift: isDriftMeasured(state) ? text(told.drift(percent(driftOf(state)))) : unmeasured,
      holidays: state.holidayExpected > 0 ? text(told.holidays(percent(holidayOf(state)))) : null,
    }),
    ...([24, 72, 168, 336] as const).flatMap((ahead) => {
      const error = measuredError(state, ahead);
      const off = error === null ? unmeasured : text(told.off(percent(Math.expm1(error))));
      return listFacts({ [told.forecasts({ duration: `${ahead / 24}d` })]: off });
    }),
  ];
}

function nameBusiest({ day, hour }: ReturnType<LocalWeek['whenIs']>): string {
  return told.busiest({ weekday: nameWeekday(day), hour: `${hour}:00` });
}

/** Sunday first. */
const weekdays = sentences('weekday', {
  0: 'Sunday',
  1: 'Monday',
  2: 'Tuesday',
  3: 'Wednesday',
  4: 'Thursday',
  5: 'Friday',
  6: 'Saturday',
});

/** The name of a day counted from a Sunday. */
export function nameWeekday(day: number): string {
  return weekdays[(day % 7) as keyof typeof weekdays]();
}

/** `on day 1 of the month`, `on the last day of the month`, `every other Tuesday`. */
function nameRunDay({ every, day, moves }: ExpectedRun): string {
  // 1 January 1970 was a Thursday.
  if (every === 'week') return days.everyWeek({ weekday: nameWeekday(day + 4) });
  if (every === 'two-weeks') return days.everyOther({ weekday: nameWeekday(day + 4) });
  const named = day === -1 ? days.last() : day < 0 ? days.beforeLast({ count: -day - 1 }) : days.day({ day });
  return moves ? days.moved({ day: named }) : named;
}
