import { hourMs } from '../domain/time.ts';
import { type BalanceState, checkedHours } from './balance-state.ts';
import { huge } from './level-shift.ts';
import { isSparse } from './silence.ts';

/**
 * A price that rises overnight: five days took more than 1.25 times what is usual, and so did the last of them. No sooner, because a
 * few such days are weather or a campaign; and no later than a week, in which the profile follows. That it costs less is no alarm.
 */
const leastHours = 120;
const mostHours = 168;
const dayHours = 24;
const least = Math.log(1.25);
/** It is over where it, or a day of it, comes to less than half of that: a price is the same each day. */
const halfway = Math.exp(least / 2);
/** It is far more than forecasts of a day are usually off, and five days are off by half of that. */
const timesOff = 2;
/** Then none is reported for two weeks. */
const restsHours = 336;

/** Takes in an hour from `at` on that was learned; `usual` as it was before that. The forecast follows by the drift: it is only reported. */
export function watchSlowChange(
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
  // The size is no number where nothing is usual and nothing was spent.
  if (isSparse(state) || !(size >= enough && size <= huge) || actual < Math.exp(enough) * expected) return;
  state.slowFrom = state.hours + restsHours;
  state.shiftSince = at - (slowHours - 1) * hourMs;
  state.shiftedAt = at + hourMs;
  state.shiftedBy = slowSpent / slowUsual;
  state.isShiftLearned = 0;
}
