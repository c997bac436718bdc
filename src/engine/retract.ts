import type { Incident, LastNotified } from '../domain/alert.ts';
import type { Notification, NotificationReason } from '../domain/outbox.ts';
import { putNotification, queueOf, removeNotification } from './queue.ts';
import { isSilenced, scheduleSilences } from './silencing.ts';
import type { MonitorState } from './state.ts';

/**
 * Retracts items of muted incidents from a notification that nobody received. They do not count as notified:
 * what still holds when the silence ends is notified then, and a reminder keeps its pace. A notification that
 * may have arrived stays: its readers must learn of the end.
 */
export function retractMuted(state: MonitorState, message: Notification, now: number): void {
  if (mayBeKnown(message) || state.underWay.has(message.id)) return;
  const isMuted = (id: string): boolean => {
    const incident = state.incidents.get(id);
    return incident !== undefined && isSilenced(state, incident, now);
  };
  const muted = message.items.filter(({ incident }) => isMuted(incident));
  if (muted.length === 0) return;
  withdrawNotified(state, { ...message, items: muted }, new Set());
  const items = message.items.filter((item) => !muted.includes(item));
  if (items.length === 0) removeNotification(state, message);
  else putNotification(state, { ...message, items });
}

/** An attempt may have arrived, or some recipients have it. */
function mayBeKnown({ uncertain, revision, owed }: Notification): boolean {
  return uncertain || revision !== 0 || owed !== undefined;
}

/** The items of a notification do not count as notified, except those of `spared` incidents. */
export function withdrawNotified(
  state: MonitorState,
  message: Notification,
  spared: ReadonlySet<string>,
): void {
  const saying = (kind: NotificationReason): ReadonlySet<string> =>
    new Set(message.items.filter((item) => item.kind === kind).map(({ incident }) => incident));
  const escalated = saying('escalated');
  const worse = saying('worse');
  const ended = saying('resolved');
  const flapping = saying('flapping');
  const acknowledged = saying('acknowledged');
  forEachNotified(state, message, (incident, notified) => {
    if (spared.has(incident.id)) return notified;
    if (notified.firstMessage === message.id) return null;
    const escalatedAt = escalated.has(incident.id) ? null : notified.escalatedAt;
    const rises = worse.has(incident.id) ? { severity: 'info' as const, rises: notified.rises - 1 } : {};
    return {
      ...notified,
      ...rises,
      // Another message may be on its way with it.
      resolved: notified.resolved && !ended.has(incident.id),
      flapping: notified.flapping && !flapping.has(incident.id),
      escalatedAt,
      acknowledgedAt: acknowledged.has(incident.id) ? null : notified.acknowledgedAt,
    };
  });
}

/**
 * Changes, or with null removes, what the channel was last notified of for each incident of a notification.
 */
export function forEachNotified(
  state: MonitorState,
  message: Notification,
  change: (incident: Incident, notified: LastNotified) => LastNotified | null,
): void {
  for (const id of new Set(message.items.map((item) => item.incident))) {
    const incident = state.incidents.get(id);
    const notified = incident?.notified[message.channel];
    if (incident === undefined || notified === undefined) continue;
    const { [message.channel]: _, ...others } = incident.notified;
    const next = change(incident, notified);
    state.incidents.set(id, {
      ...incident,
      notified: next === null ? others : { ...others, [message.channel]: next },
    });
    state.touched.add(id);
  }
}

/** A silence began or ended: everything that it may have muted is decided on again. */
export function reviewSilences(state: MonitorState, now: number): void {
  for (const channel of [...state.queues.keys()])
    for (const message of queueOf(state, channel)) retractMuted(state, message, now);
  for (const id of state.incidents.keys()) state.touched.add(id);
  scheduleSilences(state, now);
}
