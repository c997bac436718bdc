import { Daemon } from '../../src/daemon/daemon.ts';
import type { Channel, Provider, Store } from '../../src/daemon/ports.ts';
import type { Batch, Calendar, Log } from '../../src/domain/ports.ts';
import { StorageError } from '../../src/domain/ports.ts';
import type { ChannelSettings, Settings } from '../../src/domain/settings.ts';
import { asStoreFile, type SqliteStore } from '../../src/store/sqlite/port.ts';
import { createLiveViews } from '../../src/views/live-views.ts';
import type { LiveViews } from '../../src/views/views.ts';
import type { EventQueue } from './event-queue.ts';
import { type InFlight, Life, type Timer } from './life.ts';
import type { Observer, Send } from './observer.ts';
import type { Scenario } from './scenario.ts';
import { Seeded } from './seeded.ts';
import type { SimStorage } from './sim-storage.ts';
import type { World } from './world.ts';

/** The machine that lowwater runs on: clocks that jump and stop, a disk, and one process at a time that may be killed. */
export class Machine {
  settings: Settings;
  daemon: Daemon | null = null;
  views: LiveViews | null = null;
  /** Something happened that promises wait for. */
  dirty = false;
  readonly storage: SimStorage;
  readonly queue: EventQueue;
  readonly #scenario: Scenario;
  readonly #world: World;
  readonly #observer: Observer;
  readonly #calendar: Calendar;
  #life: Life | null = null;
  #lives = 0;
  #wallOffsetMs = 0;
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
  }) {
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

  get sleepMs(): number {
    return this.#scenario.sleepMs;
  }

  get stopping(): boolean {
    return this.#life?.stopping ?? false;
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
    if (this.storage.fault === 'read-only') {
      this.queue.at(this.queue.now + 5000, () => this.boot());
      return;
    }
    this.#lives++;
    const life = new Life(this.#lives, this.queue.now - this.#suspendedMs);
    this.#life = life;
    const database = this.storage.open(() => this.wall());
    const store = this.#guardStore(life, database);
    const daemon = new Daemon({
      settings: this.settings,
      store,
      stored: database.load(),
      openProvider: () => this.#openProvider(life),
      openChannels: (settings) => settings.channels.map((channel) => this.#openChannel(life, channel)),
      clock: {
        now: () => this.wall(),
        monotonic: () => this.queue.now - this.#suspendedMs - life.bornAt,
        setTimer: (delayMs, fire) => this.#setTimer(life, delayMs, fire),
      },
      random: this.#random(life),
      calendar: this.#calendar,
      log: this.#log(life),
      ping: async () => true,
      acknowledgeUrl: () => null,
      longestSleepMs: this.#scenario.sleepMs,
    });
    if (life.dead) return;
    this.daemon = daemon;
    this.views = createLiveViews(daemon, store, '1.0.0');
    this.#observer.booted(daemon, database);
    daemon.start();
  }

  /** The process is gone at once, whatever it was doing; a new one starts later. */
  kill(downMs: number): void {
    const life = this.#life;
    if (life === null) return;
    this.#end(life, false);
    this.queue.at(this.queue.now + downMs, () => this.boot());
  }

  killAtCall(calls: number, downMs: number): void {
    if (this.#life !== null) this.#life.doom = { calls, downMs };
  }

  killInCommit(when: 'before' | 'after', downMs: number): void {
    if (this.#life !== null) this.#life.commitDoom = { when, downMs };
  }

  /** SIGTERM. */
  stop(downMs: number): void {
    const { daemon } = this;
    const life = this.#life;
    if (daemon === null || life === null || life.stopping) return;
    life.stopping = true;
    this.dirty = true;
    void daemon.stop().then(() => {
      if (life.dead) return;
      this.#end(life, true);
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
    const soon = this.queue.now + 700;
    for (const timer of [...(this.#life?.timers ?? [])]) {
      if (timer.dueAt > this.queue.now + 10_000) this.#move(timer, soon);
    }
  }

  #end(life: Life, clean: boolean): void {
    if (this.#life === life) this.#observer.dying();
    life.dead = true;
    for (const timer of life.timers) timer.cancel();
    life.timers.clear();
    if (this.#life !== life) return;
    this.#life = null;
    this.daemon = null;
    this.views = null;
    this.#observer.died(clean);
  }

  #strike(life: Life, downMs: number): void {
    life.doom = null;
    life.commitDoom = null;
    this.#end(life, false);
    this.queue.at(this.queue.now + downMs, () => this.boot());
  }

  /** Counts a call of a port; true when the process is dead and nothing it does has any effect. */
  #call(life: Life): boolean {
    if (!life.dead && life.doom !== null && --life.doom.calls <= 0) this.#strike(life, life.doom.downMs);
    return life.dead;
  }

  #setTimer(life: Life, delayMs: number, fire: () => void): () => void {
    if (this.#call(life)) return () => undefined;
    const timer: Timer = { cancel: () => undefined, dueAt: 0, fire };
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

  #openProvider(life: Life): Provider {
    return {
      readBalance: (account, signal) => {
        if (this.#call(life)) return new Promise(() => undefined);
        this.#observer.pollBegan(account.id);
        const { outcome, afterMs } = this.#world.answer(account.id, this.queue.now);
        return new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              this.dirty = true;
              life.flights.delete(flight);
              resolve({ kind: 'network_error', reason: 'given up', durationMs: 1, usage: {} });
            },
          };
          life.flights.add(flight);
          this.#deliver(life, afterMs, () => {
            life.flights.delete(flight);
            if (!signal.aborted) this.#observer.pollEnded(account.id, outcome);
            resolve(outcome);
          });
        });
      },
      close: async () => undefined,
    };
  }

  #openChannel(life: Life, settings: ChannelSettings): Channel {
    return {
      name: settings.name,
      threadsBySubject: settings.type === 'email',
      drawsAlerts: settings.type === 'email',
      preview: async () => '',
      minGapMs: settings.type === 'slack' ? 1000 : 0,
      send: (message, signal) => {
        if (this.#call(life)) return new Promise(() => undefined);
        const send: Send = { channel: settings.name, message, at: this.queue.now, process: life.number };
        const fate = this.#world.fate(settings.name, {
          at: this.queue.now,
          attempt: this.#sends++,
          to: message.recipients,
        });
        this.#observer.sending(send);
        // What was handed over arrives, whether or not the process lives to hear of it.
        if (fate.arrivesAfterMs !== null) {
          this.queue.at(this.queue.now + fate.arrivesAfterMs, () => this.#observer.arrived(send));
        }
        return new Promise((resolve) => {
          const flight: InFlight = {
            signal,
            abort: () => {
              this.dirty = true;
              life.flights.delete(flight);
              const delivery = { kind: 'retry', certainty: 'unknown', reason: 'given up' } as const;
              this.#observer.answered(send, delivery);
              resolve(delivery);
            },
          };
          life.flights.add(flight);
          this.#deliver(life, fate.answersAfterMs, () => {
            if (!life.flights.delete(flight)) return;
            this.#observer.answered(send, fate.delivery);
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
  #travel(life: Life): Promise<void> | undefined {
    const { storeMs } = this.#scenario;
    return storeMs === 0 ? undefined : new Promise((resolve) => this.#deliver(life, storeMs, resolve));
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
      if ('jumpMs' in fields) this.#observer.jumped(Number(fields.jumpMs));
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

/** What a process that is gone never hears of. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
