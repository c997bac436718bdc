import { Daemon, type DaemonParts } from '../../src/daemon/daemon.ts';
import { Membership } from '../../src/daemon/membership.ts';
import type { Channel, Provider, Store } from '../../src/daemon/ports.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type {
  Batch,
  Calendar,
  Clock,
  Log,
  OperatorOrder,
  Random,
  StoredState,
} from '../../src/domain/ports.ts';
import { StorageError } from '../../src/domain/ports.ts';
import type { AccountSettings, ChannelSettings, Settings } from '../../src/domain/settings.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { asStoreFile, type SqliteStore } from '../../src/store/sqlite/port.ts';
import { createLiveViews } from '../../src/views/live-views.ts';
import type { LiveViews } from '../../src/views/views.ts';
import type { Ask, SimCluster } from '../support/sim-cluster.ts';
import type { EventQueue } from './event-queue.ts';
import { type Fleet, leaseMs } from './fleet.ts';
import { type InFlight, Life, Tenure, type Timer } from './life.ts';
import type { Observer, Send } from './observer.ts';
import type { Scenario } from './scenario.ts';
import { Seeded } from './seeded.ts';
import type { SimStorage } from './sim-storage.ts';
import type { World } from './world.ts';

/** A client of the database gives up after so long. */
const givesUpMs = 2500;

/** A machine that lowwater runs on: clocks that jump and stop, a disk, and one process at a time that may be killed. */
export class Machine {
  settings: Settings;
  readonly name: string;
  membership: Membership | null = null;
  /** What is wrong with its way to the database that it shares, each as often as it is. */
  readonly line = { cut: 0, isolated: 0, deaf: 0, slow: 0 };
  /** Something happened that promises wait for. */
  dirty = false;
  readonly storage: SimStorage;
  readonly queue: EventQueue;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #observer: Observer;
  readonly #calendar: Calendar;
  #life: Life | null = null;
  #lives = 0;
  #wallOffsetMs: number;
  #suspendedMs = 0;
  #suspendedUntil = 0;
  #sends = 0;

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
    this.#world = parts.world;
    this.storage = parts.storage;
    this.#calendar = parts.calendar;
    this.#observer = parts.observer;
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

  get tenure(): Tenure | null {
    return this.#life?.tenure ?? null;
  }

  get daemon(): Daemon | null {
    return this.tenure?.daemon ?? null;
  }

  get views(): LiveViews | null {
    return this.tenure?.views ?? null;
  }

  get stopping(): boolean {
    return this.#life?.stopping === true || this.tenure?.stopping === true;
  }

  /** By how much its clock is off. */
  get offsetMs(): number {
    return this.#wallOffsetMs;
  }

  /** Where the command line can leave an order. */
  get leaveOrder(): ((order: OperatorOrder) => void) | null {
    return this.#fleet.shared === null
      ? this.storage.leaveOrder
      : (order) => this.#fleet.shared?.leaveOrder(order);
  }

  wall(): number {
    return this.#scenario.startAt + this.queue.now + this.#wallOffsetMs;
  }

  boot(): void {
    if (this.#life !== null) return;
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
    const life = new Life(number, this.queue.now - this.#suspendedMs);
    this.#life = life;
    const database = this.storage.open(() => this.wall());
    if (this.#fleet.shared !== null) {
      this.#share(life, database, this.#fleet.shared);
      return;
    }
    const tenure = new Tenure();
    life.tenure = tenure;
    life.end = async () => {
      await tenure.daemon?.stop();
      if (!life.dead) this.#endTenure(life, true);
    };
    this.#begin(
      life,
      {
        tenure,
        store: this.#guardStore(life, database),
        state: this.#restore(life, database.load(), this.#random(life)),
      },
      database,
    );
  }

  /** As one of the daemons that share the database. */
  #share(life: Life, database: SqliteStore, shared: SimCluster): void {
    const { slowness } = this.#fleet;
    const ask: Ask = (work, kind) => this.#ask(life, work, { kind, pace: slowness });
    const askStore: Ask = (work, kind) => this.#ask(life, work, { kind, pace: 1 });
    // Of accounts that are regained nobody hears more often than of anything else.
    const askUnheard: Ask = (work, kind) => this.#ask(life, work, { kind, pace: slowness, unheard: true });
    const file = asStoreFile(database);
    const tenureOf = (): Tenure => {
      life.tenure ??= new Tenure();
      return life.tenure;
    };
    const clock = this.#clock(life);
    const random = this.#random(life);
    const finish = async (aheadMs = 0): Promise<void> => {
      const { tenure } = life;
      if (tenure === null || tenure.stopping) return;
      tenure.stopping = true;
      this.#sweepAborted(life);
      await tenure.daemon?.stop(aheadMs * slowness);
      if (!life.dead && life.tenure === tenure) this.#endTenure(life, true);
    };
    const membership = new Membership({
      cluster: {
        ...shared.at(ask),
        claim: (incarnation, after) =>
          shared.at(after === undefined ? ask : askUnheard).claim(incarnation, after),
        reader: { ...file, load: () => askStore(() => database.load()) },
        store: (owner) => {
          const tenure = tenureOf();
          const writer = this.storage.open(() => this.wall());
          const open = () => ({
            reader: file,
            commit: (batch: Batch) => {
              if (owner.epoch !== shared.epoch) this.#observer.trespassed(`${this.name} writes`);
              this.#write(life, tenure, { batch, writer });
            },
            prune: (olderThan: number) => writer.prune(olderThan),
          });
          return shared.at(ask, { ask: askStore, open }).store(owner);
        },
      },
      clock: this.#fleet.slowed({
        ...clock,
        setTimer: (delayMs: number, fire: () => void) =>
          this.#setTimer(life, { delayMs: delayMs * slowness, fire, ofLease: true }),
      }),
      log: this.#log(life),
      newIncarnation: () => random.id(),
      card: () => ({ node: this.name, advertise: this.name, configHash: 'same' }),
      leaseMs,
      aloneForMs: 3_600_000,
      anyReaches: async (members) => {
        await this.#travel(life, 100);
        return this.#fleet.anyReaches(this, members);
      },
      restore: async (stored) => this.#restore(life, stored, random),
      begin: ({ store: whole, state }) => {
        const tenure = tenureOf();
        const store = this.#watchStore(tenure, whole);
        const owns = () => {
          const holds = membership.holds();
          if (!holds) this.#lookAgain(life);
          return holds;
        };
        const maySend = () => membership.maySend();
        const fromMemory = () => membership.fromMemory();
        const handOver = () => void membership.handOver();
        this.#begin(life, { tenure, store, state, owns, maySend, fromMemory, handOver }, database);
      },
      abandon: () => {
        const { daemon } = this;
        this.#endTenure(life, false);
        void daemon?.forsake();
      },
      finish,
    });
    this.membership = membership;
    life.end = async () => {
      await finish();
      await membership.stop();
    };
    void membership.run();
  }

  #restore(life: Life, stored: StoredState, random: Random): MonitorState {
    const now = this.#clock(life).now();
    return startMonitor({ settings: this.settings, stored, calendar: this.#calendar, random, now });
  }

  #begin(
    life: Life,
    it: { readonly tenure: Tenure } & Pick<
      DaemonParts,
      'store' | 'state' | 'owns' | 'maySend' | 'fromMemory' | 'handOver'
    >,
    database: SqliteStore,
  ): void {
    const { tenure, ...parts } = it;
    const daemon = new Daemon({
      ...parts,
      openProvider: () => this.#openProvider(life, tenure),
      openChannels: (settings) =>
        settings.channels.map((channel) => this.#openChannel(life, tenure, channel)),
      clock: this.#clock(life),
      log: this.#log(life),
      ping: async () => {
        this.#observe(tenure, (it) => it.pinged());
        return true;
      },
      acknowledgeUrl: () => null,
      longestSleepMs: this.#scenario.sleepMs,
    });
    if (life.dead) return;
    this.#fleet.begins(this);
    tenure.daemon = daemon;
    tenure.views = createLiveViews(daemon, parts.store, '1.0.0');
    tenure.watched = true;
    this.#observer.booted(daemon, database);
    daemon.start();
  }

  /** The process is gone at once, whatever it was doing; a new one starts later. */
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
    this.dirty = true;
    void life.end().then(() => {
      if (life.dead) return;
      this.#end(life);
      this.queue.at(this.queue.now + downMs, () => this.boot());
    });
    this.#sweepAborted(life);
  }

  jump(byMs: number): void {
    this.#wallOffsetMs += byMs;
    this.nudge();
  }

  /** The machine sleeps: time goes on outside, but neither the monotonic clock nor anything in the process does. */
  suspend(forMs: number): void {
    this.#suspendedMs += forMs;
    for (const timer of [...(this.#life?.timers ?? [])]) this.#move(timer, timer.dueAt + forMs);
    this.#suspendedUntil = this.queue.now + forMs;
    this.queue.at(this.#suspendedUntil, () => this.nudge());
  }

  /** The process stands still (SIGSTOP): all that became due meanwhile happens when it goes on. */
  pause(forMs: number): void {
    const until = this.queue.now + forMs;
    for (const timer of [...(this.#life?.timers ?? [])]) this.#move(timer, Math.max(timer.dueAt, until));
    this.#suspendedUntil = until;
  }

  /** When the sleep that the machine is in ends. */
  get wakesAt(): number {
    return this.#suspendedUntil;
  }

  get frozen(): boolean {
    return this.queue.now < this.#suspendedUntil;
  }

  reload(settings: Settings): void {
    this.settings = settings;
    if (this.daemon !== null && !this.stopping) this.daemon.reload(settings);
  }

  /** What looks around every second in reality does so now: the scenario lets it sleep longer while nothing happens. */
  nudge(): void {
    this.#hurry([...(this.#life?.timers ?? [])]);
  }

  /** A daemon whose lease had ended when something was due asks again within a second whether it has the accounts. */
  #lookAgain(life: Life): void {
    if (life.looksAgain) return;
    life.looksAgain = true;
    this.queue.at(this.queue.now + 1000, () => {
      life.looksAgain = false;
      if (this.#life === life && !this.frozen) this.#hurry([...life.timers].filter((it) => !it.ofLease));
    });
  }

  #hurry(timers: readonly Timer[]): void {
    for (const timer of timers)
      if (timer.dueAt > this.queue.now + 10_000) this.#move(timer, this.queue.now + 700);
  }

  /** Another daemon has the accounts, whether or not this one knows. */
  overtaken(): void {
    const { tenure } = this;
    if (tenure !== null) this.#unwatch(tenure, false);
  }

  #end(life: Life): void {
    if (life.tenure !== null) this.#observe(life.tenure, (it) => it.dying());
    life.dead = true;
    for (const timer of life.timers) timer.cancel();
    life.timers.clear();
    this.#endTenure(life, false);
    if (this.#life === life) this.#life = null;
  }

  #endTenure(life: Life, clean: boolean): void {
    const { tenure } = life;
    if (tenure === null) return;
    tenure.over = true;
    this.#unwatch(tenure, clean);
    life.tenure = null;
  }

  #unwatch(tenure: Tenure, clean: boolean): void {
    if (!tenure.watched) return;
    this.#observer.dying();
    tenure.watched = false;
    this.#observer.died(clean);
  }

  /** The model hears of what a daemon does while its work counts. */
  #observe(tenure: Tenure, tell: (observer: Observer) => void): void {
    if (tenure.watched) tell(this.#observer);
  }

  /** Whether what it does counts. A daemon that was overtaken acts only while it cannot know of that. */
  #mayAct(tenure: Tenure, what: string): boolean {
    if (tenure.watched) return true;
    if (tenure.over || this.membership?.standing.role !== 'alone') this.#observer.trespassed(what);
    return false;
  }

  #strike(life: Life, downMs: number): void {
    life.spare();
    this.#end(life);
    this.queue.at(this.queue.now + downMs, () => this.boot());
  }

  /** Counts a call of a port; true when the process is dead and nothing it does has any effect. */
  #call(life: Life): boolean {
    if (!life.dead && life.doom !== null && --life.doom.calls <= 0) this.#strike(life, life.doom.downMs);
    return life.dead;
  }

  #setTimer(
    life: Life,
    { delayMs, fire, ofLease }: Pick<Timer, 'fire' | 'ofLease'> & { readonly delayMs: number },
  ): () => void {
    if (this.#call(life)) return () => undefined;
    const timer: Timer = { cancel: () => undefined, dueAt: 0, fire, ofLease };
    life.timers.add(timer);
    this.#arm(life, timer, Math.max(this.queue.now + delayMs, this.frozen ? this.#suspendedUntil : 0));
    return () => {
      timer.cancel();
      life.timers.delete(timer);
    };
  }

  #arm(life: Life, timer: Timer, at: number): void {
    timer.dueAt = at;
    timer.cancel = this.queue.at(at, () => {
      life.timers.delete(timer);
      if (life.dead) return;
      this.dirty = true;
      timer.fire();
    });
  }

  #move(timer: Timer, at: number): void {
    const life = this.#life;
    if (life === null) return;
    timer.cancel();
    this.#arm(life, timer, at);
  }

  /** An answer from outside reaches the process, unless it sleeps: then when it wakes. */
  #deliver(life: Life, afterMs: number, run: () => void): void {
    const arrive = (): void => {
      if (life.dead) return;
      if (this.frozen) this.queue.at(this.#suspendedUntil, arrive);
      else {
        this.dirty = true;
        run();
      }
    };
    this.queue.at(this.queue.now + afterMs, arrive);
  }

  #openProvider(life: Life, tenure: Tenure): Provider {
    return {
      readBalance: (account, signal, guard = () => 0) =>
        new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              this.dirty = true;
              life.flights.delete(flight);
              resolve({ kind: 'network_error', reason: 'given up', durationMs: 1, usage: {} });
            },
          };
          life.flights.add(flight);
          const send = (): void => {
            if (this.#call(life)) return;
            const waitMs = signal.aborted ? 0 : guard();
            if (signal.aborted) flight.abort();
            else if (waitMs > 0) this.#deliver(life, waitMs, send);
            else this.#askProvider(life, { tenure, account, flight, resolve });
          };
          send();
        }),
      close: async () => undefined,
    };
  }

  #askProvider(
    life: Life,
    it: {
      readonly tenure: Tenure;
      readonly account: AccountSettings;
      readonly flight: InFlight;
      readonly resolve: (outcome: Outcome) => void;
    },
  ): void {
    const { tenure, account, flight, resolve } = it;
    const counts = this.#mayAct(tenure, `${this.name} asks for ${account.id}`);
    if (counts) this.#observer.pollBegan(account.id, this.#mayTellUnstored(tenure));
    const { outcome, afterMs } = this.#world.answer(account.id, this.queue.now);
    this.#deliver(life, afterMs, () => {
      if (!life.flights.delete(flight)) return;
      if (!flight.signal.aborted) this.#observe(tenure, (it) => it.pollEnded(account.id, outcome));
      resolve(outcome);
    });
  }

  #openChannel(life: Life, tenure: Tenure, settings: ChannelSettings): Channel {
    return {
      name: settings.name,
      threadsBySubject: settings.type === 'email',
      drawsAlerts: settings.type === 'email',
      preview: async () => '',
      minGapMs: settings.type === 'slack' ? 1000 : 0,
      send: (message, signal) => {
        if (this.#call(life)) return new Promise(() => undefined);
        const counts = this.#mayAct(tenure, `${this.name} sends ${message.id}`);
        const send: Send = {
          channel: settings.name,
          message,
          at: this.queue.now,
          process: life.number,
          mayBeUnstored: this.#mayTellUnstored(tenure),
        };
        const fate = this.#world.fate(settings.name, {
          at: this.queue.now,
          attempt: this.#sends++,
          to: message.recipients,
        });
        if (counts) this.#observer.sending(send);
        // What was handed over arrives, whether or not the process lives to hear of it.
        if (fate.arrivesAfterMs !== null && counts) {
          this.queue.at(this.queue.now + fate.arrivesAfterMs, () => this.#observer.arrived(send));
        }
        return new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              this.dirty = true;
              life.flights.delete(flight);
              const delivery = { kind: 'retry', certainty: 'unknown', reason: 'given up' } as const;
              this.#observe(tenure, (it) => it.answered(send, delivery));
              resolve(delivery);
            },
          };
          life.flights.add(flight);
          this.#deliver(life, fate.answersAfterMs, () => {
            if (!life.flights.delete(flight)) return;
            this.#observe(tenure, (it) => it.answered(send, fate.delivery));
            resolve(fate.delivery);
          });
        });
      },
      close: async () => undefined,
    };
  }

  /**
   * The real store as if it were far away: what it is asked takes its time, the process may be killed meanwhile, and the answer
   * may be lost. A dead process writes nothing.
   */
  #guardStore(life: Life, database: SqliteStore): Store {
    let unsettled: Batch | null = null;
    const commit = (batch: Batch): void => {
      try {
        database.commit(batch);
      } catch (error) {
        if (error instanceof StorageError) this.#observer.committed(batch, false);
        throw error;
      }
      this.#observer.committed(batch, true);
    };
    return {
      ...asStoreFile(database),
      commit: async (batch) => {
        if (this.#call(life)) return never();
        const isRepeated = unsettled === batch;
        if (!isRepeated) this.#observer.beforeCommit(batch);
        await this.#travel(life);
        if (life.commitDoom?.when === 'before') {
          this.#strike(life, life.commitDoom.downMs);
          return never();
        }
        if (!isRepeated) commit(batch);
        unsettled = null;
        if (life.commitDoom !== null) {
          this.#strike(life, life.commitDoom.downMs);
          return never();
        }
        await this.#travel(life);
        const isLost = this.#world.losesAnswer(this.queue.now);
        if (isLost || isRepeated) this.#observer.commitAnswered(!isLost);
        if (!isLost) return;
        unsettled = batch;
        throw new StorageError('unknown', 'simulated: the answer was lost');
      },
      takeOrders: async () => {
        if (this.#call(life)) return never();
        await this.#travel(life);
        const orders = database.takeOrders();
        await this.#travel(life);
        return orders;
      },
      prune: async (olderThan) => (this.#call(life) ? never() : database.prune(olderThan)),
      close: async () => undefined,
    };
  }

  /** One way between the process and its database. */
  #travel(life: Life, ms: number = this.#scenario.storeMs): Promise<void> | undefined {
    return ms === 0 ? undefined : new Promise((resolve) => this.#deliver(life, ms, resolve));
  }

  /**
   * Lets the shared database do something, if it can be reached. Of what takes so long in reality `pace` times that passes. What was sent
   * arrives also when the process stands still by then.
   */
  async #ask<T>(
    life: Life,
    work: () => T,
    {
      kind = 'other',
      pace,
      unheard = false,
    }: {
      readonly kind: StorageError['kind'] | undefined;
      readonly pace: number;
      readonly unheard?: boolean;
    },
  ): Promise<T> {
    if (this.#call(life)) return never();
    const { line } = this;
    if (line.cut > 0) {
      await this.#travel(life, givesUpMs * pace);
      throw new StorageError('other', 'simulated: the database cannot be reached');
    }
    const wayMs = (line.slow > 0 ? 1100 : this.#scenario.storeMs) * pace;
    await new Promise<void>((resolve) => {
      this.queue.at(this.queue.now + wayMs, () => {
        this.dirty = true;
        resolve();
      });
    });
    if (life.dead) return never();
    const arrives = line.cut === 0;
    const answer = arrives ? attempt(work) : null;
    if (life.dead) return never();
    const isLost = this.#world.losesAnswer(this.queue.now, unheard || line.deaf > 0);
    if (answer === null || line.cut > 0 || isLost) {
      await this.#travel(life, givesUpMs * pace);
      throw new StorageError(kind, 'simulated: no answer');
    }
    await this.#travel(life, wayMs);
    return answer();
  }

  /** The shared database stores a batch. */
  #write(
    life: Life,
    tenure: Tenure,
    { batch, writer }: { readonly batch: Batch; readonly writer: SqliteStore },
  ): void {
    // What arrives after its sender let go might as well have been lost on its way.
    if (!tenure.watched) throw new StorageError('other', 'simulated: lost');
    const { commitDoom } = life;
    if (commitDoom?.when === 'before') {
      this.#strike(life, commitDoom.downMs);
      throw new StorageError('other', 'simulated: the process is gone');
    }
    writer.commit(batch);
    this.#fleet.stored(batch);
    this.#observe(tenure, (it) => it.committed(batch, true));
    if (commitDoom !== null) this.#strike(life, commitDoom.downMs);
  }

  /** Tells the model what becomes of the batches that a daemon has stored in the shared database. */
  #watchStore(tenure: Tenure, store: Store): Store {
    return {
      ...store,
      commit: async (batch) => {
        const isRepeated = tenure.unsettled === batch;
        if (!isRepeated) this.#observe(tenure, (it) => it.beforeCommit(batch));
        try {
          await store.commit(batch);
        } catch (error) {
          if (!(error instanceof StorageError)) throw error;
          if (error.kind === 'unknown') tenure.unsettled = batch;
          tenure.failingSince ??= this.queue.now;
          this.#observe(tenure, (it) =>
            error.kind === 'unknown' ? it.commitAnswered(false) : it.committed(batch, false),
          );
          throw error;
        }
        tenure.unsettled = null;
        tenure.failingSince = null;
        if (isRepeated) this.#observe(tenure, (it) => it.commitAnswered(true));
      },
    };
  }

  /** Whether nobody else can take the accounts before this one has stored what it tells. */
  #mayTellUnstored({ failingSince }: Tenure): boolean {
    if (this.membership === null || this.membership.standing.role === 'alone') return true;
    return failingSince !== null && this.queue.now - failingSince >= leaseMs * this.#fleet.slowness;
  }

  #clock(life: Life): Clock {
    return {
      now: () => this.wall(),
      monotonic: () => this.queue.now - this.#suspendedMs - life.bornAt,
      setTimer: (delayMs, fire) => this.#setTimer(life, { delayMs, fire, ofLease: false }),
    };
  }

  #random(life: Life) {
    const stream = new Seeded(this.#scenario.seed, `process ${life.number}`);
    let count = 0;
    return {
      fraction: () => (this.#call(life) ? 0.5 : stream.fraction()),
      id: () => {
        this.#call(life);
        count++;
        return `${life.number}-${count}`;
      },
      bytes: (length: number) => Buffer.alloc(length, life.number),
    };
  }

  #log(life: Life): Log {
    const write = (level: string, fields: object, message: string): void => {
      if (this.#call(life)) return;
      if ('why' in fields) this.#fleet.letsGo(life, String(fields.why));
      if ('jumpMs' in fields && life.tenure !== null)
        this.#observe(life.tenure, (it) => it.jumped(Number(fields.jumpMs)));
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

  /** While it stops, what is given up on ends at once. */
  #sweepAborted(life: Life): void {
    if (life.dead) return;
    for (const flight of [...life.flights]) if (flight.signal.aborted) flight.abort();
    this.queue.at(this.queue.now + 500, () => this.#sweepAborted(life));
  }
}

/** What came of it: to be given, or to be thrown, when it arrives. */
function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** What a process that is gone never hears of. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
