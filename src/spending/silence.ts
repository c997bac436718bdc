import type { Micros } from '../domain/money.ts';
import { hourMs } from '../domain/time.ts';
import type { BalanceState } from './balance-state.ts';

/** A lesson fades by half in 60 days … */
const keptAnHour = 2 ** (-1 / (60 * 24));
/** … and grows by half at a time at most, so that one event does not become usual. */
export const learnedGrowth = 1.5;
/** A provider may book late: less than half an hour is no silence. */
export const shortestMs = hourMs / 2;
/** A silence is reported when twenty of the smallest falls are missing: that this is chance is less likely than one in a million … */
const minFalls = 20;
/** … and a third more than was ever missing by itself. */
const aboveUsual = 1.3;
/** Accounts that send little are silent for hours: what is usual is learned in the second week, when the profile is known. */
const hoursToLearn = 336;
/** Little is sent when silences worth a tenth of a mean hour are usual. */
const littleSilence = 0.1;
/** This many falls show what a message takes: that the next one is smaller than all of them is less likely than one in ten. */
export const knownFalls = 10;
/** The mean fall looks back about a hundred falls. */
const fallWeight = 0.01;

/** Takes in a fall of the balance between two readings. */
export function noteFall(state: BalanceState, fell: Micros): void {
  if (fell <= 0) return;
  if (state.smallestFall === 0 || fell < state.smallestFall) state.smallestFall = fell;
  const usual = state.usualFall === 0 ? fell : state.usualFall;
  state.usualFall = usual + fallWeight * (Math.min(fell, 3 * usual) - usual);
}

/** An amount never spent, because a message takes more. 0 while too few falls were seen, by the mean hour and the mean fall, to show what one takes. */
export function unspendable(state: BalanceState): Micros {
  const { hours, meanHour, clipped, usualFall, smallestFall } = state;
  return hours * (meanHour + clipped) < knownFalls * usualFall ? 0 : smallestFall;
}

/** With less than half a mean hour left an account may have stopped serving: its silence is then no lack of demand. */
export function nearlyEmpty({ meanHour }: BalanceState): Micros {
  return meanHour / 2;
}

/** With less than this left, which is nearly empty or less than a message takes, silence does not mean that nothing is needed. */
export function leastServed(state: BalanceState): Micros {
  return Math.max(nearlyEmpty(state), unspendable(state));
}

/** Whether less than a day was learned: there is no forecast by hours before that. */
export function isBrief({ hours }: BalanceState): boolean {
  return hours < 24;
}

/** Takes in a rise. On the first day a payment of what was left or more limits the mean hour that a jump made: whoever paid takes it for enough. */
export function passRise(state: BalanceState, left: Micros, rose: Micros): void {
  if (isBrief(state) && left >= paidFrom(state, left - rose))
    state.meanHour = Math.min(state.meanHour, 2 * left);
}

/** The balance from which on a rise counts as a payment: any after a debt, which a person pays back; less than a tenth of the mean hour is a refund. */
function paidFrom({ meanHour }: BalanceState, left: Micros): Micros {
  return left < 0 ? 1 : left + Math.max(1, left, Math.ceil(meanHour / 10));
}

/** The balance from which on one that stands still, with `left` now, goes on without end. */
export function servedFrom(state: BalanceState, left: Micros): Micros {
  const enough = Math.max(1, Math.ceil(leastServed(state)));
  return isBrief(state) ? Math.min(enough, Math.max(unspendable(state), paidFrom(state, left))) : enough;
}

/** Takes in what was spent within a part of an hour; `usual` is what the hour usually takes. */
export function watchSilence(
  state: BalanceState,
  usual: Micros,
  { spent, from, to }: { readonly spent: Micros; readonly from: number; readonly to: number },
): void {
  if (spent > 0) {
    endSilence(state);
  } else {
    state.silent += (usual * (to - from)) / hourMs;
    state.silentMs += to - from;
  }
}

/** Ends a silence: the next one is measured by it, unless a person said that it was expected. */
function endSilence(state: BalanceState): void {
  const silence = state.silent / state.meanHour;
  if (state.hours < hoursToLearn) state.usualSilence = Math.max(state.usualSilence, silence);
  else if (state.less.excused === 0)
    state.usualSilence = raiseLearned(
      state.usualSilence,
      silence,
      (minFalls * state.smallestFall) / state.meanHour,
    );
  state.silent = 0;
  state.silentMs = 0;
  if (state.less.sum === 0) state.less.excused = 0;
}

/** Whether nothing was spent for half an hour in which much was usual; if `firing`, until something is spent. `factor`: higher is calmer. */
export function isSilent(
  state: BalanceState,
  { factor, firing }: { readonly factor: number; readonly firing: boolean },
): boolean {
  if (state.hours < hoursToLearn || state.silentMs < shortestMs) return false;
  const limit = Math.max(minFalls * state.smallestFall, aboveUsual * state.usualSilence * state.meanHour);
  return firing || state.silent > factor * limit;
}

/** Whether so little is sent that it comes in single messages. */
export function isSparse({ usualSilence }: BalanceState): boolean {
  return usualSilence >= littleSilence;
}

/** A learned height, an hour later. */
export function fadeLearned(height: number): number {
  return height * keptAnHour;
}

/** A learned height after it went as high as `top` once more; it counts as at least `least`. */
export function raiseLearned(height: number, top: number, least = 0): number {
  return Math.max(height, Math.min(top, learnedGrowth * Math.max(height, least)));
}
