import { type ItemState, type MessageItem, stateOf } from '../domain/message.ts';

/** Colour or icon of an item, as the medium has it. */
export type Tone = 'critical' | 'warning' | 'info' | 'good' | 'neutral';

/** For receivers that show only text. */
export const toneIcons: Readonly<Record<Tone, string>> = {
  critical: '🔴',
  warning: '🟠',
  info: '🔵',
  good: '✅',
  neutral: '⚪',
};

export function toneOf(item: MessageItem): Tone {
  const state = stateOf(item);
  if (state === 'resolved') return 'good';
  if (state === 'closed' || state === 'acknowledged') return 'neutral';
  return item.severity;
}

/** Before the severity; of an end there is no severity. */
const stateWords: Readonly<Record<ItemState, string>> = {
  firing: '',
  event: '',
  worse: 'WORSENED TO ',
  reminder: 'STILL ',
  escalated: 'ESCALATED ',
  flapping: 'FLAPPING ',
  acknowledged: 'ACKNOWLEDGED',
  resolved: 'RESOLVED',
  closed: 'CLOSED',
};

export function stateWordOf(item: MessageItem): string {
  const state = stateOf(item);
  const isPlain = state === 'acknowledged' || state === 'resolved' || state === 'closed';
  return isPlain ? stateWords[state] : stateWords[state] + item.severity.toUpperCase();
}
