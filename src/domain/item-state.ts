import type { MessageItem } from './message.ts';
import type { NotificationReason } from './outbox.ts';

/** How a notice reads: one word of the story for all that a message has to say about an incident at once. */
export type ItemState = NotificationReason | 'closed';

/**
 * The state that a notice is told in. An end outranks all; a channel that was told nothing before hears
 * `firing` although the incident got worse or was reminded of in between. An end without a recovery is
 * `closed`: nothing is said to be well again.
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
  // It was given back before this could be told.
  return state === 'acknowledged' && item.incident.acknowledgement === null ? 'reminder' : state;
}

/** True for what has happened and will not change any more: its numbers are those of that moment. */
export function isOver(item: MessageItem): boolean {
  const state = stateOf(item);
  return state === 'resolved' || state === 'event';
}

/** True when the channel was never told of this incident before this message. */
export function isFirstNotification(item: MessageItem): boolean {
  return item.kinds.includes('firing') || item.kinds.includes('event');
}
