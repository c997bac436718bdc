import type { Runway } from '../domain/message.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import type { Forecast } from '../domain/quantity.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import { dayMs } from '../domain/time.ts';
import type { AccountSpending } from './account-spending.ts';
import {
  type Burn,
  type BurnQuery,
  burnPerDay,
  isOneJump,
  measureBegun,
  measureBurn,
  runwayOf,
} from './burn.ts';

const microsPerCent = 10_000;
/** A payment makes a balance last this many days. */
export const restoredDays = 30;
/** The empty date by a day's mean burn may be off by this factor, either way. */
const meanBurnFactor = 2;

/** The input of a balance's outlook. `reading` is the log's newest. */
interface RunwayQuery extends BurnQuery {
  readonly spending: AccountSpending;
  readonly reading: Reading;
  /** The level that counts as empty, usually 0. */
  readonly floorMicros: Micros;
  readonly now: number;
}

/**
 * Spending of a balance (`measureBurn`) and what follows from it, by the forecast (`predictRunout`).
 *
 * - Without confidence the burn rate is null.
 * - A balance that does not run out, or later than can be forecast, has no runway.
 * - Below the floor: runway 0 in every case, and `emptyAt` null, because that instant has passed.
 * - The amount for 30 days is not calculated from one jump, until a profile of a week is known.
 * - `emptyAt` is calculated from the reading; the runway is the time from `now` until then.
 */
export function runway(query: RunwayQuery): Omit<Runway, 'payBy' | 'expected'> {
  const { log, reading, balance, floorMicros, lookbackMs, now } = query;
  const burn = measureBurn({ log, balance, lookbackMs });
  const comparable = isSameCurrency(log.currency ?? '', reading.currency);
  const known = burn.confidence !== 'none' && comparable ? burn : null;
  const left = amountOf(reading, balance) - floorMicros;
  const forecast = comparable ? predictRunout(query) : null;
  const expected = comparable ? expectedSpend(query) : null;
  const emptyAt = left < 0 ? null : (forecast?.emptyAt ?? null);
  return {
    balance,
    emptyMicros: floorMicros,
    burnPerDay: known && burnPerDay(known),
    lookbackMs,
    usualPerDay: expected === null ? null : Math.round(expected / restoredDays),
    runwayMs: emptyAt === null ? (left < 0 ? 0 : null) : Math.max(0, emptyAt - now),
    emptyAt,
    confidence: known?.confidence ?? 'none',
    forecast,
    restoreMicros:
      isOneJump({ log, balance, lookbackMs }) && forecast?.basis !== 'hour-of-week'
        ? null
        : restoringTopUp(left, { query, expected, known }),
  };
}

/**
 * The top-up after which the balance lasts 30 days, rounded up to whole cents:
 *
 *     what is needed for 30 days as predicted (else 30 days × burn rate) − (balance − floor), at least 0
 */
function restoringTopUp(
  left: Micros,
  { query, expected, known }: { query: RunwayQuery; expected: Micros | null; known: Burn | null },
): Micros | null {
  const spend =
    expected === null
      ? known && spentAtPace(query, known)
      : query.spending.needed(query.balance, restoredDays * dayMs);
  return spend === null ? null : Math.max(0, Math.ceil((spend - left) / microsPerCent) * microsPerCent);
}

/** The spending of 30 days at this burn, or at the brief one if the runway goes by that. */
function spentAtPace(query: RunwayQuery, burn: Burn): Micros {
  const { spentMicros, observedMs } = query.lookbackMs === dayMs ? briefBurn(query) : burn;
  return (restoredDays * dayMs * spentMicros) / observedMs;
}

/** The spending of 30 days by the forecast. */
function expectedSpend({ spending, reading, balance }: RunwayQuery): Micros | null {
  return spending.knows(reading) ? spending.expected(balance, restoredDays * dayMs) : null;
}

/** The pace by the forecast, or by the mean burn of the last day while less is known. Null when nothing can be forecast yet. */
export function predictRunout(query: Omit<RunwayQuery, 'lookbackMs' | 'now'>): Forecast | null {
  const { spending, reading, balance, floorMicros } = query;
  const left = amountOf(reading, balance) - floorMicros;
  const known = spending.forecastAt(reading, balance, left);
  if (known !== null) return known;
  const burn = briefBurn(query);
  const runwayMs = burn.confidence === 'none' ? null : briefRunway(burn, left, query);
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

type Briefly = Pick<RunwayQuery, 'log' | 'spending' | 'reading' | 'balance'>;

/** The burn while less than a day of spending is known. While a week is learned from history, a Monday's first fall is no beginning. */
export function briefBurn({ log, spending, reading, balance }: Briefly): Burn {
  return spending.knows(reading)
    ? measureBegun({ log, balance })
    : measureBurn({ log, balance, lookbackMs: dayMs });
}

/** The runway at that burn; a balance that stands still may be nearly empty. Null when no time was observed. */
export function briefRunway(
  burn: Burn,
  left: Micros,
  { spending, balance }: Pick<Briefly, 'spending' | 'balance'>,
): number | null {
  const runwayMs = runwayOf(burn, left);
  return runwayMs === Number.POSITIVE_INFINITY ? spending.lastsAtRest(balance, left) : runwayMs;
}
