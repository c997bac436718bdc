import { ownOf } from '../domain/own.ts';
import { amountOf, type Reading } from '../domain/reading.ts';

/**
 * Thins a history for a chart to at most `points` readings (never fewer than 2 where there are 2), oldest first.
 *
 * The readings between the first and the last, which always stay, are split into buckets of equal count; of
 * each bucket the readings with the minimum and the maximum of each balance stay, so that no dip and no peak
 * is lost. Where not even one bucket fits, the extremes of the whole come before its ends. Readings are
 * chosen, never averaged: every point was really read. A history that is short enough comes back as it is.
 */
export function thin(readings: readonly Reading[], points: number): readonly Reading[] {
  const first = readings[0];
  const last = readings.at(-1);
  if (readings.length <= Math.max(2, points) || first === undefined || last === undefined) return readings;
  const inner = readings.length - 2;
  // A bucket may need the lowest and the highest reading of each balance.
  const buckets = Math.floor((points - 2) / (2 * Object.keys(first.balances).length));
  if (buckets < 1) return keepFew(readings, Math.max(2, points));
  const thinned = [first];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * inner) / buckets);
    const to = 1 + Math.floor(((bucket + 1) * inner) / buckets);
    keepExtremes(thinned, readings, { from, to });
  }
  thinned.push(last);
  return thinned;
}

/** The lowest and the highest, of a balance that stands still none, and then the ends, as far as `points` reach. */
function keepFew(readings: readonly Reading[], points: number): readonly Reading[] {
  const whole = { from: 0, to: readings.length };
  const extremes = findExtremes(readings, whole);
  if (extremes === null) return readings;
  const chosen = new Set([
    ...extremes.flatMap(({ low, high }) => (low === high ? [] : [low, high])),
    ...readings.slice(-1),
    ...readings.slice(0, 1),
  ]);
  const kept = new Set([...chosen].slice(0, points));
  return readings.filter((reading) => kept.has(reading));
}

/** Adds the extreme readings of [from, to), in time order, each once. */
function keepExtremes(thinned: Reading[], readings: readonly Reading[], range: Range): void {
  const found = findExtremes(readings, range);
  if (found === null) return;
  const extremes = new Set(found.flatMap(({ low, high }) => [low, high]));
  for (let index = range.from; index < range.to && extremes.size > 0; index++) {
    const reading = readings[index];
    if (reading !== undefined && extremes.delete(reading)) thinned.push(reading);
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Extremes {
  readonly low: Reading;
  readonly high: Reading;
}

/** The extremes of [from, to); null of an empty range. Of equal readings the first counts: a still balance has one extreme. */
function findExtremes(readings: readonly Reading[], { from, to }: Range): readonly Extremes[] | null {
  const start = readings[from];
  if (start === undefined) return null;
  return Object.keys(start.balances).map((balance) => {
    let [low, high] = [start, start];
    let [lowest, highest] = [amountOf(start, balance), amountOf(start, balance)];
    for (let index = from + 1; index < to; index++) {
      const reading = readings[index] ?? start;
      // A reading from before the balance was configured, or of another provider.
      const micros = ownOf(reading.balances, balance) ?? lowest;
      if (micros < lowest) [low, lowest] = [reading, micros];
      else if (micros > highest) [high, highest] = [reading, micros];
    }
    return { low, high };
  });
}
