import type { ForecastBasis } from '../domain/forecast.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import type { ExpectedRun } from '../spending/expected-runs.ts';
import { measuredError } from '../spending/interval.ts';
import { driftOf, holidayOf, isDriftMeasured, levelOf } from '../spending/level.ts';
import { hoursPerWeek } from '../spending/local-week.ts';
import type { UsualSpending } from '../spending/profile.ts';
import { countFact, moneyFact, textFact } from './evaluation.ts';

export const basisWords: Readonly<Record<ForecastBasis, string>> = {
  'mean-burn': 'average spend (under a day of history)',
  'hour-of-day': 'the hour of the day (under a week of history)',
  'hour-of-week': 'the hour of the week',
};

/** What a forecast is based on: history, usual spending, present level, and past errors. */
export function spendingFacts(spending: AccountSpending, balance: Balance): Fact[] {
  const state = spending.state(balance);
  if (state === null) return [];
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return [
    countFact('hours learned', state.hours),
    state.hours > 0 ? moneyFact('mean hour', Math.round(state.meanHour)) : textFact('mean hour', unmeasured),
    ...profileFacts(state.hours < 24 ? null : spending.usual(balance), {
      isWeekKnown: state.hours >= hoursPerWeek,
      nameSlot: (slot) => spending.week.nameSlot(slot),
    }),
    ...spending
      .runs(balance)
      .map((run) => moneyFact(`expected ${nameRunDay(run)}, from ${run.hour}:00`, Math.round(run.micros))),
    textFact(
      'level',
      state.hours < 24 ? unmeasured : `${percent(levelOf(state))} of what is usual at these hours`,
    ),
    textFact(
      'drift',
      isDriftMeasured(state) ? `${percent(driftOf(state))} of the profile, over two weeks` : unmeasured,
    ),
    ...(state.holidayExpected > 0
      ? [textFact('holidays', `${percent(holidayOf(state))} of the last day of the weekend`)]
      : []),
    ...[24, 72, 168, 336].map((hours) => {
      const error = measuredError(state, hours);
      return textFact(
        `forecasts of ${hours / 24}d`,
        error === null ? unmeasured : `usually off by ${percent(Math.expm1(error))}`,
      );
    }),
  ];
}

/** 1 January 1970 was a Thursday. */
const weekdayNames = ['Thursday', 'Friday', 'Saturday', 'Sunday', 'Monday', 'Tuesday', 'Wednesday'] as const;

const unmeasured = 'not measured yet';

/** `on the 1st`, `on the last day of the month`, `every other Tuesday`. */
function nameRunDay({ every, day }: ExpectedRun): string {
  if (every === 'two-weeks') return `every other ${weekdayNames[day % 7]}`;
  if (day === -1) return 'on the last day of the month';
  if (day < 0) return `${-day - 1} days before the last of the month`;
  const ending = new Map([
    [1, 'st'],
    [2, 'nd'],
    [3, 'rd'],
  ]).get(day > 10 && day < 20 ? 0 : day % 10);
  return `on the ${day}${ending ?? 'th'}`;
}

function profileFacts(
  usual: UsualSpending | null,
  { isWeekKnown, nameSlot }: { readonly isWeekKnown: boolean; readonly nameSlot: (slot: number) => string },
): Fact[] {
  if (usual === null) return [textFact('usual in this hour', unmeasured)];
  const { hour, week, busiest } = usual;
  const inHour = moneyFact('usual in this hour', Math.round(hour));
  if (!isWeekKnown) return [inHour, textFact('usual in a week', unmeasured)];
  return [
    inHour,
    moneyFact('usual in a week', Math.round(week)),
    moneyFact(`usual ${nameSlot(busiest.slot)}, the busiest hour`, Math.round(busiest.hour)),
  ];
}
