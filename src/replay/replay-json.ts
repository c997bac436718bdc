import { isoText, quantityJson } from '../views/public-json.ts';
import type { ReplayResult } from './history-replay.ts';

/** The public JSON of a replay. `severity` is the worst that was reached, `value` what it fired with. */
export function replayJson({ incidents, messages }: ReplayResult) {
  return {
    incidents: incidents.map(({ incident, value, empty }) => ({
      account: incident.account,
      rule: incident.rule,
      type: incident.type,
      severity: incident.worstSeverity,
      firedAt: isoText(incident.firedAt),
      resolvedAt: incident.resolvedAt === null ? null : isoText(incident.resolvedAt),
      value: value && quantityJson(value),
      emptyAt: empty && isoText(empty.at),
      emptyBy: empty === null ? null : empty.how,
    })),
    messages: messages.length,
  };
}
