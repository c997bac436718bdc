import type { Counters } from '../daemon/counting.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { isOverdue } from '../daemon/heartbeat.ts';
import { selfAccountId } from '../domain/alert.ts';
import type { KnownSession } from '../domain/operator.ts';
import { recordSession } from '../engine/access.ts';
import { type PushedReading, takeReading } from '../engine/observe.ts';
import { applyOrders, type OperatorOrder } from '../engine/orders.ts';
import { queueOf } from '../engine/queue.ts';
import { isOwnFailureRaised, isRaised } from '../engine/self-alerts.ts';
import type { MonitorState } from '../engine/state.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import { channelFailedRule, configInvalid, ratesFailed, storageFailed } from '../rules/self-alert-kinds.ts';
import { sentences } from '../wording/phrase.ts';
import { createViews } from './create-views.ts';

export interface DaemonStatus {
  readonly version: string;
  readonly startedAt: number;
  /** Database open, migrations done, scheduler running. */
  readonly ready: boolean;
  /** Sentences about what is wrong although it runs: a reload that failed, storage that cannot be written, a channel that refuses. */
  readonly problems: readonly string[];
  readonly configLoadedAt: number;
  readonly configReloadOk: boolean;
  /** Present for a daemon that shares its database with others. */
  readonly cluster?: ClusterStatus;
}

/** The views of a running daemon and the orders that it takes. Refusals are values with a sentence for the person. */
export type LiveViews = ReturnType<typeof createLiveViews>;

/** Before this (1 January 2026) the clock is certainly wrong. */
const earliestSaneMs = 1_767_225_600_000;

/** A chat connection that is restored sooner is not reported. */
const chatPatienceMs = 15_000;

/** The running daemon as the HTTP server sees it. */
export function createLiveViews(daemon: Daemon, version: string, clusterStatus?: () => ClusterStatus) {
  const { state } = daemon;
  const counters: Counters = daemon.counting;
  const views = createViews(() => ({
    state,
    reader: daemon.reader,
    historyLoader: daemon.historyLoader,
    now: () => daemon.now(),
    nextPollAt: (id) => daemon.poller.nextPollAt(id),
  }));
  // Everything shown to people must outlive a crash: an incident that was seen may not come back as another one. The database is asked
  // once everything is stored, and what memory holds is shown once it is stored.
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
    /** Carries out what people ordered, in one turn, and stores it: one answer for each. */
    orders: <Order extends OperatorOrder>(orders: readonly Order[]) =>
      daemon.runDurably((now) => applyOrders(state, orders, now, daemon.reach)),
    /** False while the database cannot be written: what was ordered is in memory alone. */
    stores: () => !daemon.committer.failing,
    /** Takes in a reading of an account that is not polled; it is not new if it was there already. */
    async pushReading(reading: PushedReading) {
      const account = state.accounts.get(reading.account);
      if (account !== undefined) await daemon.historyLoader.of(account);
      return daemon.take((now) => takeReading(state, reading, now));
    },
    /** Records that a browser is signed in, for the list of sessions. Stored when it can be, so that an unwritable database keeps nobody out. */
    recordSession: (session: KnownSession) => daemon.act(() => recordSession(state, session)),
    /**
     * Awaited by whoever asks, before the first question: memory that is not this process' own is read again if it is old. `isExact`: it is read
     * again however new it is, or this rejects with `StorageError`, for callers who would say that something is over.
     */
    refresh: (_isExact?: boolean): Promise<void> => daemon.confirmOwnership(),
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
    /** Channels that hear what people press and write, and whether they do now. */
    listening: () =>
      daemon.listening.states().map(({ name, problem }) => ({ name, hears: problem === null })),
    /** Calls `changed` after every commit that people could see, at most once per turn. Returns a function that ends that. */
    subscribe: (changed: () => void) => daemon.subscribe(changed),
  };
}

const told = sentences('problem', {
  own: '{name}: {problem}',
  deaf: 'channel {channel} hears nothing that people press or write: {reason}',
  waiting: 'messages wait for channel {channel}: {reason}',
  wrongClock: 'the clock of this machine is wrong: readings carry its dates',
});

function problemsOf(daemon: Daemon): string[] {
  const problems: string[] = [];
  const { alerts, settings } = daemon.state;
  const failedChannels = settings.channels.map(({ name }) => channelFailedRule(name));
  for (const rule of [storageFailed.type, configInvalid.type, ratesFailed.type, ...failedChannels]) {
    const alert = alerts.get(selfAccountId, rule);
    if (isRaised(alert) && alert?.value?.unit === 'text')
      problems.push(told.own({ name: rule, problem: alert.value.text }));
  }
  for (const { name, problem } of daemon.listening.states())
    if (problem !== null && daemon.now() - problem.since > chatPatienceMs)
      problems.push(told.deaf({ channel: name, reason: problem.reason }));
  problems.push(...waitingMessages(daemon.state, daemon.now()));
  if (daemon.now() < earliestSaneMs) problems.push(told.wrongClock());
  return problems;
}

/** A sentence for each channel that does not take what should have arrived by now. */
export function waitingMessages(state: MonitorState, now: number): string[] {
  return state.settings.channels.flatMap(({ name: channel }) => {
    const waiting = queueOf(state, channel).find((message) => isOverdue(message, now));
    return waiting?.lastError == null ? [] : [told.waiting({ channel, reason: waiting.lastError })];
  });
}
