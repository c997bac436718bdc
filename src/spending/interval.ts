import type { Micros } from '../domain/money.ts';
import type { ExpectedSpending, ForecastRecord } from '../domain/quantity.ts';
import { hourMs } from '../domain/time.ts';
import { type BalanceState, checkedHours, hoursPerBlock, keptBlocks } from './balance-state.ts';
import { hoursPerWeek } from './local-week.ts';

/** The error to expect before any was seen, for each of `checkedHours`, and how many seen errors it counts as. */
const firstErrors = [0.22, 0.16, 0.13, 0.11, 0.11] as const;
const firstWeight = 12;
/** A new error weighs at least a sixtieth: fifteen days' memory. */
const shortestMemory = 60;
const firstWidth = 1.8;
const narrowest = 1;
const widest = 4;
/** The interval is to hold four times in five: this share lies outside. */
const shareOutside = 0.2;
const step = 0.08;
/** A forecast is not compared with what came when more than this share of its time was unseen. */
const maxUnseen = 0.1;
/** Amounts below this share of the mean hour say nothing by their ratio. */
const smallShare = 0.2;

const rows = checkedHours.length;
const weekBlocks = hoursPerWeek / hoursPerBlock;
const logHours = checkedHours.map((hours) => Math.log(hours));

export function beginInterval(state: BalanceState): void {
  state.errors.set(firstErrors);
  state.widths.fill(firstWidth);
}

/**
 * An hour passed. Every sixth, forecasts that came due are compared with what was spent, and new ones (`predict`: the sum for so
 * many hours ahead) are noted.
 *
 *     r = |ln((spent + 0.2 m) / (said + 0.2 m))|,  error += (r − error) / min(count, 60)
 *     width += 0.08 · ([r outside of the interval] − 0.2), within 1 … 4
 *
 * The second line is adaptive conformal inference (Gibbs and Candès, 2021): for errors of any distribution the interval comes to
 * hold four times in five.
 */
export function passHour(
  state: BalanceState,
  it: { readonly spent: Micros; readonly seen: boolean; readonly predict: (hours: number) => Micros },
): void {
  state.blockSpent += it.spent;
  state.blockHours++;
  if (it.seen) state.blockSeen++;
  if (state.blockHours < hoursPerBlock) return;
  const blockIndex = state.blocks % keptBlocks;
  state.came[blockIndex] = state.blockSpent;
  state.cameHours[blockIndex] = state.blockSeen;
  state.blocks++;
  state.blockSpent = 0;
  state.blockSeen = 0;
  state.blockHours = 0;
  for (const index of checkedHours.keys()) {
    const error = errorOf(state, index, state.blocks);
    if (error !== null) learnError(state, index, Math.abs(error));
  }
  const row = state.blocks % keptBlocks;
  for (const [index, hours] of checkedHours.entries()) state.said[row * rows + index] = it.predict(hours);
}

/** The spending in the hours (a multiple of six, at most 336) before a block began, and how many of them were seen. */
function spentBefore(
  { came, cameHours }: BalanceState,
  block: number,
  hours: number,
): { readonly spent: Micros; readonly seenHours: number } {
  let spent = 0;
  let seenHours = 0;
  for (let back = 1; back <= hours / hoursPerBlock; back++) {
    const blockIndex = (block - back + keptBlocks) % keptBlocks;
    spent += came[blockIndex] ?? 0;
    seenHours += cameHours[blockIndex] ?? 0;
  }
  return { spent, seenHours };
}

/** Whether anything was seen in the present block, or in the one before. */
export function wasSeen({ blocks, blockSeen, cameHours }: BalanceState): boolean {
  return blockSeen > 0 || (cameHours[(blocks - 1 + keptBlocks) % keptBlocks] ?? 0) > 0;
}

/** Whether enough of the hours was seen to compare a forecast with what came in them. */
function isMostlySeen(seenHours: number, hours: number): boolean {
  return seenHours >= hours * (1 - maxUnseen);
}

/** The error as a logarithm, above 0 when the forecast was too low. Null when none was made, or too much of its time was unseen. */
function errorOf(state: BalanceState, index: number, due: number): number | null {
  const hours = checkedHours[index] ?? 0;
  const made = due - hours / hoursPerBlock;
  if (made <= 0) return null;
  const small = smallShare * state.meanHour;
  const said = state.said[(made % keptBlocks) * rows + index] ?? 0;
  const { spent, seenHours } = spentBefore(state, due, hours);
  if (said <= 0 || !isMostlySeen(seenHours, hours)) return null;
  return Math.log((spent + small) / (said + small));
}

/** The record of forecasts for so many hours ahead that came due in the last two weeks; null when none did. */
export function forecastRecord(
  state: BalanceState,
  hours: (typeof checkedHours)[number],
): ForecastRecord | null {
  const index = checkedHours.indexOf(hours);
  const errors: number[] = [];
  const oldest = state.blocks - keptBlocks + hours / hoursPerBlock;
  for (let due = Math.max(1, oldest + 1); due <= state.blocks; due++) {
    const error = errorOf(state, index, due);
    if (error !== null) errors.push(error);
  }
  const sizes = errors.map(Math.abs).sort((left, right) => left - right);
  const middle = sizes[sizes.length >> 1];
  if (middle === undefined) return null;
  const tooLow = errors.filter((error) => error > 0).length / errors.length;
  return { aheadMs: hours * hourMs, count: errors.length, medianError: Math.expm1(middle), tooLow };
}

/** The usual error of forecasts for so many hours ahead, one of `checkedHours`, as a logarithm; null before one came due. */
export function measuredError(state: BalanceState, hours: (typeof checkedHours)[number]): number | null {
  const index = checkedHours.indexOf(hours);
  return state.blocks * hoursPerBlock <= hours ? null : (state.errors[index] ?? null);
}

function learnError(state: BalanceState, index: number, error: number): void {
  const known = state.errors[index] ?? 0;
  const width = state.widths[index] ?? firstWidth;
  const missed = error > known * width ? 1 : 0;
  const hours = checkedHours[index] ?? 0;
  const memory = Math.max(shortestMemory, (4 * hours) / hoursPerBlock);
  const weight = Math.min(memory, firstWeight + state.blocks);
  state.errors[index] = known + (error - known) / weight;
  state.widths[index] = Math.min(
    widest,
    Math.max(narrowest, width + step * Math.min(1, 48 / hours) * (missed - shareOutside)),
  );
}

/** A range with `to` applied to its amount and both ends. */
export function mapRange(
  { micros, low, high }: ExpectedSpending,
  to: (micros: Micros) => Micros,
): ExpectedSpending {
  return { micros: to(micros), low: to(low), high: to(high) };
}

/**
 * The range of a sum for so many hours ahead that holds four times in five, as the logarithm of a factor: error times width,
 * interpolated in the logarithm of the hours. As long as little was seen, it is never narrower than before anything was seen.
 */
export function spreadAhead(state: BalanceState, hours: number): number {
  const at = Math.log(Math.max(1, hours));
  let right = 1;
  while (right < rows - 1 && at > (logHours[right] ?? 0)) right++;
  const from = logHours[right - 1] ?? 0;
  const to = logHours[right] ?? 1;
  const share = Math.min(1, Math.max(0, (at - from) / (to - from)));
  return spreadOf(state, right - 1) * (1 - share) + spreadOf(state, right) * share;
}

function spreadOf(state: BalanceState, index: number): number {
  const spread = (state.errors[index] ?? 0) * (state.widths[index] ?? 0);
  return state.blocks < keptBlocks ? Math.max(spread, (firstErrors[index] ?? 0) * firstWidth) : spread;
}

/** The forecast of a week ago compared with what came. */
export interface WeekAgo {
  readonly madeAt: number;
  /** From `madeAt` on, the last one a week later: how much more was spent until then than was predicted. */
  readonly steps: readonly { readonly at: number; readonly excess: Micros }[];
}

/**
 * The forecast of a week before the last block of six hours ended, from the ring of past forecasts. `hourStartsAt` is the beginning of
 * the present hour. Null while less than a week is known, or when too much of it was unseen.
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
