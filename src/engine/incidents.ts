import {
  type Alert,
  displayName,
  type Incident,
  isAcknowledged,
  notifiedOfLittle,
  type Resolution,
} from '../domain/alert.ts';
import { isWorse } from '../domain/severity.ts';
import { planChannels } from './decide.ts';
import type { MonitorState, WatchedAccount } from './state.ts';
import { inactiveAlert, type Transition } from './transition.ts';

/** The incident of an alert that fires now; `account` is null for what is about lowwater itself or a provider. */
export function sketchIncident(
  id: string,
  account: Pick<WatchedAccount, 'settings'> | null,
  alert: Alert,
  now: number,
): Incident {
  const { rule, type, balance, severity, flappingSince, value, threshold, facts } = alert;
  return {
    id,
    account: alert.account,
    rule,
    type,
    balance,
    accountName: account?.settings.name ?? displayName(alert.account),
    ...(account === null ? { labels: {} } : matchedOf(account)),
    severity,
    worstSeverity: severity,
    rises: 0,
    firedAt: now,
    escalationSince: now,
    resolvedAt: null,
    resolution: null,
    flappingSince,
    event: false,
    value,
    threshold,
    facts,
    acknowledgement: null,
    eased: null,
    notified: {},
  };
}

/** The subject that routes and silences match. */
export function matchedOf({ settings }: Pick<WatchedAccount, 'settings'>) {
  const { labels, provider, currency } = settings;
  return { labels, provider, currency };
}

/** Opens an incident for something that has no end. */
export function openEvent(
  state: MonitorState,
  account: WatchedAccount | null,
  happened: Alert,
  now: number,
): void {
  keepIncident(state, { ...sketchIncident(newId(state), account, happened, now), event: true });
}

interface Change {
  readonly now: number;
  /** A top-up made it milder, or the balance fell below a level again: the milder severity is what readers had in mind. */
  readonly eased?: boolean;
  /** It fires for something else as well. */
  readonly another?: boolean;
  /** Why it ended, if it did. */
  readonly resolution: () => Resolution;
}

/** Applies a transition to the alert's incident. Returns the alert with its incident. */
export function followChange(
  state: MonitorState,
  account: WatchedAccount | null,
  { alert, change }: Transition,
  { now, eased = false, another = false, resolution }: Change,
): Alert {
  if (change === 'fired') {
    const incident = sketchIncident(newId(state), account, alert, now);
    keepIncident(state, incident);
    return { ...alert, incident: incident.id };
  }
  if (change === 'resolved') {
    closeIncident(state, alert, resolution(), now);
    return { ...alert, incident: null };
  }
  const incident = alert.state === 'firing' ? incidentOf(state, alert) : undefined;
  if (incident !== undefined)
    keepIncident(state, changedIncident(incident, alert, { rose: change === 'rose', eased, another, now }));
  return alert;
}

/** When it is worse than ever, or than what was acknowledged, the time to escalation starts again. */
function changedIncident(
  incident: Incident,
  alert: Alert,
  { rose, eased, another, now }: Readonly<Record<'rose' | 'eased' | 'another', boolean>> & { now: number },
): Incident {
  const { severity, flappingSince } = alert;
  const isWorst = isWorse(severity, incident.worstSeverity);
  const isNews = rose || another;
  const isNew = isNews && (isWorst || isAcknowledged(incident));
  return {
    ...incident,
    ...numbersOf(alert, incident),
    severity,
    escalationSince: isNew ? now : incident.escalationSince,
    worstSeverity: isWorst ? severity : incident.worstSeverity,
    rises: incident.rises + (isNews ? 1 : 0),
    ...(another ? { anotherAt: incident.rises + 1 } : {}),
    eased: eased ? { severity: rose ? incident.severity : severity, rises: incident.rises } : incident.eased,
    flappingSince,
  };
}

export function closeIncident(state: MonitorState, alert: Alert, resolution: Resolution, now: number): void {
  const incident = incidentOf(state, alert);
  if (incident === undefined) return;
  keepIncident(state, {
    ...incident,
    ...numbersOf(alert, incident),
    // A clock that was set back must not make an incident end before it began.
    resolvedAt: Math.max(now, incident.firedAt),
    resolution: inherited(resolution, state),
    flappingSince: null,
  });
}

/** An alert that ends because its rule or account was removed has no facts. */
function numbersOf({ value, threshold, facts }: Alert, incident: Incident) {
  return { value, threshold, facts: facts.length > 0 ? facts : incident.facts };
}

/** A removal while a new owner restores the state comes from the take-over. */
function inherited(resolution: Resolution, { takeOver }: MonitorState): Resolution {
  const { kind } = resolution;
  const isRemoval = kind === 'rule-removed' || kind === 'account-removed' || kind === 'channel-removed';
  return takeOver !== null && isRemoval ? { kind, heir: takeOver } : resolution;
}

/** An alert that fires and its open incident are two records: if one of them could not be read, it is made of the other. */
export function reunite(state: MonitorState, now: number): void {
  for (const incident of state.incidents.values())
    if (!incident.event && incident.resolvedAt === null) resumeAlert(state, incident);
  for (const alert of [...state.alerts.values()]) {
    if (alert.state !== 'firing' || incidentOf(state, alert) !== undefined) continue;
    const settings = state.settings.accounts.find(({ id }) => id === alert.account);
    // Under its old id, which receivers know.
    const id = alert.incident ?? newId(state);
    const incident = sketchIncident(id, settings === undefined ? null : { settings }, alert, now);
    state.incidents.set(id, { ...incident, notified: perhapsNotified(state, incident, alert, now) });
    state.alerts.set({ ...alert, incident: id });
  }
}

/** Makes the alert of an open incident fire; false if the alert has an incident already. */
export function resumeAlert(state: MonitorState, incident: Incident): boolean {
  const { account, rule, type, balance, severity, value, threshold, flappingSince } = incident;
  const alert = state.alerts.get(account, rule);
  if (alert !== undefined && incidentOf(state, alert) !== undefined) return false;
  state.alerts.set({
    ...inactiveAlert({ account, rule, type, balance }),
    ...{ state: 'firing', severity, value, threshold, flappingSince },
    ...{ incident: incident.id, breachedSince: incident.firedAt },
  });
  return true;
}

/** More keys than nearly every incident has at a receiver; any beyond these stay open there. */
const maxKeys = 19;

/** Nobody knows who was notified of it: the channels that should have been are notified as if it got worse, or is over. */
function perhapsNotified(
  { settings }: MonitorState,
  incident: Incident,
  { breachedSince }: Alert,
  now: number,
): Incident['notified'] {
  const channels = settings.channels.map(({ name }) => name);
  const openMs = now - (breachedSince ?? now);
  const perhaps = notifiedOfLittle({
    ...{ at: now, rises: incident.rises, firstMessage: 'lost', subject: null },
    // Tools may have it under several keys, and somebody may have acknowledged any of them.
    keys: { first: 0, newest: maxKeys, taken: maxKeys },
  });
  return Object.fromEntries(
    planChannels(incident, settings.routes, channels).flatMap(({ channel, direct, escalateAfterMs }) =>
      direct || openMs >= (escalateAfterMs ?? Number.POSITIVE_INFINITY) ? [[channel, perhaps]] : [],
    ),
  );
}

export function keepIncident(state: MonitorState, incident: Incident): void {
  state.incidents.set(incident.id, incident);
  state.touched.add(incident.id);
}

export function incidentOf(state: MonitorState, alert: Alert): Incident | undefined {
  return alert.incident === null ? undefined : state.incidents.get(alert.incident);
}

function newId(state: MonitorState): string {
  return `i-${state.random.id()}`;
}
