import type { BalanceState } from './balance-state.ts';
import { learnLevel, levelOf } from './level.ts';
import { hoursPerWeek } from './local-week.ts';
import { learnProfile, usualSpending } from './profile.ts';

const hourMs = 3_600_000;
/** The mean hour looks back about 14 days. */
const meanHours = 336;
/** An hour that took more than three times what is usual is learned as if it had taken that … */
const farAbove = 3;
/** … or as the most that hours take, which is forgotten by half in three weeks and grows by half an hour at the most. */
const peakKeptAnHour = 2 ** (-1 / (21 * 24));
const peakGrowth = 1.5;

/** True when enough of an hour was seen to learn from it. */
export function isSeen(state: BalanceState): boolean {
  return state.seenMs >= hourMs / 2;
}

/**
 * Learns the hour that ended, if half of it was seen: what was seen of it stands for all of it. After the first week what is far
 * above everything known is clipped, so that one burst does not pass for a habit.
 *
 *     spent ≤ max(3 · usual · L, 3 · m · L, peak),  m += (spent − m) / min(hours, 336)
 */
export function learnHour(state: BalanceState, slot: number): void {
  if (!isSeen(state)) return;
  const seen = (state.spent * hourMs) / state.seenMs;
  const usual = usualSpending(state, slot);
  const young = state.hours < hoursPerWeek;
  const bearable = Math.max(farAbove * levelOf(state) * Math.max(usual, state.meanHour), state.peak);
  const spent = young ? seen : Math.min(seen, bearable);
  const peak = state.peak * peakKeptAnHour;
  state.peak = Math.max(peak, young ? seen : Math.min(seen, peakGrowth * peak));
  learnLevel(state, spent, state.hours === 0 ? spent : usual);
  learnProfile(state, slot, spent);
  state.hours++;
  state.meanHour += (spent - state.meanHour) / Math.min(state.hours, meanHours);
}
