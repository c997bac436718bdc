import { type Alert, providerAccountId, type Resolution, selfAccountId } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import { credentialTextOf, providerKeyOf } from '../domain/provider-entry.ts';
import { freshAccount } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { kindOfRuleNamed, maxWindow } from '../rules/registry.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { ReadingLog } from '../spending/reading-log.ts';
import { shortenGroupWaits } from './announce.ts';
import { beginSeries, findMoved, isReadDifferently, noteAccess } from './changed-accounts.ts';
import { followChannels } from './channel-changes.ts';
import { forgetExpected } from './expect-top-up.ts';
import { closeIncident, incidentOf, keepIncident } from './incidents.ts';
import { reviewOngoingOutages } from './inhibit.ts';
import { judgeElapsed, scheduleAccount } from './judge.ts';
import { pollGap, pollInterval } from './poll-gaps.ts';
import { ProviderCounts } from './provider-counts.ts';
import { reviewSilences } from './silencing.ts';
import { followSpending } from './spending.ts';
import { type MonitorState, WatchedAccount } from './state.ts';

/** Accounts per part, which takes some ten milliseconds. */
export const accountsAtOnce = 1000;

/**
 * Applies a new configuration. Open incidents of remaining rules and accounts keep their state and are judged
 * by the new rule at the next poll; those of removed ones are closed with the reason.
 */
export function reconfigure(state: MonitorState, settings: Settings, now: number): void {
  const before = state.settings;
  state.settings = settings;
  atOnce(watchAccounts(state, now, before));
  reviewOngoingOutages(state, now);
  followChannels(state, now);
  shortenGroupWaits(state);
  reviewSilences(state, now);
}

/**
 * Watches the accounts of the settings; removed accounts and rules close their incidents. Accounts that did
 * not change, under the same rules, are left as they are. Yields between thousands of accounts.
 */
export function* watchAccounts(state: MonitorState, now: number, before?: Settings): Parts<void> {
  const wanted = new Set(state.settings.accounts.map(({ id }) => id));
  const gone = [...state.polled.keys()].filter((id) => !wanted.has(id));
  for (const id of gone) removeAccount(state, id, now);
  const areRulesKept = before?.rules === state.settings.rules;
  const fresh = state.settings.accounts.filter(
    (account) => !areRulesKept || state.accounts.get(account.id)?.settings !== account,
  );
  const known = new Map(fresh.map(({ id }) => [id, state.accounts.get(id)?.settings]));
  const moved = findMoved(state, fresh);
  const lists: RuleLists = new Map();
  for (const part of inParts(fresh, accountsAtOnce)) {
    for (const settings of part)
      watchAccount(state, settings, { now, lists, isMoved: moved.has(settings.id) });
    yield;
  }
  const obsolete = [...state.alerts.values()].flatMap((alert) => {
    const resolution = whyObsolete(state, alert, moved);
    return resolution === null ? [] : [{ alert, resolution }];
  });
  for (const { alert, resolution } of obsolete) removeAlert(state, alert, resolution, now);
  // A new name or label changes neither groups nor counts.
  const isReadAlike = (account: AccountSettings): boolean => {
    const old = known.get(account.id);
    return old !== undefined && !isReadDifferently(old, account);
  };
  if (gone.length + obsolete.length > 0 || !fresh.every(isReadAlike)) {
    groupAccounts(state);
    yield;
    countProviders(state);
    yield;
  }
  for (const part of inParts(fresh, accountsAtOnce)) {
    for (const { id } of part) {
      const account = state.accounts.get(id);
      if (account === undefined) continue;
      followAccount(state, account);
      if (known.get(id) !== undefined) judgeElapsed(state, account, now);
      else if (!state.unloaded.has(id)) scheduleAccount(state, account);
    }
    yield;
  }
}

/** Why an alert ends whose account or rule is not configured any more; null where it goes on. */
function whyObsolete(state: MonitorState, alert: Alert, moved: ReadonlySet<string>): Resolution | null {
  const account = state.accounts.get(alert.account);
  if (account === undefined) return isOrphan(state, alert) ? { kind: 'account-removed' } : null;
  if (moved.has(alert.account) && kindOfRuleNamed(alert.type)?.needsReading === true)
    return { kind: 'account-moved' };
  // Of another kind or about another balance it is another rule, even with the same id.
  const isConfigured = account.rules.some(
    ({ id, type, balance }) => id === alert.rule && type === alert.type && balance === alert.balance,
  );
  return isConfigured ? null : { kind: 'rule-removed' };
}

/**
 * Accounts that share their credentials of a provider share the provider's limit. A group has the name of its
 * first account, so that a stored backoff contains no secret.
 */
function groupAccounts(state: MonitorState): void {
  const firsts = new Map<string, string>();
  state.groups.clear();
  for (const account of state.settings.accounts) {
    const shared = `${providerKeyOf(account)}\n${credentialTextOf(account)}`;
    const first = firsts.get(shared);
    if (first === undefined) firsts.set(shared, account.id);
    else state.groups.set(account.id, first);
  }
}

/** Also the shortest poll interval of each group of several. */
function countProviders(state: MonitorState): void {
  state.providers.clear();
  state.shortestIntervals.clear();
  for (const account of state.accounts.values()) {
    getOrMake(state.providers, providerKeyOf(account.settings), () => new ProviderCounts()).add(account);
  }
  for (const [id, group] of state.groups) {
    const members = [id, group].map((member) => state.accounts.get(member)?.pollIntervalMs ?? Infinity);
    const known = state.shortestIntervals.get(group) ?? Infinity;
    state.shortestIntervals.set(group, Math.min(...members, known));
  }
}

/** By the ids of the rules and the balances that they watch: thousands of accounts share few lists. */
type RuleLists = Map<string, readonly Rule[]>;

function shared(rules: readonly Rule[], lists: RuleLists): readonly Rule[] {
  const key = rules.map(({ id, balance, balanceLabel }) => `${id} ${balance} ${balanceLabel}`).join('\n');
  return getOrMake(lists, key, () => rules);
}

function watchAccount(
  state: MonitorState,
  settings: AccountSettings,
  { now, lists, isMoved }: { readonly now: number; readonly lists: RuleLists; readonly isMoved: boolean },
): void {
  if (!state.polled.has(settings.id)) state.polled.set(settings.id, freshAccount(settings.id, now));
  if (isMoved) beginSeries(state, settings, now);
  else noteAccess(state, settings);
  const poll = state.polled.get(settings.id) ?? freshAccount(settings.id, now);
  followSpending(state, { settings, poll }, isMoved);
  const rules = shared(rulesForAccount(state.settings, settings), lists);
  const pollIntervalMs = pollInterval(state.calendar, settings.poll, now);
  const watched = state.accounts.get(settings.id);
  const pollGapMs = pollGap(state.calendar, settings.poll, poll);
  const log = logFor(isMoved ? undefined : watched, { windowMs: maxWindow(rules), pollIntervalMs });
  state.accounts.set(
    settings.id,
    new WatchedAccount({ settings, rules, pollIntervalMs, pollGapMs, log }, state),
  );
}

/** Open incidents are routed and silenced by the present labels. */
function followAccount(state: MonitorState, { settings: { name, labels }, alerts }: WatchedAccount): void {
  for (const alert of alerts.values()) {
    const incident = incidentOf(state, alert);
    if (incident === undefined) continue;
    if (incident.accountName === name && JSON.stringify(incident.labels) === JSON.stringify(labels)) continue;
    keepIncident(state, { ...incident, accountName: name, labels });
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
  forgetExpected(state, id);
  state.due.delete(`account:${id}`);
  state.polled.delete(id);
  state.spending.delete(id);
  state.unlearned.delete(id);
}

function removeAlert(state: MonitorState, alert: Alert, resolution: Resolution, now: number): void {
  if (alert.incident !== null) closeIncident(state, alert, resolution, now);
  state.alerts.delete(alert);
}

/** Its account is gone, or no account uses its provider any more. Alerts of lowwater itself stay. */
function isOrphan(state: MonitorState, alert: Alert): boolean {
  if (alert.account === selfAccountId) return false;
  return !state.settings.accounts.some(
    (account) => providerAccountId(providerKeyOf(account)) === alert.account,
  );
}
