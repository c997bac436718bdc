import { hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import { type BalanceState, checkedHours, hoursPerBlock, keptBlocks } from './balance-state.ts';
import { isMostlySeen, spentBefore } from './interval.ts';
import { hoursPerWeek } from './local-week.ts';

const weekBlocks = hoursPerWeek / hoursPerBlock;

/** The forecast of a week ago compared with what came. */
export interface WeekAgo {
  readonly madeAt: number;
  /** From `madeAt` on, the last a week after it: by how much more was spent until then than was predicted. */
  readonly steps: readonly { readonly at: number; readonly excess: Micros }[];
}

/**
 * What was predicted a week before the last block of six hours ended, from the ring of past forecasts. `hourStartsAt` is the begin of
 * the present hour. Null while less than a week is known, or where too much of it was not seen.
 */
export function lookWeekBack(state: BalanceState, hourStartsAt: number): WeekAgo | null {
  if (state.blocks <= weekBlocks) return null;
  const { seenHours } = spentBefore(state, state.blocks, hoursPerWeek);
  const first = state.blocks - weekBlocks;
  const row = (first % keptBlocks) * checkedHours.length;
  const predicted = (index: number): Micros => state.said[row + index] ?? 0;
  if (!isMostlySeen(seenHours, hoursPerWeek) || predicted(checkedHours.indexOf(hoursPerWeek)) <= 0)
    return null;
  const spentIn = (hours: number): Micros => spentBefore(state, first + hours / hoursPerBlock, hours).spent;
  const madeAt = hourStartsAt - (state.blockHours + hoursPerWeek) * hourMs;
  const steps = checkedHours.flatMap((hours, index) =>
    hours > hoursPerWeek ? [] : [{ at: madeAt + hours * hourMs, excess: spentIn(hours) - predicted(index) }],
  );
  return { madeAt, steps: [{ at: madeAt, excess: 0 }, ...steps] };
}
