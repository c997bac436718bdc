import { type Balance, balances } from '../domain/reading.ts';
import type { AccountView } from './views.ts';

/**
 * The balance that runs out first: the one that people see first and accounts are sorted by. Where neither does, the SMS
 * balance.
 */
export function leadingBalance({ runways }: AccountView): Balance {
  let leading: Balance = 'sms';
  for (const balance of balances) {
    const runway = runways[balance]?.runwayMs ?? null;
    if (runway !== null && runway < (runways[leading]?.runwayMs ?? Number.POSITIVE_INFINITY))
      leading = balance;
  }
  return leading;
}
