import { dayMs, hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import type { LocalWeek } from './local-week.ts';

/** The periods of the calendar over which spending is summed up. Weeks begin on Monday. */
export const periods = ['day', 'week', 'month'] as const;
export type Period = (typeof periods)[number];

/** What was spent in the present period of an account's calendar. Instants are milliseconds since 1970. */
export interface PeriodSum {
  readonly startsAt: number;
  readonly endsAt: number;
  /** From when on all falls are in `spent`: `startsAt`, or later where nothing was known before. */
  readonly knownSince: number;
  /** The first reading in the period. A fall across its beginning counts with the share of its time that lies in the period. */
  readonly watchedFrom: number;
  readonly spent: Record<Balance, Micros>;
}

/** As `PeriodSum`; the amounts stand in the order of the balances. */
interface RunningSum extends Omit<PeriodSum, 'spent'> {
  readonly spent: Float64Array;
}

export interface PeriodSums extends Record<Period, RunningSum> {
  readonly balances: readonly Balance[];
  /** What fell from one reading to the next; made once, because every reading uses it. */
  readonly falls: Float64Array;
}

/** The sums of an account of which nothing is known before a reading. */
export function beginSums(week: LocalWeek, { at, balances }: Reading): PeriodSums {
  const ids = Object.keys(balances);
  const begin = (period: Period): RunningSum => ({
    ...bounds(week, period, at),
    knownSince: at,
    watchedFrom: at,
    spent: new Float64Array(ids.length),
  });
  return {
    balances: ids,
    falls: new Float64Array(ids.length),
    day: begin('day'),
    week: begin('week'),
    month: begin('month'),
  };
}

export function sumOf(sums: PeriodSums, period: Period): PeriodSum {
  const { spent, ...sum } = sums[period];
  return {
    ...sum,
    spent: Object.fromEntries(sums.balances.map((balance, place) => [balance, spent[place] ?? 0])),
  };
}

/** Takes the falls between two readings in one currency into the sums, and begins the periods that a reading begins. */
export function addToSums(
  sums: PeriodSums,
  { week, last, reading }: { readonly week: LocalWeek; readonly last: Reading; readonly reading: Reading },
): void {
  const { balances, falls } = sums;
  const goesOn = reading.at > last.at;
  for (let place = 0; place < falls.length; place++) {
    const balance = balances[place] ?? '';
    falls[place] = Math.max(0, (last.balances[balance] ?? 0) - (reading.balances[balance] ?? 0));
  }
  for (const period of periods) {
    const known = sums[period];
    // A clock that is corrected by seconds just after midnight begins no period of yesterday.
    if (reading.at < known.startsAt - hourMs) {
      sums[period] = beginSums(week, reading)[period];
      continue;
    }
    if (reading.at < known.endsAt) {
      if (goesOn) addFalls(known.spent, falls, 1);
      continue;
    }
    const span = bounds(week, period, reading.at);
    const spent = new Float64Array(falls.length);
    sums[period] = { ...span, knownSince: span.startsAt, watchedFrom: reading.at, spent };
    if (goesOn) addFalls(spent, falls, Math.min(1, (reading.at - span.startsAt) / (reading.at - last.at)));
  }
}

function addFalls(spent: Float64Array, falls: Float64Array, share: number): void {
  for (let place = 0; place < falls.length; place++)
    spent[place] = (spent[place] ?? 0) + Math.round((falls[place] ?? 0) * share);
}

type Bounds = Pick<PeriodSum, 'startsAt' | 'endsAt'>;

/** The period in which an instant lies. */
function bounds(week: LocalWeek, period: Period, at: number): Bounds {
  const day = week.dayAt(at);
  const [first, next] = daysOf(period, day, week.weekdayOf(day));
  return { startsAt: week.beginOf(first), endsAt: week.beginOf(next) };
}

/** The first day of the period in which a day lies, and of the next one; days are counted from 1970. */
function daysOf(period: Period, day: number, weekday: number): readonly [number, number] {
  if (period === 'day') return [day, day + 1];
  if (period === 'week') return [day - weekday, day - weekday + 7];
  const date = new Date(day * dayMs);
  const monthAt = (ahead: number): number =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + ahead, 1) / dayMs;
  return [monthAt(0), monthAt(1)];
}

/** For each period since when all is known, since when it is watched, and what was spent of each balance; when it begins and ends follows from the calendar. */
export type StoredSums = Readonly<Record<Period, readonly number[]>>;

export function storeSums(sums: PeriodSums): StoredSums {
  const store = ({ knownSince, watchedFrom, spent }: RunningSum) => [knownSince, watchedFrom, ...spent];
  return { day: store(sums.day), week: store(sums.week), month: store(sums.month) };
}

export function restoreSums(week: LocalWeek, stored: StoredSums, balances: readonly Balance[]): PeriodSums {
  const restore = (period: Period): RunningSum => {
    const [knownSince = 0, watchedFrom = 0, ...spent] = stored[period];
    return { ...bounds(week, period, watchedFrom), knownSince, watchedFrom, spent: Float64Array.from(spent) };
  };
  const falls = new Float64Array(balances.length);
  return { balances, falls, day: restore('day'), week: restore('week'), month: restore('month') };
}
