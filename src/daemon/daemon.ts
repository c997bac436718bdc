import type { Incident } from '../domain/alert.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Calendar, Clock, Log, Random, StorageError, StoredState } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { followClock } from '../engine/clock-moved.ts';
import { recordDelivery, type Sent } from '../engine/delivery-ended.ts';
import { observePoll } from '../engine/observe.ts';
import { isStorageFailing, noteConfiguration, noteStorage } from '../engine/own-alerts.ts';
import { reconfigure } from '../engine/reconfigure.ts';
import { aliveNote, startMonitor } from '../engine/restore.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';
import { endTurn } from '../engine/turn.ts';
import type { WatchedAccount } from '../engine/watched-account.ts';
import { changedAccounts, hasOtherKey, isReadDifferently } from './changed-accounts.ts';
import { Committer } from './committer.ts';
import { composeMessage } from './compose.ts';
import { type ConnectionParts, Connections } from './connections.ts';
import { Counting } from './counting.ts';
import { DaemonJournal } from './daemon-journal.ts';
import { type Claim, Dispatcher } from './dispatcher.ts';
import { Heartbeat, isWell, type Ping } from './heartbeat.ts';
import { LastWork } from './last-work.ts';
import { Learning } from './learning.ts';
import { obeyLeftOrders, takeLeftOrders } from './left-orders.ts';
import { Poller } from './poller.ts';
import type { Store } from './ports.ts';
import { Recollection } from './recollection.ts';
import { nextReportAt, sendDueReports } from './reporting.ts';
import { Retention } from './retention.ts';
import { SteadyClock } from './steady-clock.ts';
import { WakeTimer } from './wake-timer.ts';

export interface DaemonParts extends ConnectionParts {
  readonly settings: Settings;
  readonly store: Store;
  /** What was in it when this process began to own it. */
  readonly stored: StoredState;
  readonly clock: Clock;
  readonly random: Random;
  readonly calendar: Calendar;
  readonly log: Log;
  readonly ping: Ping;
  readonly acknowledgeUrl: (incident: Incident, now: number) => string | null;
  /** Called when a person wants the accounts to go to another daemon. */
  readonly handOver?: () => void;
  /** Looked at before each poll: whether the accounts are this process's at this instant. Always, unless it says so. */
  readonly owns?: () => boolean;
  /** Looked at before each sending; as `owns`, unless it says so. */
  readonly maySend?: () => boolean;
  /**
   * It wakes at least this often, because the command line may have left an order and the clock may have
   * jumped. 1 s.
   */
  readonly longestSleepMs?: number;
}

const usualSleepMs = 1000;
/** Orders are looked for no sooner than this after the last time. */
const lookMs = 500;
/** Running polls and deliveries get this long to finish at the end; Docker kills after 10 s … */
const drainMs = 7000;
/** … and what is left to be stored this long, and again after a word of the end itself. */
const lastStoreMs = 1000;
/** How metrics count the end of a sending. */
const countedAs = { delivered: 'delivered', retry: 'retried', dead: 'dead', needless: 'dead' } as const;

/**
 * The running daemon. Everything happens in turns: something came in (a poll ended, a message was sent, a
 * person ordered something, time passed), the monitor takes it in and decides, what changed is committed, and
 * only then messages go out.
 */
export class Daemon {
  readonly state: MonitorState;
  readonly counting: Counting;
  readonly poller: Poller;
  readonly recollection: Recollection;
  readonly startedAt: number;
  configLoadedAt: number;
  readonly #parts: DaemonParts;
  readonly #time: SteadyClock;
  readonly #journal: DaemonJournal;
  readonly #dispatcher: Dispatcher;
  readonly #committer: Committer;
  readonly #heartbeat: Heartbeat;
  readonly #retention: Retention;
  readonly #subscribers = new Set<() => void>();
  readonly #learning: Learning;
  readonly #connections: Connections;
  readonly #timer: WakeTimer;
  readonly #lastWork: LastWork;
  #running = false;
  #looksForOrders = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';

  constructor(parts: DaemonParts) {
    this.#parts = parts;
    this.counting = new Counting(parts.log);
    const { settings, store, calendar, random, clock, log, owns = () => true, maySend = owns } = parts;
    this.#time = new SteadyClock(clock, parts.longestSleepMs);
    const now = this.#time.now();
    this.startedAt = now;
    this.configLoadedAt = now;
    this.state = startMonitor({ settings, calendar, random, stored: parts.stored, now });
    this.#journal = new DaemonJournal(log);
    this.#connections = new Connections(parts, settings);
    this.#timer = new WakeTimer({ clock, now: () => this.#time.now(), wake: () => this.#tick() });
    this.#heartbeat = new Heartbeat({ ping: parts.ping, settings: settings.heartbeat, now });
    this.#retention = new Retention({ store, aliveAt: this.state.lastRunEndedAt, now });
    this.recollection = new Recollection({
      state: this.state,
      reader: store,
      now: () => this.#time.now(),
      act: (takeIn) => this.act(takeIn),
    });
    this.poller = new Poller({
      state: this.state,
      readBalance: this.#connections.readBalance,
      recollection: this.recollection,
      owns,
      now: () => this.#time.now(),
      ended: (account, outcome) => this.#pollEnded(account, outcome),
    });
    this.#dispatcher = new Dispatcher({
      state: this.state,
      maySend,
      now: () => this.#time.now(),
      compose: (message, charts) =>
        composeMessage(
          {
            state: this.state,
            reader: store,
            recollection: this.recollection,
            now: () => this.#time.now(),
            acknowledgeUrl: parts.acknowledgeUrl,
          },
          message,
          charts,
        ),
      ended: (sent) => this.#deliveryEnded(sent),
    });
    this.#dispatcher.adopt(this.#connections.channels);
    const isIdle = () => this.poller.running === 0 && this.#dispatcher.running === 0;
    this.#lastWork = new LastWork({ clock, isIdle });
    this.#committer = new Committer({
      state: this.state,
      store,
      clock,
      committed: (failure, claims) => this.#committed(failure, claims),
    });
    this.#learning = new Learning({
      state: this.state,
      reader: store,
      recollection: this.recollection,
      clock,
      log,
      learned: () => this.#committer.schedule(),
    });
  }

  get ready(): boolean {
    return this.#running;
  }

  get storageFailing(): boolean {
    return this.#committer.failing;
  }

  now(): number {
    return this.#time.now();
  }

  /** Begins to poll. What was left undelivered goes out. */
  start(): void {
    this.#running = true;
    this.poller.adopt(new Set());
    // The file that the daemon starts with is valid, whatever the one before it heard of at its end.
    noteConfiguration(this.state, null, this.#time.now());
    this.#tick();
  }

  /** Does something at once, as part of a turn, and gives what it gives. */
  act<T>(work: (now: number) => T): T {
    this.#followJump();
    const now = this.#time.now();
    const result = work(now);
    this.#endTurn(now);
    return result;
  }

  /** As `act`, for what a person ordered: it is stored when the answer is given, if the disk lets it. */
  async obey<T>(work: (now: number) => T): Promise<T> {
    const result = this.act(work);
    await this.#committer.flush();
    return result;
  }

  /** Stores at once what has changed beyond plain readings, if the disk lets it. */
  storeChanges(): Promise<void> {
    return this.#committer.storeChanges();
  }

  /** Puts a new configuration in force; state and clocks of what remains go on. */
  reload(settings: Settings): void {
    const changed = changedAccounts(this.state.settings, settings, isReadDifferently);
    const rekeyed = changedAccounts(this.state.settings, settings, hasOtherKey);
    this.#connections.replace(settings);
    this.#dispatcher.adopt(this.#connections.channels);
    this.configLoadedAt = this.#time.now();
    this.act((now) => {
      reconfigure(this.state, settings, now);
      noteConfiguration(this.state, null, now);
      this.#heartbeat.adopt(settings.heartbeat, now);
      for (const id of rekeyed) this.#forgiveRefusal(id);
      this.poller.adopt(changed);
    });
    this.#parts.log.info({ accounts: settings.accounts.length }, 'configuration reloaded');
  }

  /** A reload failed: the running configuration stays, and everybody hears of it once. */
  reportInvalidConfiguration(text: string): void {
    this.act((now) => noteConfiguration(this.state, text, now));
  }

  /** Calls `changed` after each commit. Gives the end of it. */
  subscribe(changed: () => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Ends at once and stores nothing more: somebody else goes on from what is stored. */
  async forsake(): Promise<void> {
    this.#running = false;
    this.#timer.stop();
    this.#learning.stop();
    this.#committer.stop();
    this.poller.stop();
    this.poller.abandon();
    this.#dispatcher.stop();
    this.#dispatcher.abandon();
    this.#heartbeat.abandon();
    await this.#connections.close();
  }

  /** Ends: no new work, running work finishes or is abandoned, everything known is stored. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#timer.stop();
    this.#learning.stop();
    this.poller.stop();
    this.#dispatcher.stop();
    void this.#committer.flush();
    await this.#lastWork.end(drainMs);
    this.poller.abandon();
    this.#dispatcher.abandon();
    this.#heartbeat.abandon();
    void this.#committer.flush();
    await this.#lastWork.end(lastStoreMs);
    writeNote(this.state, aliveNote, String(this.#time.now()));
    await within(lastStoreMs, this.#parts.clock, this.#committer.flush());
    this.#committer.stop();
    await this.#connections.close();
  }

  #pollEnded(account: WatchedAccount, outcome: Outcome): void {
    this.counting.countPoll(account.settings.id, outcome.kind, outcome.durationMs);
    this.#journal.pollEnded(account, outcome);
    if (this.#firstPoll === 'awaited') this.#firstPoll = 'ended';
    this.act((now) => observePoll(this.state, account, outcome, now));
    this.#lastWork.somethingEnded();
  }

  #deliveryEnded(sent: Sent): void {
    const { delivery, message } = sent;
    this.counting.countNotification(message.channel, countedAs[delivery.kind]);
    this.#journal.deliveryEnded(sent);
    this.act((now) => recordDelivery(this.state, sent, now));
    this.#lastWork.somethingEnded();
  }

  #tick(): void {
    if (!this.#running) return;
    this.#followJump();
    const now = this.#time.now();
    this.poller.start(now);
    this.#takeOrders(now);
    sendDueReports(this.state, now);
    this.#learning.start(now);
    this.#prune(now);
    this.#beat(now);
    this.#endTurn(now);
    const { longestSleepMs = usualSleepMs } = this.#parts;
    const latest = now + longestSleepMs;
    this.#timer.wakeBy(
      Math.min(latest, nextReportAt(this.state), this.#retention.nextAt, this.#heartbeat.nextAt),
    );
  }

  /** What the command line left; looked for again only after the answer, and not at each of many polls a second. */
  #takeOrders(now: number): void {
    // A clock that was set back asks anew.
    if (this.#looksForOrders || Math.abs(now - this.#lookedAt) < lookMs) return;
    this.#looksForOrders = true;
    this.#lookedAt = now;
    this.#committer.alone(async () => {
      const taken = await takeLeftOrders(this.#parts.store);
      this.#looksForOrders = false;
      if (!(taken instanceof Error) && taken.length === 0) return;
      const { handOver = () => undefined } = this.#parts;
      this.act((now) => obeyLeftOrders({ state: this.state, journal: this.#journal, handOver }, taken, now));
    });
  }

  #prune(now: number): void {
    const work = this.#retention.due(this.state.settings.storage.retentionMs, now);
    if (work === null) return;
    this.#committer.alone(async () => {
      await work();
      this.#timer.wakeBy(this.#retention.nextAt);
    });
  }

  #endTurn(now: number): void {
    endTurn(this.state, now);
    this.#journal.turnEnded(this.state);
    this.#committer.schedule(this.#dispatcher.claimDue(now));
    this.#timer.wakeBy(Math.min(this.poller.nextAt, this.#dispatcher.nextAt, this.state.due.nextAt));
  }

  #committed(failure: StorageError | null, claims: readonly Claim[]): void {
    this.#dispatcher.send(claims);
    if (failure === null && this.#firstPoll === 'ended') this.#firstPoll = 'stored';
    if (isStorageFailing(this.state) !== (failure !== null)) {
      this.#journal.storageChanged(failure);
      this.act((now) => noteStorage(this.state, failure?.message ?? null, now));
    }
    for (const changed of this.#subscribers) changed();
  }

  #followJump(): void {
    const jumpMs = this.#time.takeJump();
    if (jumpMs === 0) return;
    this.#parts.log.warn({ jumpMs }, 'the clock jumped or the machine slept; schedules move along');
    const now = this.#time.now();
    followClock(this.state, jumpMs, now);
    this.poller.shift(jumpMs);
    this.#dispatcher.shift(jumpMs);
    this.#heartbeat.shift(jumpMs);
    this.#retention.distrustClock(now);
  }

  #beat(now: number): void {
    const healthy = isWell({
      now,
      pollStored: this.#firstPoll === 'stored',
      storageFailing: this.#committer.failing,
      pollsRunning: this.poller.running,
      nextPollAt: this.poller.nextAt,
      messages: this.state.messages.values(),
    });
    this.#heartbeat.beat({ now, healthy, ended: (reached) => this.#journal.heartbeatEnded(reached) });
  }

  /** A changed key deserves a new try at once. */
  #forgiveRefusal(id: string): void {
    const account = this.state.accounts.get(id);
    if (account === undefined) return;
    account.poll = { ...account.poll, retryAt: null };
  }
}

/** Waits for something, but no longer than this. */
async function within(ms: number, clock: Clock, something: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.setTimer(ms, late.resolve);
  await Promise.race([something, late.promise]);
  cancel();
}
