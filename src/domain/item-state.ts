import type { MessageItem } from './message.ts';
import type { NotificationReason } from './outbox.ts';

/** One word for everything that a message says about an incident. */
export type ItemState = NotificationReason | 'closed';

/**
 * An end outranks everything else; a channel that was not notified before gets `firing`, although the
 * incident got worse meanwhile. An end without a recovery is `closed`, because nothing is well again.
 */
export function stateOf(item: MessageItem): ItemState {
  const { kinds, resolution } = item;
  if (kinds.includes('resolved')) {
    return resolution === null || resolution.kind === 'recovered' || resolution.kind === 'topped-up'
      ? 'resolved'
      : 'closed';
  }
  const order = ['flapping', 'escalated', 'firing', 'worse', 'acknowledged', 'reminder', 'event'] as const;
  const state = order.find((kind) => kinds.includes(kind)) ?? 'firing';
  // The acknowledgement was removed before this was sent.
  return state === 'acknowledged' && item.incident.acknowledgement === null ? 'reminder' : state;
}

/** True for what will not change any more: its numbers are those of that moment. */
export function isOver(item: MessageItem): boolean {
  const state = stateOf(item);
  return state === 'resolved' || state === 'event';
}

/** True when this message is the first that the channel gets about the incident. */
export function isFirstNotification(item: MessageItem): boolean {
  return item.kinds.includes('firing') || item.kinds.includes('event');
}
