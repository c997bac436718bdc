import { hourMs } from '../domain/time.ts';
import { type BalanceState, checkedHours } from './balance-state.ts';
import { hoursPerWeek } from './local-week.ts';
import { newestShare } from './profile.ts';
import type { Side } from './unusual.ts';

/** A change is lasting when a whole day, worth half a mean one at the least, took less than 0.4 or more than 2.5 times what is usual … */
const lastingHours = 24;
const leastMeanHours = 12;
const large = Math.log(2.5);
/** … or two days less than 0.55 or more than 1.8 times; and far more than forecasts of a day are usually off … */
const much = Math.log(1.8);
const timesOff = 4;
/** … but what stops altogether, or begins after it stood still, says nothing of the level. */
export const huge = Math.log(20);
/** … and five standard deviations of a chance number of messages. */
const improbable = 5;
/** It began with an hour that was off by half; it is none where six hours on the mean are nearly as usual. */
const hourOffBy = 1.5;
const room = 0.02;
const recentKept = Math.exp(-1 / 6);
const nearlyUsual = 1.4;
/** For a week it may be over as it came: then six hours are enough. Until two weeks after that nothing is lasting. */
const returnHours = 6;
const leastReturn = 4;
const sameFactor = 1.4;
const returnsMs = 168 * hourMs;
const restsMs = 336 * hourMs;
/** An alert that fires goes on while spending is off by half, and a lasting change is reported for half a day. */
const heldFrom = 2;
const reportedMs = 12 * hourMs;

/** Takes in an hour from `at` on that was learned; `usual` as it was before that. */
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
  else if (isLasting(state, at))
    shiftBy(state, slot, { factor: state.offSpent / state.offUsual, at, isBack: false });
}

/** Since when spending has another level, and how many times the former one; null where it has not, or it was reported long ago. */
export function recentShift(
  state: BalanceState,
  side: Side,
  at: number,
): { readonly since: number; readonly factor: number } | null {
  const { shiftedBy: factor, shiftedAt, shiftSince: since } = state;
  if (factor === 0 || factor > 1 !== (side === 'more') || at >= shiftedAt + 2 * reportedMs) return null;
  return { since, factor };
}

/** Whether a lasting change is reported: at first when it is known, until half a day later; what fires goes on while it may become one. */
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

/** The factor too much or too little since it began, and in the last hours. */
function offBy({ offSpent, offUsual, offSide, recentSpent, recentUsual }: BalanceState): number {
  return Math.min((offSpent / offUsual) ** offSide, (recentSpent / recentUsual) ** offSide);
}

/** How many times the former level is usual since a change that may yet be over as it came; 1 without one. */
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
  // Its last hours: it may come back in two steps.
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

/** All that is usual is multiplied; what the profile learned of the change before it was known is taken back. */
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
