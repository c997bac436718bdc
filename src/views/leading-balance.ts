import { type Balance, balances } from '../domain/reading.ts';
import type { AccountView } from './views.ts';

/**
 * The balance that runs out first: the one that people see first and accounts are sorted by. Where neither does, the SMS
 * balance.
 */
export function leadingBalance({ outlooks }: AccountView): Balance {
  let leading: Balance = 'sms';
  for (const balance of balances) {
    const runway = outlooks[balance]?.runwayMs ?? null;
    if (runway !== null && runway < (outlooks[leading]?.runwayMs ?? Number.POSITIVE_INFINITY))
      leading = balance;
  }
  return leading;
}
