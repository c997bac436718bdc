import { alertKey, displayName, type Incident, providerAccountId } from '../../core/alert.ts';
import type { Evaluation } from '../../core/evaluation.ts';
import { inactiveAlert } from '../../core/transition.ts';
import { closeOwnAlert, raiseOwnAlert } from './own-alerts.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** Fewer accounts than this are no provider (contract 4.3). */
const fewestAccounts = 3;

export const outageRule = 'provider-down';

/**
 * An outage of a whole provider: at least half, and at least three, of its accounts went stale within one poll interval. One
 * message replaces theirs, and one more says that it is over.
 */
export function reviewOutage(state: MonitorState, baseUrl: string, now: number): void {
  const accounts = accountsOf(state, baseUrl);
  const account = providerAccountId(baseUrl);
  const alert = state.alerts.get(alertKey(account, outageRule));
  const stale = accounts.flatMap((it) => staleIncidentOf(state, it) ?? []);
  const enough = stale.length >= fewestAccounts && stale.length * 2 >= accounts.length;
  if (alert?.state === 'firing') {
    if (!enough) closeOwnAlert(state, { account, rule: outageRule, now });
    return;
  }
  if (!enough || !wentTogether(stale, longestInterval(accounts))) return;
  const identity = { account, rule: outageRule, type: 'provider-down', balance: null } as const;
  raiseOwnAlert(state, {
    alert: alert ?? inactiveAlert(identity),
    evaluation: describeOutage(baseUrl, stale, accounts),
    now,
  });
}

/**
 * Until when the staleness of one account is held back because it may be part of an outage: one poll interval from its
 * start while enough of the provider's accounts fail, and as long after an outage ended. Null when it stands alone.
 */
export function outageHold(state: MonitorState, incident: Incident, now: number): number | null {
  const account = state.accounts.get(incident.account);
  if (account === undefined) return null;
  const baseUrl = account.settings.baseUrl;
  const accounts = accountsOf(state, baseUrl);
  const interval = longestInterval(accounts);
  const outage = state.alerts.get(alertKey(providerAccountId(baseUrl), outageRule));
  if (outage?.state === 'firing') return Number.POSITIVE_INFINITY;
  const endedAt = outage?.changedAt.at(-1) ?? Number.NEGATIVE_INFINITY;
  if (now - endedAt < interval && incident.firedAt <= endedAt) return endedAt + interval;
  const failing = accounts.filter(
    (it) => it.poll.consecutiveFailures > 0 && it.poll.outcome !== 'auth_failed',
  ).length;
  if (failing < fewestAccounts || failing * 2 < accounts.length) return null;
  return incident.firedAt + interval;
}

function accountsOf(state: MonitorState, baseUrl: string): WatchedAccount[] {
  return [...state.accounts.values()].filter((account) => account.settings.baseUrl === baseUrl);
}

function staleIncidentOf(state: MonitorState, account: WatchedAccount): Incident | null {
  for (const alert of account.alerts.values()) {
    if (alert.type === 'stale' && alert.incident !== null) return state.incidents.get(alert.incident) ?? null;
  }
  return null;
}

/** Whether enough of them went stale within one interval of the last to do so. */
function wentTogether(stale: readonly Incident[], intervalMs: number): boolean {
  const last = Math.max(...stale.map((incident) => incident.firedAt));
  return stale.filter((incident) => last - incident.firedAt <= intervalMs).length >= fewestAccounts;
}

function longestInterval(accounts: readonly WatchedAccount[]): number {
  return Math.max(0, ...accounts.map((account) => account.pollIntervalMs));
}

function describeOutage(
  baseUrl: string,
  stale: readonly Incident[],
  accounts: readonly WatchedAccount[],
): Extract<Evaluation, { kind: 'breached' }> {
  return {
    kind: 'breached',
    severity: 'critical',
    value: { unit: 'text', text: `${stale.length} of ${accounts.length} accounts` },
    threshold: null,
    facts: [
      { name: 'provider', value: { unit: 'text', text: displayName(providerAccountId(baseUrl)) } },
      { name: 'accounts', value: { unit: 'count', count: stale.length } },
    ],
  };
}
