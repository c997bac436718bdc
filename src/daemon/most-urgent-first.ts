import { type Incident, selfAccountId } from '../domain/alert.ts';
import { severityRank } from '../domain/severity.ts';
import { byUrgency } from '../domain/urgency.ts';
import { runwayOf } from '../engine/spending.ts';
import type { MonitorState } from '../engine/state.ts';
import { urgencyOf } from '../rules/urgency.ts';

/** Open before ended, then the most urgent; of what is alike the worst, balances before lowwater itself, the newest. */
export function mostUrgentFirst(
  state: MonitorState,
  incidents: readonly Incident[],
  now: number,
): Incident[] {
  const runway = ({ account, balance }: Incident) => {
    const watched = balance === null ? undefined : state.accounts.get(account);
    return watched === undefined ? null : runwayOf(watched, balance ?? '', now);
  };
  const rank = (incident: Incident): readonly number[] => [
    Number(incident.resolvedAt !== null),
    -severityRank(incident.severity),
    Number(incident.account === selfAccountId),
    -incident.firedAt,
  ];
  return incidents
    .map((incident) => ({
      incident,
      rank: rank(incident),
      urgency: urgencyOf({ ...incident, since: incident.firedAt }, runway(incident), now),
    }))
    .sort(({ rank: left, urgency }, { rank: right, urgency: other }) => {
      const [open = 0, ...rest] = left.map((value, place) => value - (right[place] ?? 0));
      return open || byUrgency(urgency, other) || (rest.find((difference) => difference !== 0) ?? 0);
    })
    .map(({ incident }) => incident);
}
