import type { Notice } from '../domain/message.ts';
import type { NoticeKind } from '../domain/outbox.ts';

/** How a notice reads: one word of the story for all that a message has to say about an incident at once. */
export type NoticeState = NoticeKind | 'closed';

/** What a notice should look like, whatever the medium has for it: colour, icon. */
export type Tone = 'critical' | 'warning' | 'info' | 'good' | 'neutral';

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

export function toneOf(notice: Notice): Tone {
  const state = stateOf(notice);
  if (state === 'resolved') return 'good';
  if (state === 'closed' || state === 'acknowledged') return 'neutral';
  return notice.severity;
}

/** The word that a headline begins with. */
export function stateWordOf(notice: Notice): string {
  const severity = notice.severity.toUpperCase();
  switch (stateOf(notice)) {
    case 'firing':
    case 'event':
      return severity;
    case 'worse':
      return `NOW ${severity}`;
    case 'reminder':
      return `STILL ${severity}`;
    case 'escalated':
      return `ESCALATED ${severity}`;
    case 'acknowledged':
      return 'ACKNOWLEDGED';
    case 'flapping':
      return `FLAPPING ${severity}`;
    case 'resolved':
      return 'RESOLVED';
    case 'closed':
      return 'CLOSED';
  }
}

/** True when the channel was never told of this incident before this message. */
export function isFirstWord(notice: Notice): boolean {
  return notice.kinds.includes('firing') || notice.kinds.includes('event');
}
