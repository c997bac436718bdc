import type { Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import { hourMs } from '../domain/time.ts';
import type { LocalWeek } from './local-week.ts';
import { firstOf, monthOf } from './months.ts';

/** The periods of the calendar over which spending is summed up. Weeks begin on Monday. */
export const periods = ['day', 'week', 'month', 'quarter'] as const;
export type Period = (typeof periods)[number];

/** The spending in the present period of an account's calendar. Instants are milliseconds since 1970. */
export interface PeriodSum {
  readonly startsAt: number;
  readonly endsAt: number;
  /** Since when all falls are in `spent`: `startsAt`, or later if nothing was known before. */
  readonly knownSince: number;
  /** The first reading in the period. A fall across its beginning counts with the share of its time that lies in the period. */
  readonly watchedFrom: number;
  readonly spent: Record<Balance, Micros>;
}

export type PeriodSums = Record<Period, PeriodSum>;

/** The sums of an account of which nothing is known before a reading. */
export function beginSums(week: LocalWeek, reading: Reading): PeriodSums {
  const begin = (period: Period): PeriodSum => ({
    ...beginPeriod(week, period, reading),
    knownSince: reading.at,
  });
  return { day: begin('day'), week: begin('week'), month: begin('month'), quarter: begin('quarter') };
}

/** The sums of the month and the quarter in which `now` lies: nothing is known of one that began after the last reading. */
export function presentSums(
  { month, quarter }: Pick<PeriodSums, 'month' | 'quarter'>,
  { week, last, now }: { readonly week: LocalWeek; readonly last: Reading; readonly now: number },
): readonly [month: PeriodSum, quarter: PeriodSum] {
  if (now < month.endsAt) return [month, quarter];
  const begun = beginSums(week, { ...last, at: now });
  return [begun.month, now < quarter.endsAt ? quarter : begun.quarter];
}

/** Adds the falls between two readings in one currency to the sums, and begins the periods in which a reading is the first. */
export function addToSums(
  sums: PeriodSums,
  { week, last, reading }: { readonly week: LocalWeek; readonly last: Reading; readonly reading: Reading },
): void {
  for (const period of periods) {
    const { startsAt, endsAt } = sums[period];
    // A clock that is corrected by seconds just after midnight does not begin a period of yesterday.
    if (reading.at < startsAt - hourMs) sums[period] = beginSums(week, reading)[period];
    else if (reading.at >= endsAt) sums[period] = beginPeriod(week, period, reading);
  }
  for (const balance in reading.balances) {
    const fell = amountOf(last, balance) - amountOf(reading, balance);
    if (fell <= 0) continue;
    for (const period of periods) {
      const { knownSince, watchedFrom, spent } = sums[period];
      // A fall at one instant, or across a clock that was set back, belongs to the period that goes on.
      const isCut = watchedFrom === reading.at && last.at !== reading.at;
      const known = (reading.at - knownSince) / (reading.at - last.at);
      const share = isCut ? Math.max(0, Math.min(1, known)) : 1;
      spent[balance] = (ownOf(spent, balance) ?? 0) + Math.round(fell * share);
    }
  }
}

function beginPeriod(week: LocalWeek, period: Period, { at, balances }: Reading): PeriodSum {
  const spent = Object.fromEntries(Object.keys(balances).map((balance) => [balance, 0]));
  const day = week.dayAt(at);
  const [startsAt = at, endsAt = at] = daysOf(period, day, week.weekdayOf(day)).map((it) => week.beginOf(it));
  return { startsAt, endsAt, knownSince: startsAt, watchedFrom: at, spent };
}

/** The first day of the period in which a day lies, and of the next one; days are counted from 1970. */
function daysOf(period: Period, day: number, weekday: number): readonly [number, number] {
  if (period === 'day') return [day, day + 1];
  if (period === 'week') return [day - weekday, day - weekday + 7];
  const length = period === 'month' ? 1 : 3;
  const first = Math.floor(monthOf(day) / length) * length;
  return [firstOf(first), firstOf(first + length)];
}

/** The first instant after the month that follows the one in which an instant lies. */
export function endOfNextMonth(week: LocalWeek, at: number): number {
  return week.beginOf(firstOf(monthOf(week.dayAt(at)) + 2));
}
