import { isoText } from '../domain/moment.ts';
import { isoOrNull, quantityJson } from '../views/public-json.ts';
import type { ReplayResult } from './replay-result.ts';

/** The public JSON of a replay. `severity` is the worst that was reached, `value` what it fired with. */
export function replayJson({ incidents, messages }: ReplayResult) {
  return {
    incidents: incidents.map(({ account, rule, type, severity, firedAt, resolvedAt, value, empty }) => ({
      account,
      rule,
      type,
      severity,
      firedAt: isoText(firedAt),
      resolvedAt: isoOrNull(resolvedAt),
      value: value && quantityJson(value),
      emptyAt: isoOrNull(empty?.at ?? null),
      emptyBy: empty?.how ?? null,
    })),
    messages: messages.total,
  };
}
