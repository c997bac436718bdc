import { hourMs } from '../domain/time.ts';
import { type BalanceState, checkedHours } from './balance-state.ts';
import { hoursPerWeek } from './local-week.ts';
import { newestShare } from './profile.ts';
import type { Side } from './unusual.ts';

/** A change is lasting when a whole day, worth at least half a mean one, took less than 0.4 or more than 2.5 times the usual … */
const lastingHours = 24;
const leastMeanHours = 12;
const large = Math.log(2.5);
/** … or two days less than 0.55 or more than 1.8 times; and far more than forecasts of a day are usually off … */
const much = Math.log(1.8);
const timesOff = 4;
/** … but spending that stops altogether, or begins after a standstill, says nothing of the level. */
export const huge = Math.log(20);
/** … and the difference is more than five standard deviations of a chance number of messages. */
const improbable = 5;
/** It began with an hour that was off by half; there is none when six hours on the mean are nearly as usual. */
const hourOffBy = 1.5;
const room = 0.02;
const recentKept = Math.exp(-1 / 6);
const nearlyUsual = 1.4;
/** For a week the change may go back as it came: then six hours are enough. Until two weeks after that no change is lasting. */
const returnHours = 6;
const leastReturn = 4;
const sameFactor = 1.4;
const returnsMs = 168 * hourMs;
const restsMs = 336 * hourMs;
/** An alert that fires goes on while spending is off by a factor of two, and a lasting change is reported for half a day. */
const heldFrom = 2;
const reportedMs = 12 * hourMs;

/** Takes in a learned hour that began at `at`; `usual` is the amount before it was learned. */
export function watchShift(
  state: BalanceState,
  { at, slot, spent, usual }: Readonly<Record<'at' | 'slot' | 'spent' | 'usual', number>>,
): void {
  const margin = room * state.meanHour;
  const side = spent > hourOffBy * usual + margin ? 1 : spent < usual / hourOffBy - margin ? -1 : 0;
  if (state.offHours === 0) {
    if (side === 0) return;
    state.offSince = at;
    state.offSide = side;
    state.offSpent = 0;
    state.offUsual = 0;
    state.recentSpent = 0;
    state.recentUsual = 0;
  }
  state.recentSpent = state.recentSpent * recentKept + spent;
  state.recentUsual = state.recentUsual * recentKept + usual;
  state.offSpent += spent;
  state.offUsual += usual;
  state.offHours++;
  if (offBy(state) < nearlyUsual) state.offHours = 0;
  else if (isOver(state, at)) shiftBy(state, slot, { factor: 1 / state.shiftedBy, at, isBack: true });
  else if (side === state.offSide && isLasting(state, at))
    shiftBy(state, slot, { factor: state.offSpent / state.offUsual, at, isBack: false });
}

/** Since when spending has another level, and how many times the former one that is; null when it has none, or it was reported long ago. */
export function recentShift(
  state: BalanceState,
  side: Side,
  at: number,
): { readonly since: number; readonly factor: number } | null {
  const { shiftedBy: factor, shiftedAt, shiftSince: since } = state;
  if (factor === 0 || factor > 1 !== (side === 'more') || at >= shiftedAt + 2 * reportedMs) return null;
  return { since, factor };
}

/** Whether a lasting change is reported: for half a day from when it is recognized. An alert that fires goes on while a change may become lasting. */
export function isShifting(
  state: BalanceState,
  side: Side,
  { at, firing }: { readonly at: number; readonly firing: boolean },
): boolean {
  if (
    firing &&
    state.offHours >= returnHours &&
    state.offSide > 0 === (side === 'more') &&
    offBy(state) > heldFrom
  )
    return true;
  return recentShift(state, side, at + reportedMs) !== null;
}

/** The factor by which spending is off, since the change began or in the last hours: the smaller of the two. */
function offBy({ offSpent, offUsual, offSide, recentSpent, recentUsual }: BalanceState): number {
  return Math.min((offSpent / offUsual) ** offSide, (recentSpent / recentUsual) ** offSide);
}

/** The factor by which the former level is multiplied now, while a change may still go back as it came; 1 without one. */
export function changedFor({ isShiftLearned, shiftedAt, shiftedBy }: BalanceState, at: number): number {
  return isShiftLearned === 1 && shiftedBy > 0 && at < shiftedAt + returnsMs ? shiftedBy : 1;
}

function isLasting(state: BalanceState, at: number): boolean {
  const { offHours, offSpent, offUsual, meanHour, smallestFall } = state;
  const size = Math.abs(Math.log(offSpent / offUsual));
  return (
    at >= state.shiftsFrom &&
    offHours >= (size >= large ? lastingHours : 2 * lastingHours) &&
    offUsual >= leastMeanHours * meanHour &&
    size <= huge &&
    size >= Math.max(much, timesOff * (state.errors[checkedHours.indexOf(24)] ?? 0)) &&
    Math.abs(offSpent - offUsual) > improbable * Math.sqrt(offUsual * smallestFall)
  );
}

function isOver(state: BalanceState, at: number): boolean {
  const { offHours, offUsual, meanHour, shiftedBy, shiftedAt, isShiftLearned } = state;
  // The factor of its last hours, because it may come back in two steps.
  const factor = (state.recentSpent / state.recentUsual) * shiftedBy;
  return (
    isShiftLearned === 1 &&
    at < shiftedAt + returnsMs &&
    offHours >= returnHours &&
    offUsual >= leastReturn * meanHour &&
    factor < sameFactor &&
    factor > 1 / sameFactor
  );
}

/** Multiplies all usual amounts, and takes back what the profile learned of the change before it was recognized. */
function shiftBy(
  state: BalanceState,
  lastSlot: number,
  { factor, at, isBack }: { readonly factor: number; readonly at: number; readonly isBack: boolean },
): void {
  for (const [slot, usual] of state.bins.entries()) state.bins[slot] = usual * factor;
  for (let back = 0; back < Math.min(hoursPerWeek, state.offHours); back++) {
    const slot = (lastSlot - back + hoursPerWeek) % hoursPerWeek;
    state.bins[slot] =
      (state.bins[slot] ?? 0) / (1 + newestShare(state, state.weeks[slot] ?? 1) * (factor - 1));
  }
  state.shiftSince = state.offSince;
  state.shiftedAt = at + hourMs;
  state.shiftedBy = isBack ? 0 : factor;
  state.isShiftLearned = 1;
  state.slowHours = 0;
  state.shiftsFrom = at + (isBack ? restsMs : returnsMs);
  state.meanHour *= factor;
  state.peak *= factor;
  state.actual = 0;
  state.expected = 0;
  state.driftActual = 0;
  state.driftExpected = 0;
  state.offHours = 0;
}
