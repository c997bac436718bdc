import { displayName, type Incident, providerAccountId } from '../domain/alert.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import { providerDown } from '../rules/provider-down.ts';
import { alertKindOf } from '../rules/registry.ts';
import { closeOwnAlert, raiseOwnAlert } from './own-alerts.ts';
import type { MonitorState } from './state.ts';
import { inactiveAlert } from './transition.ts';
import type { WatchedAccount } from './watched-account.ts';

/** Fewer accounts than this are no provider. */
const fewestAccounts = 3;

const outageRule = providerDown.type;

/**
 * An outage of a whole provider: at least half, and at least three, of its accounts went stale within one
 * poll interval. One message replaces theirs, and one more says that it is over.
 */
function reviewOutage(state: MonitorState, baseUrl: string, now: number): void {
  const accounts = accountsOf(state, baseUrl);
  const account = providerAccountId(baseUrl);
  const alert = state.alerts.get(account, outageRule);
  const stale = accounts.flatMap((it) => staleSinceOf(it) ?? []);
  if (alert?.state === 'firing') {
    if (areMany(stale.length, accounts)) {
      raiseOwnAlert(state, {
        alert,
        evaluation: describeOutage(baseUrl, stale.length, accounts),
        now,
      });
      return;
    }
    closeOwnAlert(state, { account, rule: outageRule, resolution: { kind: 'recovered' }, now });
    touchAll(state, accounts);
    return;
  }
  if (!areMany(countTogether(stale, longestInterval(accounts)), accounts)) return;
  const identity = { account, rule: outageRule, type: outageRule, balance: null } as const;
  raiseOwnAlert(state, {
    alert: alert ?? inactiveAlert(identity),
    evaluation: describeOutage(baseUrl, stale.length, accounts),
    now,
  });
  touchAll(state, accounts);
}

/**
 * The step of a turn that looks at each provider of which an account went stale or was read again: whether it is out as a
 * whole.
 */
export function reviewOutages(state: MonitorState, now: number): void {
  const providers = new Set<string>();
  for (const id of state.touched) {
    const incident = state.incidents.get(id);
    const account =
      incident !== undefined && meansUnread(incident) ? state.accounts.get(incident.account) : undefined;
    if (account !== undefined) providers.add(account.settings.baseUrl);
  }
  for (const baseUrl of providers) reviewOutage(state, baseUrl, now);
}

/** Reviews every outage that lasts, after accounts were removed that it may have consisted of. */
export function reviewLastingOutages(state: MonitorState, now: number): void {
  for (const baseUrl of new Set([...state.accounts.values()].map(({ settings }) => settings.baseUrl))) {
    const alert = state.alerts.get(providerAccountId(baseUrl), outageRule);
    if (alert?.state === 'firing') reviewOutage(state, baseUrl, now);
  }
}

/** An account answers again: staleness that was held back because too many failed is decided anew. */
export function touchStale(state: MonitorState, baseUrl: string): void {
  touchAll(state, accountsOf(state, baseUrl));
}

/** Whether the message about a whole provider stands for this staleness of one account. */
export function isPartOfOutage(state: MonitorState, incident: Incident): boolean {
  const account = state.accounts.get(incident.account);
  if (account === undefined || !meansUnread(incident) || incident.resolvedAt !== null) return false;
  const outage = state.alerts.get(providerAccountId(account.settings.baseUrl), outageRule);
  return outage?.state === 'firing';
}

/** The incidents of accounts that are stale while their provider, given by its account id, is down. */
export function staleIncidentsOf(state: MonitorState, provider: string): Incident[] {
  const accounts = [...state.accounts.values()].filter(
    ({ settings }) => providerAccountId(settings.baseUrl) === provider,
  );
  return accounts
    .flatMap((account) => [...account.alerts.values()])
    .flatMap(({ type, incident }) => (meansUnread({ type }) && incident !== null ? [incident] : []))
    .flatMap((id) => state.incidents.get(id) ?? []);
}

/** Holds back the staleness of single accounts while it may be part of an outage. Looks at each provider once. */
export class OutageHolds {
  readonly #state: MonitorState;
  readonly #now: number;
  readonly #providers = new Map<string, { readonly intervalMs: number; readonly failing: boolean }>();

  constructor(state: MonitorState, now: number) {
    this.#state = state;
    this.#now = now;
  }

  /**
   * Until when: one poll interval from its start while enough of the provider's accounts fail, and as long
   * after an outage ended. Null when it stands alone.
   */
  heldUntil(incident: Incident): number | null {
    const account = this.#state.accounts.get(incident.account);
    const alert = account?.alerts.get(incident.rule);
    if (account === undefined || alert === undefined || !meansUnread(incident)) return null;
    const { baseUrl } = account.settings;
    const outage = this.#state.alerts.get(providerAccountId(baseUrl), outageRule);
    if (outage?.state === 'firing') return Number.POSITIVE_INFINITY;
    const { intervalMs, failing } = this.#provider(baseUrl);
    const staleSince = alert.changedAt.at(-1) ?? incident.firedAt;
    const endedAt = outage?.changedAt.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (this.#now - endedAt < intervalMs && staleSince <= endedAt) return endedAt + intervalMs;
    return failing ? staleSince + intervalMs : null;
  }

  #provider(baseUrl: string) {
    const known = this.#providers.get(baseUrl);
    if (known !== undefined) return known;
    const accounts = accountsOf(this.#state, baseUrl);
    const failing = accounts.filter(
      ({ poll }) => poll.consecutiveFailures > 0 && poll.outcome !== 'auth_failed',
    );
    const fresh = { intervalMs: longestInterval(accounts), failing: areMany(failing.length, accounts) };
    this.#providers.set(baseUrl, fresh);
    return fresh;
  }
}

/** Whether staleness is held back, or told after all, is decided anew. */
function touchAll(state: MonitorState, accounts: readonly WatchedAccount[]): void {
  for (const account of accounts) {
    for (const { type, incident } of account.alerts.values()) {
      if (meansUnread({ type }) && incident !== null) state.touched.add(incident);
    }
  }
}

function accountsOf(state: MonitorState, baseUrl: string): WatchedAccount[] {
  return [...state.accounts.values()].filter((account) => account.settings.baseUrl === baseUrl);
}

function areMany(count: number, accounts: readonly WatchedAccount[]): boolean {
  return count >= fewestAccounts && count * 2 >= accounts.length;
}

/**
 * Since when an account is stale; null when it is not, or when its refused key explains it: then the provider
 * does answer.
 */
function staleSinceOf(account: WatchedAccount): number | null {
  let since: number | null = null;
  for (const alert of account.alerts.values()) {
    if (alert.state !== 'firing') continue;
    const { unread } = alertKindOf(alert);
    if (unread === 'explains') return null;
    if (unread === 'means') since = alert.changedAt.at(-1) ?? alert.breachedSince;
  }
  return since;
}

function meansUnread(alert: { readonly type: string }): boolean {
  return alertKindOf(alert).unread === 'means';
}

/** How many went stale within one interval of the last to do so. */
function countTogether(since: readonly number[], intervalMs: number): number {
  const last = since.reduce((latest, at) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  return since.filter((at) => last - at <= intervalMs).length;
}

function longestInterval(accounts: readonly WatchedAccount[]): number {
  return accounts.reduce((longest, account) => Math.max(longest, account.pollIntervalMs), 0);
}

function describeOutage(
  baseUrl: string,
  stale: number,
  accounts: readonly WatchedAccount[],
): Extract<Evaluation, { kind: 'breached' }> {
  const reason = commonestFailure(accounts);
  return {
    kind: 'breached',
    severity: 'critical',
    value: { unit: 'text', text: `${stale} of ${accounts.length} accounts` },
    threshold: null,
    facts: [
      { name: 'provider', value: { unit: 'text', text: displayName(providerAccountId(baseUrl)) } },
      { name: 'accounts', value: { unit: 'count', count: stale } },
      ...(reason === null ? [] : [{ name: 'reason', value: { unit: 'text', text: reason } } as const]),
    ],
  };
}

/** Why most of the accounts cannot be read; null where none says. */
function commonestFailure(accounts: readonly WatchedAccount[]): string | null {
  const counts = new Map<string, number>();
  for (const { poll } of accounts) {
    if (poll.failure !== null) counts.set(poll.failure, (counts.get(poll.failure) ?? 0) + 1);
  }
  const [commonest] = [...counts].toSorted(([, left], [, right]) => right - left);
  return commonest?.[0] ?? null;
}
