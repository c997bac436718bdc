import type { Balance } from '../domain/reading.ts';
import type { ReadingLog } from './reading-log.ts';

/** The part of a log that a look back from its newest reading covers, as indices of kept readings. */
export interface Lookback {
  /** First reading that counts: the balance at the start of the span. */
  readonly from: number;
  /** The newest reading. */
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

/**
 * Time between two kept readings in gaps after which the balance was higher: whatever was spent there is hidden by the
 * top-up. Costs nothing without gaps.
 */
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
