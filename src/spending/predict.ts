import { dayMs } from '../domain/duration.ts';
import type { Forecast } from '../domain/forecast.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import type { AccountSpending } from './account-spending.ts';
import { measureBurn, runwayOf } from './burn.ts';
import type { ReadingLog } from './reading-log.ts';

/** What a day's mean burn says of when a balance is empty may be off by this factor, either way. */
const meanBurnFactor = 2;

/**
 * When a balance reaches its floor, from `reading` (the newest) and earlier ones alone: by the forecast, or by the mean burn of the
 * last day while less than a day is known. Null where nothing can be told yet.
 */
export function predictRunout(query: {
  readonly log: ReadingLog;
  readonly spending: AccountSpending;
  readonly reading: Reading;
  readonly balance: Balance;
  readonly floorMicros: Micros;
}): Forecast | null {
  const { log, spending, reading, balance, floorMicros } = query;
  const left = amountOf(reading, balance) - floorMicros;
  const known = spending.forecastAt(reading, balance, left);
  if (known !== null) return known;
  const burn = measureBurn({ log, balance, lookbackMs: dayMs });
  const runwayMs = burn.confidence === 'none' ? null : runwayOf(burn, left);
  if (runwayMs === null) return null;
  const instant = (factor: number): number | null =>
    Number.isFinite(runwayMs) ? reading.at + Math.floor(runwayMs * factor) : null;
  return {
    emptyAt: instant(1),
    earliest: instant(1 / meanBurnFactor),
    latest: instant(meanBurnFactor),
    basis: 'mean-burn',
  };
}
