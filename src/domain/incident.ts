import type { Alert, Incident, Resolution } from './alert.ts';
import { isWorse } from './severity.ts';

export function newIncident(input: {
  readonly id: string;
  readonly alert: Alert;
  readonly accountName: string;
  readonly labels: Incident['labels'];
  readonly now: number;
}): Incident {
  const { id, alert, accountName, labels, now } = input;
  const { account, rule, type, balance, severity, flappingSince, value, threshold, facts } = alert;
  return {
    id,
    account,
    rule,
    type,
    balance,
    accountName,
    labels,
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

/** What became of the alert of an incident that stays open; `eased`: a top-up made it milder. */
export interface IncidentChange {
  readonly alert: Alert;
  readonly rose: boolean;
  readonly eased: boolean;
  readonly now: number;
}

/**
 * The incident after its alert changed at `now`; `rose`: its severity did. When it is worse than ever, or
 * than what was acknowledged, the time to escalation starts again.
 */
export function changedIncident(incident: Incident, { alert, rose, eased, now }: IncidentChange): Incident {
  const { severity, flappingSince, value, threshold, facts } = alert;
  const isWorst = isWorse(severity, incident.worstSeverity);
  const isNew = rose && (isWorst || isAcknowledged(incident));
  return {
    ...incident,
    severity,
    escalationSince: isNew ? now : incident.escalationSince,
    worstSeverity: isWorst ? severity : incident.worstSeverity,
    rises: incident.rises + (rose ? 1 : 0),
    eased: eased ? { severity, rises: incident.rises } : incident.eased,
    flappingSince,
    value,
    threshold,
    facts: newest(facts, incident),
  };
}

export function closedIncident(
  incident: Incident,
  alert: Alert,
  { resolution, now }: { readonly resolution: Resolution; readonly now: number },
): Incident {
  // A clock that was set back must not make an incident end before it began.
  const resolvedAt = Math.max(now, incident.firedAt);
  const { value, threshold, facts } = alert;
  return {
    ...incident,
    resolvedAt,
    resolution,
    flappingSince: null,
    value,
    threshold,
    facts: newest(facts, incident),
  };
}

/** An alert that ends because its rule or account was removed has no facts. */
function newest(facts: Alert['facts'], incident: Incident): Incident['facts'] {
  return facts.length > 0 ? facts : incident.facts;
}

/** An acknowledgement holds until the severity rises after the person took it, even to where it had been before. */
export function isAcknowledged(incident: Incident): boolean {
  return incident.acknowledgement !== null && incident.acknowledgement.rises === incident.rises;
}

/** Over, and every channel that was notified of it was notified of its end. */
export function isSettled(incident: Incident): boolean {
  if (incident.event) return true;
  return incident.resolvedAt !== null && Object.values(incident.notified).every(({ resolved }) => resolved);
}
