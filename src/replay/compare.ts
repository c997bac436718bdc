import { isoText } from '../domain/time.ts';
import type { ReplayedIncident } from './incident-book.ts';
import type { ReplayResult } from './replay-engine.ts';

/** The fate of an alert under another configuration. `severity`: it fires at the same time, but its worst severity is another. */
export type ChangeKind = 'new' | 'gone' | 'earlier' | 'later' | 'severity';

export type ReplayChange = ReturnType<typeof changeOf>;
export type ReplayComparison = ReturnType<typeof compareReplays>;

/** Changes are ordered by account and time. */
export function compareReplays(before: ReplayResult, after: ReplayResult) {
  const names = new Set([...before.messages.byChannel.keys(), ...after.messages.byChannel.keys()]);
  const count = ({ messages }: ReplayResult, channel: string): number => messages.byChannel.get(channel) ?? 0;
  return {
    ...compareIncidents(before.incidents, after.incidents),
    messages: [...names].sort().map((channel) => {
      return { channel, before: count(before, channel), after: count(after, channel) };
    }),
  };
}

/** Incidents of one account about the same thing that overlap are one alert, whatever its rule is called. */
export function compareIncidents(before: readonly ReplayedIncident[], after: readonly ReplayedIncident[]) {
  const left = Map.groupBy(before, subjectOf);
  const changes: ReplayChange[] = [];
  let same = 0;
  for (const incident of after) {
    const candidates = left.get(subjectOf(incident)) ?? [];
    const [nearest = null] = candidates
      .filter((other) => overlap(incident, other))
      .toSorted((one, other) => distance(one, incident) - distance(other, incident));
    if (nearest !== null) candidates.splice(candidates.indexOf(nearest), 1);
    const kind = kindOf(nearest, incident);
    if (kind === null) same++;
    else changes.push(changeOf(kind, nearest, incident));
  }
  for (const incident of [...left.values()].flat()) changes.push(changeOf('gone', incident, null));
  const byAccount = (one: ReplayChange, other: ReplayChange): number =>
    compareTexts(one.account, other.account) || one.at - other.at;
  return { changes: changes.toSorted(byAccount), same };
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function subjectOf({ account, type, balance }: ReplayedIncident): string {
  return JSON.stringify([account, type, balance]);
}

function overlap(one: ReplayedIncident, other: ReplayedIncident): boolean {
  const ends = (incident: ReplayedIncident): number =>
    incident.event ? incident.firedAt : (incident.resolvedAt ?? Number.POSITIVE_INFINITY);
  return one.firedAt <= ends(other) && other.firedAt <= ends(one);
}

/** The distance in time; a rule of the same name comes before all others. */
function distance(one: ReplayedIncident, other: ReplayedIncident): number {
  const apart = Math.abs(one.firedAt - other.firedAt);
  return one.rule === other.rule ? apart - Number.MAX_SAFE_INTEGER : apart;
}

function kindOf(before: ReplayedIncident | null, after: ReplayedIncident): ChangeKind | null {
  if (before === null) return 'new';
  if (after.firedAt !== before.firedAt) return after.firedAt < before.firedAt ? 'earlier' : 'later';
  return after.severity === before.severity ? null : 'severity';
}

function changeOf(kind: ChangeKind, before: ReplayedIncident | null, after: ReplayedIncident | null) {
  const { account = '', firedAt = 0 } = after ?? before ?? {};
  return { kind, account, before, after, at: firedAt };
}

export function comparisonJson({ changes, same, messages }: ReplayComparison) {
  const incidentJson = (incident: ReplayedIncident | null) =>
    incident && {
      rule: incident.rule,
      severity: incident.severity,
      firedAt: isoText(incident.firedAt),
      resolvedAt: incident.resolvedAt === null ? null : isoText(incident.resolvedAt),
    };
  return {
    changes: changes.map(({ kind, account, before, after }) => {
      return { change: kind, account, before: incidentJson(before), after: incidentJson(after) };
    }),
    same,
    messages,
  };
}
