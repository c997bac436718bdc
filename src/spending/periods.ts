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

export type PeriodSums = Record<Period, PeriodSum>;

/** The sums of an account of which nothing is known before a reading. */
export function beginSums(week: LocalWeek, { at, balances }: Reading): PeriodSums {
  const begin = (period: Period): PeriodSum => ({
    ...bounds(week, period, at),
    knownSince: at,
    watchedFrom: at,
    spent: noneOf(balances),
  });
  return { day: begin('day'), week: begin('week'), month: begin('month') };
}

/** Takes the falls between two readings in one currency into the sums, and begins the periods that a reading begins. */
export function addToSums(
  sums: PeriodSums,
  { week, last, reading }: { readonly week: LocalWeek; readonly last: Reading; readonly reading: Reading },
): void {
  for (const period of periods) {
    const known = sums[period];
    // A clock that is corrected by seconds just after midnight begins no period of yesterday.
    if (reading.at < known.startsAt - hourMs) {
      sums[period] = beginSums(week, reading)[period];
      continue;
    }
    if (reading.at < known.endsAt) {
      if (reading.at > last.at) addFalls(known.spent, { last, reading, share: 1 });
      continue;
    }
    const next = nextSum(bounds(week, period, reading.at), reading);
    sums[period] = next;
    if (reading.at <= last.at) continue;
    const share = Math.min(1, (reading.at - next.startsAt) / (reading.at - last.at));
    addFalls(next.spent, { last, reading, share });
  }
}

function addFalls(
  spent: PeriodSum['spent'],
  { last, reading, share }: { readonly last: Reading; readonly reading: Reading; readonly share: number },
): void {
  for (const balance in spent) {
    const fell = (last.balances[balance] ?? 0) - (reading.balances[balance] ?? 0);
    if (fell > 0) spent[balance] = (spent[balance] ?? 0) + Math.round(fell * share);
  }
}

function noneOf(balances: Reading['balances']): PeriodSum['spent'] {
  return Object.fromEntries(Object.keys(balances).map((balance) => [balance, 0]));
}

function nextSum(span: Bounds, { at, balances }: Reading): PeriodSum {
  return { ...span, knownSince: span.startsAt, watchedFrom: at, spent: noneOf(balances) };
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

/** How many bytes `writeSums` writes for so many balances. */
export function sumsBytes(balances: number): number {
  return 8 * (2 + balances) * periods.length;
}

/** Writes the sums at a place of `view`; when the periods begin and end follows from the calendar. */
export function writeSums(sums: PeriodSums, view: DataView, start: number): void {
  const numbers = periods.flatMap((period) => {
    const { knownSince, watchedFrom, spent } = sums[period];
    return [knownSince, watchedFrom, ...Object.values(spent)];
  });
  for (const [index, number] of numbers.entries()) view.setFloat64(start + 8 * index, number, true);
}

/** What `writeSums` wrote for so many balances: numbers of which `restoreSums` makes sums again. The bytes must be there. */
export function readSums(view: DataView, start: number, balances: number): readonly number[] {
  return Array.from({ length: sumsBytes(balances) / 8 }, (_, index) =>
    view.getFloat64(start + 8 * index, true),
  );
}

export function restoreSums(
  week: LocalWeek,
  numbers: readonly number[],
  balances: readonly Balance[],
): PeriodSums {
  const restore = (period: Period): PeriodSum => {
    const first = periods.indexOf(period) * (2 + balances.length);
    const [knownSince = 0, watchedFrom = 0, ...amounts] = numbers.slice(first, first + 2 + balances.length);
    const spent = Object.fromEntries(balances.map((balance, index) => [balance, amounts[index] ?? 0]));
    return { ...bounds(week, period, watchedFrom), knownSince, watchedFrom, spent };
  };
  return { day: restore('day'), week: restore('week'), month: restore('month') };
}
