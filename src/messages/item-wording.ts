import { type NoticeState, stateOf } from '../domain/item-state.ts';
import type { Notice } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Figure } from '../rules/kind.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { currencyOf, headlineCurrency, wordSubject } from './item-headline.ts';
import { wordStory } from './item-story.ts';
import { stateWordOf, type Tone, toneOf } from './item-tone.ts';

/** One notice in words, decided once for every channel. All texts are clean of control characters, none is escaped. */
export interface NoticeWording {
  readonly state: NoticeState;
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
  /** Where it comes from: account id, rule, labels. */
  readonly origin: string;
  /** What the operators left for whoever is woken; null where nothing. */
  readonly note: string | null;
  /** What to do, the most helpful first: pay, acknowledge, read the runbook, look at the page. */
  readonly links: readonly NoticeLink[];
}

/** A link under a message. A button is called `label`. */
export interface NoticeLink {
  readonly kind: 'top-up' | 'acknowledge' | 'runbook' | 'page';
  readonly label: string;
  readonly url: string;
}

export function wordNotice(
  notice: Notice,
  frame: { readonly timezone: string; readonly at: number; readonly publicUrl: string | null },
): NoticeWording {
  const words: WordingFrame = { timezone: frame.timezone, now: frame.at, currency: currencyOf(notice) };
  const stateWord = stateWordOf(notice);
  const told = { ...words, currency: headlineCurrency(notice) };
  const subject = wordSubject(notice, told);
  const state = stateOf(notice);
  const kind = alertKindOf(notice);
  const ended = state === 'resolved' || state === 'closed';
  return {
    state,
    tone: toneOf(notice),
    stateWord,
    subject,
    headline: `${stateWord} · ${subject}`,
    story: wordStory(notice, told),
    figures: kind.figures(notice, words),
    advice: ended ? [] : kind.advice(notice, words),
    origin: originOf(notice),
    note: notice.account?.note == null ? null : cleanText(notice.account.note, 300),
    links: linksOf(notice, { publicUrl: frame.publicUrl, open: !ended && state !== 'event' }),
  };
}

function originOf(notice: Notice): string {
  const about = notice.incident.account.startsWith('@')
    ? []
    : [`account ${cleanText(notice.incident.account, 63)}`];
  const labels = Object.entries(notice.account?.labels ?? notice.incident.labels)
    .slice(0, 10)
    .map(([key, value]) => `${cleanText(key, 40)}=${cleanText(value, 60)}`);
  return [...about, `rule ${cleanText(notice.rule, 63)}`, ...labels].join(' · ');
}

function linksOf(
  notice: Notice,
  { publicUrl, open }: { readonly publicUrl: string | null; readonly open: boolean },
): readonly NoticeLink[] {
  const { account, balance } = notice;
  const [label, path] =
    account === null
      ? ['Open lowwater', '/']
      : ['Open account', `/accounts/${encodeURIComponent(account.id)}`];
  return [
    ...link('top-up', 'Top up', open && balance !== null ? account?.topUpUrl : null),
    ...link('acknowledge', 'Acknowledge', open ? notice.acknowledgeUrl : null),
    ...link('runbook', 'Runbook', open ? account?.runbookUrl : null),
    ...link('page', label, publicUrl === null ? null : `${publicUrl}${path}`),
  ];
}

function link(
  kind: NoticeLink['kind'],
  label: string,
  url: string | null | undefined,
): readonly NoticeLink[] {
  return url == null ? [] : [{ kind, label, url }];
}

/** The address of one of the links; null where there is none. */
export function linkTo({ links }: NoticeWording, kind: NoticeLink['kind']): string | null {
  return links.find((candidate) => candidate.kind === kind)?.url ?? null;
}
