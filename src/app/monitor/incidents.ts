import { type Alert, displayName, type Incident, type Resolution } from '../../core/alert.ts';
import type { Evaluation } from '../../core/evaluation.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** Opens the incident of an alert that fires now; gives its id. */
export function openIncident(
  state: MonitorState,
  {
    account,
    alert,
    now,
  }: { readonly account: WatchedAccount | null; readonly alert: Alert; readonly now: number },
): string {
  const incident = newIncident(state, { account, alert, now });
  keepIncident(state, incident);
  return incident.id;
}

/** Records something that happened and has no end, such as a top-up. */
export function openEvent(
  state: MonitorState,
  it: {
    readonly account: WatchedAccount;
    readonly alert: Alert;
    readonly evaluation: Evaluation;
    readonly now: number;
  },
): void {
  const { evaluation, now } = it;
  if (evaluation.kind !== 'event') return;
  const { severity, value, threshold, facts } = evaluation;
  const alert = { ...it.alert, severity, value, threshold, facts };
  keepIncident(state, { ...newIncident(state, { account: it.account, alert, now }), event: true });
}

/** Carries what changed in a firing alert over to its incident. */
export function updateIncident(
  state: MonitorState,
  { alert, rose }: { readonly alert: Alert; readonly rose: boolean },
): void {
  const incident = incidentOfAlert(state, alert);
  if (incident === undefined) return;
  keepIncident(state, {
    ...incident,
    severity: alert.severity,
    worstSeverity: rose ? alert.severity : incident.worstSeverity,
    rises: incident.rises + (rose ? 1 : 0),
    flappingSince: alert.flappingSince,
    value: alert.value,
    threshold: alert.threshold,
    facts: alert.facts,
  });
}

export function closeIncident(
  state: MonitorState,
  {
    alert,
    now,
    resolution,
  }: { readonly alert: Alert; readonly now: number; readonly resolution: Resolution },
): void {
  const incident = incidentOfAlert(state, alert);
  if (incident === undefined) return;
  // A clock that was set back must not make an incident end before it began.
  const resolvedAt = Math.max(now, incident.firedAt);
  const { value, threshold, facts } = alert;
  keepIncident(state, { ...incident, resolvedAt, resolution, flappingSince: null, value, threshold, facts });
}

/** Puts a changed incident where everybody finds it, to be stored and decided on. */
export function keepIncident(state: MonitorState, incident: Incident): void {
  state.incidents.set(incident.id, incident);
  state.changes.incidents.add(incident.id);
  state.touched.add(incident.id);
}

function incidentOfAlert(state: MonitorState, alert: Alert): Incident | undefined {
  return alert.incident === null ? undefined : state.incidents.get(alert.incident);
}

function newIncident(
  state: MonitorState,
  it: { readonly account: WatchedAccount | null; readonly alert: Alert; readonly now: number },
): Incident {
  return sketchIncident({ id: `i-${state.random.id()}`, ...it });
}

/** The incident that an alert would open at `now`. */
export function sketchIncident({
  id,
  account,
  alert,
  now,
}: {
  readonly id: string;
  readonly account: WatchedAccount | null;
  readonly alert: Alert;
  readonly now: number;
}): Incident {
  const { type, rule, balance, severity, value, threshold, facts } = alert;
  return {
    id,
    account: alert.account,
    rule,
    type,
    balance,
    accountName: account?.settings.name ?? displayName(alert.account),
    labels: account?.settings.labels ?? {},
    severity,
    worstSeverity: severity,
    rises: 0,
    firedAt: now,
    escalationSince: now,
    resolvedAt: null,
    resolution: null,
    flappingSince: alert.flappingSince,
    event: false,
    value,
    threshold,
    facts,
    acknowledgement: null,
    told: {},
  };
}
