import {
  type Alert,
  changedIncident,
  closedIncident,
  displayName,
  type Heir,
  type Incident,
  type IncidentChange,
  newIncident,
  type Resolution,
} from '../domain/alert.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import type { MonitorState, WatchedAccount } from './state.ts';

/** An alert that begins; `account` is null for what is about lowwater itself or a provider. */
interface Opening {
  readonly account: WatchedAccount | null;
  readonly alert: Alert;
  readonly now: number;
}

/** Opens the incident of an alert that fires now; returns its id. */
export function openIncident(state: MonitorState, opening: Opening): string {
  const incident = sketchIncident(newId(state), opening);
  keepIncident(state, incident);
  return incident.id;
}
export function openEvent(
  state: MonitorState,
  { evaluation, ...opening }: Opening & { readonly evaluation: Evaluation },
): void {
  if (evaluation.kind !== 'event') return;
  const { severity, value, threshold, facts } = evaluation;
  const alert = { ...opening.alert, severity, value, threshold, facts };
  keepIncident(state, { ...sketchIncident(newId(state), { ...opening, alert }), event: true });
}

export function updateIncident(state: MonitorState, change: IncidentChange): void {
  const incident = incidentOf(state, change.alert);
  if (incident !== undefined) keepIncident(state, changedIncident(incident, change));
}

export function closeIncident(
  state: MonitorState,
  end: { readonly alert: Alert; readonly now: number; readonly resolution: Resolution },
): void {
  const incident = incidentOf(state, end.alert);
  if (incident === undefined) return;
  const resolution = inherited(end.resolution, state.heir);
  keepIncident(state, closedIncident(incident, end.alert, { ...end, resolution }));
}

/** What is removed while an heir restores the state is removed by the take-over. */
function inherited(resolution: Resolution, heir: Heir | null): Resolution {
  const { kind } = resolution;
  const isRemoval = kind === 'rule-removed' || kind === 'account-removed' || kind === 'channel-removed';
  return heir !== null && isRemoval ? { kind, heir } : resolution;
}

/** Stores a changed incident and marks it to be decided on. */
export function keepIncident(state: MonitorState, incident: Incident): void {
  state.incidents.set(incident.id, incident);
  state.touched.add(incident.id);
}

export function sketchIncident(id: string, { account, alert, now }: Opening): Incident {
  const accountName = account?.settings.name ?? displayName(alert.account);
  return newIncident({ id, alert, accountName, labels: account?.settings.labels ?? {}, now });
}

export function incidentOf(state: MonitorState, alert: Alert): Incident | undefined {
  return alert.incident === null ? undefined : state.incidents.get(alert.incident);
}

function newId(state: MonitorState): string {
  return `i-${state.random.id()}`;
}
