import { stateOf } from '../domain/item-state.ts';
import type { MessageItem } from '../domain/message.ts';

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

export function stateWordOf(item: MessageItem): string {
  const severity = item.severity.toUpperCase();
  switch (stateOf(item)) {
    case 'firing':
    case 'event':
      return severity;
    case 'worse':
      return `WORSENED TO ${severity}`;
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
