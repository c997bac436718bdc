import type { Balance } from '../domain/reading.ts';
import type { AccountView } from './views.ts';

/** The balance that runs out first: the one that people see first and accounts are sorted by. Where none does, the first of the account. */
export function leadingBalance({ runways, balances }: AccountView): Balance {
  let leading = balances[0]?.id ?? '';
  for (const { id } of balances) {
    const runway = runways[id]?.runwayMs ?? null;
    if (runway !== null && runway < (runways[leading]?.runwayMs ?? Number.POSITIVE_INFINITY)) leading = id;
  }
  return leading;
}
