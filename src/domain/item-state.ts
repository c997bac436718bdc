import type { Notice } from './message.ts';
import type { NoticeKind } from './outbox.ts';

/** How a notice reads: one word of the story for all that a message has to say about an incident at once. */
export type NoticeState = NoticeKind | 'closed';

/**
 * The state that a notice is told in. An end outranks all; a channel that was told nothing before hears
 * `firing` although the incident got worse or was reminded of in between. An end without a recovery is
 * `closed`: nothing is said to be well again.
 */
export function stateOf(notice: Notice): NoticeState {
  const { kinds, resolution } = notice;
  if (kinds.includes('resolved')) {
    return resolution === null || resolution.kind === 'recovered' || resolution.kind === 'topped-up'
      ? 'resolved'
      : 'closed';
  }
  const order = ['flapping', 'escalated', 'firing', 'worse', 'acknowledged', 'reminder', 'event'] as const;
  const state = order.find((kind) => kinds.includes(kind)) ?? 'firing';
  // It was given back before this could be told.
  return state === 'acknowledged' && notice.incident.acknowledgement === null ? 'reminder' : state;
}

/** True for what has happened and will not change any more: its numbers are those of that moment. */
export function isOver(notice: Notice): boolean {
  const state = stateOf(notice);
  return state === 'resolved' || state === 'event';
}

/** True when the channel was never told of this incident before this message. */
export function isFirstWord(notice: Notice): boolean {
  return notice.kinds.includes('firing') || notice.kinds.includes('event');
}
