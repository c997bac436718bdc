import type { AccountSettings, PollSchedule, Settings } from '../domain/settings.ts';

/** Accounts that both configurations name and that differ in what is asked. */
export function changedAccounts(
  before: Settings,
  after: Settings,
  differs: (old: AccountSettings, account: AccountSettings) => boolean,
): Set<string> {
  const known = new Map(before.accounts.map((account) => [account.id, account]));
  const changed = after.accounts.filter((account) => {
    const old = known.get(account.id);
    return old !== undefined && old !== account && differs(old, account);
  });
  return new Set(changed.map((account) => account.id));
}

/** Another key, address or schedule. */
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

/** Another key or address: a refusal of the old one says nothing of it. */
export function hasOtherKey(old: AccountSettings, account: AccountSettings): boolean {
  return old.authSecret.reveal() !== account.authSecret.reveal() || old.baseUrl !== account.baseUrl;
}
