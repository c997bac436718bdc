import { credentialTextOf, providerKeyOf } from '../domain/provider-entry.ts';
import { type AccountState, freshAccount } from '../domain/reading.ts';
import type { AccountSettings, PollSchedule, Settings } from '../domain/settings.ts';
import { keyedDigest } from './access.ts';
import type { MonitorState } from './state.ts';

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

type Purse = NonNullable<AccountState['purse']>;

/**
 * Accounts that point at another account of their provider than before: their address changed, or their key is one that another account had (swapped
 * ids). Their readings do not go on from the old ones: a difference between the two is neither a top-up nor spending. A key that
 * is merely new reads the same account.
 */
export function findMoved(state: MonitorState, accounts: readonly AccountSettings[]): ReadonlySet<string> {
  const moved = new Set<string>();
  const rekeyed = new Map<string, string>();
  for (const account of accounts) {
    const before = state.polled.get(account.id)?.purse;
    if (before === undefined || before === null) continue;
    const { address, key } = purseOf(state, account);
    if (address !== before.address) moved.add(account.id);
    else if (key !== before.key) rekeyed.set(account.id, key);
  }
  if (rekeyed.size === 0) return moved;
  const owners = new Map<string, string>();
  for (const { account, purse } of state.polled.values()) if (purse) owners.set(purse.key, account);
  for (const [id, key] of rekeyed) if ((owners.get(key) ?? id) !== id) moved.add(id);
  return moved;
}

/** Notes by which address and key an account is read. With the next poll that is stored, too. */
export function noteAccess(state: MonitorState, account: AccountSettings): void {
  const poll = state.polled.get(account.id);
  if (poll === undefined) return;
  const purse = purseOf(state, account);
  if (poll.purse?.address === purse.address && poll.purse.key === purse.key) return;
  state.polled.hold(account.id, { ...poll, purse });
}

/** Forgets what was read from an account's old address; the guard still knows when it was polled. */
export function beginSeries(state: MonitorState, account: AccountSettings, now: number): void {
  const { id } = account;
  const polledAt = state.polled.get(id)?.polledAt ?? null;
  state.polled.set(id, {
    ...freshAccount(id, now),
    polledAt,
    purse: purseOf(state, account),
    seriesSince: now,
  });
  state.unloaded.delete(id);
}

function purseOf(state: MonitorState, account: AccountSettings): Purse {
  return {
    address: keyedDigest(state, providerKeyOf(account)),
    key: keyedDigest(state, credentialTextOf(account)),
  };
}
