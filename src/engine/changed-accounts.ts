import { credentialTextOf } from '../domain/provider-entry.ts';
import type { AccountSettings, PollSchedule, Settings } from '../domain/settings.ts';

export function changedAccounts(
  watched: ReadonlyMap<string, { readonly settings: AccountSettings }>,
  { accounts }: Settings,
  differs: (old: AccountSettings, account: AccountSettings) => boolean,
): Set<string> {
  const changed = new Set<string>();
  for (const account of accounts) {
    const old = watched.get(account.id)?.settings;
    if (old !== undefined && old !== account && differs(old, account)) changed.add(account.id);
  }
  return changed;
}

export function isReadDifferently(old: AccountSettings, account: AccountSettings): boolean {
  return (
    hasOtherKey(old, account) ||
    old.nearEmptyMs !== account.nearEmptyMs ||
    !isSameSchedule(old.poll, account.poll)
  );
}

function isSameSchedule(old: PollSchedule, poll: PollSchedule): boolean {
  if (old.kind === 'every') return poll.kind === 'every' && old.everyMs === poll.everyMs;
  return poll.kind === 'cron' && old.cron === poll.cron && old.timezone === poll.timezone;
}

/** A refusal of the old key or address says nothing about the new one. */
export function hasOtherKey(old: AccountSettings, account: AccountSettings): boolean {
  return (
    old !== account &&
    (old.provider !== account.provider ||
      old.baseUrl !== account.baseUrl ||
      credentialTextOf(old) !== credentialTextOf(account))
  );
}
