import type { Micros } from './money.ts';
import type { Balance } from './reading.ts';

/** A top-up that a person announced: ordered, but not on the balance yet. */
export interface ExpectedTopUp {
  readonly id: string;
  readonly account: string;
  readonly balance: Balance;
  readonly amountMicros: Micros;
  /** When it should have arrived, milliseconds since 1970. */
  readonly by: number;
  readonly orderedAt: number;
  readonly orderedBy: string;
  /** Such as an order number. */
  readonly comment: string;
  /** By how much the balance rose since. */
  readonly receivedMicros: Micros;
}

/** An announcement. Without a balance it is for the account's first; without `by` it arrives after the account's lead time. */
export interface ExpectOrder
  extends Pick<ExpectedTopUp, 'account' | 'amountMicros' | 'orderedBy' | 'comment'> {
  readonly balance?: Balance | undefined;
  readonly by?: number | undefined;
  /** Of an order that was left in the database, where it is listed before a daemon takes it. */
  readonly id?: string;
}

/** A rise is the payment less what was spent before the next reading, and a bank may keep a fee. */
const arrivedShare = 0.8;

export function hasArrived({ amountMicros, receivedMicros }: ExpectedTopUp): boolean {
  return receivedMicros >= amountMicros * arrivedShare;
}

/** What is still to come to a balance within [at, until]; 0 where nothing is expected. */
export function expectedBetween(
  expected: readonly ExpectedTopUp[],
  { balance, at, until }: { readonly balance: Balance; readonly at: number; readonly until: number },
): Micros {
  return expected
    .filter((topUp) => topUp.balance === balance && topUp.by >= at && topUp.by <= until)
    .reduce((sum, { amountMicros, receivedMicros }) => sum + amountMicros - receivedMicros, 0);
}
