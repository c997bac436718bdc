import type { Counters } from '../daemon/counting.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { selfAccountId } from '../domain/alert.ts';
import {
  type Acknowledge,
  type AlertName,
  type AuditEntry,
  type ExpectedTopUp,
  type ExpectOrder,
  type KnownSession,
  type Refusal,
  refuse,
  type SeenAlertName,
  type SilenceOrder,
} from '../domain/operator.ts';
import { entryOf } from '../domain/provider-entry.ts';
import type { OutcomeKind } from '../domain/reading.ts';
import type { Silence } from '../domain/route.ts';
import {
  calendarKeyOf,
  endSession,
  isSessionEnded,
  linkKeysOf,
  recordSession,
  renewCalendarKey,
  sessionsOf,
} from '../engine/access.ts';
import { cancelExpected, expectTopUp } from '../engine/expect-top-up.ts';
import { blockedUntil, type PushedReading, type PushResult, takeReading } from '../engine/observe.ts';
import {
  acknowledge,
  addSilence,
  expireSilence,
  extendSilence,
  recordAudit,
  unacknowledge,
} from '../engine/operate.ts';
import { isOwnFailureRaised, isRaised } from '../engine/self-alerts.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { StoreReader } from '../ports/store.ts';
import { configInvalid, storageFailed } from '../rules/self-alert-kinds.ts';
import { createViews, type Views } from './create-views.ts';
import type { AccountView } from './views.ts';

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

/** Before this (1 January 2026) the clock is certainly wrong. */
const earliestSaneMs = 1_767_225_600_000;

/** The running daemon as the HTTP server sees it. */
export function createLiveViews(
  daemon: Daemon,
  reader: StoreReader,
  version: string,
  clusterStatus?: () => ClusterStatus,
): LiveViews {
  const { state } = daemon;
  const views = createViews(() => ({
    state,
    reader,
    historyLoader: daemon.historyLoader,
    now: () => daemon.now(),
    nextPollAt: (id) => daemon.poller.nextPollAt(id),
  }));
  // What people are shown must outlive a crash: an incident that was seen may not come back as another one. What is read from
  // the database is asked for once all is stored, and what memory holds is shown once it is.
  const remembered =
    <Question extends unknown[], Answer>(ask: (...question: Question) => Promise<Answer>) =>
    async (...question: Question): Promise<Answer> => {
      const answer = await ask(...question);
      await daemon.committer.storeChanges();
      return answer;
    };
  const stored = <Question extends unknown[], Answer>(ask: (...question: Question) => Promise<Answer>) =>
    remembered(async (...question: Question): Promise<Answer> => {
      await daemon.committer.storeChanges();
      return ask(...question);
    });
  return {
    ...views,
    accounts: remembered(views.accounts),
    accountsInBrief: remembered(views.accountsInBrief),
    summary: remembered(views.summary),
    account: remembered(views.account),
    alerts: stored(views.alerts),
    alert: stored(views.alert),
    incidents: stored(views.incidents),
    explain: stored(views.explain),
    notifications: stored(views.notifications),
    acknowledge: (order) => daemon.runDurably((now) => acknowledge(state, { ...order, at: now })),
    acknowledgeAll: ({ alerts, by, comment }) =>
      daemon.runDurably((at) => alerts.map((alert) => acknowledge(state, { ...alert, by, comment, at }))),
    unacknowledge: (alert) => daemon.runDurably((at) => unacknowledge(state, { ...alert, at })),
    expectTopUp: (order) => daemon.runDurably((now) => expectTopUp(state, order, now)),
    cancelExpected: (topUp) => daemon.runDurably(() => cancelExpected(state, topUp)),
    silence: (order) => daemon.runDurably((now) => addSilence(state, order, now)),
    expireSilence: (id) => daemon.runDurably((now) => expireSilence(state, id, now)),
    extendSilence: (order) => daemon.runDurably((now) => extendSilence(state, order, now)),
    recordAction: (entry) => daemon.runDurably(() => recordAudit(state, entry)),
    async pushReading(reading) {
      const account = state.accounts.get(reading.account);
      if (account !== undefined) await daemon.historyLoader.of(account);
      return daemon.runDurably((now) => takeReading(state, reading, now));
    },
    async pollNow(id) {
      const account = state.accounts.get(id);
      if (account === undefined) return refuse('not-found', `no account has the id "${id}"`);
      if (!entryOf(state.settings, account.settings).polled)
        return refuse('not-now', `the account "${id}" is not polled: its readings are pushed`);
      const promise = daemon.act(() => daemon.poller.pollNow(id));
      if (promise === null) {
        const seconds = Math.ceil((blockedUntil(state, id) - daemon.now()) / 1000);
        return refuse('not-now', `the provider asked to wait; the next poll is due in ${seconds} s`);
      }
      const outcome = await promise;
      const view = await views.account(id);
      if (view === null) return refuse('not-found', `the account "${id}" was removed`);
      return outcome === null
        ? refuse('not-now', 'this daemon polls no more: ask again')
        : { outcome: outcome.kind, view };
    },
    endSession: (session) => daemon.runDurably((now) => endSession(state, session, now)),
    isSessionEnded: (id) => isSessionEnded(state, id),
    // Stored when it can be: nobody is kept out while the database cannot be written.
    recordSession: (session) => daemon.act(() => recordSession(state, session)),
    sessions: () => sessionsOf(state),
    renewCalendarKey: () => daemon.runDurably(() => ({ key: renewCalendarKey(state) })),
    calendarKey: () => calendarKeyOf(state),
    linkKeys: () => linkKeysOf(state),
    status: () => ({
      version,
      startedAt: daemon.startedAt,
      ready: daemon.ready,
      problems: [...problemsOf(daemon), ...(clusterStatus?.().problems ?? [])],
      configLoadedAt: daemon.configLoadedAt,
      configReloadOk: !isOwnFailureRaised(state, configInvalid.type),
      ...(clusterStatus === undefined ? {} : { cluster: clusterStatus() }),
    }),
    counters: daemon.counting,
    subscribe: (changed) => daemon.subscribe(changed),
  };
}

function problemsOf(daemon: Daemon): string[] {
  const problems: string[] = [];
  for (const rule of [storageFailed.type, configInvalid.type]) {
    const alert = daemon.state.alerts.get(selfAccountId, rule);
    if (isRaised(alert) && alert?.value?.unit === 'text') problems.push(`${rule}: ${alert.value.text}`);
  }
  if (daemon.now() < earliestSaneMs)
    problems.push('the clock of this machine is wrong: readings carry its dates');
  return problems;
}
