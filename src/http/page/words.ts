import { cleanText } from '../../domain/plain-text.ts';
import type { OutcomeKind } from '../../domain/reading.ts';
import type { Severity } from '../../domain/severity.ts';
import type { AccountState } from '../../views/account-summary.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AccountView } from '../../views/views.ts';
import type { Reader } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';

export type Frame = Reader;

/** The scope of one request: the views, the instant and zone, and the query of the address. */
export interface Scope extends Frame {
  readonly views: LiveViews;
  readonly query: URLSearchParams;
  /** The reader's name: from the trusted proxy, else the one that this browser gave last. */
  readonly reader?: { readonly name: string; readonly isProven: boolean };
  /** The key of the calendar's address; null if there is none, or if it was made with a token that was replaced. */
  readonly calendarKey?: string | null;
  /** The id of the session in which this page is requested. */
  readonly session?: string | undefined;
}

/** The look of an account, a rule or a message: a colour, an icon, and always a word. */
export type Tone = Severity | 'good' | 'pending' | 'unread' | 'neutral' | 'silence';

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

/** Words that several pages share. */
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

/** The names of pages, as used wherever one is named. */
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

/** The title of the browser window. */
export function titleOf(page: keyof typeof pages, reader: Listener): string {
  return say(titles.page, { page: say(pages[page], reader) }, reader);
}

export const stateTones: Readonly<Record<AccountState, Tone>> = {
  critical: 'critical',
  warning: 'warning',
  ending: 'warning',
  info: 'info',
  unread: 'unread',
  pending: 'pending',
  waiting: 'neutral',
  fine: 'good',
};

export function stateWord(state: AccountState, reader: Listener): string {
  return say(stateSays[state], reader);
}

/** An account's name in lists. Its own page shows more of a long name. */
export function nameOf(name: string): string {
  return cleanText(name, 80);
}

/** Whether each word of a search occurs in one of the texts, or in a label as `key=value`. Ignores case, accents and width. */
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

/** The outcome of one poll in a word or two: its code, translated if there are words for it. */
export function sayOutcome(outcome: OutcomeKind, reader: Listener): string {
  return sayAgain(outcome, reader).replaceAll('_', ' ');
}

export function accountPath(id: string): string {
  return `/accounts/${encodeURIComponent(id)}`;
}

/** An address with query parameters; empty ones are left out. */
export function withQuery(path: string, words: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(words).flatMap(([name, word]) =>
    word ? [[name, word] as [string, string]] : [],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
