import type { Incident, LastNotified } from '../domain/alert.ts';
import type { NotificationReason } from '../domain/outbox.ts';

/**
 * The incident after a channel was notified. `message` says it; `untried`: no channel was notified or tried
 * before.
 */
export function markNotified(
  incident: Incident,
  input: {
    readonly channel: string;
    readonly item: NotificationReason;
    readonly message: string;
    readonly untried: boolean;
    readonly now: number;
  },
): Incident {
  const { channel, item, message, untried, now } = input;
  const known = incident.notified[channel];
  const notified: LastNotified = {
    at: now,
    severity: incident.severity,
    rises: incident.rises,
    resolved: item === 'resolved',
    flapping: incident.flappingSince !== null,
    firstMessage: known?.firstMessage ?? message,
    subject: known?.subject ?? null,
    ...(known?.receipt === undefined ? {} : { receipt: known.receipt }),
    acknowledgedAt: incident.acknowledgement?.at ?? null,
    escalatedAt: item === 'escalated' ? now : (known?.escalatedAt ?? null),
  };
  return {
    ...incident,
    // Nobody could acknowledge what was suppressed everywhere: the time to escalation begins now.
    escalationSince: untried ? now : incident.escalationSince,
    notified: { ...incident.notified, [channel]: notified },
  };
}
