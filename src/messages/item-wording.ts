import { type ItemState, type MessageItem, stateOf } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Figure } from '../rules/kind.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { currencyOf, headlineCurrency, wordSubject } from './item-headline.ts';
import { wordStory } from './item-story.ts';
import { stateWordOf, type Tone, toneOf } from './item-tone.ts';

/** One item in words, decided once for every channel. No text has control characters, none is escaped. */
export interface ItemWording {
  readonly state: ItemState;
  readonly tone: Tone;
  /** `CRITICAL`, `STILL CRITICAL`, `RESOLVED`. */
  readonly stateWord: string;
  /** What happened without the state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
  readonly subject: string;
  /** Stands alone: `CRITICAL · OTP production: SMS balance 42.10 CNY, below 50.00`. */
  readonly headline: string;
  readonly story: readonly string[];
  readonly figures: readonly Figure[];
  readonly advice: readonly string[];
  readonly origin: string;
  readonly note: string | null;
  /** The most helpful first: pay, acknowledge, runbook, page. */
  readonly links: readonly ItemLink[];
}

export interface ItemLink {
  readonly kind: 'top-up' | 'acknowledge' | 'runbook' | 'page';
  readonly label: string;
  readonly url: string;
}

export function wordItem(
  item: MessageItem,
  frame: { readonly timezone: string; readonly at: number; readonly publicUrl: string | null },
): ItemWording {
  const words: WordingFrame = { timezone: frame.timezone, now: frame.at, currency: currencyOf(item) };
  const stateWord = stateWordOf(item);
  const notified = { ...words, currency: headlineCurrency(item) };
  const subject = wordSubject(item, notified);
  const state = stateOf(item);
  const kind = alertKindOf(item);
  const ended = state === 'resolved' || state === 'closed';
  return {
    state,
    tone: toneOf(item),
    stateWord,
    subject,
    headline: `${stateWord} · ${subject}`,
    story: wordStory(item, notified),
    figures: kind.figures(item, words),
    advice: ended ? [] : kind.advice(item, words),
    origin: originOf(item),
    note: item.account?.note == null ? null : cleanText(item.account.note, 300),
    links: linksOf(item, { publicUrl: frame.publicUrl, open: !ended && state !== 'event' }),
  };
}

function originOf(item: MessageItem): string {
  const about = item.incident.account.startsWith('@')
    ? []
    : [`account ${cleanText(item.incident.account, 63)}`];
  const labels = Object.entries(item.account?.labels ?? item.incident.labels)
    .slice(0, 10)
    .map(([key, value]) => `${cleanText(key, 40)}=${cleanText(value, 60)}`);
  return [...about, `rule ${cleanText(item.rule, 63)}`, ...labels].join(' · ');
}

function linksOf(
  item: MessageItem,
  { publicUrl, open }: { readonly publicUrl: string | null; readonly open: boolean },
): readonly ItemLink[] {
  const { account, balance } = item;
  const [label, path] =
    account === null
      ? ['Open lowwater', '/']
      : ['Open account', `/accounts/${encodeURIComponent(account.id)}`];
  return [
    ...link('top-up', 'Top up', open && balance !== null ? account?.topUpUrl : null),
    ...link('acknowledge', 'Acknowledge', open ? item.acknowledgeUrl : null),
    ...link('runbook', 'Runbook', open ? account?.runbookUrl : null),
    ...link('page', label, publicUrl === null ? null : `${publicUrl}${path}`),
  ];
}

function link(kind: ItemLink['kind'], label: string, url: string | null | undefined): readonly ItemLink[] {
  return url == null ? [] : [{ kind, label, url }];
}

export function linkTo({ links }: ItemWording, kind: ItemLink['kind']): string | null {
  return links.find((candidate) => candidate.kind === kind)?.url ?? null;
}
