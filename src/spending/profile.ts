import type { Micros } from '../domain/money.ts';
import type { BalanceState } from './balance-state.ts';
import { holidayOf } from './level.ts';
import { hoursPerWeek } from './local-week.ts';

/** The share of a new week in what an hour of the week usually takes, once the hour was seen twice. */
const newest = 0.5;
const fewestFalls = 0.1;
/** Hours seen in fewer weeks than this lean on the same hour of other days … */
const fewWeeks = 6;
/** … which weighs as much as a fifth of a week. */
const hourOfDayWeight = 0.2;

const firstWeekendSlot = 5 * 24;
const maxWeeks = 255;

/**
 * The usual spending of an hour of the week:
 *
 *     usual(h) = bin(h), with n < 6 weeks of it (n · bin(h) + 0.2 · day(h)) / (n + 0.2)
 *
 * where day(h) is the middle (median) of that hour of the day on such days (working days or weekend) that were seen, else on the others,
 * else the mean hour. A holiday takes what the weekend's last day does, times `holidayOf`.
 */
export function usualSpending(state: BalanceState, slot: number): Micros {
  if (slot >= hoursPerWeek) return holidayOf(state) * usualSpending(state, slot - 24);
  return isWellKnown(state, slot)
    ? (state.bins[slot] ?? 0)
    : leaning(state, slot, middlesOf(state, slot % 24));
}

function isWellKnown({ weeks }: BalanceState, slot: number): boolean {
  return (weeks[slot] ?? 0) >= fewWeeks;
}

function leaning(state: BalanceState, slot: number, { working, weekend }: Middles): Micros {
  const weeks = state.weeks[slot] ?? 0;
  const bin = state.bins[slot] ?? 0;
  const day = (slot < firstWeekendSlot ? (working ?? weekend) : (weekend ?? working)) ?? state.meanHour;
  return (weeks * bin + hourOfDayWeight * day) / (weeks + hourOfDayWeight);
}

const hoursOfWeek = new Float32Array(hoursPerWeek + 24);

/** `usualSpending` for all hours of the week and of a holiday; valid until the next call, which comes at the end of each hour. */
export function usualWeek(state: BalanceState): Float32Array {
  const holiday = holidayOf(state);
  for (let hour = 0; hour < 24; hour++) {
    let middles: Middles | null = null;
    for (let slot = hour; slot < hoursPerWeek; slot += 24) {
      const isKnown = isWellKnown(state, slot);
      if (!isKnown) middles ??= middlesOf(state, hour);
      const usual = middles === null || isKnown ? (state.bins[slot] ?? 0) : leaning(state, slot, middles);
      hoursOfWeek[slot] = usual;
      // The last one to be set is the weekend's last day.
      hoursOfWeek[hoursPerWeek + hour] = holiday * usual;
    }
  }
  return hoursOfWeek;
}

/** The profile in a few numbers; `slot` is the place of an hour in the week, 0 that of Monday 0:00. */
export interface UsualSpending {
  readonly hour: Micros;
  readonly week: Micros;
  readonly busiest: { readonly slot: number; readonly hour: Micros };
}

/** The usual spending in one hour, in all of the week, and in its busiest hour. */
export function usualSpendings(state: BalanceState, slot: number): UsualSpending {
  const inHour = usualSpending(state, slot);
  const usual = usualWeek(state).subarray(0, hoursPerWeek);
  const most = Math.max(...usual);
  return {
    hour: inHour,
    week: usual.reduce((sum, hour) => sum + hour, 0),
    busiest: { slot: usual.indexOf(most), hour: most },
  };
}

/** Learns what an hour of the week took: `bin += max(1/n, 0.5 / (1 + f/m)) · (spent − bin)`, f the smallest fall. */
export function learnProfile(state: BalanceState, slot: number, spent: Micros): void {
  const weeks = Math.min(maxWeeks, (state.weeks[slot] ?? 0) + 1);
  const bin = state.bins[slot] ?? 0;
  state.weeks[slot] = weeks;
  state.bins[slot] = bin + newestShare(state, weeks) * (spent - bin);
}

/** The weight of the newest of the weeks. It is less where little is sent: an hour that takes one message or none says little by itself. */
export function newestShare({ smallestFall, meanHour }: BalanceState, weeks: number): number {
  const falls = meanHour / smallestFall;
  return Math.max(1 / weeks, falls > 0 ? newest / (1 + 1 / Math.max(fewestFalls, falls)) : newest);
}

/** The median of an hour of the day; null for days of which none was seen. */
interface Middles {
  readonly working: Micros | null;
  readonly weekend: Micros | null;
}

function middlesOf(state: BalanceState, hour: number): Middles {
  return {
    working: middleOf(state, hour, firstWeekendSlot),
    weekend: middleOf(state, firstWeekendSlot + hour, hoursPerWeek),
  };
}

const sorted = new Float64Array(5);

/**
 * The median, because one of five days may be anything. Sorted as they are seen, in numbers made once: this is asked for each hour of a day
 * at the end of each hour.
 */
function middleOf(state: BalanceState, from: number, to: number): Micros | null {
  let seen = 0;
  for (let slot = from; slot < to; slot += 24) {
    if ((state.weeks[slot] ?? 0) === 0) continue;
    const bin = state.bins[slot] ?? 0;
    let index = seen++;
    for (; index > 0 && (sorted[index - 1] ?? 0) > bin; index--) sorted[index] = sorted[index - 1] ?? 0;
    sorted[index] = bin;
  }
  return seen === 0 ? null : ((sorted[(seen - 1) >> 1] ?? 0) + (sorted[seen >> 1] ?? 0)) / 2;
}
