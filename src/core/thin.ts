import type { Reading } from './reading.ts';

/** A bucket may need the lowest and the highest reading of each of two balances. */
const readingsPerBucket = 4;

/**
 * Thins a history for a chart to at most `points` readings (never fewer than 2 where there are 2), oldest first.
 *
 * The readings between the first and the last, which always stay, are split into buckets of equal count; of each bucket the
 * readings with the minimum and the maximum of each balance stay, so that no dip and no peak is lost.
 * Readings are chosen, never averaged: every point was really read. A history that is short enough comes back as it is.
 */
export function thin(readings: readonly Reading[], points: number): readonly Reading[] {
  const first = readings[0];
  const last = readings.at(-1);
  if (readings.length <= Math.max(2, points) || first === undefined || last === undefined) return readings;
  const inner = readings.length - 2;
  const buckets = Math.floor((points - 2) / readingsPerBucket);
  const thinned = [first];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * inner) / buckets);
    const to = 1 + Math.floor(((bucket + 1) * inner) / buckets);
    keepExtremes(thinned, readings, { from, to });
  }
  thinned.push(last);
  return thinned;
}

/** Adds the extreme readings of [from, to), in time order, each once. */
function keepExtremes(
  thinned: Reading[],
  readings: readonly Reading[],
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const start = readings[from];
  if (start === undefined) return;
  let lowSms = start;
  let highSms = start;
  let lowVoip = start;
  let highVoip = start;
  for (let index = from + 1; index < to; index++) {
    const reading = readings[index] ?? start;
    if (reading.sms < lowSms.sms) lowSms = reading;
    else if (reading.sms > highSms.sms) highSms = reading;
    if (reading.voip < lowVoip.voip) lowVoip = reading;
    else if (reading.voip > highVoip.voip) highVoip = reading;
  }
  const extremes = new Set([lowSms, highSms, lowVoip, highVoip]);
  for (let index = from; index < to && extremes.size > 0; index++) {
    const reading = readings[index];
    if (reading !== undefined && extremes.delete(reading)) thinned.push(reading);
  }
}
