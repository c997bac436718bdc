import { displayName, type Incident, isAcknowledged, selfAccountId } from '../domain/alert.ts';
import { type ItemState, isOver, type Message, type MessageItem, stateOf } from '../domain/message.ts';
import { cleanCurrency, cleanText } from '../domain/plain-text.ts';
import { balanceOf } from '../domain/quantity.ts';
import { unitOf } from '../domain/reading.ts';
import { inItsCurrency } from '../rules/figures.ts';
import { alertKindOf, sayKind } from '../rules/registry.ts';
import { languageNamed } from '../wording/language.ts';
import { type Reader, sayShortMoment } from '../wording/moments.ts';
import { type Listener, phrases, say } from '../wording/phrase.ts';
import { sayLabel, type WordingFrame } from '../wording/quantity-wording.ts';
import { saySeverityLoudly } from '../wording/severity-words.ts';
import { wordStory } from './item-story.ts';

const says = phrases('item', {
  test: 'TEST · {what}',
  testOver: 'the test of rule {rule} is over',
  headline: '{state} · {subject}',
  about: '{name}: {what}',
  subjectAt: '{name}: {what} at {moment}',
  subjectSince: '{name}: {what} since {moment}',
  ofAccount: 'account {account} · rule {rule}',
  ofRule: 'rule {rule}',
  provider: 'Provider {name}',
  accountRemoved: 'account removed while {subject}',
  accountMoved: 'account moved while {subject}',
  ruleRemoved: 'rule {rule} removed while {subject}',
  channelRemoved: '{subject}, no longer reported here',
  note: 'Note: {note}',
  topUp: 'Top up',
  acknowledge: 'Acknowledge',
  runbook: 'Runbook',
  openAccount: 'Open account',
  openLowwater: 'Open lowwater',
  plain: '{severity}',
  worse: 'WORSENED TO {severity}',
  still: 'STILL {severity}',
  escalated: 'ESCALATED {severity}',
  flapping: 'FLAPPING {severity}',
  acknowledged: 'ACKNOWLEDGED',
  resolved: 'RESOLVED',
  closed: 'CLOSED',
});

/** Begins the text of a test, so that nobody takes it for an alert. */
export function sayTest(what: string, reader: Listener): string {
  return say(says.test, { what }, reader);
}

export type ItemWording = ReturnType<typeof wordItem>;

export interface ItemLink {
  readonly kind: 'top-up' | 'acknowledge' | 'runbook' | 'page';
  readonly label: string;
  readonly url: string;
}

export function readerOf({ language, timezone, at }: Pick<Message, 'language' | 'timezone' | 'at'>): Reader {
  return { language: languageNamed(language), timezone, now: at };
}

/** One item in words, decided once for every channel. No text has control characters, none is escaped. */
export function wordItem(
  given: MessageItem,
  message: Pick<Message, 'language' | 'timezone' | 'at' | 'publicUrl'>,
) {
  const item = inItsCurrency(given);
  const reader = readerOf(message);
  const words: WordingFrame = { ...reader, currency: currencyOf(item) };
  const notified = { ...words, currency: headlineCurrency(item) };
  const stateWord = sayState(item, reader);
  const subject = wordSubject(item, reader);
  const state = stateOf(item);
  const kind = alertKindOf(item);
  const ended = state === 'resolved' || state === 'closed';
  const note = item.account?.note == null ? null : cleanText(item.account.note, 300);
  const marked = (text: string): string => (item.incident.test === undefined ? text : sayTest(text, reader));
  return {
    state,
    tone: toneOf(item),
    /** `CRITICAL`, `STILL CRITICAL`, `RESOLVED`. */
    stateWord,
    /** The event without the state: `OTP production: pay 1,900 CNY by Thu 14:00, empty Thu 20:00 to Fri 09:00`. */
    subject: marked(subject),
    /** A headline that stands alone: `CRITICAL · OTP production: SMS balance 42.10 CNY, below 50.00`. */
    headline: marked(say(says.headline, { state: stateWord, subject }, reader)),
    story: wordStory(item, notified, given),
    figures: kind.figures(item, words),
    advice: ended ? [] : kind.advice(item, words),
    origin: originOf(item, reader),
    note,
    /** The note with its label, for places that show it nowhere else: `Note: call Ana first`. */
    noteLine: note === null ? null : say(says.note, { note }, reader),
    /** The most helpful link first: pay, acknowledge, runbook, page. */
    links: linksOf(item, message, !ended && state !== 'event'),
  };
}

function originOf({ incident, account, rule }: MessageItem, reader: Reader): string {
  const given = { account: cleanText(incident.account, 63), rule: cleanText(rule, 63) };
  const origin = say(incident.account.startsWith('@') ? says.ofRule : says.ofAccount, given, reader);
  const labels = Object.entries(account?.labels ?? incident.labels)
    .slice(0, 10)
    .map(([key, value]) => `${cleanText(key, 40)}=${cleanText(value, 60)}`);
  return [origin, ...labels].join(' · ');
}

/** The links of an item. An alert that somebody has taken is not offered again: what remains is to pay. */
function linksOf(
  item: MessageItem,
  message: Pick<Message, 'language' | 'timezone' | 'at' | 'publicUrl'>,
  isOpen: boolean,
): readonly ItemLink[] {
  const { account, balance, acknowledgeUrl } = item;
  const reader = readerOf(message);
  const pageUrl =
    message.publicUrl === null
      ? null
      : `${message.publicUrl}${account === null ? '/' : `/accounts/${encodeURIComponent(account.id)}`}`;
  const links = [
    ['top-up', says.topUp, isOpen && balance !== null ? account?.topUpUrl : null],
    ['acknowledge', says.acknowledge, isOpen && !isAcknowledged(item.incident) ? acknowledgeUrl : null],
    ['runbook', says.runbook, isOpen ? account?.runbookUrl : null],
    ['page', account === null ? says.openLowwater : says.openAccount, pageUrl],
  ] as const;
  return links.flatMap(([kind, name, url]) => (url == null ? [] : [{ kind, label: say(name, reader), url }]));
}

export function linkTo({ links }: ItemWording, kind: ItemLink['kind']): string | null {
  return links.find((candidate) => candidate.kind === kind)?.url ?? null;
}

const nameLimit = 80;

/** The event with its numbers, without its state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
export function wordSubject(given: MessageItem, reader: Reader): string {
  const item = inItsCurrency(given);
  const { balance, account } = item;
  const frame = { ...reader, currency: headlineCurrency(item) };
  const name = nameOf(item.incident, item.accountName, frame);
  const isOther = balance !== null && account !== null && account.balances[0]?.id !== balance;
  const about = isOther ? `${name} ${sayLabel(item.balanceLabel, frame)}` : name;
  return say(says.about, { name: about, what: clauseOf(item, frame) }, frame);
}

/**
 * The subject of an incident's mails, the same from the first to the last: no state, no numbers, and the
 * start to tell it from the next incident of the alert. No brackets, which mail programs ignore when they
 * thread.
 */
export function incidentSubject(item: MessageItem, reader: Reader): string {
  const { incident } = item;
  const given = {
    name: nameOf(incident, incident.accountName, reader),
    what: sayKind(item, reader),
    moment: sayShortMoment(incident.firedAt, reader),
  };
  return withoutBrackets(say(incident.event ? says.subjectAt : says.subjectSince, given, reader));
}

export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}

/** An alert that is over is shown in the currency of that moment, not in the present one. */
export function headlineCurrency(item: MessageItem): string | null {
  return (isOver(item) ? judgedCurrency(item) : null) ?? currencyOf(item);
}

export function currencyOf(item: MessageItem): string | null {
  const { account, balance, facts } = item;
  // The account was removed, but the alert still has its numbers.
  if (account === null) return judgedCurrency(item);
  const currency = account.reading?.currency ?? account.previous?.currency ?? null;
  const unit = unitOf({ balances: account.balances, currency }, balanceOf(balance, facts));
  return unit === null ? null : cleanCurrency(unit);
}

function judgedCurrency({ facts }: MessageItem): string | null {
  const fact = facts.find(({ name }) => name === 'currency');
  return fact?.value.unit === 'text' ? cleanCurrency(fact.value.text) : null;
}

function nameOf({ account: id }: Incident, accountName: string, reader: Listener): string {
  if (id === selfAccountId) return displayName(id);
  if (id.startsWith('@')) return say(says.provider, { name: cleanText(displayName(id), nameLimit) }, reader);
  return cleanText(accountName, nameLimit) || cleanText(id, nameLimit);
}

function clauseOf(item: MessageItem, frame: WordingFrame): string {
  const state = stateOf(item);
  if (state === 'closed') {
    const given = { rule: cleanText(item.rule, nameLimit), subject: sayKind(item, frame) };
    const { kind } = item.resolution ?? {};
    if (kind === 'account-removed') return say(says.accountRemoved, given, frame);
    if (kind === 'channel-removed' && item.incident.account !== selfAccountId)
      return say(says.channelRemoved, given, frame);
    return say(kind === 'account-moved' ? says.accountMoved : says.ruleRemoved, given, frame);
  }
  const words = alertKindOf(item);
  // A real alert of the same rule may be open.
  if (state === 'resolved' && item.incident.test !== undefined)
    return say(says.testOver, { rule: cleanText(item.rule, nameLimit) }, frame);
  return state === 'resolved' ? words.resolved(item, frame) : words.firing(item, frame);
}

/** The colour or icon of an item, as each medium shows it. */
export type Tone = 'critical' | 'warning' | 'info' | 'good' | 'neutral';

/** Icons for receivers that show only text. */
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

/** The words for a state. An end has no severity. */
const statePhrases = {
  firing: says.plain,
  event: says.plain,
  worse: says.worse,
  reminder: says.still,
  escalated: says.escalated,
  flapping: says.flapping,
  acknowledged: says.acknowledged,
  resolved: says.resolved,
  closed: says.closed,
} as const satisfies Readonly<Record<ItemState, unknown>>;

function sayState(item: MessageItem, reader: Reader): string {
  return say(statePhrases[stateOf(item)], { severity: saySeverityLoudly(item.severity, reader) }, reader);
}
