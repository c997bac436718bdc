import { Secret } from '../domain/secret.ts';
import type { Settings } from '../domain/settings.ts';

/** So many accounts are compared at once. */
const accountsAtOnce = 5000;

/**
 * `next` with the accounts and the rules of `before` in it where they say the same: whoever follows a change need not look into
 * tens of thousands of accounts for the one that is another. Between its parts others may have their turn.
 */
export function* keepUnchanged(before: Settings, next: Settings): Generator<undefined, Settings> {
  const known = new Map(before.accounts.map((account) => [account.id, account]));
  const accounts: Settings['accounts'][number][] = [];
  for (const account of next.accounts) {
    if (accounts.length % accountsAtOnce === 0) yield;
    const old = known.get(account.id);
    accounts.push(old !== undefined && saysSame(old, account) ? old : account);
  }
  const rules = saysSame(before.rules, next.rules) ? before.rules : next.rules;
  return { ...next, accounts, rules };
}

/** Of values as settings consist of them. */
function saysSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof Secret) return right instanceof Secret && left.reveal() === right.reveal();
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) => Object.hasOwn(right, key) && saysSame(Reflect.get(left, key), Reflect.get(right, key)),
    )
  );
}
