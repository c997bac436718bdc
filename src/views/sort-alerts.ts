import { severityRank } from '../domain/severity.ts';
import { byUrgency } from '../domain/urgency.ts';
import type { AlertView } from './views.ts';

/** The most urgent first; among equals the worst, then the oldest. */
export function sortAlerts<T extends Pick<AlertView, 'account' | 'rule' | 'severity' | 'since' | 'urgency'>>(
  alerts: readonly T[],
): readonly T[] {
  const dated = alerts.map((alert) => ({ alert, urgency: alert.urgency }));
  return dated
    .sort(
      ({ alert: left, urgency }, { alert: right, urgency: other }) =>
        byUrgency(urgency, other) ||
        severityRank(right.severity) - severityRank(left.severity) ||
        left.since - right.since ||
        (left.account + left.rule < right.account + right.rule ? -1 : 1),
    )
    .map(({ alert }) => alert);
}
