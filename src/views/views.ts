import type { Counters } from '../daemon/counting.ts';
import type { Acknowledgement, Incident } from '../domain/alert.ts';
import type { Payment, Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type {
  Acknowledge,
  AlertName,
  AuditEntry,
  ExpectedTopUp,
  ExpectOrder,
  KnownSession,
  Muted,
  Refusal,
  SeenAlertName,
  SilenceOrder,
} from '../domain/operator.ts';
import type { Notification } from '../domain/outbox.ts';
import type { Forecast, ForecastRecord } from '../domain/quantity.ts';
import type { AccountState, Balance, OutcomeKind, PollRecord, Reading } from '../domain/reading.ts';
import type { Silence } from '../domain/route.ts';
import type { Ladder, Rule } from '../domain/rule.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { Severity } from '../domain/severity.ts';
import type { PushedReading, PushResult } from '../engine/observe.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { NextStep } from '../rules/about-rules.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import type { WeekAgo } from '../spending/interval.ts';

/**
 * What people may see and do, whatever they sit at: the HTTP server asks the running daemon, the command line asks the
 * same questions of the database. Money is in millionths, instants are milliseconds since 1970, null is unknown.
 */
export interface Views {
  /** All of them, or those of the given ids that there are, in their order. */
  accounts(ids?: readonly string[]): Promise<readonly AccountView[]>;
  accountIds(): readonly string[];
  /** What alerts and silences can be chosen by, each with the word for people. */
  choices(): Readonly<
    Record<'accounts' | 'rules' | 'labels', readonly (readonly [value: string, word: string])[]>
  >;
  /** How many accounts there are, and of how many the last poll gave no reading. */
  counts(): { readonly accounts: number; readonly unread: number };
  account(id: string): Promise<AccountView | null>;
  /** Oldest first, as stored: thinning is the caller's. */
  readings(account: string, since: number, until: number): Promise<readonly Reading[]>;
  polls(account: string, since: number, until: number): Promise<readonly PollRecord[]>;
  /** Pending and firing; with `all` also resolved ones of the retention, newest first. */
  alerts(options: { readonly all: boolean }): Promise<readonly AlertView[]>;
  /** The alert of an account and a rule while it is pending or firing. */
  alert(account: string, rule: string): Promise<AlertView | null>;
  /** What fires now, without words: for counting thousands. */
  firing(): Iterable<FiringView>;
  incidents(options: {
    readonly account?: string;
    readonly since?: number;
    /** Only those that fired before it. */
    readonly until?: number;
    readonly limit?: number;
  }): Promise<readonly Incident[]>;
  /** The rules that apply to the account, each with what it says now. */
  explain(account: string): Promise<readonly Explanation[]>;
  /** Newest first, of those that were made before an instant. */
  notifications(limit: number, before?: number): Promise<readonly Notification[]>;
  /** What people did in [since, before), newest first. */
  audit(query: {
    readonly since: number;
    readonly before: number;
    readonly limit: number;
  }): readonly AuditEntry[];
  channels(): readonly ChannelView[];
  /** When alerts of one balance of the account, or of the account as a whole, were muted at some time in [since, until). */
  silenced(query: SilencedQuery): Promise<readonly Pick<SilenceView, 'startsAt' | 'endsAt'>[]>;
  /** What was predicted of a balance a week ago, with what came; null where that is unknown. */
  weekAgo(account: string, balance: Balance): WeekAgo | null;
  /** How good the forecasts of a balance were; null while none came due. */
  record(account: string, balance: Balance): ForecastRecord | null;
  /** Top-ups that are expected of a balance, and monthly runs (below zero). */
  coming(account: string, balance: Balance): readonly { readonly at: number; readonly micros: Micros }[];
  /** What people announced and has not come yet, of every account; the oldest order of each first. */
  expected(): readonly ExpectedTopUp[];
  /** Not yet over, soonest start first; recurring ones with their present or next window. */
  silences(): readonly SilenceView[];
  /** What a silence would mute, before it is ordered; or why it would not be taken. */
  wouldMute(order: SilenceOrder): Muted | Refusal;
}

export interface SilencedQuery {
  readonly account: string;
  readonly balance: Balance;
  readonly since: number;
  readonly until: number;
}

/** What people may do to a running daemon. Refusals are values with a sentence for the person. */
interface Actions {
  acknowledge(order: Acknowledge): Promise<Refusal | null>;
  /** Takes many at once, stored as one; one answer for each, in their order. */
  acknowledgeAll(order: {
    readonly alerts: readonly SeenAlertName[];
    readonly by: string;
    readonly comment: string;
  }): Promise<readonly (Refusal | null)[]>;
  /** Gives an incident back: reminders and escalation go on. */
  unacknowledge(alert: AlertName): Promise<Refusal | null>;
  /** A person has paid: the money is expected. */
  expectTopUp(order: ExpectOrder): Promise<ExpectedTopUp | Refusal>;
  /** The money does not come, or came unnoticed. */
  cancelExpected(topUp: Pick<ExpectedTopUp, 'account' | 'id'>): Promise<Refusal | null>;
  silence(order: SilenceOrder): Promise<Silence | Refusal>;
  expireSilence(id: string): Promise<Refusal | null>;
  /** Lets a silence that is not over last so much longer. */
  extendSilence(order: { readonly id: string; readonly byMs: number }): Promise<Refusal | null>;
  /** Keeps what a person did, for the audit. */
  recordAction(entry: AuditEntry): Promise<void>;
  /** Makes another key for the calendar of payments. */
  renewCalendarKey(): Promise<{ readonly key: string } | Refusal>;
  /** Polls as soon as the guard allows and gives the outcome; refused while backing off. */
  pollNow(account: string): Promise<{ readonly outcome: OutcomeKind; readonly view: AccountView } | Refusal>;
  /** Takes in a reading of an account that is not polled; not new where it was there already. */
  pushReading(reading: PushedReading): Promise<PushResult | Refusal>;
}

export interface AccountView
  extends Pick<AccountSettings, 'id' | 'name' | 'labels' | 'topUpUrl' | 'runbookUrl' | 'note' | 'balances'>,
    Pick<AccountState, 'outcome' | 'failure' | 'polledAt' | 'reading' | 'consecutiveFailures' | 'usage'> {
  /** Of the newest reading, else the configured one. */
  readonly currency: string | null;
  readonly readAt: number | null;
  readonly nextPollAt: number | null;
  readonly pollIntervalMs: number;
  readonly runways: Readonly<Record<Balance, Runway | null>>;
  readonly backoffUntil: number | null;
  /** Readings of the last 24 hours, thinned to what a sparkline needs (at most 96), oldest first; thinned when it is asked for. */
  readonly day: readonly Reading[];
  readonly thresholds: Readonly<Record<Balance, Ladder<number>>>;
  /** What is to be paid, by balance; worked out when it is asked for. */
  readonly payments: readonly Payment[];
  readonly worst: Severity | null;
  readonly firing: number;
  readonly pending: number;
}

export interface AlertView
  extends Pick<
    Incident,
    | 'account'
    | 'accountName'
    | 'labels'
    | 'rule'
    | 'type'
    | 'balance'
    | 'severity'
    | 'resolvedAt'
    | 'value'
    | 'threshold'
  > {
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly since: number;
  /** Of the account, as it is now; of a resolved alert none. */
  readonly forecast: Readonly<Record<Balance, Forecast | null>>;
  /** One line that stands alone: `OTP production: SMS balance 42.10 CNY, below 50.00 (critical)`. */
  readonly summary: string;
  readonly acknowledged: Pick<Acknowledgement, 'at' | 'by' | 'comment'> | null;
  readonly silenced: boolean;
  readonly inhibited: boolean;
  readonly flapping: boolean;
  /** Which channels were notified of the incident, and when last. */
  readonly notified: readonly { readonly channel: string; readonly at: number }[];
  readonly incident: string | null;
}

export interface FiringView
  extends Pick<AlertView, 'account' | 'rule' | 'severity' | 'since' | 'silenced' | 'inhibited'> {
  readonly acknowledged: boolean;
}

export interface Explanation {
  readonly rule: Rule;
  readonly evaluation: Evaluation;
  readonly alert: AlertView | null;
  /** The nearest threshold that would not have fired, in words; null when it does not fire. */
  readonly wouldNotFire: string | null;
  /** What it says next that is worse, and when, by the forecast; null where nobody can say. */
  readonly next: NextStep | null;
}

export interface ChannelView {
  readonly name: string;
  readonly type: string;
  readonly pending: number;
  readonly lastDeliveredAt: number | null;
  readonly lastError: string | null;
}

export interface SilenceView extends Pick<SilenceOrder, 'match' | 'startsAt' | 'endsAt' | 'by' | 'comment'> {
  /** Null for windows that come from the configuration. */
  readonly id: string | null;
  readonly active: boolean;
  /** When the windows after this one begin, of those that come back: the next few. */
  readonly laterStarts: readonly number[];
}

export interface DaemonStatus {
  readonly version: string;
  readonly startedAt: number;
  /** Database open, migrations done, scheduler running. */
  readonly ready: boolean;
  /** Sentences about what is wrong though it runs: a reload that failed, storage that cannot be written. */
  readonly problems: readonly string[];
  readonly configLoadedAt: number;
  readonly configReloadOk: boolean;
  /** Of a daemon that shares its database with others. */
  readonly cluster?: ClusterStatus;
}

export interface LiveViews extends Views, Actions {
  /** Ends a session of the page before its time, also for what comes after a restart. */
  endSession(session: { readonly id: string; readonly endsAt: number }): Promise<void>;
  isSessionEnded(id: string): boolean;
  /** Keeps that a browser is signed in, for the list of sessions. */
  recordSession(session: KnownSession): void;
  sessions(): readonly KnownSession[];
  /** What the calendar's address must name; null before one was made. */
  calendarKey(): string | null;
  /** What links in messages may be signed with, the newest first. */
  linkKeys(): readonly Buffer[];
  status(): DaemonStatus;
  readonly counters: Counters;
  /** Calls `changed` after every commit that people could see, at most once per turn. Returns the end of it. */
  subscribe(changed: () => void): () => void;
}
