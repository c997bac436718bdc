import { StorageError } from '../domain/operator-error.ts';
import type { Outcome } from '../domain/reading.ts';
import type { Settings } from '../domain/settings.ts';
import { restEnd, restMs } from '../domain/time.ts';
import { renewLinkKeys } from '../engine/access.ts';
import { accountsAtOnce, changedAccounts } from '../engine/changed-accounts.ts';
import { beginFarewell } from '../engine/channel-changes.ts';
import { recordDelivery, type Sent } from '../engine/delivery-ended.ts';
import { observePoll } from '../engine/observe.ts';
import { refusals } from '../engine/orders/refusals.ts';
import { followAccounts, reconfigure } from '../engine/reconfigure.ts';
import { aliveNote, followClock } from '../engine/restore.ts';
import {
  isOwnFailureRaised,
  noteClusterProblems,
  noteDamagedPolls,
  noteTrouble,
} from '../engine/self-alerts.ts';
import { reviewSilences } from '../engine/silencing.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import { endTurn } from '../engine/turn.ts';
import type { AnswerChat } from '../ports/channel.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { StoreReader } from '../ports/store.ts';
import { storageFailed } from '../rules/self-alert-kinds.ts';
import { Committer } from './committer.ts';
import { type ComposeDependencies, composeFarewells } from './compose.ts';
import { type Connections, createConnections } from './connections.ts';
import { Counting } from './counting.ts';
import type { DaemonDependencies, DaemonParts } from './daemon-dependencies.ts';
import { DaemonLog } from './daemon-log.ts';
import { type Claim, Dispatcher } from './dispatcher.ts';
import { createEnding } from './ending.ts';
import type { FarewellDependencies } from './farewell-sender.ts';
import { createHeartbeat } from './heartbeat.ts';
import { createHistoryLoader, type HistoryLoader } from './history-loader.ts';
import { Learning } from './learning.ts';
import { openLeftOrders } from './left-orders.ts';
import { Listening } from './listening.ts';
import { createReach } from './order-reach.ts';
import { Poller } from './poller.ts';
import { createRatesReading } from './rates-reading.ts';
import { nextReportAt, sendDueReports } from './reporting.ts';
import { createRestating } from './restating.ts';
import { createRetention } from './retention.ts';
import { inSlices } from './slices.ts';
import { createWakeTimer, SteadyClock, type WakeTimer } from './steady-clock.ts';
import { TestAlerts } from './test-alerts.ts';
import { readWithUnstored } from './unstored-reader.ts';

const usualSleepMs = 1000;

/**
 * The running daemon. Everything happens in turns: an event (a poll ended, a message was sent, a person
 * ordered something, time passed), decisions, then a commit. Messages are sent only after the commit.
 */
export class Daemon {
  readonly state: MonitorState;
  readonly counting: Counting;
  readonly committer: Committer;
  readonly poller: Poller;
  readonly historyLoader: HistoryLoader;
  readonly reader: StoreReader;
  readonly reach: OrderReach;
  readonly listening: Listening;
  readonly startedAt: number;
  configLoadedAt: number;
  readonly #dependencies: DaemonDependencies;
  readonly #time: SteadyClock;
  readonly #daemonLog: DaemonLog;
  readonly #composing: ComposeDependencies;
  readonly #dispatcher: Dispatcher;
  readonly #heartbeat: ReturnType<typeof createHeartbeat>;
  readonly #rates: ReturnType<typeof createRatesReading>;
  readonly #restating: ReturnType<typeof createRestating>;
  readonly #tests: TestAlerts;
  readonly #retention: ReturnType<typeof createRetention>;
  readonly #subscribers = new Set<() => void>();
  readonly #learning: Learning;
  readonly #connections: Connections;
  readonly #timer: WakeTimer;
  readonly #ending: ReturnType<typeof createEnding>;
  readonly #leftOrders: ReturnType<typeof openLeftOrders>;
  #endWatch: (() => void) | null = null;
  #running = false;
  /** Later turns count as this instant: nothing is polled after it, so the passing of time says nothing about the accounts. */
  #endsAt = Number.POSITIVE_INFINITY;
  /** Whether another process owns the accounts: work that still ends here then changes nothing. */
  #fenced = false;

  constructor(dependencies: DaemonDependencies) {
    const { state, store, clock, log, counting = new Counting(log) } = dependencies;
    this.#dependencies = dependencies;
    this.state = state;
    this.#time = new SteadyClock(clock);
    const now = this.now();
    this.startedAt = now;
    this.configLoadedAt = now;
    this.counting = counting;
    this.#daemonLog = new DaemonLog(log);
    this.#connections = createConnections(
      {
        ...dependencies,
        farewellBegins: (channel) => this.#beginFarewell(channel),
        storeChanges: () => this.committer.storeChanges(),
      },
      state.settings,
    );
    this.#timer = createWakeTimer(clock, this.#time, () => this.#tick());
    this.committer = new Committer({
      ...{ state, store, clock },
      committed: (failure, claims) => this.#committed(failure, claims),
    });
    const act = <T>(work: (at: number) => T) => this.act(work);
    this.historyLoader = createHistoryLoader(state, store, () => this.now(), act);
    const parts: DaemonParts = {
      ...dependencies,
      act,
      connections: this.#connections,
      timer: this.#timer,
      committer: this.committer,
      historyLoader: this.historyLoader,
      now: () => this.now(),
    };
    this.poller = new Poller({
      ...parts,
      readBalance: this.#connections.readBalance,
      ended: (account, outcome) => this.#pollEnded(account, outcome),
      planned: () => this.#timer.wakeBy(this.poller.nextAt),
    });
    this.reader = readWithUnstored(store, state);
    const composing = { ...parts, reader: this.reader };
    this.#composing = composing;
    this.#dispatcher = new Dispatcher({ ...composing, ended: (sent) => this.#deliveryEnded(sent) });
    this.#restating = createRestating(parts, composing);
    this.#tests = new TestAlerts(parts, { ...composing, beside: this.#dispatcher });
    this.#dispatcher.adopt(this.#connections.channels);
    this.#retention = createRetention(parts, now);
    this.reach = createReach(parts, this.poller, this.#tests);
    this.#leftOrders = openLeftOrders(parts, this.reach);
    this.listening = new Listening(parts, () => this.#ending.somethingEnded());
    this.#learning = new Learning(parts);
    this.#heartbeat = createHeartbeat(parts, this.poller, now);
    this.#rates = createRatesReading(parts, now);
    this.#ending = createEnding(parts, {
      sources: [
        ...[this.#timer, this.#learning, this.poller, this.#dispatcher, this.#tests],
        ...[this.#restating, this.listening, this.#connections.farewellSender],
      ],
      workers: [
        ...[this.poller, this.#dispatcher, this.#tests, this.#heartbeat, this.#rates],
        this.#connections.farewellSender,
      ],
      running: () =>
        this.poller.running +
        this.#dispatcher.running +
        this.#tests.running +
        this.listening.running +
        // A hand-over does not wait for farewells, which may take minutes.
        (this.#running ? 0 : this.#connections.farewellSender.running),
    });
  }

  get ready(): boolean {
    return this.#running;
  }

  now(): number {
    return this.#time.now();
  }

  /** Begins to poll and to send pending notifications. `invalid`: why the configuration on disk is not in use; null when it is. */
  start(invalid: string | null = null): void {
    this.#running = true;
    this.#endWatch =
      this.#dependencies.watchDatabase?.(() => this.#timer.wakeBy(this.#leftOrders.nextAt())) ?? null;
    renewLinkKeys(this.state, this.now());
    this.poller.adopt(new Set());
    this.#rates.adopt(this.now());
    // The trouble that the last daemon reported was about the file as it was then.
    noteTrouble(this.state, 'configuration', invalid, this.now());
    this.#tests.resume(this.now());
    this.#tick();
  }

  /** Runs the work at once, as part of a turn. */
  act<T>(work: (now: number) => T): T {
    this.#followClockChange();
    const now = this.now();
    const result = work(now);
    this.#endTurn(now);
    return result;
  }

  /** Runs an order of a person. It is stored when the promise resolves. Rejects with `StorageError` if another daemon may own the accounts. */
  async runDurably<T>(work: (now: number) => T): Promise<T> {
    const result = this.act(work);
    const isAttempted = await this.committer.flush();
    const { membership } = this.#dependencies;
    if (isAttempted && (!this.committer.failing || (membership?.mayActUnpersisted() ?? true))) return result;
    throw new StorageError('fenced', refusals.unsure());
  }

  /** Rejects with `StorageError` if another daemon owns the accounts by now: what this daemon knows of them may be outdated. */
  async confirmOwnership(): Promise<void> {
    await this.#dependencies.membership?.confirmOwnership();
    if (this.#fenced) throw new StorageError('fenced', refusals.unsure());
  }

  /** `act` for readings that are pushed: stored within half a second, together with others. In a cluster they are stored at once. */
  async take<T>(work: (now: number) => T): Promise<T> {
    return this.#dependencies.membership === undefined ? this.act(work) : this.runDurably(work);
  }

  /** Tens of thousands of accounts whose rules changed are updated in turns of their own: the promise resolves once all are. */
  async reload(settings: Settings): Promise<void> {
    const { changed, rekeyed } = changedAccounts(this.state, settings);
    const farewells = [composeFarewells(this.#composing, settings), ...this.#tests.farewells(settings)];
    this.#connections.replace(settings, farewells);
    this.#dispatcher.adopt(this.#connections.channels);
    this.#tests.adopt(this.#connections.channels, settings);
    this.listening.adopt(this.#connections.channels);
    const later = this.act((now) => {
      const rest = reconfigure(this.state, settings, now);
      noteTrouble(this.state, 'configuration', null, now);
      this.#heartbeat.adopt(now);
      this.#rates.adopt(now);
      for (const id of rekeyed) {
        const account = this.state.accounts.get(id);
        if (account !== undefined) account.poll = { ...account.poll, retryAt: null };
      }
      this.poller.adopt(changed);
      return rest;
    });
    for await (const part of inSlices(later, accountsAtOnce)) {
      if (this.state.settings !== settings || !this.#running) return;
      this.act((now) => followAccounts(this.state, part, now));
    }
    // The labels that these accounts had before may have decided whether a silence mutes them.
    if (later.length > 0) this.act((now) => reviewSilences(this.state, now));
    this.configLoadedAt = this.now();
    this.#dependencies.log.info({ accounts: settings.accounts.length }, 'configuration reloaded');
  }

  /** Listens to the chats of its channels from now on. */
  listen(answer: AnswerChat): void {
    if (this.#running) this.listening.begin(answer, this.#connections.channels);
  }

  /** Reports that a reload failed: the running configuration stays. */
  reportInvalidConfiguration(text: string): void {
    this.act((now) => noteTrouble(this.state, 'configuration', text, now));
  }

  /** Calls `changed` after each commit. Returns the unsubscribe function. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Ends at once and stores nothing more: another process continues from what is stored. */
  abandon(): Promise<void> {
    this.#endWatch?.();
    this.#running = false;
    this.#fenced = true;
    return this.#ending.abandon();
  }

  /** Stores everything once running work has ended or is late. Nothing new begins. `aheadMs` as for `stop`. */
  drain(aheadMs: number): Promise<void> {
    this.#setClock(aheadMs);
    return this.#ending.drain(() => this.state.notes.write(aliveNote, String(this.now())));
  }

  /** `aheadMs`: how far this clock is known to be ahead. It is corrected first, because another process continues by its own clock. */
  stop(aheadMs = 0): Promise<void> {
    this.#endWatch?.();
    this.#setClock(aheadMs);
    this.#running = false;
    this.#endsAt = this.now();
    return this.#ending.stop(() => this.state.notes.write(aliveNote, String(this.now())));
  }

  #setClock(aheadMs: number): void {
    this.#time.correctBy(aheadMs);
    this.#followClockChange();
  }

  #pollEnded(account: WatchedAccount, outcome: Outcome): void {
    if (this.#fenced) return;
    this.counting.countPoll(account.settings.id, outcome.kind, outcome.durationMs);
    this.#daemonLog.pollEnded(account, outcome);
    this.#heartbeat.pollEnded();
    this.act((now) => observePoll(this.state, account, outcome, now));
    if (this.poller.running === 0) this.#dispatcher.rehearse(account);
    this.#ending.somethingEnded();
  }

  #deliveryEnded(sent: Sent): void {
    const { delivery, message } = sent;
    this.counting.countDelivery(message.channel, delivery.kind);
    this.#daemonLog.deliveryEnded(sent);
    if (this.#fenced) return;
    this.act((now) => recordDelivery(this.state, sent, now));
    this.#ending.somethingEnded();
  }

  /** The farewell is stored with the reload: nothing else records that the receiver still shows as open what has ended. */
  #beginFarewell(channel: string): ReturnType<FarewellDependencies['farewellBegins']> {
    const farewell = beginFarewell(this.state, channel);
    return (reason, isBack) => {
      const missed = isBack && farewell.isNotifiedAgain() ? null : reason;
      if (missed !== null)
        this.#dependencies.log.error(
          { channel, reason: missed },
          'a receiver was not told that it hears no more',
        );
      if (this.#fenced) return;
      this.act((now) => farewell.end(missed, now));
      this.#ending.somethingEnded();
    };
  }

  #tick(): void {
    if (!this.#running) return;
    const { membership, maxSleepMs = this.#endWatch === null ? usualSleepMs : restMs } = this.#dependencies;
    // A daemon that was drained and has the accounts again uses its own clock, right or wrong.
    if (membership?.mayPoll() === true) this.#time.correctBy(0);
    this.#followClockChange();
    const now = this.now();
    this.poller.start(now);
    this.#ending.somethingEnded();
    this.#leftOrders.take(now);
    if (membership !== undefined) noteClusterProblems(this.state, membership.clusterStatus, now);
    this.listening.check(now);
    sendDueReports(this.state, now);
    this.#learning.start(now);
    this.#retention.start(now);
    this.#heartbeat.beat(now);
    this.#rates.start(now);
    this.#restating.start(now);
    this.#tests.step(now);
    this.#endTurn(now);
    this.#timer.wakeBy(
      Math.min(
        ...[restEnd(now, maxSleepMs), nextReportAt(this.state), this.#retention.nextAt()],
        ...[this.#heartbeat.nextAt, this.#rates.nextAt, this.#restating.nextAt, this.#tests.nextAt],
      ),
    );
  }

  #endTurn(now: number): void {
    endTurn(this.state, Math.min(now, this.#endsAt));
    this.#daemonLog.turnEnded(this.state);
    this.committer.schedule(this.#dispatcher.claimDue(now));
    this.#timer.wakeBy(Math.min(this.poller.nextAt, this.#dispatcher.nextAt, this.state.due.nextAt));
  }

  #committed(failure: StorageError | null, claims: readonly Claim[]): void {
    this.#dispatcher.send(claims);
    if (this.#fenced) return;
    if (failure === null) {
      this.#heartbeat.stored();
      this.poller.stored();
      this.#timer.wakeBy(this.poller.nextAt);
    }
    const { log, store } = this.#dependencies;
    const damaged = store.takeDamaged();
    if (damaged.length > 0) {
      for (const { account, polls, earliestAt, latestAt } of damaged)
        log.error(
          { account, polls, earliestAt, latestAt },
          'stored polls are damaged; they were set aside in the table damaged_run',
        );
      this.act((now) => noteDamagedPolls(this.state, damaged, now));
    }
    if (isOwnFailureRaised(this.state, storageFailed.type) !== (failure !== null)) {
      if (failure === null) log.info({}, 'the database can be written again');
      else log.error({ err: failure }, 'the database cannot be written; going on from memory');
      this.act((now) => noteTrouble(this.state, 'storage', failure?.message ?? null, now));
    }
    for (const changed of this.#subscribers) changed();
  }

  #followClockChange(): void {
    const jumpMs = this.#time.takeJump();
    if (jumpMs === 0) return;
    this.#dependencies.log.warn({ jumpMs }, 'the clock jumped or the machine slept; schedules move along');
    const now = this.now();
    followClock(this.state, jumpMs, now);
    for (const part of [this.poller, this.#dispatcher]) part.shift(jumpMs);
    // Heartbeat and rates go by what others expect, who did not sleep: both are due on waking. A clock that is set back must not delay them.
    for (const part of [this.#heartbeat, this.#rates]) part.shift(Math.min(jumpMs, 0));
    this.#retention.shift(jumpMs, now);
    this.listening.shift(jumpMs, now);
    this.#tests.resume(now);
  }
}
