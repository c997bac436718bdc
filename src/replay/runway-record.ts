import type { ReplayedIncident } from './incident-book.ts';

/** Told with more than this much of what the rule asks for left was too early, with less than that too late. */
const earlyFactor = 1.2;
const lateFactor = 0.8;

/** How a rule that warns a time ahead would have done: held against when the balance truly was used up. */
export interface RunwayRecord {
  readonly rule: string;
  /** The longest time ahead that it fired with. */
  readonly withinMs: number;
  readonly fired: number;
  /** Of those whose truth is known: how many came in time, too early, too late. */
  readonly inTime: number;
  readonly early: number;
  readonly late: number;
  /** The middle one of the times from firing until nothing was left; null where that is never known. */
  readonly leadMs: number | null;
  /** How often it fired again although nothing was paid in since it had resolved. */
  readonly flapped: number;
}

/**
 * One record for each rule whose incidents fired by a time until the balance is empty. The truth is when it was, or when
 * as much was spent as had been left (`Emptying`). Where the past ends before, an incident counts as early when that is
 * later than the rule asked for already, and else as not known.
 */
export function judgeRunways(incidents: readonly ReplayedIncident[], until: number): RunwayRecord[] {
  const notified = incidents.flatMap((incident) => {
    const { threshold, floored } = incident;
    return floored && threshold?.unit === 'duration' ? [{ incident, withinMs: threshold.ms }] : [];
  });
  return [...Map.groupBy(notified, ({ incident }) => incident.rule)].map(([rule, its]) => {
    const leads = its.flatMap(({ incident }) => leadOf(incident) ?? []);
    const verdicts = its.map(({ incident, withinMs }) => verdictOf(incident, withinMs, until));
    const count = (verdict: Verdict): number => verdicts.filter((it) => it === verdict).length;
    return {
      rule,
      withinMs: its.reduce((longest, { withinMs }) => Math.max(longest, withinMs), 0),
      fired: its.length,
      inTime: count('in time'),
      early: count('early'),
      late: count('late'),
      leadMs: leads.toSorted((left, right) => left - right)[leads.length >> 1] ?? null,
      flapped: its.filter(({ incident }) => !incident.isFirst).length,
    };
  });
}

type Verdict = 'in time' | 'early' | 'late' | 'not known';

function verdictOf(incident: ReplayedIncident, withinMs: number, until: number): Verdict {
  const leadMs = leadOf(incident);
  if (leadMs === null) return until - incident.firedAt > earlyFactor * withinMs ? 'early' : 'not known';
  if (leadMs > earlyFactor * withinMs) return 'early';
  return leadMs < lateFactor * withinMs ? 'late' : 'in time';
}

/** From firing until nothing was left; null where the past does not tell. */
function leadOf({ empty, firedAt }: ReplayedIncident): number | null {
  return empty === null || empty.how === 'projected' ? null : empty.at - firedAt;
}
