import { count, type Fact, type ForecastBasis, listFacts, money, text } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ExpectedRun } from '../spending/expected-runs.ts';
import { measuredError } from '../spending/interval.ts';
import { driftOf, holidayOf, isDriftMeasured, levelOf } from '../spending/level.ts';
import { hoursPerWeek } from '../spending/local-week.ts';

export const basisWords: Readonly<Record<ForecastBasis, string>> = {
  'mean-burn': 'average spend (under a day of history)',
  'hour-of-day': 'the hour of the day (under a week of history)',
  'hour-of-week': 'the hour of the week',
};

const unmeasured = text('not measured yet');

/** What a forecast is based on: history, usual spending, present level, and past errors. */
export function spendingFacts(spending: AccountSpending, balance: Balance): Fact[] {
  const state = spending.state(balance);
  if (state === null) return [];
  const { hours, meanHour } = state;
  const usual = hours < 24 ? null : spending.usual(balance);
  const week = hours < hoursPerWeek ? null : usual;
  const about = (micros: number) => money(Math.round(micros));
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return [
    ...listFacts({
      'hours learned': count(hours),
      'mean hour': hours > 0 ? about(meanHour) : unmeasured,
      'usual in this hour': usual ? about(usual.hour) : unmeasured,
      'usual in a week': week ? about(week.week) : usual && unmeasured,
      ...(week && {
        [`usual ${spending.week.nameSlot(week.busiest.slot)}, the busiest hour`]: about(week.busiest.hour),
      }),
    }),
    ...spending
      .runs(balance)
      .flatMap((run) =>
        listFacts({ [`expected ${nameRunDay(run)}, from ${run.hour}:00`]: about(run.micros) }),
      ),
    ...listFacts({
      level: hours < 24 ? unmeasured : text(`${percent(levelOf(state))} of what is usual at these hours`),
      drift: isDriftMeasured(state)
        ? text(`${percent(driftOf(state))} of the profile, over two weeks`)
        : unmeasured,
      holidays:
        state.holidayExpected > 0
          ? text(`${percent(holidayOf(state))} of the last day of the weekend`)
          : null,
    }),
    ...([24, 72, 168, 336] as const).flatMap((ahead) => {
      const error = measuredError(state, ahead);
      const off = error === null ? unmeasured : text(`usually off by ${percent(Math.expm1(error))}`);
      return listFacts({ [`forecasts of ${ahead / 24}d`]: off });
    }),
  ];
}

/** 1 January 1970 was a Thursday. */
const weekdayNames = ['Thursday', 'Friday', 'Saturday', 'Sunday', 'Monday', 'Tuesday', 'Wednesday'] as const;

/** `on the 1st`, `on the last day of the month`, `every other Tuesday`. */
function nameRunDay({ every, day, moves }: ExpectedRun): string {
  if (every === 'two-weeks') return `every other ${weekdayNames[day % 7]}`;
  const moved = moves ? ', or the working day before' : '';
  if (day === -1) return `on the last day of the month${moved}`;
  if (day < 0) return `${-day - 1} days before the last of the month${moved}`;
  const ending = day > 10 && day < 20 ? undefined : ['th', 'st', 'nd', 'rd'][day % 10];
  return `on the ${day}${ending ?? 'th'}${moved}`;
}
