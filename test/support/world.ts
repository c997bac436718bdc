import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Daemon } from '../../src/daemon/daemon.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import type { ChannelSettings, Settings } from '../../src/domain/settings.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import type { Channel } from '../../src/ports/channel.ts';
import type { DaemonMembership } from '../../src/ports/cluster.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Batch, Store, Unstored } from '../../src/ports/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { asStore, type SqliteStore } from '../../src/store/sqlite/port.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { createLiveViews, type LiveViews } from '../../src/views/live-views.ts';
import { factsNoon, minuteMs } from './account-facts.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingChannel } from './recording-channel.ts';
import { ScriptedProvider } from './scripted-provider.ts';
import { seededRandom } from './seeded-random.ts';
import { makeSettings, type SettingsParts } from './settings.ts';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** The tests do not prove the disk: a file system in memory spares them its syncs where there is one. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export interface WorldOptions {
  readonly startAt?: number;
  /** How long the daemon sleeps at most; a long sleep makes simulated days cheap. */
  readonly sleepMs?: number;
  /** Whether the accounts are the daemon's at this instant. */
  readonly owns?: () => boolean;
  /** Whether it may ask for more of a group than the database knows of. */
  readonly mayActUnpersisted?: () => boolean;
  /** Resolves once it is known whether they still are. */
  readonly confirmOwnership?: () => Promise<undefined>;
  /** Looks into the database for orders each second, as a daemon does: most of what simulated days would cost. */
  readonly takesOrders?: boolean;
  /** Where its end is arranged; in a test unless said. */
  readonly atEnd?: (end: () => void) => void;
  /** What its pages say. */
  readonly version?: string;
  /** Makes the database that an earlier daemon left. */
  readonly leave?: (path: string) => void;
}

/**
 * A whole lowwater on a clock that the test moves: the real daemon, monitor and SQLite store, a scripted provider, and
 * channels that keep what they get.
 */
export class World {
  /** What other daemons left when they lost the accounts. */
  readonly unstored = new Map<string, Unstored>();
  readonly clock: FakeClock;
  readonly provider: ScriptedProvider;
  readonly path: string;
  readonly channels = new Map<string, RecordingChannel>();
  settings: Settings;
  daemon: Daemon;
  store: Store;
  /** The same, as it answers at once. */
  database: SqliteStore;
  views: LiveViews;
  /** Instants of the heartbeats that went out. */
  readonly pings: number[] = [];
  pingsAreLost = false;
  /** What the daemon logged as errors. */
  readonly errors: object[] = [];
  /** While true every commit fails as on a full disk. */
  diskFull = false;
  /** Another process keeps the database locked. */
  locked = false;
  /** Nobody hears whether a commit was stored. */
  unheard = false;
  /** Grows when the process is killed. */
  #life = 0;
  readonly #random = seededRandom();
  readonly #sleepMs: number;
  readonly #membership: DaemonMembership | null;
  readonly #takesOrders: boolean;
  readonly #version: string;

  constructor(
    parts: SettingsParts,
    {
      startAt = factsNoon,
      takesOrders = false,
      sleepMs = takesOrders ? 1000 : 5000,
      atEnd = onTestFinished,
      version = 'test',
      leave,
      ...ownership
    }: WorldOptions = {},
  ) {
    this.#sleepMs = sleepMs;
    this.#membership = Object.keys(ownership).length === 0 ? null : membershipOf(ownership);
    this.#takesOrders = takesOrders;
    this.#version = version;
    this.clock = new FakeClock(startAt);
    this.provider = new ScriptedProvider(() => this.clock.now());
    const directory = mkdtempSync(join(parent, 'lowwater-world-'));
    atEnd(() => {
      this.clock.dropTimers();
      this.database.close();
      rmSync(directory, { recursive: true, force: true });
    });
    this.path = join(directory, 'lowwater.db');
    leave?.(this.path);
    this.settings = makeSettings(parts);
    this.database = this.#openDatabase();
    this.store = this.#openStore();
    this.daemon = this.#openDaemon();
    this.views = createLiveViews(this.daemon, this.#version);
  }

  get now(): number {
    return this.clock.now();
  }

  pass(ms: number): Promise<void> {
    return this.clock.pass(ms);
  }

  channel(name: string): RecordingChannel {
    const channel = this.channels.get(name);
    if (channel === undefined) throw new Error(`the world has no channel "${name}"`);
    return channel;
  }

  /** What arrived on a channel since the last call. */
  news(channel = 'ops'): string[] {
    return this.channel(channel).news();
  }

  /** Ends the daemon properly; `start` begins the next. */
  async stop(): Promise<void> {
    let isStopped = false;
    const stopped = this.daemon.stop().then(() => {
      isStopped = true;
    });
    await this.pass(0);
    // What cannot be stored is tried again until the end is late.
    while (!isStopped) await this.pass(100);
    await stopped;
    this.database.close();
  }

  /** The process is killed: nothing more is written or sent. */
  crash(): void {
    this.#life += 1;
    this.clock.dropTimers();
    this.database.close();
  }

  start(parts: SettingsParts | null = null): void {
    if (parts !== null) this.settings = makeSettings(parts);
    this.database = this.#openDatabase();
    this.store = this.#openStore();
    this.daemon = this.#openDaemon();
    this.views = createLiveViews(this.daemon, this.#version);
    this.daemon.start();
  }

  async restart({
    downMs,
    parts = null,
  }: {
    readonly downMs: number;
    readonly parts?: SettingsParts | null;
  }): Promise<void> {
    await this.stop();
    await this.pass(downMs);
    this.start(parts);
  }

  reload(parts: SettingsParts): Promise<void> {
    this.settings = makeSettings(parts);
    return this.daemon.reload(this.settings);
  }

  #openDatabase(): SqliteStore {
    return openSqliteStore({
      path: this.path,
      log: silent,
      now: () => this.clock.now(),
      program: 'lowwater test',
    });
  }

  #openStore(): Store {
    const store = asStore(this.database);
    const life = this.#life;
    return {
      ...store,
      commit: async (batch: Batch) => {
        // A process that was killed writes nothing more, and nobody hears of that.
        if (life !== this.#life) return new Promise<void>(() => undefined);
        if (this.diskFull) throw new StorageError('full', 'the disk is full');
        if (this.locked) throw new StorageError('busy', 'it is locked');
        if (this.unheard) throw new StorageError('unknown', 'the connection broke');
        const isUnstored = (name: string) => this.unstored.has(name);
        const kept = Object.entries(batch.notes).filter(([name]) => !isUnstored(name));
        await store.commit({ ...batch, notes: Object.fromEntries(kept) });
        for (const [name, value] of Object.entries(batch.notes).filter(([name]) => isUnstored(name)))
          if (value === null) this.unstored.delete(name);
          else this.unstored.set(name, JSON.parse(value));
      },
      takeOrders: async () => (this.#takesOrders ? store.takeOrders() : []),
      takeUnstored: async () =>
        new Map([...this.unstored].map(([name, each]) => [name, { ...each, write: JSON.stringify }])),
    };
  }

  #openDaemon(): Daemon {
    return new Daemon({
      store: this.store,
      state: startMonitor({
        settings: this.settings,
        stored: this.database.load(),
        calendar: cronCalendar,
        random: this.#random,
        now: this.clock.now(),
      }),
      openProvider: () => this.provider,
      openChannels: (settings) => settings.channels.map((channel) => this.#openChannel(channel)),
      clock: this.clock,
      log: { ...silent, error: (fields, message) => void this.errors.push({ ...fields, message }) },
      ping: async () => {
        this.pings.push(this.clock.now());
        return this.pingsAreLost ? 'HTTP 502' : null;
      },
      acknowledgeUrl: () => null,
      ...(this.#membership === null ? {} : { membership: this.#membership }),
      maxSleepMs: this.#sleepMs,
    });
  }

  #openChannel({ name, type }: ChannelSettings): Channel {
    const known =
      this.channels.get(name) ??
      new RecordingChannel({ name, isMail: type === 'email', now: () => this.clock.now() });
    this.channels.set(name, known);
    return known;
  }
}

function membershipOf({
  owns = () => true,
  mayActUnpersisted = () => true,
  confirmOwnership = async () => undefined,
}: Pick<WorldOptions, 'owns' | 'mayActUnpersisted' | 'confirmOwnership'>): DaemonMembership {
  return {
    mayPoll: owns,
    maySend: owns,
    mayActUnpersisted,
    confirmOwnership,
    handOver: async () => undefined,
    clusterStatus: { alerts: [], undecided: [] },
  };
}

/** The usual time between two polls. */
export const step = 5 * minuteMs;

/** Sets the SMS balance of the account `otp`, lets one poll and its message go through, and gives what `ops` got. */
export async function read(world: World, sms: number): Promise<string[]> {
  world.provider.set('otp', sms);
  await world.pass(step);
  return world.news();
}

/** A world whose daemon runs since noon, Friday 20 November 2026 (UTC). Every account was polled once, a minute ago. */
export async function startWorld(parts: SettingsParts = {}, options: WorldOptions = {}): Promise<World> {
  const world = new World(parts, options);
  world.daemon.start();
  await world.pass(minuteMs);
  return world;
}
