import {
  type IncidentMessage,
  type Message,
  type MessageItem,
  stateOf,
  type TestMessage,
} from '../domain/message.ts';
import { formatMoment } from '../domain/moment.ts';
import { cleanText, plural } from '../domain/plain-text.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { incidentSubject, withoutBrackets } from './item-headline.ts';
import { type Tone, toneOf } from './item-tone.ts';
import { type ItemWording, wordItem } from './item-wording.ts';
import { reportSubject } from './report-wording.ts';

export interface IncidentsWording {
  readonly headline: string;
  /** `2 CRITICAL, 1 WARNING`: stands above the items, which say the rest. */
  readonly tally: string;
  readonly tone: Tone;
  /** The first `limit` items, the most urgent first. */
  readonly items: readonly ItemWording[];
  readonly more: number;
}

export function wordIncidents(message: IncidentMessage, limit: number): IncidentsWording {
  const shown = message.items.slice(0, limit).map((item) => wordItem(item, message));
  return {
    headline: headlineOf(message, shown),
    tally: tallyOf(message.items),
    tone: worstTone(message.items),
    items: shown,
    more: message.items.length - shown.length,
  };
}

/**
 * Subject of a mail: how bad it is, or RESOLVED, in its first word, and the rest equal for all messages of a thread. Free of
 * brackets and control characters.
 */
export function messageSubject(message: Message): string {
  switch (message.kind) {
    case 'incidents':
      return `${firstWordOf(message)} ${threadSubject(message)}`;
    case 'report':
      return withoutBrackets(reportSubject(message));
    case 'test':
      return withoutBrackets(testHeadline(message));
  }
}

/**
 * The common part of a thread's subjects: the most urgent incident of its first message, and how many others
 * there are.
 */
export function threadSubject(message: Pick<IncidentMessage, 'items' | 'timezone' | 'thread'>): string {
  if (message.thread !== null) return withoutBrackets(cleanText(message.thread.subject, 200));
  const first = firstOf(message.items);
  const others = message.items.length - 1;
  return `${incidentSubject(first, message.timezone)}${others === 0 ? '' : ` and ${plural(others, 'more alert')}`}`;
}

/**
 * The worst of everything that the subject stands for: the end of one incident is no all-clear for the
 * others.
 */
function firstWordOf({ items, thread }: IncidentMessage): string {
  const first = firstOf(items);
  const state = stateOf(first);
  const others = thread?.othersFiring ?? null;
  if (state === 'resolved' || state === 'closed') return (others ?? state).toUpperCase();
  return (others !== null && isWorse(others, first.severity) ? others : first.severity).toUpperCase();
}

export function testHeadline(message: TestMessage): string {
  return `TEST · lowwater can reach channel ${cleanText(message.channel, 80)}`;
}

export function testStory(message: TestMessage): string {
  const at = formatMoment(message.at, { timezone: message.timezone, now: message.at });
  return `Test message sent ${at}. Alerts for this channel will arrive here. No action needed.`;
}

export function wordMore(more: number): string {
  return `and ${plural(more, 'more alert')}`;
}

function headlineOf(message: IncidentMessage, shown: readonly ItemWording[]): string {
  const first = firstOf(shown);
  const others = message.items.length - 1;
  if (others === 0) return first.headline;
  return `${tallyOf(message.items)} · ${first.subject}; ${wordMore(others)}`;
}

function firstOf<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('A message about incidents has at least one notice.');
  return first;
}

/** `2 critical, 1 warning, 3 resolved`. */
function tallyOf(items: readonly MessageItem[]): string {
  const counts = new Map<string, number>();
  for (const word of ['critical', 'warning', 'info', 'resolved', 'closed']) counts.set(word, 0);
  for (const item of items) {
    const state = stateOf(item);
    const word = state === 'resolved' || state === 'closed' ? state : item.severity;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`);
  return parts.join(', ').toUpperCase();
}

function worstTone(items: readonly MessageItem[]): Tone {
  let worst: Severity | null = null;
  let ended: Tone = 'neutral';
  for (const item of items) {
    const tone = toneOf(item);
    if (tone === 'good' || tone === 'neutral') ended = tone === 'good' ? tone : ended;
    else if (worst === null || isWorse(tone, worst)) worst = tone;
  }
  return worst ?? ended;
}
