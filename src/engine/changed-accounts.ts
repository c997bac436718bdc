import { getOrMake } from '../domain/get-or-make.ts';
import { inParts, type Parts } from '../domain/parts.ts';
import {
  credentialTextOf,
  entriesOf,
  entryOf,
  type ProviderEntries,
  providerKeyOf,
} from '../domain/provider-entry.ts';
import { type AccountState, freshAccount } from '../domain/reading.ts';
import type { AccountSettings, PollSchedule, Settings } from '../domain/settings.ts';
import { keyedDigest } from './access.ts';
import type { MonitorState } from './state.ts';

/** The accounts in one part, which takes some ten milliseconds. */
export const accountsAtOnce = 1000;

/** Watched accounts that new settings read in another way, and those of them with another key or an edited provider entry. */
export function changedAccounts(
  { accounts: watched, settings: before }: MonitorState,
  settings: Settings,
): { readonly changed: ReadonlySet<string>; readonly rekeyed: ReadonlySet<string> } {
  const changed = new Set<string>();
  const rekeyed = new Set<string>();
  const isEdited = editedEntries(before, settings);
  for (const account of settings.accounts) {
    const old = watched.get(account.id)?.settings;
    if (old === undefined || (!isEdited(account) && !isReadDifferently(old, account))) continue;
    changed.add(account.id);
    if (isEdited(account) || hasOtherKey(old, account)) rekeyed.add(account.id);
  }
  return { changed, rekeyed };
}

/** Tells the accounts whose provider entry says something else than before, even if the account itself stayed as it was. */
export function editedEntries(
  before: ProviderEntries,
  after: ProviderEntries,
): (account: AccountSettings) => boolean {
  const said = new Map(entriesOf(before).map(({ name, written }) => [name, JSON.stringify(written)]));
  const edited = entriesOf(after).filter(({ name, written }) => said.get(name) !== JSON.stringify(written));
  const names = new Set(edited.map(({ name }) => name));
  return ({ baseUrl, provider }) => baseUrl === null && names.has(provider);
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

/** Whether key or address changed: a refusal of the old one says nothing about the new one. */
export function hasOtherKey(old: AccountSettings, account: AccountSettings): boolean {
  return (
    old !== account &&
    (old.provider !== account.provider ||
      old.baseUrl !== account.baseUrl ||
      old.entryAddress !== account.entryAddress ||
      credentialTextOf(old) !== credentialTextOf(account))
  );
}

/** Address and key by which an account is read; stored as `purse`, the name that older versions read. */
export type Access = NonNullable<AccountState['purse']>;

/** The access of each account now, by its id. Yields between thousands of accounts. */
export function* listAccess(
  state: MonitorState,
  accounts: readonly AccountSettings[],
): Parts<ReadonlyMap<string, Access>> {
  const digests = new Map<string, string>();
  const digestOf = (text: string) => getOrMake(digests, text, () => keyedDigest(state, text));
  const accesses = new Map<string, Access>();
  for (const part of inParts(accounts, accountsAtOnce)) {
    for (const account of part) {
      accesses.set(account.id, accessTo(state, account, digestOf));
    }
    yield;
  }
  return accesses;
}

function accessTo(state: MonitorState, account: AccountSettings, digestOf: (text: string) => string): Access {
  const key = keyedDigest(state, credentialTextOf(account));
  const address = digestOf(providerKeyOf(account));
  const { baseUrl, entryAddress = '' } = account;
  if (baseUrl !== null) return { address, key };
  const entry = digestOf(JSON.stringify(entryOf(state.settings, account).written));
  return { address, key, entry, host: digestOf(entryAddress) };
}

/**
 * Accounts that point at another account of their provider than before: their address changed, or their key is one that another account had (swapped
 * ids). Their readings do not go on from the old ones: a difference between the two is neither a top-up nor spending. A key that
 * is merely new reads the same account, and so does a provider entry under another name.
 */
export function findMoved(state: MonitorState, accesses: ReadonlyMap<string, Access>): ReadonlySet<string> {
  const moved = new Set<string>();
  const rekeyed = new Map<string, string>();
  for (const [id, access] of accesses) {
    const before = state.polled.get(id)?.purse;
    if (before === undefined || before === null) continue;
    if (isElsewhere(access, before)) moved.add(id);
    else if (access.key !== before.key) rekeyed.set(id, access.key);
  }
  if (rekeyed.size === 0) return moved;
  const owners = new Map(
    [...state.polled.values()].map(({ account, purse }) => [purse?.key, account] as const),
  );
  for (const [id, key] of rekeyed) if ((owners.get(key) ?? id) !== id) moved.add(id);
  return moved;
}

function isElsewhere({ address, entry, host }: Access, before: Access): boolean {
  if (entry !== undefined && entry === before.entry) return false;
  return address !== before.address || host !== (before.host ?? host);
}

/** Records the access in memory; it is stored with the next poll. */
export function recordAccess(state: MonitorState, id: string, purse: Access): void {
  const poll = state.polled.get(id);
  if (poll === undefined) return;
  if (JSON.stringify(poll.purse) === JSON.stringify(purse)) return;
  state.polled.setInMemory(id, { ...poll, purse });
}

/** Forgets what was read at an account's old address; the guard still knows when it was polled. */
export function beginSeries(state: MonitorState, id: string, purse: Access, now: number): void {
  const polledAt = state.polled.get(id)?.polledAt ?? null;
  state.polled.set(id, { ...freshAccount(id, now), polledAt, purse, seriesSince: now });
  state.unloaded.delete(id);
}
