import type { Notice } from '../domain/message.ts';
import { type NoticeState, stateOf } from '../domain/notice-state.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Figure } from '../rules/kind.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { headlineCurrency, wordSubject } from './notice-headline.ts';
import { wordStory } from './notice-story.ts';
import { stateWordOf, type Tone, toneOf } from './notice-tone.ts';

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
  readonly acknowledgeUrl: string | null;
  /** The account's page; null without `publicUrl`. */
  readonly pageUrl: string | null;
  /** What a link to it is called. */
  readonly pageLabel: string;
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
    acknowledgeUrl: !ended && state !== 'event' ? notice.acknowledgeUrl : null,
    pageUrl: pageUrlOf(notice, frame.publicUrl),
    pageLabel: notice.account === null ? 'Open lowwater' : 'Open account',
  };
}

function currencyOf(notice: Notice): string | null {
  const currency = notice.account?.reading?.currency ?? notice.account?.previous?.currency ?? null;
  return currency === null ? null : cleanText(currency, 12);
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

function pageUrlOf(notice: Notice, publicUrl: string | null): string | null {
  if (publicUrl === null) return null;
  return notice.account === null
    ? `${publicUrl}/`
    : `${publicUrl}/accounts/${encodeURIComponent(notice.account.id)}`;
}
