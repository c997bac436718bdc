import type { Balance, BalanceDefinition } from '../domain/reading.ts';

/** `SMS`: what stands before "balance", "spending", "runway"; the id of one that is not among these any more. */
export function balanceLabel(balance: Balance, balances: readonly BalanceDefinition[]): string {
  return balances.find(({ id }) => id === balance)?.label ?? balance;
}

/** The balances that all of these lists name alike, for the columns of a table; null where they differ. */
export function commonBalances(
  lists: Iterable<readonly BalanceDefinition[]>,
): readonly BalanceDefinition[] | null {
  const [first = [], ...others] = new Set(lists);
  const isSame = (list: readonly BalanceDefinition[]): boolean =>
    list.length === first.length &&
    list.every(({ id, label }, place) => id === first[place]?.id && label === first[place].label);
  return others.every(isSame) ? first : null;
}
