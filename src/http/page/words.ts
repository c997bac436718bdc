import { StorageError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Balance, type OutcomeKind, unitOf } from '../../domain/reading.ts';
import type { Severity } from '../../domain/severity.ts';
import { isoText } from '../../domain/time.ts';
import { isEndingSoon } from '../../views/account-summary.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AccountView } from '../../views/views.ts';
import { endOf, isGuess, sayEmptyWhen, sayInterval, sayLength } from '../../wording/forecast-wording.ts';
import { type Html, type HtmlValue, html, sayHtml } from '../../wording/html.ts';
import { sayAge, sayMoment, sayNearMoment, withAge } from '../../wording/moments.ts';
import { type Language, type Listener, phrases, say } from '../../wording/phrase.ts';
import { sayAmount, sayComputed, sayRunway } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { refusals } from '../refusal.ts';

export interface Frame {
  readonly language: Language;
  readonly now: number;
  readonly timezone: string;
}

/** The scope of one request: the views, the instant and zone, and what the address asks for. */
export interface Scope extends Frame {
  readonly views: LiveViews;
  readonly query: URLSearchParams;
  /** The reader's name: the one of the trusted proxy, else the name that this browser gave last. */
  readonly reader?: { readonly name: string; readonly isProven: boolean };
  /** The key of the calendar's address; null where there is none, or one that a replaced token made. */
  readonly calendarKey?: string | null;
}

/** Everything that an account, a rule or a message can look like: a colour, an icon, and always a word. */
export type Tone = Severity | 'good' | 'pending' | 'unread' | 'neutral' | 'silence';

const says = phrases('cell', {
  unknown: 'unknown',
  nothingSpent: 'nothing spent',
  ends: 'ends {moment}',
  range: '80 % range: {range}',
  between: ', {range}',
});

const stateSays = phrases('state', {
  critical: 'Critical',
  warning: 'Warning',
  ending: 'Ends soon',
  info: 'Info',
  unread: 'Not read',
  pending: 'Pending',
  waiting: 'Waiting',
  fine: 'Fine',
});

/** What several pages say alike. */
export const common = phrases('common', {
  account: 'Account',
  rule: 'Rule',
  value: 'Value',
  from: 'From',
  to: 'to',
  show: 'Show',
  find: 'Find',
  state: 'State',
  severity: 'Severity',
  never: 'never',
  burn: 'Burn per day',
  runway: 'Runway',
  time: 'Time',
  incidents: 'Incidents',
  acknowledge: 'Acknowledge',
  now: 'Now',
  topUp: 'Top up',
  more: 'and {count} more',
  ofAccount: '{rule} of {account}',
  filter: 'Filter',
  cancel: 'Cancel',
  back: 'Back',
  byAccount: 'By account',
  of: 'Of',
  comment: 'Comment',
  silence: 'Silence',
  channels: 'Channels',
  accounts: 'Accounts',
  balances: 'Balances',
  day: '24 hours',
  totals: 'Totals',
  change: 'Change it',
  end: 'End now',
  inOneCurrency: 'In one currency: {sum}',
  alerts: '{count, plural, one {# alert} other {# alerts}}',
});

/** The names of pages, wherever one is named. */
export const pages = phrases('pages', {
  overview: 'Overview',
  alerts: 'Alerts',
  pay: 'Pay',
  silences: 'Silences',
  review: 'Review',
  messages: 'Messages',
  audit: 'Audit',
  sessions: 'Sessions',
  silenceQuestion: 'Silence?',
  timeZone: 'Time zone',
  signIn: 'Sign in',
});

const titles = phrases('title', { page: '{page} · lowwater' });

/** The title of the window. */
export function titleOf(page: keyof typeof pages, reader: Listener): string {
  return say(titles.page, { page: say(pages[page], reader) }, reader);
}

/** Worst first: the order of states on the page. */
export const stateTones = {
  critical: 'critical',
  warning: 'warning',
  ending: 'warning',
  info: 'info',
  unread: 'unread',
  pending: 'pending',
  waiting: 'neutral',
  fine: 'good',
} as const;

export type AccountState = keyof typeof stateTones;

/** The keys as written above: a constant has the keys that its type says. */
export const accountStates = Object.keys(stateTones) as readonly AccountState[];

export function stateOf(account: AccountView): AccountState {
  if (account.worst !== null) return account.worst;
  if (account.outcome === null) return 'waiting';
  if (account.outcome !== 'ok') return 'unread';
  if (isEndingSoon(account)) return 'ending';
  return account.pending > 0 ? 'pending' : 'fine';
}

export function stateWord(state: AccountState, reader: Listener): string {
  return say(stateSays[state], reader);
}

/** An account's name where it stands among others; its own page shows more of a long one. */
export function nameOf(name: string): string {
  return cleanText(name, 80);
}

/** Whether each word of a search stands in one of the texts, or in a label as `key=value`; case, accents and width are the same. */
export function mentionsAll(
  search: string,
  texts: readonly string[],
  labels: AccountView['labels'],
): boolean {
  if (search === '') return true;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const all = [...texts, ...pairs].map((text) => plainLetters(text));
  const words = plainLetters(search).split(/\s+/);
  return words.every((word) => all.some((text) => text.includes(word)));
}

function plainLetters(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The outcome of one poll in a word or two: its code where it is kept. */
export function sayOutcome(outcome: OutcomeKind, reader: Listener): string {
  return sayAgain(outcome, reader).replaceAll('_', ' ');
}

/** A word with its icon and colour. */
export function badge(tone: Tone, word: string): Html {
  return html`<span class="badge ${tone}">${icon(tone)}${word}</span>`;
}

/** Drawn once in the layout; decoration, because a word always stands next to it. */
export function icon(name: string): Html {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-${name}"/></svg>`;
}

/** `3 minutes ago`, kept true by the script; the absolute time on hovering. */
export function age(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(at)}" title="${sayMoment(at, frame)}" data-age>${sayAge(at, frame)}</time>`;
}

/** `Fri 20 Nov 23:20 UTC`. */
export function moment(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(at)}">${sayMoment(at, frame)}</time>`;
}

/** The shortest clear form: `Mon 10:00`. */
export function nearMoment(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(Math.round(at))}" title="${sayMoment(at, frame)}">${sayNearMoment(at, frame)}</time>`;
}

/** Absolute and relative. */
export function momentAndAge(at: number, frame: Frame): Html {
  const soft = html`<span class="soft">${age(at, frame)}</span>`;
  return sayHtml(withAge, { moment: moment(at, frame), age: soft }, frame);
}

/** An amount older than this says how old it is, where polls fail. */
const oldMs = 15_000;

/** The balance as it was read, negative ones marked, with its age while it cannot be read; a dash where it never was. */
export function balanceCell(account: AccountView, balance: Balance, frame: Frame): Html {
  const { reading, outcome } = account;
  const micros = ownOf(reading?.balances, balance);
  if (reading === null || micros === undefined) return unknown(frame);
  const isOld = outcome !== null && outcome !== 'ok' && frame.now - reading.at > oldMs;
  return html`<span class="${micros < 0 ? 'amount negative' : 'amount'}">${sayAmount(micros, { ...frame, currency: unitOf(account, balance) })}</span>${isOld && html` <span class="old unread">${age(account.readAt ?? reading.at, frame)}</span>`}`;
}

export function burnOf(account: AccountView, balance: Balance, { language }: Listener): string | null {
  const burn = ownOf(account.runways, balance)?.burnPerDay ?? null;
  return burn === null ? null : sayComputed(burn, { language, currency: unitOf(account, balance) });
}

/** The mark where nothing is known. */
export function unknown(reader: Listener): Html {
  return html`<span class="soft"><span aria-hidden="true">–</span><span class="hidden">${say(says.unknown, reader)}</span></span>`;
}

/** `3 days 4 hours`, the day it ends, and between what that lies. */
export function runwayCell(account: AccountView, balance: Balance, frame: Frame): Html {
  const runway = ownOf(account.runways, balance);
  const runwayMs = runway?.runwayMs ?? null;
  if (runway == null || (runwayMs === null && runway.burnPerDay !== 0)) return unknown(frame);
  if (runwayMs === null) return html`<span class="soft">${say(says.nothingSpent, frame)}</span>`;
  if (runwayMs <= 0) return html`<strong class="runway gone">${sayRunway(runway, frame)}</strong>`;
  const endsAt = endOf(runway, frame.now);
  const interval = sayInterval(runway.forecast, frame, sayNearMoment);
  if (endsAt !== null && isGuess(runway.forecast, frame.now))
    // Worded as by its alert: no minutes of what nobody knows to the day.
    return html`<strong class="runway guess">${sayEmptyWhen(runway, frame)}</strong>`;
  return html`<strong class="runway">${sayLength(runwayMs, frame)}</strong>${
    endsAt !== null &&
    html`<span class="sub ends"${interval !== null && html` title="${say(says.range, { range: interval }, frame)}"`}>${sayHtml(says.ends, { moment: nearMoment(endsAt, frame) }, frame)}${interval !== null && html`<span class="range">${say(says.between, { range: interval }, frame)}</span>`}</span>`
  }`;
}

/** A sentence while the database cannot be read: people look for balances and alerts, known from memory, just then. */
export async function ifReadable(render: () => Promise<Html>, reader: Listener): Promise<Html> {
  try {
    return await render();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return unreadable(reader);
  }
}

export function unreadable(reader: Listener): Html {
  return html`<p class="empty">${sayAgain(refusals.noDatabase(), reader)}</p>`;
}

/** An account's page, under its name. */
export function accountLink({ id, name }: Pick<AccountView, 'id' | 'name'>): Html {
  return html`<a href="${accountPath(id)}"><bdi>${nameOf(name)}</bdi></a>`;
}

export function accountPath(id: string): string {
  return `/accounts/${encodeURIComponent(id)}`;
}

/** A table that scrolls by itself where it is too wide, and that the keyboard reaches. */
export function table(label: string, classes: string, head: Html, rows: HtmlValue): Html {
  return html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table class="${classes}">
<thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

/** An address with the words of its query; what is empty is left out. */
export function withQuery(path: string, words: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(words).flatMap(([name, word]) =>
    word ? [[name, word] as [string, string]] : [],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
