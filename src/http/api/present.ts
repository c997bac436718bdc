import type { Incident } from '../../domain/alert.ts';
import { formatMicros } from '../../domain/money.ts';
import type { PollRecord } from '../../domain/reading.ts';
import { isoOrNull, isoText, quantityJson } from '../../views/public-json.ts';
import type { ChannelView } from '../../views/views.ts';

/** What only the API gives, in the same manner as `views/views-json.ts`. */
export function incidentJson(incident: Incident) {
  const { acknowledgement } = incident;
  return {
    id: incident.id,
    account: incident.account,
    accountName: incident.accountName,
    rule: incident.rule,
    type: incident.type,
    balance: incident.balance,
    severity: incident.severity,
    worstSeverity: incident.worstSeverity,
    firedAt: isoText(incident.firedAt),
    resolvedAt: isoOrNull(incident.resolvedAt),
    resolution: incident.resolution?.kind ?? null,
    event: incident.event,
    value: incident.value && quantityJson(incident.value),
    threshold: incident.threshold && quantityJson(incident.threshold),
    acknowledged: acknowledgement && {
      at: isoText(acknowledgement.at),
      by: acknowledgement.by,
      comment: acknowledgement.comment,
    },
  };
}

export function pollJson({ at, outcome, reading }: PollRecord) {
  return {
    at: isoText(at),
    outcome,
    sms: reading && formatMicros(reading.sms),
    voip: reading && formatMicros(reading.voip),
    currency: reading === null ? null : reading.currency,
  };
}

export function channelJson(channel: ChannelView) {
  return { ...channel, lastDeliveredAt: isoOrNull(channel.lastDeliveredAt) };
}
