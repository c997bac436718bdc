import type { AccountSettings, Settings } from '../domain/settings.ts';

/** Accounts that both configurations name and that differ in what is asked. */
export function changedAccounts(
  before: Settings,
  after: Settings,
  differs: (old: AccountSettings, account: AccountSettings) => boolean,
): Set<string> {
  const known = new Map(before.accounts.map((account) => [account.id, account]));
  const changed = after.accounts.filter((account) => {
    const old = known.get(account.id);
    return old !== undefined && differs(old, account);
  });
  return new Set(changed.map((account) => account.id));
}

/** Another key, address or schedule. */
export function isReadDifferently(old: AccountSettings, account: AccountSettings): boolean {
  return (
    hasOtherKey(old, account) ||
    JSON.stringify([old.poll, old.nearEmptyMs]) !== JSON.stringify([account.poll, account.nearEmptyMs])
  );
}

/** Another key or address: a refusal of the old one says nothing of it. */
export function hasOtherKey(old: AccountSettings, account: AccountSettings): boolean {
  return old.authSecret.reveal() !== account.authSecret.reveal() || old.baseUrl !== account.baseUrl;
}
