import { type Alert, providerAccountId, type Resolution, selfAccountId } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import { type AccountState, freshAccount, hasBalances } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { kindOfRuleNamed, maxWindow } from '../rules/registry.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { ReadingLog } from '../spending/reading-log.ts';
import { groupAccounts, waitingGroups } from './account-groups.ts';
import { shortenGroupWaits } from './announce.ts';
import {
  type Access,
  accountsAtOnce,
  beginSeries,
  editedEntries,
  findMoved,
  isReadDifferently,
  listAccess,
  recordAccess,
} from './changed-accounts.ts';
import { followChannels } from './channel-changes.ts';
import { closeIncident, incidentOf, keepIncident, matchedOf } from './incidents.ts';
import { reviewOngoingOutages } from './inhibit.ts';
import { judgeElapsed, scheduleAccount } from './judge.ts';
import { pollGap, pollInterval } from './poll-gaps.ts';
import { ProviderCounts } from './provider-counts.ts';
import { reviewSilences } from './silencing.ts';
import { followSpending, isOfCurrency } from './spending.ts';
import { type MonitorState, WatchedAccount } from './state.ts';

/**
 * Applies a new configuration. Open incidents of remaining rules and accounts keep their state and are judged
 * by the new rule at the next poll; those of removed ones are closed with the reason. If tens of thousands of accounts are read
 * as before, but have other rules or labels, the accounts that are returned still go by their old settings, each wholly: `followAccounts`
 * brings them along, in turns of their own.
 */
export function reconfigure(
  state: MonitorState,
  settings: Settings,
  now: number,
): readonly AccountSettings[] {
  const isEdited = editedEntries(state.settings, settings);
  state.settings = settings;
  // Some accounts of an earlier reload may not have been brought along.
  const fresh = settings.accounts.filter((account) => {
    const known = state.accounts.get(account.id);
    return known?.settings !== account || known.allRules !== settings.rules || isEdited(account);
  });
  const { alike = [], others = [] } = Object.groupBy(fresh, (account) =>
    !isEdited(account) && isReadAlike(state.accounts.get(account.id)?.settings, account) ? 'alike' : 'others',
  );
  // All of these at once: a poll that ended in between would be counted for one group, and its key asked for by another.
  atOnce(watchAccounts(state, others, now));
  // An account that comes back may have history, which goes on.
  for (const { id } of others) if (state.polled.get(id)?.reading === null) state.unloaded.add(id);
  followChannels(state, now);
  shortenGroupWaits(state);
  followAccounts(state, alike.slice(0, accountsAtOnce), now);
  reviewSilences(state, now);
  return alike.slice(accountsAtOnce);
}

/** Whether an account is read as before: a new name, label or rule changes neither groups nor counts. */
function isReadAlike(old: AccountSettings | undefined, account: AccountSettings): boolean {
  if (old === undefined || old === account) return old !== undefined;
  return (
    !isReadDifferently(old, account) && JSON.stringify(old.balances) === JSON.stringify(account.balances)
  );
}

/** Watched accounts that are read as before get their present rules, names and labels, each at once. */
export function followAccounts(state: MonitorState, accounts: readonly AccountSettings[], now: number): void {
  const lists: RuleLists = new Map();
  for (const settings of accounts) {
    const account = watchAccount(state, settings, { now, lists, isMoved: false });
    settleAccount(state, account, { now, isMoved: false, isKnown: true });
  }
  reviewOngoingOutages(state, now);
}

/** Watches these accounts, and closes the alerts of accounts that are gone. Yields between thousands of accounts. */
export function* watchAccounts(
  state: MonitorState,
  accounts: readonly AccountSettings[],
  now: number,
): Parts<void> {
  // No account is gone if all are known and there are as many as before: no sets of tens of thousands need be made.
  if (accounts.length === 0 && state.polled.size === state.settings.accounts.length) return;
  const waiting = waitingGroups(state);
  const wanted = new Set(state.settings.accounts.map(({ id }) => id));
  const gone = [...state.polled.keys()].filter((id) => !wanted.has(id));
  if (!state.isOfPart) for (const id of gone) removeAccount(state, id, now);
  const known = new Set(accounts.flatMap(({ id }) => (state.accounts.has(id) ? id : [])));
  const purses = yield* listAccess(state, accounts);
  const moved = findMoved(state, purses);
  const lists: RuleLists = new Map();
  for (const part of inParts(accounts, accountsAtOnce)) {
    for (const settings of part) {
      const { id } = settings;
      watchAccount(state, settings, { now, lists, isMoved: moved.has(id), purse: purses.get(id) });
    }
    yield;
  }
  groupAccounts(state, waiting);
  yield;
  countProviders(state);
  yield;
  for (const part of inParts(accounts, accountsAtOnce)) {
    for (const { id } of part) {
      const isMoved = moved.has(id);
      settleAccount(state, state.accounts.get(id), { now, isMoved, isKnown: known.has(id) });
    }
    yield;
  }
  if (!state.isOfPart) closeOrphans(state, now);
}

/** Brings alerts and timers in line with the account's new rules. */
function settleAccount(
  state: MonitorState,
  account: WatchedAccount | undefined,
  { now, isMoved, isKnown }: { readonly now: number; readonly isMoved: boolean; readonly isKnown: boolean },
): void {
  if (account === undefined) return;
  closeObsolete(state, account, { now, isMoved });
  followLabels(state, account);
  if (isKnown) judgeElapsed(state, account, now);
  else if (!state.unloaded.has(account.settings.id)) scheduleAccount(state, account);
}

/** Closes the alerts of the account that none of its rules stands behind any more. */
function closeObsolete(
  state: MonitorState,
  account: WatchedAccount,
  { now, isMoved }: { readonly now: number; readonly isMoved: boolean },
): void {
  if (state.isOfPart) return;
  for (const alert of [...account.alerts.values()]) {
    const resolution = whyObsolete(account, alert, isMoved);
    if (resolution === null) continue;
    removeAlert(state, alert, resolution, now);
    state.providers.get(providerKeyOf(account.settings))?.look(account);
  }
}

function whyObsolete({ rules }: WatchedAccount, alert: Alert, isMoved: boolean): Resolution | null {
  if (isMoved && kindOfRuleNamed(alert.type)?.needsReading === true) return { kind: 'account-moved' };
  // A rule of another kind or about another balance is another rule, even with the same id.
  const isConfigured = rules.some(
    ({ id, type, balance }) => id === alert.rule && type === alert.type && balance === alert.balance,
  );
  return isConfigured ? null : { kind: 'rule-removed' };
}

/** Counts the accounts of each provider, and finds the shortest poll interval of each group of several accounts. */
function countProviders(state: MonitorState): void {
  state.providers.clear();
  state.shortestIntervals.clear();
  for (const account of state.accounts.values())
    getOrMake(state.providers, providerKeyOf(account.settings), () => new ProviderCounts()).add(account);
  for (const [id, group] of state.groups) {
    const members = [id, group].map((member) => state.accounts.get(member)?.pollIntervalMs ?? Infinity);
    const known = state.shortestIntervals.get(group) ?? Infinity;
    state.shortestIntervals.set(group, Math.min(...members, known));
  }
}

/** Keyed by the ids of the rules, the balances that they watch and their thresholds: thousands of accounts share few lists. */
type RuleLists = Map<string, readonly Rule[]>;

function shared(rules: readonly Rule[], lists: RuleLists): readonly Rule[] {
  const key = JSON.stringify(
    rules.map(({ id, balance, balanceLabel, thresholds }) => [id, balance, balanceLabel, thresholds]),
  );
  return getOrMake(lists, key, () => rules);
}

interface Watching {
  readonly now: number;
  readonly lists: RuleLists;
  readonly isMoved: boolean;
  /** Absent if it is surely the same as before. */
  readonly purse?: Access | undefined;
}

function watchAccount(
  state: MonitorState,
  settings: AccountSettings,
  { now, lists, isMoved, purse }: Watching,
): WatchedAccount {
  if (!state.polled.has(settings.id)) state.polled.set(settings.id, freshAccount(settings.id, now));
  if (purse !== undefined && isMoved) beginSeries(state, settings.id, purse, now);
  else if (purse !== undefined) recordAccess(state, settings.id, purse);
  const poll = readWhole(state.polled.get(settings.id) ?? freshAccount(settings.id, now), settings);
  state.polled.setInMemory(settings.id, poll);
  followSpending(state, { settings, poll }, isMoved);
  const rules = shared(rulesForAccount(state.settings, settings), lists);
  const pollIntervalMs = pollInterval(state.calendar, settings.poll, now);
  const watched = state.accounts.get(settings.id);
  const pollGapMs = pollGap(state.calendar, settings.poll, poll);
  const isOther = watched !== undefined && !isOfCurrency({ settings, poll }, watched.log.at(0));
  // As after a start.
  if (isOther && !isMoved) state.unloaded.add(settings.id);
  const log = logFor(isMoved || isOther ? undefined : watched, {
    windowMs: maxWindow(rules),
    pollIntervalMs,
  });
  const parts = { settings, allRules: state.settings.rules, rules, pollIntervalMs, pollGapMs, log };
  const account = new WatchedAccount(parts, state);
  state.accounts.set(settings.id, account);
  return account;
}

/** A reading from before a balance was configured says nothing of the balance: until the next reading, only its time is known. */
function readWhole(poll: AccountState, { balances }: AccountSettings): AccountState {
  const { reading } = poll;
  if (reading === null || hasBalances(reading, balances)) return poll;
  return { ...poll, reading: null, previous: null, firstSeenAt: reading.at };
}

/** Open incidents are routed and silenced by the present labels, currency and provider. */
function followLabels(state: MonitorState, account: WatchedAccount): void {
  const { name: accountName } = account.settings;
  const present = matchedOf(account);
  const text = JSON.stringify(present);
  for (const alert of account.alerts.values()) {
    const incident = incidentOf(state, alert);
    if (incident === undefined) continue;
    const { labels, provider, currency } = incident;
    if (incident.accountName === accountName && JSON.stringify({ labels, provider, currency }) === text)
      continue;
    keepIncident(state, { ...incident, accountName, ...present });
  }
}

/** A longer log starts with the readings of the old one. */
function logFor(
  watched: WatchedAccount | undefined,
  { windowMs, pollIntervalMs }: { readonly windowMs: number; readonly pollIntervalMs: number },
): WatchedAccount['log'] {
  const kept = watched?.log;
  if (kept?.windowMs === windowMs && kept.pollIntervalMs === pollIntervalMs) return kept;
  const log = new ReadingLog({ windowMs, pollIntervalMs });
  for (const reading of kept?.readings(0) ?? []) log.append(reading);
  return log;
}

function removeAccount(state: MonitorState, id: string, now: number): void {
  for (const alert of [...state.alerts.of(id).values()])
    removeAlert(state, alert, { kind: 'account-removed' }, now);
  state.accounts.delete(id);
  state.unloaded.delete(id);
  state.unconfirmed.delete(id);
  state.expected.set(id, []);
  state.announced.set(id, []);
  state.due.delete(`account:${id}`);
  state.polled.delete(id);
  state.spending.delete(id);
  state.unlearned.delete(id);
}

function removeAlert(state: MonitorState, alert: Alert, resolution: Resolution, now: number): void {
  if (alert.incident !== null) closeIncident(state, alert, resolution, now);
  state.alerts.delete(alert);
}

/** Closes alerts about accounts that are gone, and about providers that no account uses any more. Self alerts stay. */
function closeOrphans(state: MonitorState, now: number): void {
  const known = new Set([selfAccountId, ...[...state.providers.keys()].map(providerAccountId)]);
  for (const alert of [...state.alerts.values()])
    if (!state.accounts.has(alert.account) && !known.has(alert.account))
      removeAlert(state, alert, { kind: 'account-removed' }, now);
}
