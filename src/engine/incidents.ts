import { type Alert, displayName, type Heir, type Incident, type Resolution } from '../domain/alert.ts';
import { changedIncident, closedIncident, type IncidentChange, newIncident } from '../domain/incident.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import type { MonitorState } from './state.ts';
import type { WatchedAccount } from './watched-account.ts';

/** Opens the incident of an alert that fires now; returns its id. */
export function openIncident(
  state: MonitorState,
  {
    account,
    alert,
    now,
  }: { readonly account: WatchedAccount | null; readonly alert: Alert; readonly now: number },
): string {
  const incident = sketchIncident({ id: newId(state), account, alert, now });
  keepIncident(state, incident);
  return incident.id;
}

/** Records an event, such as a top-up. */
export function openEvent(
  state: MonitorState,
  input: {
    readonly account: WatchedAccount | null;
    readonly alert: Alert;
    readonly evaluation: Evaluation;
    readonly now: number;
  },
): void {
  const { evaluation, now } = input;
  if (evaluation.kind !== 'event') return;
  const { severity, value, threshold, facts } = evaluation;
  const alert = { ...input.alert, severity, value, threshold, facts };
  const incident = sketchIncident({ id: newId(state), account: input.account, alert, now });
  keepIncident(state, { ...incident, event: true });
}

export function updateIncident(state: MonitorState, change: IncidentChange): void {
  const incident = incidentOf(state, change.alert);
  if (incident !== undefined) keepIncident(state, changedIncident(incident, change));
}

export function closeIncident(
  state: MonitorState,
  {
    alert,
    now,
    resolution,
  }: { readonly alert: Alert; readonly now: number; readonly resolution: Resolution },
): void {
  const incident = incidentOf(state, alert);
  if (incident === undefined) return;
  const why = inherited(resolution, state.heir);
  keepIncident(state, closedIncident(incident, alert, { resolution: why, now }));
}

/** What is removed while an heir restores the state is removed by the take-over. */
function inherited(resolution: Resolution, heir: Heir | null): Resolution {
  if (heir === null) return resolution;
  const { kind } = resolution;
  const isRemoval = kind === 'rule-removed' || kind === 'account-removed' || kind === 'channel-removed';
  return isRemoval ? { kind, heir } : resolution;
}

/** Stores a changed incident and marks it to be decided on. */
export function keepIncident(state: MonitorState, incident: Incident): void {
  state.incidents.set(incident.id, incident);
  state.touched.add(incident.id);
}

export function sketchIncident(input: {
  readonly id: string;
  readonly account: WatchedAccount | null;
  readonly alert: Alert;
  readonly now: number;
}): Incident {
  const { id, account, alert, now } = input;
  const accountName = account?.settings.name ?? displayName(alert.account);
  return newIncident({ id, alert, accountName, labels: account?.settings.labels ?? {}, now });
}

export function incidentOf(state: MonitorState, alert: Alert): Incident | undefined {
  return alert.incident === null ? undefined : state.incidents.get(alert.incident);
}

function newId(state: MonitorState): string {
  return `i-${state.random.id()}`;
}
