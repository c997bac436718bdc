import {
  type IncidentMessage,
  type Message,
  type MessageItem,
  type ReportMessage,
  stateOf,
  type TestMessage,
  worstFiring,
} from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Figure } from '../rules/kind.ts';
import { sayMoment } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { saySeverityLoudly } from '../wording/severity-words.ts';
import {
  type ItemLink,
  type ItemWording,
  incidentSubject,
  readerOf,
  sayTest,
  type Tone,
  toneOf,
  withoutBrackets,
  wordItem,
} from './item-wording.ts';
import { type ReportAccountWording, reportSubject, wordReport } from './report-wording.ts';

const says = phrases('message', {
  headline: '{tally} · {subject}; and {count, plural, one {# more alert} other {# more alerts}}',
  subject: '{state} {subject}',
  subjectOfSeveral: '{subject} and {count, plural, one {# more alert} other {# more alerts}}',
  more: 'and {count, plural, one {# more alert} other {# more alerts}}',
  moreAccounts: 'and {count, plural, one {# more account} other {# more accounts}}',
  resolved: 'RESOLVED',
  closed: 'CLOSED',
  reaches: 'lowwater can reach channel {channel}',
  testStory: 'Test message sent {moment}. Alerts for this channel will arrive here. No action needed.',
  open: 'Open lowwater',
  pay: 'What is to be paid',
  review: 'Review',
});

/** The first `limit` items in words, the most urgent first, with what stands above them. */
export function wordIncidents(message: IncidentMessage, limit: number) {
  const shown = message.items.slice(0, limit).map((item) => wordItem(item, message));
  return {
    headline: headlineOf(message, shown),
    /** `2 CRITICAL, 1 WARNING`: stands above the items, which say the rest. */
    tally: tallyOf(message),
    tone: worstTone(message.items),
    items: shown,
    more: message.items.length - shown.length,
  };
}

/** The first word is the severity, or RESOLVED; the rest is the same within a thread. No brackets, no control characters. */
export function messageSubject(message: Message): string {
  switch (message.kind) {
    case 'incidents': {
      const given = { state: firstWordOf(message), subject: threadSubject(message) };
      const subject = say(says.subject, given, readerOf(message));
      const isTest = firstOf(message.items).incident.test !== undefined;
      return isTest ? sayTest(subject, readerOf(message)) : subject;
    }
    case 'report':
      return withoutBrackets(reportSubject(message));
    case 'test':
      return withoutBrackets(testHeadline(message));
  }
}

/** The most urgent incident of a thread's first message, and how many others there are. */
export function threadSubject(
  message: Pick<IncidentMessage, 'items' | 'language' | 'timezone' | 'at' | 'thread'>,
): string {
  if (message.thread !== null) return withoutBrackets(cleanText(message.thread.subject, 200));
  const reader = readerOf(message);
  const subject = incidentSubject(firstOf(message.items), reader);
  const count = message.items.length - 1;
  return count === 0 ? subject : say(says.subjectOfSeveral, { subject, count }, reader);
}

/** The worst severity of the incidents in the subject, because the end of one incident is no all-clear for the others. */
function firstWordOf(message: IncidentMessage): string {
  const reader = readerOf(message);
  const worst = worstFiring(message.items, message.thread?.othersFiring);
  if (worst !== null) return saySeverityLoudly(worst, reader);
  const first = firstOf(message.items);
  const state = stateOf(first);
  if (state === 'event') return saySeverityLoudly(first.severity, reader);
  return say(says[state === 'closed' ? 'closed' : 'resolved'], reader);
}

export function testHeadline(message: TestMessage): string {
  return sayTest(testSubject(message), readerOf(message));
}

/** The headline of a test without its first word. */
export function testSubject(message: TestMessage): string {
  return say(says.reaches, { channel: cleanText(message.channel, 80) }, readerOf(message));
}

export function testStory(message: TestMessage): string {
  const reader = readerOf(message);
  return say(says.testStory, { moment: sayMoment(message.at, reader) }, reader);
}

/** `and 3 more alerts`, if a message shows fewer than it is about. */
export function sayMore(count: number, message: Message): string {
  return say(message.kind === 'report' ? says.moreAccounts : says.more, { count }, readerOf(message));
}

function headlineOf(message: IncidentMessage, shown: readonly ItemWording[]): string {
  const first = firstOf(shown);
  const count = message.items.length - 1;
  if (count === 0) return first.headline;
  const given = { tally: tallyOf(message), subject: first.subject, count };
  return say(says.headline, given, readerOf(message));
}

function firstOf<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('A message about incidents has at least one notice.');
  return first;
}

/** `2 CRITICAL, 1 WARNING, 3 RESOLVED`. */
function tallyOf(message: IncidentMessage): string {
  const reader = readerOf(message);
  const states = message.items.map((item) => {
    const state = stateOf(item);
    return state === 'resolved' || state === 'closed' ? state : item.severity;
  });
  const counted = (['critical', 'warning', 'info', 'resolved', 'closed'] as const).flatMap((state) => {
    const count = states.filter((other) => other === state).length;
    return count === 0 ? [] : [say(tallies[state], { count }, reader)];
  });
  return reader.language.list(counted);
}

const tallies = phrases('tally', {
  critical: '{count} CRITICAL',
  warning: '{count} WARNING',
  info: '{count} INFO',
  resolved: '{count} RESOLVED',
  closed: '{count} CLOSED',
});

function worstTone(items: readonly MessageItem[]): Tone {
  const tones = items.map(toneOf);
  const order = ['critical', 'warning', 'info', 'good'] as const;
  return order.find((tone) => tones.includes(tone)) ?? 'neutral';
}

/** A message as channels with cards show it. Nothing in it is escaped. */
export interface Card {
  readonly tone: Tone;
  /** Readable alone, in a phone's notification. */
  readonly headline: string;
  readonly parts: readonly CardPart[];
  readonly more: string | null;
  /** The facts of the message as a whole; those of a part are in the part. */
  readonly links: readonly Pick<ItemLink, 'label' | 'url'>[];
}

export interface CardPart {
  /** Null if the headline says it. */
  readonly title: string | null;
  readonly tone: Tone;
  readonly lines: readonly string[];
  readonly figures: readonly Figure[];
  readonly advice: readonly string[];
  readonly note: string | null;
  /** The note with its label, for places that show it nowhere else. */
  readonly noteLine: string | null;
  /** Shown in small print. */
  readonly origin: string | null;
  readonly links: readonly Pick<ItemLink, 'label' | 'url'>[];
}

/** Figures of each alert when there are several: the balance, by when to pay, how long it lasts, how old that is, and the limit. */
const figuresAmongOthers = 5;

export function wordCard(message: Message, maxParts: number): Card {
  switch (message.kind) {
    case 'incidents':
      return wordIncidentCard(message, maxParts);
    case 'report':
      return wordReportCard(message, maxParts);
    case 'test': {
      const part = { ...emptyPart, lines: [testStory(message)] };
      return { tone: 'info', headline: testHeadline(message), parts: [part], more: null, links: [] };
    }
  }
}

const emptyPart: CardPart = {
  title: null,
  tone: 'info',
  lines: [],
  figures: [],
  advice: [],
  note: null,
  noteLine: null,
  origin: null,
  links: [],
};

function wordIncidentCard(message: IncidentMessage, maxParts: number): Card {
  const { headline, tone, items, more } = wordIncidents(message, maxParts);
  const single = message.items.length === 1;
  return {
    tone,
    headline,
    parts: items.map((item) =>
      single ? { ...item, title: null, lines: item.story } : partAmongOthers(item),
    ),
    more: more === 0 ? null : sayMore(more, message),
    links: single ? [] : pageLinks(message),
  };
}

function partAmongOthers(item: ItemWording): CardPart {
  return {
    ...item,
    title: item.headline,
    lines: item.story,
    figures: item.figures.slice(0, figuresAmongOthers),
    links: item.links.filter(({ kind }) => kind !== 'page'),
  };
}

function wordReportCard(message: ReportMessage, maxParts: number): Card {
  const words = wordReport(message, maxParts);
  const runsOut = words.runsOut === null ? [] : [words.runsOut];
  return {
    tone: 'info',
    headline: words.headline,
    parts: [
      { ...emptyPart, lines: [...runsOut, words.period, ...words.totals] },
      ...words.accounts.map(accountPart),
    ],
    more: words.more === 0 ? null : sayMore(words.more, message),
    links: pageLinks(message),
  };
}

function accountPart(account: ReportAccountWording): CardPart {
  return {
    ...emptyPart,
    title: account.name,
    tone: account.state.tone,
    lines: [account.status],
    figures: account.lines.map(({ label, balance, perDay, runwayClause, forecasts }) => ({
      label,
      value: [balance, perDay, runwayClause, forecasts].join(' · '),
    })),
    advice: account.advice === null ? [] : [account.advice],
  };
}

/** The links of a message as a whole; a report links to the review of its time, and to the payments. None if the page's address is unknown. */
export function pageLinks(message: Message): Card['links'] {
  const { publicUrl } = message;
  if (publicUrl === null) return [];
  const reader = readerOf(message);
  if (message.kind !== 'report') return [{ label: say(says.open, reader), url: `${publicUrl}/` }];
  const [from, to] = [message.since, message.until].map((at) => new Date(at).toISOString());
  return [
    { label: say(says.pay, reader), url: `${publicUrl}/pay` },
    { label: say(says.review, reader), url: `${publicUrl}/review?from=${from}&to=${to}` },
  ];
}
