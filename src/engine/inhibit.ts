import type { Alert, Incident } from '../domain/alert.ts';
import type { Quantity } from '../domain/quantity.ts';
import { severityRank } from '../domain/severity.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { Suppression } from './decide.ts';
import { incidentOf } from './incidents.ts';
import { isPartOfOutage } from './outage.ts';
import { isSilenced } from './silencing.ts';
import type { MonitorState } from './state.ts';

/** What silences and other alerts suppress for all channels. */
type SuppressionByAlerts = Pick<Suppression, 'silenced' | 'inhibited'>;

/** For the API: whether and how the incident is suppressed now. */
export function suppressionOf(state: MonitorState, incident: Incident, now: number): SuppressionByAlerts {
  const suppression = suppressionByAlerts(state, incident, now);
  return { ...suppression, inhibited: suppression.inhibited || isPartOfOutage(state, incident) };
}

export function suppressionByAlerts(
  state: MonitorState,
  incident: Incident,
  now: number,
): SuppressionByAlerts {
  return { silenced: isSilenced(state, incident, now), inhibited: isInhibited(state, incident, now) };
}

function isInhibited(state: MonitorState, incident: Incident, now: number): boolean {
  const alerts = state.alerts.of(incident.account);
  const alert = alerts.get(incident.rule);
  if (alert === undefined || alert.state !== 'firing' || alerts.size < 2) return false;
  for (const other of alerts.values())
    if (inhibits(other, alert) && isNotSilenced(state, other, now)) return true;
  return false;
}

/** A silenced alert says nothing, so it must not inhibit others. */
function isNotSilenced(state: MonitorState, alert: Alert, now: number): boolean {
  const incident = incidentOf(state, alert);
  return incident !== undefined && !isSilenced(state, incident, now);
}

/**
 * Whether another alert of the same account already says what this one would: it says more about the same
 * empty balance, or it is the cause of stale readings.
 */
export function inhibits(other: Alert, alert: Alert): boolean {
  if (other.state !== 'firing' || other.rule === alert.rule) return false;
  if (alertKindOf(alert).staleness === 'symptom' && alertKindOf(other).staleness === 'cause') return true;
  return shareNotification(other, alert) && outranks(other, alert);
}

/** Of alerts about how empty a balance is only one is notified, and one acknowledgement covers all. */
export function shareNotification(one: Alert, other: Alert): boolean {
  const alike = one.balance !== null && one.balance === other.balance;
  return alike && Number.isFinite(rankOf(one)) && Number.isFinite(rankOf(other));
}

/** The worse one; at equal severity empty before low before running out, then the deeper threshold. */
function outranks(one: Alert, other: Alert): boolean {
  const order =
    severityRank(one.severity) - severityRank(other.severity) ||
    rankOf(other) - rankOf(one) ||
    sizeOf(other.threshold) - sizeOf(one.threshold);
  return order === 0 || Number.isNaN(order) ? one.rule < other.rule : order > 0;
}

function rankOf(alert: Alert): number {
  return alertKindOf(alert).emptinessRank ?? Number.POSITIVE_INFINITY;
}

function sizeOf(threshold: Quantity | null): number {
  if (threshold?.unit === 'money') return threshold.micros;
  return threshold?.unit === 'duration' ? threshold.ms : Number.NaN;
}
