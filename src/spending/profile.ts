import type { Micros } from '../domain/money.ts';
import type { BalanceState } from './balance-state.ts';
import { hoursPerWeek } from './local-week.ts';

/** The share of a new week in what an hour of the week usually takes, once it was seen twice. */
const newest = 0.5;
/** Hours seen in fewer weeks than this lean on the same hour of other days … */
const fewWeeks = 6;
/** … which weighs as much as a fifth of a week. */
const hourOfDayWeight = 0.2;

const firstWeekendSlot = 5 * 24;
const mostWeeks = 255;

/**
 * What an hour of the week usually takes:
 *
 *     usual(h) = bin(h), with n < 6 weeks of it (n · bin(h) + 0.2 · day(h)) / (n + 0.2)
 *
 * where day(h) is the mean of that hour of the day on such days (working days or weekend) that were seen, else on the others, else
 * the mean hour.
 */
export function usualSpending(state: BalanceState, slot: number): Micros {
  const weeks = state.weeks[slot] ?? 0;
  const bin = state.bins[slot] ?? 0;
  if (weeks >= fewWeeks) return bin;
  return (weeks * bin + hourOfDayWeight * hourOfDay(state, slot)) / (weeks + hourOfDayWeight);
}

/** Learns what an hour of the week took: `bin += max(1/n, 0.5) · (spent − bin)`. */
export function learnProfile(state: BalanceState, slot: number, spent: Micros): void {
  const weeks = Math.min(mostWeeks, (state.weeks[slot] ?? 0) + 1);
  const bin = state.bins[slot] ?? 0;
  state.weeks[slot] = weeks;
  state.bins[slot] = bin + Math.max(1 / weeks, newest) * (spent - bin);
}

function hourOfDay(state: BalanceState, slot: number): Micros {
  const hour = slot % 24;
  const weekend = slot >= firstWeekendSlot;
  const alike = weekend
    ? meanOf(state, firstWeekendSlot + hour, hoursPerWeek)
    : meanOf(state, hour, firstWeekendSlot);
  const others = weekend
    ? meanOf(state, hour, firstWeekendSlot)
    : meanOf(state, firstWeekendSlot + hour, hoursPerWeek);
  return alike ?? others ?? state.meanHour;
}

function meanOf(state: BalanceState, from: number, to: number): Micros | null {
  let sum = 0;
  let seen = 0;
  for (let slot = from; slot < to; slot += 24) {
    if ((state.weeks[slot] ?? 0) === 0) continue;
    sum += state.bins[slot] ?? 0;
    seen++;
  }
  return seen === 0 ? null : sum / seen;
}
