import { dayMs, hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';

/** Spending by the hour of the day (UTC): 24 rates in millionths per hour, index 0 from 00:00. */
export type HourlyRates = readonly Micros[];

/**
 * What is spent between two instants (milliseconds since 1970, `until` not before `since`), as whole
 * millionths. Exact: the answer depends on the two instants alone, so that spending seen in many small steps
 * adds up to the same sum.
 */
export function spentBetween(rates: HourlyRates, since: number, until: number): Micros {
  // Counted from the midnight before, which keeps the sums far below what a number holds exactly.
  const midnight = Math.floor(since / dayMs) * dayMs;
  return spentSinceMidnight(rates, until - midnight) - spentSinceMidnight(rates, since - midnight);
}

function spentSinceMidnight(rates: HourlyRates, elapsedMs: number): Micros {
  const hours = Math.floor(elapsedMs / hourMs);
  const fullDays = Math.floor(hours / 24);
  const hourOfDay = hours % 24;
  const restMs = Math.floor(elapsedMs - hours * hourMs);
  return fullDays * sum(rates) + sum(rates.slice(0, hourOfDay)) + shareOfHour(rates[hourOfDay] ?? 0, restMs);
}

/** `rate · ms / hour`, rounded down, without a product that is too large to be exact. */
function shareOfHour(rate: Micros, ms: number): Micros {
  const whole = Math.floor(rate / hourMs);
  const rest = rate - whole * hourMs;
  return whole * ms + Math.floor((rest * ms) / hourMs);
}

function sum(rates: readonly number[]): number {
  let total = 0;
  for (const rate of rates) total += rate;
  return total;
}
