import { isSameCurrency } from '../domain/currency.ts';
import type { Outlook } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import { type Burn, burnPerDay, dayMs, measureBurn, runwayOf } from './burn.ts';
import type { ReadingLog } from './reading-log.ts';

const microsPerCent = 10_000;
const restoredDays = 30;

/** What the outlook on a balance is made from. `reading` is the log's newest. */
export interface OutlookQuery {
  readonly log: ReadingLog;
  readonly reading: Reading;
  readonly balance: Balance;
  /** The level that counts as empty, usually 0. */
  readonly floorMicros: Micros;
  readonly lookbackMs: number;
  readonly now: number;
}

/**
 * Spending of a balance and what follows from it (formulas: `measureBurn`, `runwayOf`).
 *
 * - Without confidence the burn rate is null, and so is what follows from it.
 * - Nothing spent: burn 0, runway null, because the balance does not run out.
 * - Below the floor: runway 0, whatever is known of the burn, and `emptyAt` null, because that instant has
 *   passed.
 * - `emptyAt` is reckoned from the reading; the runway is what is left of it at `now`.
 */
export function outlook(query: OutlookQuery): Outlook {
  const { log, reading, balance, floorMicros, lookbackMs, now } = query;
  const burn = measureBurn({ log, balance, lookbackMs });
  const known = burn.confidence !== 'none' && isSameCurrency(log.currency ?? '', reading.currency);
  const availableMicros = reading[balance] - floorMicros;
  const fromReadingMs = known || availableMicros < 0 ? runwayOf(burn, availableMicros) : null;
  const runsOut = fromReadingMs !== null && Number.isFinite(fromReadingMs);
  const emptyAt = runsOut && availableMicros >= 0 ? reading.at + fromReadingMs : null;
  return {
    balance,
    burnPerDay: known ? burnPerDay(burn) : null,
    runwayMs: emptyAt === null ? (runsOut ? 0 : null) : Math.max(0, emptyAt - now),
    emptyAt,
    confidence: known ? burn.confidence : 'none',
    restoreMicros: known ? restoringTopUp(burn, availableMicros) : null,
  };
}

/**
 * The top-up after which the balance lasts 30 days, rounded up to whole cents:
 *
 *     30 days × burn rate − (balance − floor), at least 0
 */
function restoringTopUp(burn: Burn, availableMicros: Micros): Micros {
  const needed = (restoredDays * dayMs * burn.spentMicros) / burn.observedMs - availableMicros;
  return needed <= 0 ? 0 : Math.ceil(needed / microsPerCent) * microsPerCent;
}
