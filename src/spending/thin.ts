import { ownOf } from '../domain/own.ts';
import type { Balance, Reading } from '../domain/reading.ts';

/**
 * Thins a history for a chart to at most `points` readings (never fewer than 2 if there are 2), oldest first.
 *
 * The readings between the first and the last, which always stay, are split into buckets of equal count; of
 * each bucket the readings with the minimum and the maximum of each balance stay, so that no dip and no peak
 * is lost. If not even one bucket fits, the extremes of the whole are kept before its ends. Readings are
 * chosen, never averaged: every point was really read. A history that is short enough comes back as it is.
 */
export function thin(readings: readonly Reading[], points: number): readonly Reading[] {
  const first = readings[0];
  const last = readings.at(-1);
  if (readings.length <= Math.max(2, points) || first === undefined || last === undefined) return readings;
  const inner = readings.length - 2;
  // The balances differ from those at first if one was added, or the account moved to another provider.
  const balances = [...new Set([first, last].flatMap((reading) => Object.keys(reading.balances)))];
  // A bucket may need the lowest and the highest reading of each balance.
  const buckets = Math.floor((points - 2) / (2 * balances.length));
  if (buckets < 1) return keepFew(readings, balances, Math.max(2, points));
  const thinned = [first];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * inner) / buckets);
    const to = 1 + Math.floor(((bucket + 1) * inner) / buckets);
    keepExtremes(thinned, readings, { from, to, balances });
  }
  thinned.push(last);
  return thinned;
}

/** The lowest and the highest reading, unless the balance stands still, and then the ends, as far as `points` reach. */
function keepFew(
  readings: readonly Reading[],
  balances: readonly Balance[],
  points: number,
): readonly Reading[] {
  const chosen = new Set([
    ...findExtremes(readings, { from: 0, to: readings.length, balances }).flatMap(({ low, high }) =>
      low === high ? [] : [low, high],
    ),
    ...readings.slice(-1),
    ...readings.slice(0, 1),
  ]);
  const kept = new Set([...chosen].slice(0, points));
  return readings.filter((reading) => kept.has(reading));
}

/** Adds the extreme readings of [from, to), in time order, each once. */
function keepExtremes(thinned: Reading[], readings: readonly Reading[], range: Range): void {
  const extremes = new Set(findExtremes(readings, range).flatMap(({ low, high }) => [low, high]));
  for (let index = range.from; index < range.to && extremes.size > 0; index++) {
    const reading = readings[index];
    if (reading !== undefined && extremes.delete(reading)) thinned.push(reading);
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly balances: readonly Balance[];
}

interface Extremes {
  readonly low: Reading;
  readonly high: Reading;
}

function findExtremes(readings: readonly Reading[], range: Range): readonly Extremes[] {
  return range.balances.flatMap((balance) => extremesOf(readings, range, balance) ?? []);
}

/** Null when none of [from, to) has the balance. Of equal readings the first counts: a still balance has one extreme. */
function extremesOf(readings: readonly Reading[], { from, to }: Range, balance: Balance): Extremes | null {
  let low: Reading | null = null;
  let high: Reading | null = null;
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = from; index < to; index++) {
    const reading = readings[index];
    const micros = reading && ownOf(reading.balances, balance);
    if (reading === undefined || micros === undefined) continue;
    if (micros < lowest) [low, lowest] = [reading, micros];
    if (micros > highest) [high, highest] = [reading, micros];
  }
  return low === null || high === null ? null : { low, high };
}
