import { keepOrders } from '../../src/cluster/kept-orders.ts';
import { Membership } from '../../src/cluster/membership.ts';
import type { StandbyViews } from '../../src/cluster/standby-views.ts';
import { Daemon } from '../../src/daemon/daemon.ts';
import type { DaemonDependencies } from '../../src/daemon/daemon-dependencies.ts';
import type { HandOver } from '../../src/domain/operator.ts';
import { onStorageError } from '../../src/domain/operator-error.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { storeAgain } from '../../src/engine/unstored.ts';
import type { Calendar, Clock, Random } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Batch, LeftOrder, StoredState } from '../../src/ports/store.ts';
import { asStoreFile, type SqliteStore } from '../../src/store/sqlite/port.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { createLiveViews, type LiveViews } from '../../src/views/live-views.ts';
import { type Ask, loadPatiently, type SimCluster } from '../support/sim-cluster.ts';
import { DistantDatabase } from './distant-database.ts';
import type { EventQueue } from './event-queue.ts';
import { type Fleet, leaseMs } from './fleet.ts';
import { Life, OwnerSpan } from './life.ts';
import type { Observer } from './observer.ts';
import { Peers } from './peers.ts';
import type { Scenario } from './scenario.ts';
import { Seeded } from './seeded.ts';
import type { SimStorage } from './sim-storage.ts';
import { openStandbyPage } from './standby-page.ts';
import type { World } from './world.ts';

/** A machine that lowwater runs on: clocks that jump and stop, a disk, and one process at a time that may be killed. */
export class Machine {
  settings: Settings;
  /** Why what its file says now is not in use; null where it is. */
  refused: string | null = null;
  readonly name: string;
  membership: Membership | null = null;
  /** What is wrong with its way to the database that it shares, each as often as it is. */
  readonly line = { cut: 0, isolated: 0, deaf: 0, slow: 0 };
  readonly storage: SimStorage;
  readonly queue: EventQueue;
  readonly #scenario: Scenario;
  readonly #fleet: Fleet;
  readonly #observer: Observer;
  readonly #calendar: Calendar;
  readonly #peers: Peers;
  readonly #database: DistantDatabase;
  #life: Life | null = null;
  #lives = 0;
  #wallOffsetMs: number;
  #suspendedMs = 0;
  #suspendedUntil = 0;

  constructor(parts: {
    readonly scenario: Scenario;
    readonly queue: EventQueue;
    readonly world: World;
    readonly storage: SimStorage;
    readonly calendar: Calendar;
    readonly observer: Observer;
    readonly fleet: Fleet;
  }) {
    this.#fleet = parts.fleet;
    this.name = `node-${parts.fleet.machines.length}`;
    // Clocks of machines are never quite the same.
    this.#wallOffsetMs = 300 * parts.fleet.machines.length;
    this.#scenario = parts.scenario;
    this.settings = parts.scenario.settings;
    this.queue = parts.queue;
    this.storage = parts.storage;
    this.#calendar = parts.calendar;
    this.#observer = parts.observer;
    this.#peers = new Peers(this, parts);
    this.#database = new DistantDatabase(this, parts);
  }

  get up(): boolean {
    return this.#life !== null;
  }

  /** Another one for each process; null while none runs. */
  get process(): number | null {
    return this.#life?.number ?? null;
  }

  get sleepMs(): number {
    return this.#scenario.sleepMs;
  }

  get span(): OwnerSpan | null {
    return this.#life?.span ?? null;
  }

  get daemon(): Daemon | null {
    return this.span?.daemon ?? null;
  }

  get views(): LiveViews | null {
    return this.span?.views ?? null;
  }

  get stopping(): boolean {
    return this.#life?.stopping === true || this.span?.stopping === true;
  }

  /** By how much its clock is off. */
  get offsetMs(): number {
    return this.#wallOffsetMs;
  }

  /** The page of this daemon while it stands by, opened once in a process. */
  standbyPage(): Promise<StandbyViews> | undefined {
    return this.#life?.standbyPage();
  }

  /** Where the command line can leave an order. */
  get leaveOrder(): ((order: LeftOrder) => void) | null {
    return this.#fleet.shared === null
      ? this.storage.leaveOrder
      : (order) => this.#fleet.shared?.leaveOrder(order);
  }

  wall(): number {
    return this.#scenario.startAt + this.queue.now + this.#wallOffsetMs;
  }

  boot(): void {
    if (this.#life !== null) return;
    // It would not start by a file that is invalid: somebody mends that before.
    this.refused = null;
    if (this.frozen) {
      this.queue.at(this.#suspendedUntil + 1, () => this.boot());
      return;
    }
    // A database that cannot be written is refused at the start; whoever supervises the process tries again.
    if (this.storage.fault === 'read-only' && this.#fleet.shared === null) {
      this.queue.at(this.queue.now + 5000, () => this.boot());
      return;
    }
    this.#lives++;
    const { machines } = this.#fleet;
    // Unlike that of any other process of the fleet.
    const number = machines.length * (this.#lives - 1) + machines.indexOf(this) + 1;
    const life = new Life(number, this.queue.now - this.#suspendedMs, this);
    this.#life = life;
    const database = this.storage.open(() => this.wall());
    if (this.#fleet.shared !== null) {
      this.#share(life, database, this.#fleet.shared);
      return;
    }
    const span = new OwnerSpan();
    life.span = span;
    life.end = async () => {
      await span.daemon?.stop();
      if (!life.dead) this.#endSpan(life, true);
    };
    this.#begin(
      life,
      {
        span,
        store: this.#database.guard(life, database),
        state: this.#restore(life, database.load(), this.#random(life)),
      },
      database,
    );
  }

  /** As one of the daemons that share the database. */
  #share(life: Life, database: SqliteStore, shared: SimCluster): void {
    const { slowness } = this.#fleet;
    const ask: Ask = (work, kind) => this.#database.ask(life, work, { kind, pace: slowness });
    const askStore: Ask = (work, kind) => this.#database.ask(life, work, { kind, pace: 1 });
    // Of accounts that are regained nobody hears more often than of anything else.
    const askUnheard: Ask = (work, kind) =>
      this.#database.ask(life, work, { kind, pace: slowness, unheard: true });
    const file = asStoreFile(database);
    const spanOf = (): OwnerSpan => {
      life.span ??= new OwnerSpan();
      return life.span;
    };
    const clock = this.#clock(life);
    const random = this.#random(life);
    const finish = async (): Promise<void> => {
      const { span } = life;
      if (span === null || span.stopping) return;
      span.stopping = true;
      life.sweepAborted();
      await span.daemon?.stop();
      if (!life.dead && life.span === span) this.#endSpan(life, true);
    };
    const blind = new WeakSet<MonitorState>();
    const recent = shared.recent();
    const load = () => askStore(() => database.load());
    // As src/wiring/run-clustered.ts.
    const compare = async (daemon: Daemon | null): Promise<void> => {
      if (daemon === null || this.daemon !== daemon) return;
      const again = storeAgain(daemon.state);
      const stored = await load().catch(onStorageError(null));
      if (stored === null) {
        await new Promise<void>((fire) => life.setTimer({ delayMs: leaseMs, fire, ofLease: true }));
        return compare(daemon);
      }
      if (this.daemon === daemon) daemon.act((at) => again(stored, at));
    };
    const membership = new Membership({
      cluster: {
        ...shared.at(ask, undefined, recent),
        claim: (incarnation, condition = {}) =>
          shared.at(condition.after === undefined ? ask : askUnheard).claim(incarnation, condition),
        reader: { ...file, load },
        load: (options) => {
          recent.clear();
          return loadPatiently(load, options);
        },
        store: (owner, alreadyStored) => {
          const span = spanOf();
          life.epoch = owner.epoch;
          const writer = this.storage.open(() => this.wall());
          const open = () => ({
            reader: file,
            commit: (batch: Batch) => {
              if (owner.epoch !== shared.epoch) this.#observer.trespassed(`${this.name} writes`);
              this.#database.write(life, span, { batch, writer });
            },
            prune: (olderThan: number) => writer.prune(olderThan),
          });
          return shared.at(ask, { ask: askStore, open }, recent).store(owner, alreadyStored);
        },
      },
      clock: this.#fleet.slowed({
        ...clock,
        setTimer: (delayMs: number, fire: () => void) =>
          life.setTimer({ delayMs: delayMs * slowness, fire, ofLease: true }),
      }),
      log: this.#log(life),
      newIncarnation: () => random.id(),
      card: () => ({ node: this.name, advertise: this.name, configHash: 'same' }),
      leaseMs,
      aloneForMs: 3_600_000,
      askPeers: async (members) => {
        await this.#database.travel(life, 100);
        return this.#fleet.askPeers(this, members);
      },
      restore: async (stored) => {
        const state = this.#restore(life, stored, random);
        if (stored === nothingStored) blind.add(state);
        return state;
      },
      // The model knows what was stored, and cannot follow a daemon that does not: tests of the membership play who begins with nothing.
      begin: ({ store: whole, state }) => {
        if (blind.has(state)) return;
        const span = spanOf();
        const store = this.#database.watch(span, whole);
        const watched = {
          mayPoll: () => {
            const mayPoll = membership.mayPoll();
            if (!mayPoll) this.#lookAgain(life);
            return mayPoll;
          },
          maySend: () => {
            const maySend = membership.maySend();
            if (!maySend) {
              this.observe(span, (it) => it.heldBack());
              this.#lookAgain(life);
            }
            return maySend;
          },
          mayActUnpersisted: () => membership.mayActUnpersisted(),
          confirmOwnership: () => membership.confirmOwnership(),
          handOver: (order: HandOver) => membership.handOver(order),
          // The simulation judges alerts of accounts alone.
          clusterStatus: { alerts: [], undecided: [] },
        };
        this.#begin(life, { span, store, state, membership: watched }, database);
      },
      abandon: () => {
        const { daemon } = this;
        this.#endSpan(life, false);
        void daemon?.abandon();
      },
      drain: async (aheadMs) => life.span?.daemon?.drain(aheadMs * slowness),
      takenBack: () => compare(this.daemon),
      looked: () => void orders.looked(),
    });
    const orders = keepOrders({
      ...{ clock, log: this.#log(life), news: () => membership.news },
      leaveOrder: (order) => askStore(() => shared.leaveOrder(order)),
    });
    this.membership = membership;
    life.standbyPage = openStandbyPage({
      settings: () => this.settings,
      // Its rests go by how long it reads, and by the clock of leases.
      reader: { ...file, load: () => ask(() => database.load()) },
      clock: { ...clock, monotonic: this.#fleet.slowed(clock).monotonic },
      random: this.#random(life, 'standby'),
      calendar: this.#calendar,
      revision: () => membership.news.revision,
      heardAt: () => membership.news.heardAt,
      leaseMs,
      leaveOrder: orders.leave,
      owner: () => membership.clusterStatus.owner,
      ownerElsewhere: () => membership.ownerElsewhere,
      programs: () => membership.news.programs,
    });
    life.end = async () => {
      await finish();
      await membership.stop();
    };
    void membership.run();
  }

  #restore(life: Life, stored: StoredState, random: Random): MonitorState {
    const now = this.#clock(life).now();
    life.lost = stored.damagedRecords ?? [];
    return startMonitor({ settings: this.settings, stored, calendar: this.#calendar, random, now });
  }

  #begin(
    life: Life,
    it: { readonly span: OwnerSpan } & Pick<DaemonDependencies, 'store' | 'state' | 'membership'>,
    database: SqliteStore,
  ): void {
    const { span, ...parts } = it;
    const daemon = new Daemon({
      ...parts,
      openProvider: () => this.#peers.provider(life, span),
      openChannels: (settings) =>
        settings.channels.map((channel) => this.#peers.channel(life, span, channel)),
      clock: this.#clock(life),
      log: this.#log(life),
      ping: async () => {
        this.observe(span, (it) => it.pinged());
        return null;
      },
      acknowledgeUrl: () => null,
      maxSleepMs: this.#scenario.sleepMs,
    });
    if (life.dead) return;
    span.daemon = daemon;
    span.views = createLiveViews(daemon, '1.0.0');
    // One that was overtaken while it loaded begins, and finds out.
    if (!this.#fleet.isOvertaken(life)) {
      this.#fleet.begins(this);
      span.watched = true;
      this.#observer.booted(daemon, database, life.lost);
    }
    daemon.start(this.refused);
  }

  /** The process is gone at once, no matter what it was doing; a new one starts later. */
  kill(downMs: number): void {
    const life = this.#life;
    if (life === null) return;
    this.#end(life);
    this.queue.at(this.queue.now + downMs, () => this.boot());
  }

  killAtCall(calls: number, downMs: number): void {
    if (this.#life !== null) this.#life.doom = { calls, downMs };
  }

  killInCommit(when: 'before' | 'after', downMs: number): void {
    if (this.#life !== null) this.#life.commitDoom = { when, downMs };
  }

  /** Kills that still wait for their moment strike no more. */
  spare(): void {
    this.#life?.spare();
  }

  /** SIGTERM. */
  stop(downMs: number): void {
    const life = this.#life;
    if (life === null || life.stopping) return;
    life.stopping = true;
    void life.end().then(() => {
      if (life.dead) return;
      this.#end(life);
      this.queue.at(this.queue.now + downMs, () => this.boot());
    });
    life.sweepAborted();
  }

  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
    this.nudge();
  }

  /** The machine sleeps: time goes on outside, but neither the monotonic clock nor anything in the process does. */
  suspend(forMs: number): void {
    this.#suspendedMs += forMs;
    this.#life?.moveTimers((timer) => timer.dueAt + forMs);
    this.#suspendedUntil = this.queue.now + forMs;
    this.queue.at(this.#suspendedUntil, () => this.nudge());
  }

  /** The process stands still (SIGSTOP): all that became due meanwhile happens when it goes on. */
  pause(forMs: number): void {
    const until = this.queue.now + forMs;
    this.#life?.moveTimers((timer) => Math.max(timer.dueAt, until));
    this.#suspendedUntil = until;
  }

  /** When the sleep that the machine is in ends. */
  get wakesAt(): number {
    return this.#suspendedUntil;
  }

  get frozen(): boolean {
    return this.queue.now < this.#suspendedUntil;
  }

  refuse(why: string): void {
    this.refused = why;
    if (!this.frozen) this.daemon?.reportInvalidConfiguration(why);
  }

  reload(settings: Settings): void {
    this.refused = null;
    this.settings = settings;
    if (this.daemon !== null && !this.stopping) this.daemon.reload(settings);
  }

  /** What looks around every second in reality does so now: the scenario lets it sleep longer while nothing happens. */
  nudge(): void {
    this.#life?.hurry();
  }

  /** A daemon whose lease had ended when something was due asks again within a second whether it has the accounts. */
  #lookAgain(life: Life): void {
    if (life.looksAgain) return;
    life.looksAgain = true;
    this.queue.at(this.queue.now + 1000, () => {
      life.looksAgain = false;
      if (this.#life === life && !this.frozen) life.hurry((timer) => !timer.ofLease);
    });
  }

  /** Another daemon has the accounts, whether or not this one knows. */
  overtaken(): void {
    const { span } = this;
    if (span !== null) this.#unwatch(span, false);
  }

  #end(life: Life): void {
    if (life.span !== null) this.observe(life.span, (it) => it.dying());
    life.dead = true;
    for (const timer of life.timers) timer.cancel();
    life.timers.clear();
    this.#endSpan(life, false);
    if (this.#life === life) this.#life = null;
  }

  #endSpan(life: Life, clean: boolean): void {
    const { span } = life;
    if (span === null) return;
    span.over = true;
    if (clean && span.watched) this.#fleet.givenAway();
    this.#unwatch(span, clean);
    life.span = null;
  }

  #unwatch(span: OwnerSpan, clean: boolean): void {
    if (!span.watched) return;
    this.#observer.dying();
    span.watched = false;
    this.#observer.died(clean);
  }

  /** The model hears of what a daemon does while its work counts. */
  observe(span: OwnerSpan, notify: (observer: Observer) => void): void {
    if (span.watched) notify(this.#observer);
  }

  /** Whether what it does counts. A daemon that was overtaken acts only while it cannot know of that. */
  mayAct(span: OwnerSpan, what: string): boolean {
    if (span.watched) return true;
    if (span.over || this.membership?.clusterStatus.role !== 'alone') this.#observer.trespassed(what);
    return false;
  }

  /** Whether nobody else can take the accounts before this one has stored what it tells. */
  mayNotifyUnpersisted({ failingSince }: OwnerSpan): boolean {
    if (this.membership === null || this.membership.clusterStatus.role === 'alone') return true;
    return failingSince !== null && this.queue.now - failingSince >= leaseMs * this.#fleet.slowness;
  }

  #clock(life: Life): Clock {
    return {
      now: () => this.wall(),
      monotonic: () => this.queue.now - this.#suspendedMs - life.bornAt,
      setTimer: (delayMs, fire) => life.setTimer({ delayMs, fire, ofLease: false }),
    };
  }

  #random(life: Life, of = 'process') {
    const stream = new Seeded(this.#scenario.seed, `${of} ${life.number}`);
    let count = 0;
    return {
      fraction: () => (life.call() ? 0.5 : stream.fraction()),
      id: () => {
        life.call();
        count++;
        return of === 'process' ? `${life.number}-${count}` : `${of}-${life.number}-${count}`;
      },
      bytes: (length: number) => Buffer.alloc(length, life.number),
    };
  }

  #log(life: Life): Log {
    const write = (level: string, fields: object, message: string): void => {
      if (life.call()) return;
      if ('why' in fields) this.#fleet.letsGo(life, String(fields.why));
      if ('jumpMs' in fields && life.span !== null)
        this.observe(life.span, (it) => it.jumped(Number(fields.jumpMs)));
      this.#observer.logged(level, fields, message);
    };
    return {
      debug: (fields, message) => write('debug', fields, message),
      info: (fields, message) => write('info', fields, message),
      warn: (fields, message) => write('warn', fields, message),
      error: (fields, message) => write('error', fields, message),
      fatal: (fields, message) => write('fatal', fields, message),
    };
  }
}
