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

/** The scope of one request: the views, the instant and zone, and what the address asks for. */
export interface Scope extends Frame {
  readonly views: LiveViews;
  readonly query: URLSearchParams;
  /** The reader's name: the one of the trusted proxy, else the name that this browser gave last. */
  readonly reader?: { readonly name: string; readonly isProven: boolean };
  /** The key of the calendar's address; null where there is none, or one that a replaced token made. */
  readonly calendarKey?: string | null;
  /** The id of the session by which this page is asked for. */
  readonly session?: string | undefined;
}

/** Everything that an account, a rule or a message can look like: a colour, an icon, and always a word. */
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

export function accountPath(id: string): string {
  return `/accounts/${encodeURIComponent(id)}`;
}

/** An address with the words of its query; what is empty is left out. */
export function withQuery(path: string, words: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(words).flatMap(([name, word]) =>
    word ? [[name, word] as [string, string]] : [],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
