import type { Incident, Told } from '../domain/alert.ts';
import type { NoticeKind } from '../domain/outbox.ts';

/**
 * The incident after a channel was told something of it. `message` is the one that says it; `untried` says
 * that no channel was told, or tried, before.
 */
export function markTold(
  incident: Incident,
  it: {
    readonly channel: string;
    readonly notice: NoticeKind;
    readonly message: string;
    readonly untried: boolean;
    readonly now: number;
  },
): Incident {
  const { channel, notice, message, untried, now } = it;
  const known = incident.told[channel];
  const told: Told = {
    at: now,
    severity: incident.severity,
    rises: incident.rises,
    resolved: notice === 'resolved',
    flapping: incident.flappingSince !== null,
    firstMessage: known?.firstMessage ?? message,
    subject: known?.subject ?? null,
    ...(known?.receipt === undefined ? {} : { receipt: known.receipt }),
    acknowledgedAt: incident.acknowledgement?.at ?? null,
    escalatedAt: notice === 'escalated' ? now : (known?.escalatedAt ?? null),
  };
  return {
    ...incident,
    // Nobody can acknowledge what a silence or another alert kept from everybody: the time to do so begins now.
    escalationSince: untried ? now : incident.escalationSince,
    told: { ...incident.told, [channel]: told },
  };
}
