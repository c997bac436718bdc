import { displayName, type Incident, selfAccountId } from '../domain/alert.ts';
import { type ItemState, isOver, type Message, type MessageItem, stateOf } from '../domain/message.ts';
import { formatShortMoment } from '../domain/moment.ts';
import { cleanText } from '../domain/plain-text.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { wordStory } from './item-story.ts';

export type ItemWording = ReturnType<typeof wordItem>;

export interface ItemLink {
  readonly kind: 'top-up' | 'acknowledge' | 'runbook' | 'page';
  readonly label: string;
  readonly url: string;
}

/** One item in words, decided once for every channel. No text has control characters, none is escaped. */
export function wordItem(item: MessageItem, message: Pick<Message, 'timezone' | 'at' | 'publicUrl'>) {
  const { timezone, at: now, publicUrl } = message;
  const words: WordingFrame = { timezone, now, currency: currencyOf(item) };
  const notified = { ...words, currency: headlineCurrency(item) };
  const stateWord = stateWordOf(item);
  const subject = wordSubject(item, notified);
  const state = stateOf(item);
  const kind = alertKindOf(item);
  const ended = state === 'resolved' || state === 'closed';
  return {
    state,
    tone: toneOf(item),
    /** `CRITICAL`, `STILL CRITICAL`, `RESOLVED`. */
    stateWord,
    /** What happened without the state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
    subject,
    /** Stands alone: `CRITICAL · OTP production: SMS balance 42.10 CNY, below 50.00`. */
    headline: `${stateWord} · ${subject}`,
    story: wordStory(item, notified),
    figures: kind.figures(item, words),
    advice: ended ? [] : kind.advice(item, words),
    origin: originOf(item),
    note: item.account?.note == null ? null : cleanText(item.account.note, 300),
    /** The most helpful first: pay, acknowledge, runbook, page. */
    links: linksOf(item, publicUrl, !ended && state !== 'event'),
  };
}

function originOf({ incident, account, rule }: MessageItem): string {
  const about = incident.account.startsWith('@') ? [] : [`account ${cleanText(incident.account, 63)}`];
  const labels = Object.entries(account?.labels ?? incident.labels)
    .slice(0, 10)
    .map(([key, value]) => `${cleanText(key, 40)}=${cleanText(value, 60)}`);
  return [...about, `rule ${cleanText(rule, 63)}`, ...labels].join(' · ');
}

function linksOf(
  { account, balance, acknowledgeUrl }: MessageItem,
  publicUrl: string | null,
  isOpen: boolean,
): readonly ItemLink[] {
  const [label, path] =
    account === null
      ? ['Open lowwater', '/']
      : ['Open account', `/accounts/${encodeURIComponent(account.id)}`];
  const links = [
    ['top-up', 'Top up', isOpen && balance !== null ? account?.topUpUrl : null],
    ['acknowledge', 'Acknowledge', isOpen ? acknowledgeUrl : null],
    ['runbook', 'Runbook', isOpen ? account?.runbookUrl : null],
    ['page', label, publicUrl === null ? null : publicUrl + path],
  ] as const;
  return links.flatMap(([kind, name, url]) => (url == null ? [] : [{ kind, label: name, url }]));
}

export function linkTo({ links }: ItemWording, kind: ItemLink['kind']): string | null {
  return links.find((candidate) => candidate.kind === kind)?.url ?? null;
}

const nameLimit = 80;

/** What happened, with its numbers, without its state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
export function wordSubject(item: MessageItem, frame: WordingFrame): string {
  return `${nameOf(item.incident, item.accountName)}: ${clauseOf(item, frame)}`;
}

/**
 * The subject of an incident's mails, the same from the first to the last: no state, no numbers, and the
 * start to tell it from the next incident of the alert. No brackets, which mail programs ignore when they
 * thread.
 */
export function incidentSubject(item: MessageItem, timezone: string): string {
  const { incident } = item;
  const since = `${incident.event ? 'at' : 'since'} ${formatShortMoment(incident.firedAt, timezone)}`;
  return withoutBrackets(`${nameOf(incident, incident.accountName)}: ${subjectOf(item)} ${since}`);
}

export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}

/** What is over is shown in the currency of that moment, not in the present one. */
function headlineCurrency(item: MessageItem): string | null {
  const fact = isOver(item) ? item.facts.find(({ name }) => name === 'currency') : undefined;
  return fact?.value.unit === 'text' ? cleanText(fact.value.text, 12) : currencyOf(item);
}

export function currencyOf({ account }: MessageItem): string | null {
  const currency = account?.reading?.currency ?? account?.previous?.currency ?? null;
  return currency === null ? null : cleanText(currency, 12);
}

function nameOf({ account: id }: Incident, accountName: string): string {
  if (id === selfAccountId) return displayName(id);
  if (id.startsWith('@')) return `Provider ${cleanText(displayName(id), nameLimit)}`;
  return cleanText(accountName, nameLimit) || cleanText(id, nameLimit);
}

function clauseOf(item: MessageItem, frame: WordingFrame): string {
  const state = stateOf(item);
  if (state === 'closed') {
    const { kind } = item.resolution ?? {};
    if (kind === 'account-removed' || kind === 'account-moved')
      return `account ${kind.slice('account-'.length)} while ${subjectOf(item)}`;
    if (kind === 'channel-removed' && item.incident.account !== selfAccountId)
      return `${subjectOf(item)}, no longer reported here`;
    return `rule ${cleanText(item.rule, nameLimit)} removed while ${subjectOf(item)}`;
  }
  const words = alertKindOf(item);
  return state === 'resolved' ? words.resolved(item, frame) : words.firing(item, frame);
}

function subjectOf(item: MessageItem): string {
  return alertKindOf(item).subject(item);
}

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

function stateWordOf(item: MessageItem): string {
  const state = stateOf(item);
  const isPlain = state === 'acknowledged' || state === 'resolved' || state === 'closed';
  return isPlain ? stateWords[state] : stateWords[state] + item.severity.toUpperCase();
}
