import { stateOf } from '../domain/item-state.ts';
import type { MessageItem } from '../domain/message.ts';

/** What a notice should look like, whatever the medium has for it: colour, icon. */
export type Tone = 'critical' | 'warning' | 'info' | 'good' | 'neutral';

/** For receivers that show text only. */
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

/** The word that a headline begins with. */
export function stateWordOf(item: MessageItem): string {
  const severity = item.severity.toUpperCase();
  switch (stateOf(item)) {
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
