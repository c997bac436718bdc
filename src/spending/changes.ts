import { isSameCurrency, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import type { Balance, Reading } from '../domain/reading.ts';

/** A balance between two readings: what it was, and by how much it rose (below zero: was spent). */
export interface BalanceChange {
  readonly from: number;
  readonly to: number;
  /** The last millisecond of the change: the whole change counts in the time that contains it, so that times that follow one another add up. */
  readonly at: number;
  readonly before: Micros;
  readonly change: Micros;
}

/** The span of the readings that end the changes of a time; the changes begin at the last reading before these. */
export function readingsOfChanges<Span extends { readonly since: number; readonly until: number }>(
  span: Span,
): Span {
  return { ...span, since: span.since + 1, until: span.until + 1 };
}

/**
 * The changes from reading to reading, oldest first. A move to another account of the provider, and a reading from before the balance was
 * configured, are left out. Readings in another currency are a gap.
 */
export function* changesOf(
  readings: readonly Reading[],
  balance: Balance,
  { currency, movedAt = 0 }: { readonly currency: string | null; readonly movedAt?: number },
): Generator<BalanceChange> {
  let previous: Reading | undefined;
  for (const reading of readings) {
    if (!isSameCurrency(reading.currency, currency ?? '')) continue;
    const [before, after] = [ownOf(previous?.balances, balance), ownOf(reading.balances, balance)];
    const isSame = reading.at < movedAt || (previous?.at ?? 0) >= movedAt;
    if (isSame && previous !== undefined && before !== undefined && after !== undefined)
      yield { from: previous.at, to: reading.at, at: reading.at - 1, before, change: after - before };
    previous = reading;
  }
}
