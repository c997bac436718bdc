import { firstWhere } from '../domain/first-where.ts';
import type { Micros } from '../domain/money.ts';
import type { Confidence } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import { dayMs, hourMs, minuteMs } from '../domain/time.ts';
import type { ReadingLog } from './reading-log.ts';

/** A balance that lasts longer than a hundred years does not run out, as far as anybody can tell. */
const maxRunwayMs = 100 * 365 * dayMs;

/** The spending of one balance, and the time over which it was seen. */
export interface Burn {
  readonly spentMicros: Micros;
  /** From the first reading that counts to the newest one, without the gaps that a top-up ended. */
  readonly observedMs: number;
  /** Time in gaps, of all the time looked back on. */
  readonly blindMs: number;
  readonly readings: number;
  readonly confidence: Confidence;
}

export interface BurnQuery {
  readonly log: ReadingLog;
  readonly balance: Balance;
  /** The reach back from the newest reading. */
  readonly lookbackMs: number;
}

const nothingSeen: Burn = { spentMicros: 0, observedMs: 0, blindMs: 0, readings: 0, confidence: 'none' };

/**
 * Measures the burn of a balance over the last `lookbackMs` before the newest reading.
 *
 *     burn rate = sum of all falls between neighbouring readings / observed time
 *
 * A rise is a top-up and adds nothing: the rate is never negative. The observed
 * time begins with the last reading at or before the lookback's start, or with the first one after it where
 * the history is shorter or a gap lies over the start (see `lookBack`). A fall across a gap counts with its
 * time, though a top-up may have made it smaller; a gap with a rise counts neither way, because its spending
 * cannot be seen. The confidence is described at `rate`.
 */
export function measureBurn({ log, balance, lookbackMs }: BurnQuery): Burn {
  const span = lookBack(log, lookbackMs);
  if (span === null) return nothingSeen;
  const { from, to } = span;
  const readings = to - from + 1;
  const spanMs = log.instantAt(to) - log.instantAt(from);
  const observedMs = spanMs - hiddenTime(log, { balance, from, to });
  const blindMs = log.blindBetween(from, to);
  const confidence = rate({ observedMs, readings }, lookbackMs, blindMs > spanMs / 2);
  return { spentMicros: log.spentBetween(balance, from, to), observedMs, blindMs, readings, confidence };
}

/**
 * Measures the burn of the last day, or that since its first fall if that is more: a balance that stood still before has only just begun to be
 * spent. An hour and a few readings tell this from a burst.
 */
export function measureBegun({ log, balance }: Omit<BurnQuery, 'lookbackMs'>): Burn {
  const day = measureBurn({ log, balance, lookbackMs: dayMs });
  const span = lookBack(log, dayMs);
  if (span === null || day.spentMicros === 0) return day;
  const first = firstWhere(span.from, span.to, (index) => log.spentBetween(balance, span.from, index) > 0);
  const begun = measureBurn({ log, balance, lookbackMs: log.instantAt(span.to) - log.instantAt(first) });
  const isMore = begun.spentMicros * day.observedMs > day.spentMicros * begun.observedMs;
  return isMore && isEnough(begun) ? { ...begun, confidence: day.confidence } : day;
}

/** Whether most was spent at once, between two readings: that looks like a correction or a mistake, and no rate follows from it. */
export function isOneJump({ log, balance, lookbackMs }: BurnQuery): boolean {
  const span = lookBack(log, lookbackMs);
  if (span === null) return false;
  const half = log.spentBetween(balance, span.from, span.to) / 2;
  if (half === 0) return false;
  for (let index = span.from; index < span.to; index++) {
    if (log.spentBetween(balance, index, index + 1) > half) return true;
  }
  return false;
}

/** Money per day at the measured rate; null when no time was observed. Never negative. */
export function burnPerDay(burn: Burn): Micros | null {
  return burn.observedMs <= 0 ? null : Math.round((burn.spentMicros * dayMs) / burn.observedMs);
}

/**
 * Runway: how long `availableMicros` last at the measured rate, in whole milliseconds rounded down.
 *
 *     runway = available / burn rate = available × observed time / spent
 *
 * What is below the floor (negative) lasts 0 at any rate of spending. Infinity when it does not run out: nothing
 * is spent, or it lasts longer than a hundred years. Null when no time was observed.
 */
export function runwayOf(burn: Burn, availableMicros: Micros): number | null {
  if (availableMicros < 0) return 0;
  if (burn.observedMs <= 0) return null;
  if (burn.spentMicros === 0) return Number.POSITIVE_INFINITY;
  const runwayMs = Math.floor((availableMicros * burn.observedMs) / burn.spentMicros);
  return runwayMs > maxRunwayMs ? Number.POSITIVE_INFINITY : runwayMs;
}

/**
 * Confidence by span and number of readings; a lookback too short for these spans uses shares of itself.
 *
 * | confidence | when |
 * | --- | --- |
 * | none | fewer than 2 readings, or less than 10 minutes (or an eighth of the lookback) |
 * | low | fewer than 6 readings, or less than 1 hour (or half of the lookback) |
 * | medium | less than half of the lookback |
 * | high | from half of the lookback |
 *
 * One step less when more than half of the time lies in gaps. The numbers are lowwater's own choice: an hour
 * tells traffic from a single burst, half a day of a day's lookback has seen day or night.
 */
function rate(
  { observedMs, readings }: Pick<Burn, 'observedMs' | 'readings'>,
  lookbackMs: number,
  mostlyBlind: boolean,
): Confidence {
  if (readings < 2 || observedMs < Math.min(10 * minuteMs, lookbackMs / 8) || observedMs <= 0) return 'none';
  if (!isEnough({ observedMs, readings }, lookbackMs / 2)) return mostlyBlind ? 'none' : 'low';
  if (observedMs < lookbackMs / 2) return mostlyBlind ? 'low' : 'medium';
  return mostlyBlind ? 'medium' : 'high';
}

function isEnough({ observedMs, readings }: Pick<Burn, 'observedMs' | 'readings'>, mostMs = hourMs): boolean {
  return readings >= 6 && observedMs >= Math.min(hourMs, mostMs);
}

/** The part of a log that a look back from its newest reading covers, as indices of kept readings. */
export interface Lookback {
  /** First reading that counts: the balance at the start of the span. */
  readonly from: number;
  readonly to: number;
  /** True when `from` is the balance at the window's start: the history covers the whole window. */
  readonly covers: boolean;
  /** True when polling was interrupted over the window's start; `from - 1` is the reading before the gap then. */
  readonly cutByGap: boolean;
}

/** A gap over the start that is shorter than this share of the window does not matter. */
const smallShare = 0.01;

/**
 * Looks back from the newest reading by `windowMs`. The span begins with the last reading at or before the
 * window's start, so that it is never shorter than the window; but where a gap lies over the start, it begins
 * after the gap, because what was spent in the gap may have been spent before the window. Null for an empty
 * log.
 */
export function lookBack(log: ReadingLog, windowMs: number): Lookback | null {
  const to = log.length - 1;
  if (to < 0) return null;
  const start = log.instantAt(to) - windowMs;
  const from = log.indexAt(start);
  if (from < 0) return { from: 0, to, covers: false, cutByGap: false };
  if (from === to || log.instantAt(from) === start) return { from, to, covers: true, cutByGap: false };
  const cutByGap = log.blindBetween(from, from + 1) > windowMs * smallShare;
  return { from: cutByGap ? from + 1 : from, to, covers: !cutByGap, cutByGap };
}

/** The time in gaps after which the balance was higher: a top-up hides what was spent there. Costs nothing without gaps. */
export function hiddenTime(
  log: ReadingLog,
  span: { readonly balance: Balance; readonly from: number; readonly to: number },
): number {
  if (span.from >= span.to || log.blindBetween(span.from, span.to) === 0) return 0;
  let hiddenMs = 0;
  for (let index = span.from; index < span.to; index++) {
    const rose = log.balanceAt(index + 1, span.balance) > log.balanceAt(index, span.balance);
    if (rose) hiddenMs += log.blindBetween(index, index + 1);
  }
  return hiddenMs;
}
