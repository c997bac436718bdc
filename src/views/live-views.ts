import type { Counters } from '../daemon/counting.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { selfAccountId } from '../domain/alert.ts';
import {
  type Acknowledge,
  type AlertName,
  type KnownSession,
  type Refusal,
  refuse,
  type SeenAlertName,
} from '../domain/operator.ts';
import { entryOf } from '../domain/provider-entry.ts';
import type { OutcomeKind } from '../domain/reading.ts';
import { endSession, recordSession, renewCalendarKey } from '../engine/access.ts';
import { cancelExpected, expectTopUp } from '../engine/expect-top-up.ts';
import { blockedUntil, type PushedReading, takeReading } from '../engine/observe.ts';
import {
  acknowledge,
  addSilence,
  expireSilence,
  extendSilence,
  recordAudit,
  unacknowledge,
} from '../engine/operate.ts';
import { isOwnFailureRaised, isRaised } from '../engine/self-alerts.ts';
import type { MonitorState } from '../engine/state.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { StoreReader } from '../ports/store.ts';
import { configInvalid, storageFailed } from '../rules/self-alert-kinds.ts';
import { createViews } from './create-views.ts';
import type { AccountView } from './views.ts';

interface AcknowledgeMany extends Pick<Acknowledge, 'by' | 'comment'> {
  readonly alerts: readonly SeenAlertName[];
}

interface Polled {
  readonly outcome: OutcomeKind;
  readonly view: AccountView;
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

/** What people may see of a running daemon and do to it. Refusals are values with a sentence for the person. */
export type LiveViews = ReturnType<typeof createLiveViews>;

/** Before this (1 January 2026) the clock is certainly wrong. */
const earliestSaneMs = 1_767_225_600_000;

/** The running daemon as the HTTP server sees it. */
export function createLiveViews(
  daemon: Daemon,
  reader: StoreReader,
  version: string,
  clusterStatus?: () => ClusterStatus,
) {
  const { state } = daemon;
  const counters: Counters = daemon.counting;
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
  const durably =
    <Order, Done>(carryOut: (state: MonitorState, order: Order, now: number) => Done) =>
    (order: Order): Promise<Done> =>
      daemon.runDurably((now) => carryOut(state, order, now));
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
    acknowledge: (order: Acknowledge) => daemon.runDurably((at) => acknowledge(state, { ...order, at })),
    /** Takes many at once, stored as one; one answer for each, in their order. */
    acknowledgeAll: ({ alerts, by, comment }: AcknowledgeMany) =>
      daemon.runDurably((at) => alerts.map((alert) => acknowledge(state, { ...alert, by, comment, at }))),
    /** Gives an incident back: reminders and escalation go on. */
    unacknowledge: (alert: AlertName) => daemon.runDurably((at) => unacknowledge(state, { ...alert, at })),
    /** A person has paid: the money is expected. */
    expectTopUp: durably(expectTopUp),
    /** The money does not come, or came unnoticed. */
    cancelExpected: durably(cancelExpected),
    silence: durably(addSilence),
    expireSilence: durably(expireSilence),
    /** Lets a silence that is not over last so much longer. */
    extendSilence: durably(extendSilence),
    /** Keeps what a person did, for the audit. */
    recordAction: durably(recordAudit),
    /** Takes in a reading of an account that is not polled; not new where it was there already. */
    async pushReading(reading: PushedReading) {
      const account = state.accounts.get(reading.account);
      if (account !== undefined) await daemon.historyLoader.of(account);
      return daemon.runDurably((now) => takeReading(state, reading, now));
    },
    /** Polls as soon as the guard allows and gives the outcome; refused while backing off. */
    async pollNow(id: string): Promise<Polled | Refusal> {
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
    /** Ends a session of the page before its time, also for what comes after a restart. */
    endSession: durably(endSession),
    /** Keeps that a browser is signed in, for the list of sessions: stored when it can be, as nobody is kept out while the database cannot be written. */
    recordSession: (session: KnownSession) => daemon.act(() => recordSession(state, session)),
    /** Makes another key for the calendar of payments. */
    renewCalendarKey: (): Promise<{ readonly key: string } | Refusal> =>
      daemon.runDurably(() => ({ key: renewCalendarKey(state) })),
    status: (): DaemonStatus => ({
      version,
      startedAt: daemon.startedAt,
      ready: daemon.ready,
      problems: [...problemsOf(daemon), ...(clusterStatus?.().problems ?? [])],
      configLoadedAt: daemon.configLoadedAt,
      configReloadOk: !isOwnFailureRaised(state, configInvalid.type),
      ...(clusterStatus === undefined ? {} : { cluster: clusterStatus() }),
    }),
    counters,
    /** Calls `changed` after every commit that people could see, at most once per turn. Returns the end of it. */
    subscribe: (changed: () => void) => daemon.subscribe(changed),
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
