import type { Micros } from '../domain/money.ts';
import { hourMs } from '../domain/time.ts';
import { type BalanceState, checkedHours } from './balance-state.ts';
import { isFarAbove, noteRunHour } from './expected-runs.ts';
import { holidayOf, learnHoliday, learnLevel, levelOf } from './level.ts';
import { changedFor, huge, watchShift } from './level-shift.ts';
import { hoursPerWeek, type LocalHour } from './local-week.ts';
import { learnProfile, usualSpending } from './profile.ts';
import { fadeLearned, isSparse, raiseLearned } from './silence.ts';

/** The mean hour looks back about 14 days. */
const meanHours = 336;
/** An hour that took more than three times the usual is learned as if it had taken just that … */
const farAbove = 3;
/** … what is clipped off may come at any hour: it counts up to this many mean hours of one hour … */
const mostMeanHours = 48;
/** … in the first week, once half a day was seen, the limit is ten times the most that one hour took. */
const farAboveAtFirst = 10;
const hoursBeforeClipping = 12;

/** True when enough of an hour was seen to learn from it. */
export function isSeen(state: BalanceState): boolean {
  return state.seenMs >= hourMs / 2;
}

/**
 * Learns the hour that ended, if half of it was seen: the part that was seen stands for all of it. What is far above everything known is
 * clipped, so that one burst is not learned as usual.
 *
 *     spent ≤ max(3 · usual · L, 3 · m · L, peak),  m += (spent − m) / min(hours, 336)
 *
 * `day` is the local day, `planned` the amount of runs that was expected in the hour, `announced` the amount that people announced for runs that
 * may come in it. The peak is the most that hours take (`raiseLearned`); in the first week, from its thirteenth hour on, spent ≤ 10 · peak.
 */
export function learnHour(
  state: BalanceState,
  hour: LocalHour & { readonly day: number; readonly planned: Micros; readonly announced: Micros },
): void {
  const { startsAt, slot, day, planned, announced } = hour;
  if (!isSeen(state)) return;
  let seen = (state.spent * hourMs) / state.seenMs;
  if (state.hours >= hoursPerWeek) {
    const usual = usualSpending(state, slot);
    // Several days of a run look like a lasting change at first: all are compared with what was usual before it.
    const change = changedFor(state, startsAt);
    const meanHour = state.meanHour / change;
    noteRunHour(state, day, { hour: slot % 24, spent: seen, usual: usual / change, meanHour });
    // A run that was expected says nothing about the week, nor does an announced run of a day that came within one hour.
    const mayCome = isFarAbove(state, { spent: seen, usual, meanHour: state.meanHour }) ? announced : 0;
    seen -= Math.min(Math.max(0, seen - usual), Math.max(mayCome, 2 * planned));
  }
  if (state.weeks[slot] === 1) forgetChance(state, slot, seen);
  const usual = usualSpending(state, slot);
  const spent = Math.min(seen, bearable(state, usual));
  state.peak = peakAfter(state, spent);
  const isHoliday = slot >= hoursPerWeek;
  const weekSlot = isHoliday ? slot - 24 : slot;
  const isKnown = (state.weeks[weekSlot] ?? 0) > 0;
  learnProfile(state, weekSlot, isHoliday ? spent / holidayOf(state) : spent);
  if (!isHoliday) learnLevel(state, spent, state.hours === 0 ? spent : usual);
  else if (isKnown) learnHoliday(state, spent, usual);
  state.hours++;
  const memory = Math.min(state.hours, meanHours);
  // The very first fall may belong to an hour that was not learned.
  state.meanHour = state.meanHour + (spent - state.meanHour) / memory || state.smallestFall;
  const clipped = Math.max(0, Math.min(seen, mostMeanHours * state.meanHour) - spent);
  state.clipped += (clipped - state.clipped) / memory;
  if (state.hours <= meanHours || isHoliday) return;
  watchShift(state, { at: startsAt, slot, spent, usual });
  watchSlowChange(state, { at: startsAt, spent, usual });
}

/** The most that hours take, after one more. What a person said is expected does not count. */
function peakAfter(state: BalanceState, spent: Micros): Micros {
  const peak = fadeLearned(state.peak);
  if (state.more.excused > 0) return peak;
  return state.hours < hoursPerWeek ? Math.max(peak, spent) : raiseLearned(peak, spent);
}

/** The most that an hour is believed to have taken. */
function bearable(state: BalanceState, usual: Micros): Micros {
  if (state.hours < hoursBeforeClipping || state.peak === 0) return Number.POSITIVE_INFINITY;
  if (state.hours < hoursPerWeek) return farAboveAtFirst * state.peak;
  return Math.max(farAbove * levelOf(state) * Math.max(usual, state.meanHour), state.peak);
}

/** Forgets an hour that took far more when it was first seen than now and than on other days: that was chance, or a correction. */
function forgetChance(state: BalanceState, slot: number, seen: Micros): void {
  const first = state.bins[slot] ?? 0;
  state.weeks[slot] = 0;
  state.bins[slot] = 0;
  const day = usualSpending(state, slot);
  if (first <= farAbove * Math.max(seen, day)) {
    learnProfile(state, slot, first);
    return;
  }
  // A message at least is left of all that was seen: if no other hour took anything, the mean would be nothing, or less.
  const rest = state.meanHour - (first - day) / Math.min(state.hours, meanHours);
  state.meanHour = Math.max(rest, state.smallestFall / state.hours);
  state.peak = Math.min(state.peak, Math.max(...state.bins));
}

/**
 * A price that rises overnight: five days took more than 1.25 times the usual, and so did the last of them. No sooner, because a
 * few such days are weather or a campaign; and no later than a week, in which the profile follows. A lower price is no alarm.
 */
const leastHours = 120;
const mostHours = 168;
const dayHours = 24;
const least = Math.log(1.25);
/** The change is over when it, or a day of it, comes to less than half of that: a price is the same each day. */
const halfway = Math.exp(least / 2);
/** The change must be this many times what forecasts of a day are usually off; those of five days are off by half of that. */
const timesOff = 2;
/** After one, none is reported for two weeks. */
const restsHours = 336;

/** Takes in a learned hour that began at `at`; `usual` as it was before. The forecast follows by the drift: the change is only reported. */
function watchSlowChange(
  state: BalanceState,
  { at, spent, usual }: Readonly<Record<'at' | 'spent' | 'usual', number>>,
): void {
  if (state.slowHours === 0) {
    state.slowSpent = 0;
    state.slowUsual = 0;
  }
  state.slowHours++;
  state.slowSpent += spent;
  state.slowUsual += usual;
  const { slowSpent, slowUsual, slowHours, actual, expected } = state;
  const isDayLow = slowHours > dayHours && actual < halfway * expected;
  if (isDayLow || slowSpent < halfway * slowUsual || slowHours > mostHours) state.slowHours = 0;
  if (state.slowHours < leastHours || state.hours < state.slowFrom || at < state.shiftsFrom) return;
  const enough = Math.max(least, timesOff * (state.errors[checkedHours.indexOf(24)] ?? 0));
  const size = Math.log(slowSpent / slowUsual);
  // The size is no number when nothing is usual and nothing was spent.
  if (isSparse(state) || !(size >= enough && size <= huge) || actual < Math.exp(enough) * expected) return;
  state.slowFrom = state.hours + restsHours;
  state.shiftSince = at - (slowHours - 1) * hourMs;
  state.shiftedAt = at + hourMs;
  state.shiftedBy = slowSpent / slowUsual;
  state.isShiftLearned = 0;
}
