import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keepOrders } from '../../src/cluster/kept-orders.ts';
import { Membership } from '../../src/cluster/membership.ts';
import type { HandOver } from '../../src/domain/operator.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import { livedNote, startMonitor } from '../../src/engine/restore.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { ClusterMember, ClusterStatus, PeerAnswer } from '../../src/ports/cluster.ts';
import type { FencedStore, Store, StoredState } from '../../src/ports/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { batch } from '../store/sqlite/batches.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';
import { askOver, type Line, SimCluster } from '../support/sim-cluster.ts';

const leaseMs = 8000;
const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** How a process is made that is no usual one: what it says that it is called, the database that it reaches, its way there. */
type Making = Partial<Line> & { readonly calls?: string; readonly cluster?: SimCluster };

/** One process: its membership, and in the place of a daemon somebody who stores a numbered batch each second and acts each 100 ms. */
class Node {
  readonly name: string;
  readonly line: Line;
  readonly membership: Membership;
  readonly orders: ReturnType<typeof keepOrders>;
  /** Its wall clock, compared with the true one. */
  skewMs = 0;
  configHash = 'same';
  advertise: string;
  /** What it says that it is called. */
  readonly calls: string;
  /** Until when the process stands still. */
  frozenUntil = 0;
  killed = false;
  /** Its renewals arrive, and what it wants to store is refused. */
  full = false;
  stored: string[] = [];
  store: Store | null = null;
  /** How much was stored when it loaded what it goes on from, each time. */
  readonly begins: number[] = [];
  abandoned = 0;
  /** What it said of the database while it owned the accounts. */
  readonly happened: string[] = [];
  /** How many batches there were each time that it was to store again whatever it knows. */
  readonly takenBack: number[] = [];
  /** Comparing it with the database takes for ever. */
  comparesForEver = false;
  losesClaims = false;
  /** Of the last beginning. */
  takenFrom: string | null = null;
  /** The database answers that it is not what it should be. */
  misfit: StorageError | null = null;
  /** The state that it gets in place of the stored one. */
  unreadable: StorageError | null = null;
  /** The state with which it began last. */
  restored: StoredState | null = null;
  /** When it tried to open the database. */
  readonly opens: number[] = [];
  /** Why it ended by itself. */
  ended: unknown = null;
  /** What it warned of. */
  readonly logged: string[] = [];
  readonly #world: ClusterWorld;
  #made = 0;

  constructor(
    name: string,
    world: ClusterWorld,
    { calls = name, cluster: shared = world.cluster, ...line }: Making,
  ) {
    this.name = name;
    this.calls = calls;
    this.advertise = `http://${name}`;
    this.line = { latencyMs: 5, cut: false, losesAnswer: () => false, ...line };
    this.#world = world;
    let incarnations = 0;
    const cluster = shared.at(askOver(this.line, world.clock));
    this.membership = new Membership({
      cluster: {
        ...cluster,
        open: () => {
          this.opens.push(world.clock.now());
          return this.misfit === null ? cluster.open() : Promise.reject(this.misfit);
        },
        claim: async (incarnation, condition) => {
          const epoch = await cluster.claim(incarnation, condition);
          if (this.losesClaims) throw new StorageError('unknown', 'simulated: the answer is lost');
          return epoch;
        },
        load: (options) =>
          this.unreadable === null ? cluster.load(options) : Promise.reject(this.unreadable),
        store: (owner, alreadyStored) => this.#storeThatFills(cluster.store(owner, alreadyStored)),
      },
      clock: this.#clock(),
      log: { ...silent, warn: (_fields, message) => void this.logged.push(message) },
      newIncarnation: () => `${name}-${++incarnations}`,
      card: () => ({ node: this.calls, advertise: this.advertise, configHash: this.configHash }),
      leaseMs,
      aloneForMs: 60_000,
      askPeers: async (members) => world.askPeers(members),
      restore: async (stored) => {
        this.restored = stored;
        return startMonitor({
          settings: makeSettings({}),
          stored,
          calendar: cronCalendar,
          random: seededRandom(),
          now: world.clock.now(),
        });
      },
      begin: ({ store, takenFrom }) => {
        this.store = store;
        this.takenFrom = takenFrom;
        this.begins.push(world.cluster.log.length);
        void this.#work(store);
      },
      abandon: () => {
        this.abandoned += 1;
        this.store = null;
      },
      drain: async () => undefined,
      happened: (text) => void this.happened.push(text),
      looked: () => void this.orders.looked(),
      takenBack: () => {
        this.takenBack.push(world.cluster.log.length);
        return this.comparesForEver ? new Promise<void>(() => undefined) : undefined;
      },
    });
    this.orders = keepOrders({
      ...cluster,
      clock: this.#clock(),
      log: silent,
      news: () => this.membership.news,
    });
    this.membership.run().catch((error: unknown) => {
      this.ended = error;
    });
  }

  get role(): ClusterStatus['role'] {
    return this.membership.clusterStatus.role;
  }

  get acts(): boolean {
    return !this.killed && !this.frozen && this.store !== null && this.membership.mayPoll();
  }

  get frozen(): boolean {
    return this.#world.clock.monotonic() < this.frozenUntil;
  }

  /** Timers of a process that stands still fire when it goes on; of one that was killed never. */
  #clock(): Clock {
    const { clock } = this.#world;
    const fireLater = (fire: () => void): void => {
      if (this.killed) return;
      if (this.frozen) clock.setTimer(this.frozenUntil - clock.monotonic(), () => fireLater(fire));
      else fire();
    };
    return {
      now: () => clock.now() + this.skewMs,
      monotonic: () => clock.monotonic(),
      setTimer: (delayMs, fire) => clock.setTimer(delayMs, () => fireLater(fire)),
    };
  }

  #storeThatFills(store: FencedStore): FencedStore {
    return {
      ...store,
      get stored() {
        return store.stored;
      },
      commit: (next) =>
        this.full ? Promise.reject(new StorageError('full', 'simulated: no room')) : store.commit(next),
    };
  }

  /** As the committer: a batch whose end is unknown is repeated as it is. */
  async #work(store: Store): Promise<void> {
    const clock = this.#clock();
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(ms, resolve));
    while (this.store === store) {
      await sleep(1000);
      const id = `${this.name}:${++this.#made}`;
      const next = batch({ notes: { id } });
      while (this.store === store) {
        try {
          await store.commit(next);
          this.stored.push(id);
          break;
        } catch (error) {
          if (!(error instanceof StorageError)) throw error;
          await sleep(2000);
        }
      }
    }
  }
}

class ClusterWorld {
  readonly clock = new FakeClock(Date.UTC(2026, 10, 20));
  readonly cluster = new SimCluster(this.clock, leaseMs);
  readonly nodes: Node[] = [];
  /** What was broken, in words. */
  readonly broken: string[] = [];
  #epoch = 0;

  add(name: string, making: Making = {}): Node {
    const node = new Node(name, this, making);
    this.nodes.push(node);
    return node;
  }

  /** As the daemons answer at their addresses. */
  askPeers(members: readonly ClusterMember[]): readonly PeerAnswer[] {
    return members.flatMap(({ node: name }) => {
      const node = this.nodes.findLast((it) => it.name === name);
      if (node === undefined || node.frozen) return [];
      if (node.killed)
        return [{ node: name, reachesDatabase: false, owns: false, takenUnder: null, origin: null }];
      const { role, origin, epoch } = node.membership.clusterStatus;
      const takenUnder = role === 'joining' || role === 'standby' ? null : epoch;
      return [{ node: name, reachesDatabase: !node.line.cut, owns: role === 'owner', takenUnder, origin }];
    });
  }

  /** Looks each 100 ms at what must always hold. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.clock.pass(100);
      const acting = this.nodes.filter((node) => node.acts && node.role === 'owner');
      if (acting.length > 1) this.broken.push(`two own: ${acting.map(({ name }) => name).join(', ')}`);
      if (this.cluster.epoch < this.#epoch) this.broken.push('the epoch fell');
      this.#epoch = this.cluster.epoch;
    }
  }

  /** What holds of all that was stored. */
  judge(): string[] {
    const ids = this.cluster.log.map(({ batch: { notes } }) => notes.id ?? '');
    const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
    const notified = this.nodes.flatMap(({ stored }) => stored);
    const lost = notified.filter((id) => !ids.includes(id));
    const epochs = this.cluster.log.map(({ epoch }) => epoch);
    const makers = ids.map((id) => id.split(':')[0] ?? '');
    const stale = makers.filter((maker, place) => {
      const begins = this.nodes.find(({ name }) => name === maker)?.begins ?? [];
      const from = begins.findLast((begin) => begin <= place) ?? 0;
      return makers.slice(from, place).some((other) => other !== maker);
    });
    const fell = epochs.some((epoch, index) => epoch < (epochs[index - 1] ?? 0));
    return [
      ...this.broken,
      ...twice.map((id) => `stored twice: ${id}`),
      ...lost.map((id) => `reported as stored and lost: ${id}`),
      ...stale.map((maker) => `${maker} went on from what it knew before another wrote`),
      ...(fell ? ['an old epoch wrote after a new one'] : []),
    ];
  }
}

/** An order of this moment, as a program of 0.3 leaves it. */
function now({ clock }: ClusterWorld): HandOver {
  return { at: clock.now() };
}

async function startPair(): Promise<{ world: ClusterWorld; a: Node; b: Node }> {
  const world = new ClusterWorld();
  const a = world.add('a');
  await world.pass(1000);
  const b = world.add('b');
  await world.pass(3000);
  return { world, a, b };
}

describe('two daemons on one database', () => {
  test('one owns within a second, the other stands by and knows who does', async () => {
    const { a, b } = await startPair();
    expect([a.role, b.role]).toEqual(['owner', 'standby']);
    expect(b.membership.clusterStatus).toMatchObject({ owner: { node: 'a' }, epoch: 1, problems: [] });
    expect(b.membership.mayPoll()).toBe(false);
  });

  test('two that say that they answer at one address are both told so', async () => {
    const { world, a, b } = await startPair();
    b.advertise = 'http://a';
    await world.pass(3000);
    const said = [a, b].flatMap(({ membership }) => membership.clusterStatus.problems);
    const rest = 'have one cluster.advertise, http://a, where only one of them answers: give each its own';
    expect(said).toEqual([`b and a ${rest}`, `a and b ${rest}`]);
    b.advertise = 'http://b';
    await world.pass(3000);
    expect([a, b].flatMap(({ membership }) => membership.clusterStatus.problems)).toEqual([]);
  });

  test('the other takes over within 15 s when the owner is killed', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    await world.pass(9500);
    expect(b.acts).toBe(true);
    expect(b.takenFrom).toBe('a');
    expect(world.judge()).toEqual([]);
  });

  test('the other counts the time up to the last renewal of the owner that was killed', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    // By which the leases of the simulated database go.
    const killedAt = world.clock.monotonic();
    await world.pass(9500);
    const livedAt = Number(b.restored?.notes[livedNote]);
    expect(livedAt).toBeGreaterThan(killedAt - leaseMs / 2);
    expect(livedAt).toBeLessThanOrEqual(killedAt);
  });

  test('the other takes over within two seconds when the owner is told to end', async () => {
    const { world, a, b } = await startPair();
    a.store = null;
    const stopped = a.membership.stop();
    await world.pass(1500);
    await stopped;
    expect(b.role).toBe('owner');
    expect(b.takenFrom).toBe(null);
  }, 10_000);

  test('who leaves and is not heard says it again, so that nobody waits for its lease', async () => {
    const { world, a, b } = await startPair();
    a.store = null;
    a.line.cut = true;
    const stopped = a.membership.stop();
    await world.pass(1000);
    a.line.cut = false;
    await world.pass(4000);
    await stopped;
    expect(b.role).toBe('owner');
  }, 10_000);

  test('an owner that stood still and wakes writes nothing more and stands by', async () => {
    const { world, a, b } = await startPair();
    a.frozenUntil = world.clock.monotonic() + 30_000;
    await world.pass(20_000);
    expect(b.acts).toBe(true);
    await world.pass(15_000);
    expect([a.role, b.role, a.abandoned]).toEqual(['standby', 'owner', 1]);
    expect(world.judge()).toEqual([]);
  });

  test.each([5, 400])(
    'whoever asks an owner that stood still is answered once it knows whose the accounts are, %i ms from the database',
    async (latencyMs) => {
      const { world, a } = await startPair();
      a.line.latencyMs = latencyMs;
      await world.pass(2500);
      a.frozenUntil = world.clock.monotonic() + 30_000;
      await world.pass(29_900);
      const role = a.membership.confirmOwnership().then(() => a.role);
      await world.pass(4000);
      expect(await role).not.toBe('owner');
    },
  );

  test('whoever asks an owner whose lease is over waits for one answer of the database, not for its next renewals', async () => {
    const { world, a } = await startPair();
    // It cannot take them again, and nobody else can.
    world.cluster.locked = true;
    a.frozenUntil = world.clock.monotonic() + 9000;
    await world.pass(9500);
    let isAnswered = false;
    void a.membership.confirmOwnership().then(() => {
      isAnswered = true;
    });
    await world.pass(100);
    expect([a.role, a.acts, isAnswered]).toEqual(['owner', false, true]);
  });

  test('an owner that is cut off stops acting before the other takes over', async () => {
    const { world, a, b } = await startPair();
    a.line.cut = true;
    await world.pass(6000);
    expect(a.acts).toBe(false);
    await world.pass(6500);
    expect([a.role, b.role]).toEqual(['joining', 'owner']);
    expect(world.judge()).toEqual([]);
  });

  test('an owner counts its lease from when it asked for it, no matter how late the answer comes', async () => {
    const { world, a } = await startPair();
    // Only renewals are asked for now.
    a.store = null;
    a.line.latencyMs = 900;
    let renewedAt = 0;
    a.line.losesAnswer = () => {
      renewedAt = world.clock.monotonic();
      return false;
    };
    await world.pass(4000);
    for (const before = renewedAt; renewedAt === before; ) await world.pass(100);
    await world.pass(1000);
    a.line.cut = true;
    const askedAt = renewedAt - a.line.latencyMs;
    while (a.membership.mayPoll()) await world.pass(100);
    expect(world.clock.monotonic() - askedAt).toBeLessThanOrEqual((leaseMs * 3) / 4 + 100);
  });

  test('an owner that is cut off asks also who came back at a known address since it looked around last', async () => {
    const { world, a, b } = await startPair();
    b.killed = true;
    await world.pass(13_000);
    world.add('b');
    await world.pass(200);
    a.line.cut = true;
    for (let passed = 0; passed < 15_000; passed += 100) {
      await world.pass(100);
      expect(a.role, `after ${passed} ms`).not.toBe('alone');
    }
    expect(a.abandoned).toBe(1);
  });

  test('an owner that cannot store tells nothing while another may take over, and tells again when none can', async () => {
    const { world, a, b } = await startPair();
    expect(a.membership.maySend()).toBe(true);
    a.line.cut = true;
    await world.pass(5000);
    expect([a.role, a.membership.maySend()]).toEqual(['owner', false]);
    b.line.cut = true;
    await world.pass(7000);
    expect([a.role, a.membership.maySend()]).toEqual(['alone', true]);
  });

  test('an owner whose lease outlasts a full database tells from memory', async () => {
    const { world, a } = await startPair();
    a.full = true;
    await world.pass(2500);
    expect(a.membership.maySend()).toBe(false);
    await world.pass(leaseMs);
    expect([a.role, a.membership.maySend()]).toEqual(['owner', true]);
  });

  test('while the owner cannot store, who stands by knows that what is stored is not how the accounts are', async () => {
    const { world, a, b } = await startPair();
    a.full = true;
    await world.pass(5000);
    expect(b.membership.news.revision).not.toBeNull();
    await world.pass(2 * leaseMs);
    expect(b.membership.news.revision).toBeNull();
    expect(b.membership.clusterStatus).toMatchObject({
      ...{ role: 'standby', reachesDatabase: true, polling: { who: 'other', node: 'a' } },
      problems: [
        'a owns the accounts and cannot store what it reads and does: how they are now is not known here',
      ],
    });
    expect(a.membership.news.revision).toBeNull();
    // Nor does a daemon that reads seldom show what it read before as what holds.
    expect(b.membership.news.heardAt).toBeNull();
    a.full = false;
    await world.pass(leaseMs);
    expect(b.membership.news.revision).not.toBeNull();
    expect([a.abandoned, b.membership.clusterStatus.problems]).toEqual([0, []]);
  });

  test('while nobody reaches the database the owner goes on from memory, and forgets nothing', async () => {
    const { world, a, b } = await startPair();
    a.line.cut = true;
    b.line.cut = true;
    await world.pass(12_000);
    expect([a.role, a.acts]).toEqual(['alone', true]);
    expect(a.membership.clusterStatus.problems).toContain(
      'nobody reaches the shared database: going on from memory',
    );
    a.line.cut = false;
    await world.pass(6000);
    expect([a.role, a.abandoned, a.begins.length]).toEqual(['owner', 0, 1]);
    b.line.cut = false;
    await world.pass(6000);
    expect([a.role, b.role]).toEqual(['owner', 'standby']);
    expect(world.judge()).toEqual([]);
  });

  test('a renewal of which nobody heard is made good before the lease is over', async () => {
    const { world, a } = await startPair();
    const from = world.clock.monotonic();
    a.line.losesAnswer = () => world.clock.monotonic() < from + 2000;
    for (let passed = 0; passed < 12_000; passed += 100) {
      await world.pass(100);
      expect(a.acts, `after ${passed} ms`).toBe(true);
    }
  });

  test('one lost answer while it reads what is stored does not make the next owner let go', async () => {
    const { world, a, b } = await startPair();
    let lost = 0;
    b.line.losesAnswer = () => b.role === 'loading' && ++lost === 1;
    a.killed = true;
    await world.pass(10_000);
    expect([lost > 0, b.role, b.logged]).toEqual([true, 'owner', []]);
  });

  test('renewals of which only the answers were lost leave the owner an owner', async () => {
    const { world, a, b } = await startPair();
    b.line.cut = true;
    a.line.losesAnswer = () => true;
    await world.pass(15_000);
    expect(a.role).toBe('alone');
    a.line.losesAnswer = () => false;
    await world.pass(6000);
    expect([a.role, a.abandoned]).toEqual(['owner', 0]);
  });

  test('a claim of which it did not hear that it succeeded leaves it an owner that forgets nothing', async () => {
    const { world, a, b } = await startPair();
    a.line.cut = true;
    b.line.cut = true;
    await world.pass(15_000);
    let answers = 0;
    world.cluster.taken = () => {
      a.line.losesAnswer = () => ++answers === 1;
    };
    a.line.cut = false;
    await world.pass(15_000);
    expect(answers).toBeGreaterThan(1);
    expect([a.role, a.acts, a.abandoned, a.begins.length]).toEqual(['owner', true, 0, 1]);
    expect(world.cluster.epoch).toBe(2);
    expect(world.judge()).toEqual([]);
  });

  test.each(Array.from({ length: 10 }, (_, place) => place * 500))(
    'a batch of which nobody heard that it is stored is not stored again by the next incarnation (%i ms)',
    async (laterMs) => {
      const { world, a, b } = await startPair();
      b.line.cut = true;
      a.line.losesAnswer = () => true;
      await world.pass(1500);
      Object.assign(a.line, { cut: true, losesAnswer: () => false });
      await world.pass(20_000 + laterMs);
      a.line.cut = false;
      await world.pass(10_000);
      expect([a.role, a.abandoned, a.begins.length]).toEqual(['owner', 0, 1]);
      expect(world.judge()).toEqual([]);
    },
  );

  test.each(Array.from({ length: 14 }, (_, place) => place * 500))(
    'a slow way to the database makes no lease longer (%i ms)',
    async (laterMs) => {
      const { world, a } = await startPair();
      a.line.latencyMs = 2400;
      await world.pass(30_000 + laterMs);
      a.line.cut = true;
      await world.pass(20_000);
      expect(world.judge()).toEqual([]);
    },
  );

  test('it goes on alone for so long and no longer', async () => {
    const { world, a, b } = await startPair();
    a.line.cut = true;
    b.line.cut = true;
    await world.pass(85_000);
    expect([a.acts, a.abandoned]).toEqual([false, 1]);
  });

  test('who is handed the accounts over keeps them', async () => {
    const { world, a, b } = await startPair();
    b.line.latencyMs = 1200;
    const given = a.membership.handOver(now(world));
    await world.pass(20_000);
    await given;
    expect([a.role, b.role]).toEqual(['standby', 'owner']);
  }, 10_000);

  test('who gave the accounts away takes them back at once when the other gives them away too', async () => {
    const { world, a, b } = await startPair();
    void a.membership.handOver(now(world));
    await world.pass(2500);
    expect(b.role).toBe('owner');
    void b.membership.handOver(now(world));
    await world.pass(1500);
    expect(a.role).toBe('owner');
  });

  test('of two orders at once to hand over one is obeyed, and the other one is not obeyed by who took over', async () => {
    const { world, a, b } = await startPair();
    const orders = [
      { at: world.clock.now(), epoch: 1 },
      { at: world.clock.now(), epoch: 1 },
    ];
    for (const order of orders) void a.membership.handOver(order);
    await world.pass(2500);
    expect([a.role, b.role, world.cluster.epoch]).toEqual(['standby', 'owner', 2]);
    for (const order of orders) void b.membership.handOver(order);
    void b.membership.handOver({ at: world.clock.now() - 60_000 });
    await world.pass(10_000);
    expect([a.role, b.role, world.cluster.epoch]).toEqual(['standby', 'owner', 2]);
    expect([a.abandoned, b.abandoned]).toEqual([1, 0]);
    expect(world.judge()).toEqual([]);
  });

  test('who is to hand over and finds nobody who could take the accounts keeps them and says so', async () => {
    const { world, a, b } = await startPair();
    b.killed = true;
    await world.pass(5000);
    void a.membership.handOver(now(world));
    await world.pass(9000);
    expect([a.acts, world.cluster.epoch]).toEqual([true, 1]);
    expect(a.logged).toContain('the accounts are not handed over: no other daemon could take them');
  });

  test('who handed over to a daemon that died then takes the accounts again, with what it has in memory', async () => {
    const { world, a, b } = await startPair();
    void a.membership.handOver(now(world));
    b.killed = true;
    await world.pass(2000);
    expect(a.acts).toBe(false);
    await world.pass(8000);
    expect([a.acts, a.begins.length, a.abandoned, world.cluster.epoch]).toEqual([true, 1, 0, 2]);
    expect(world.judge()).toEqual([]);
  });

  test.each([0, 300, 600, 900, 1200])(
    'where the database dies %i ms after a hand-over one of both polls on, and one alone owns in the end',
    async (afterMs) => {
      const { world, a, b } = await startPair();
      void a.membership.handOver(now(world));
      await world.pass(afterMs);
      a.line.cut = true;
      b.line.cut = true;
      await world.pass(2 * leaseMs + 3000);
      expect([a.acts, b.acts].filter((acts) => acts)).toHaveLength(1);
      a.line.cut = false;
      b.line.cut = false;
      await world.pass(2 * leaseMs);
      expect([a, b].map(({ role }) => role).toSorted()).toEqual(['owner', 'standby']);
      expect(world.judge()).toEqual([]);
    },
  );

  test('where the database and the owner die together, who finds nobody at its address polls by its configuration, and begins again with what is stored', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    b.line.cut = true;
    await world.pass(2 * leaseMs + 5000);
    expect([b.role, b.acts]).toEqual(['alone', true]);
    expect(b.membership.clusterStatus.alerts).toMatchObject([{ aspect: 'doubt' }]);
    expect(b.membership.isBlind).toBe(true);
    b.line.cut = false;
    await world.pass(2 * leaseMs);
    expect([b.role, b.acts, b.begins.length, b.abandoned]).toEqual(['owner', true, 2, 1]);
    expect(b.membership.isBlind).toBe(false);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test('so does one that does not hear that it has the accounts when the database is back', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    b.line.cut = true;
    await world.pass(2 * leaseMs + 5000);
    let answers = 0;
    world.cluster.taken = () => {
      b.line.losesAnswer = () => ++answers === 1;
    };
    b.line.cut = false;
    await world.pass(4 * leaseMs);
    expect(answers).toBeGreaterThan(1);
    expect([b.role, b.acts, b.begins.length, b.abandoned]).toEqual(['owner', true, 2, 1]);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test('a standby that reaches nobody polls nothing: the owner may', async () => {
    const { world, a, b } = await startPair();
    a.frozenUntil = world.clock.monotonic() + 60_000;
    b.line.cut = true;
    await world.pass(40_000);
    expect(b.role).toBe('standby');
    expect(b.membership.clusterStatus).toMatchObject({ ready: false, polling: { who: 'unknown' } });
  });

  test('the lease of a dead owner that lies in the future, since the clock of the database went back, is over when it does not grow', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    world.cluster.setBack(3_600_000);
    await world.pass(leaseMs + 1500);
    expect([b.acts, b.takenFrom]).toEqual([true, 'a']);
    expect(world.judge()).toEqual([]);
  });

  test('a member that does not renew counts as nobody that polls, though its lease goes on', async () => {
    const { world, a, b } = await startPair();
    b.skewMs = 9000;
    await world.pass(1000);
    a.killed = true;
    world.cluster.setBack(3_600_000);
    await world.pass(leaseMs + 2500);
    expect(b.membership.clusterStatus).toMatchObject({ ready: false, polling: { who: 'nobody' } });
  });

  test('who had the accounts before an outage has them for a lease after it, though another is quicker', async () => {
    const { world, a, b } = await startPair();
    a.line.cut = true;
    b.line.cut = true;
    await world.pass(15_000);
    expect(a.role).toBe('alone');
    b.line.cut = false;
    await world.pass(5000);
    expect([a.role, b.role]).toEqual(['alone', 'standby']);
    a.line.cut = false;
    await world.pass(4000);
    expect([a.role, a.abandoned, b.role]).toEqual(['owner', 0, 'standby']);
    expect(world.judge()).toEqual([]);
  });

  test.each([1000, 3000, 3500, 5000])(
    'who had the accounts before an outage of %d ms has them after it, also where its lease goes on for a moment',
    async (outageMs) => {
      const { world, a, b } = await startPair();
      await world.pass(10_000);
      for (const { line } of world.nodes) line.cut = true;
      await world.pass(outageMs);
      b.line.cut = false;
      await world.pass(leaseMs - outageMs + 2500);
      a.line.cut = false;
      await world.pass(4000);
      expect([a.role, a.abandoned, b.role]).toEqual(['owner', 0, 'standby']);
      expect(world.judge()).toEqual([]);
    },
  );

  test('who had the accounts before an outage has them after it, also where the database comes and goes while its lease goes on', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.line.refuses = true;
    for (const refuses of [true, false, true, false]) {
      b.line.refuses = refuses;
      await world.pass(1500);
    }
    await world.pass(leaseMs - 6000 + 500);
    a.line.refuses = false;
    await world.pass(4000);
    expect([a.role, a.abandoned, b.role]).toEqual(['owner', 0, 'standby']);
    expect(world.judge()).toEqual([]);
  });

  test.each(['hands over', 'ends'])(
    'who waits for the owner after an outage takes at once what that one gives away: it %s',
    async (how) => {
      for (const renewedMs of [0, 500, 1000, 1500]) {
        const { world, a, b } = await startPair();
        await world.pass(5000 + renewedMs);
        b.line.refuses = true;
        await world.pass(1500);
        b.line.refuses = false;
        await world.pass(1000);
        if (how === 'ends') a.store = null;
        void (how === 'ends' ? a.membership.stop() : a.membership.handOver(now(world)));
        await world.pass(1500);
        expect([a.acts, b.role], `its lease was renewed ${renewedMs} ms before`).toEqual([false, 'owner']);
        expect(world.judge()).toEqual([]);
      }
    },
  );

  test('an owner that ends after an outage leaves nothing to wait for, also while it is about to join again', async () => {
    for (let afterMs = 250; afterMs <= 3000; afterMs += 250) {
      const { world, a, b } = await startPair();
      for (const { line } of world.nodes) line.cut = true;
      await world.pass(leaseMs + 2000);
      Object.assign(a.line, { cut: false, latencyMs: 400 });
      await world.pass(afterMs);
      a.store = null;
      void a.membership.stop();
      await world.pass(900);
      b.line.cut = false;
      await world.pass(7000);
      expect(b.role, `it ends ${afterMs} ms after its way to the database works`).toBe('owner');
      expect(world.judge()).toEqual([]);
    }
  });

  test('who waits for the owner after an outage goes on to wait where that one dies', async () => {
    const { world, a, b } = await startPair();
    for (const { line } of world.nodes) line.cut = true;
    await world.pass(leaseMs + 2000);
    a.killed = true;
    b.line.cut = false;
    await world.pass(leaseMs - 1000);
    expect(b.acts).toBe(false);
    await world.pass(4000);
    expect(b.role).toBe('owner');
  });

  test('where somebody keeps the slot locked, the next owner acts in doubt after two leases, and stores what it did once it owns', async () => {
    const { world, a, b } = await startPair();
    world.cluster.locked = true;
    a.killed = true;
    await world.pass(2 * leaseMs + 3000);
    expect([b.role, b.acts]).toEqual(['alone', true]);
    expect(b.membership.clusterStatus.alerts).toMatchObject([
      { aspect: 'doubt', text: expect.stringContaining('somebody keeps them locked') },
    ]);
    expect(b.membership.clusterStatus.problems.join()).not.toContain('nobody reaches the shared database');
    await world.pass(10_000);
    expect([b.acts, b.stored, b.begins.length]).toEqual([true, [], 1]);
    world.cluster.locked = false;
    await world.pass(5000);
    expect([b.role, b.begins.length, b.abandoned]).toEqual(['owner', 1, 0]);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(b.stored.length).toBeGreaterThan(0);
    expect(world.judge()).toEqual([]);
  });

  test('where the owner dies and the database lets nobody take the accounts, who stood by acts in doubt after two leases for as long as that lasts, and says why, in the log once', async () => {
    const { world, a, b } = await startPair();
    world.cluster.refusesClaims = 'the user lacks a privilege';
    a.killed = true;
    await world.pass(2 * leaseMs + 3000);
    expect([b.role, b.acts]).toEqual(['alone', true]);
    expect(b.membership.clusterStatus.alerts).toMatchObject([
      { aspect: 'doubt', text: expect.stringContaining('the user lacks a privilege') },
    ]);
    // Longer than it may go on alone where nobody reaches the database.
    await world.pass(100_000);
    expect([b.acts, b.logged]).toEqual([true, ['the accounts cannot be taken']]);
    world.cluster.refusesClaims = null;
    await world.pass(5000);
    expect([b.role, b.begins.length, b.abandoned]).toEqual(['owner', 1, 0]);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test.each([
    ['keeps the slot locked', { locked: true }, 'somebody keeps them locked'],
    ['lets nobody take the accounts', { refusesClaims: 'a right is missing' }, 'a right is missing'],
  ])(
    'an only daemon that stood still goes on from memory, in doubt, after two leases where the database %s',
    async (_, trouble, why) => {
      const world = new ClusterWorld();
      const a = world.add('a');
      await world.pass(4000);
      Object.assign(world.cluster, trouble);
      a.frozenUntil = world.clock.monotonic() + leaseMs + 2000;
      await world.pass(2 * leaseMs + 3000);
      expect([a.role, a.acts, a.begins.length]).toEqual(['alone', true, 1]);
      expect(a.membership.clusterStatus.problems.join()).toContain(why);
      Object.assign(world.cluster, { locked: false, refusesClaims: null });
      await world.pass(5000);
      expect([a.role, a.begins.length, a.membership.clusterStatus.problems]).toEqual(['owner', 1, []]);
      expect(world.judge()).toEqual([]);
    },
  );

  test('of several that stand by where nobody can take the accounts one acts in doubt, and the next one when that dies', async () => {
    const { world, a, b } = await startPair();
    const c = world.add('c');
    const d = world.add('d');
    await world.pass(3000);
    world.cluster.locked = true;
    a.killed = true;
    await world.pass(2 * leaseMs + 6000);
    const acting = () => [b, c, d].filter(({ acts }) => acts).map(({ name }) => name);
    expect(acting()).toHaveLength(1);
    await world.pass(4 * leaseMs);
    const [first = ''] = acting();
    const [one] = [b, c, d].filter(({ name }) => name === first);
    if (one !== undefined) one.killed = true;
    await world.pass(leaseMs + 6000);
    expect(acting().filter((name) => name !== first)).toHaveLength(1);
    world.cluster.locked = false;
    await world.pass(5000);
    expect([b, c, d].filter(({ killed, role }) => !killed && role === 'owner')).toHaveLength(1);
    expect(world.judge()).toEqual([]);
  });

  test('where the owner dies and a right to read what is stored is missing, who takes over polls after two leases, stores nothing, and begins again once it can read', async () => {
    const { world, a, b } = await startPair();
    b.unreadable = new StorageError('unfit', 'the user lacks a privilege', { cause: new Error('42501') });
    a.killed = true;
    await world.pass(2 * leaseMs + 3000);
    expect([b.role, b.acts]).toEqual(['alone', true]);
    expect(b.membership.clusterStatus.alerts).toMatchObject([
      { aspect: 'doubt', text: expect.stringContaining('the user lacks a privilege') },
    ]);
    await world.pass(2 * leaseMs);
    expect([b.acts, b.stored, b.begins.length]).toEqual([true, [], 1]);
    b.unreadable = null;
    await world.pass(2 * leaseMs);
    expect([b.role, b.acts, b.begins.length, b.abandoned]).toEqual(['owner', true, 2, 1]);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test('a daemon that knew of nobody who polls is not ready again because the database answers', async () => {
    const { world, a, b } = await startPair();
    world.cluster.locked = true;
    a.frozenUntil = world.clock.monotonic() + 60_000;
    b.line.cut = true;
    await world.pass(2 * leaseMs);
    expect(b.membership.clusterStatus).toMatchObject({ ready: false, polling: { who: 'unknown' } });
    b.line.cut = false;
    await world.pass(5000);
    expect(b.membership.clusterStatus).toMatchObject({ ready: false, polling: { who: 'nobody' } });
  });

  test('where the owner dies and the database answers nothing, not even that it is away, who stood by polls after two leases', async () => {
    const { world, a, b } = await startPair();
    a.killed = true;
    b.line.cut = true;
    await world.pass(2 * leaseMs - 1000);
    expect(b.acts).toBe(false);
    await world.pass(3000);
    expect([b.role, b.acts]).toEqual(['alone', true]);
    b.line.cut = false;
    await world.pass(leaseMs);
    expect([b.role, b.acts]).toEqual(['owner', true]);
    expect(world.judge()).toEqual([]);
  });

  test("a lease that is renewed while the accounts are nobody's counts for nothing", async () => {
    const { world, a } = await startPair();
    world.cluster.locked = true;
    world.cluster.clearOwner();
    // What it stores is refused, and says so.
    a.full = true;
    await world.pass((leaseMs * 3) / 4 + 300);
    expect(a.acts).toBe(false);
  });

  test('an answer that comes after it let go changes nothing', async () => {
    const world = new ClusterWorld();
    const a = world.add('a', { latencyMs: 900 });
    await world.pass(12_000);
    expect(a.role).toBe('owner');
    let asked = false;
    a.line.losesAnswer = () => {
      asked = true;
      return false;
    };
    a.store = null;
    while (!asked) await world.pass(100);
    const stopped = a.membership.stop();
    await world.pass(5000);
    await stopped;
    expect([a.role, a.begins.length, world.cluster.owner]).toEqual(['joining', 1, null]);
  });

  test('a clock that is more than two seconds off owns nothing while another daemon can, and says so', async () => {
    const { world, a, b } = await startPair();
    const c = world.add('c');
    await world.pass(3000);
    b.skewMs = 2500;
    await world.pass(2000);
    a.killed = true;
    await world.pass(9500);
    expect(c.acts).toBe(true);
    expect(b.role).toBe('standby');
    expect(b.membership.clusterStatus.problems).toEqual([
      'the clock of b is 2.5 s off the clock of the database and the other daemons: it takes no accounts until it is set',
    ]);
    b.skewMs = 0;
    await world.pass(3000);
    expect(b.membership.clusterStatus.problems).toEqual([]);
  });

  test('an owner whose clock is off, and that gives the accounts to who has a right one, does not say that nobody else can own them', async () => {
    const { world, a, b } = await startPair();
    await world.pass(5000);
    a.skewMs = 3_600_000;
    for (let tenth = 0; tenth < 100; tenth++) {
      await world.pass(100);
      expect([tenth, a.membership.clusterStatus.alerts]).toEqual([tenth, []]);
    }
    expect([a.role, b.role]).toEqual(['standby', 'owner']);
    expect(world.judge()).toEqual([]);
  });

  test('an owner whose clock is off says so where nobody takes the accounts that it gives away', async () => {
    const { world, a, b } = await startPair();
    await world.pass(5000);
    a.skewMs = 3_600_000;
    b.frozenUntil = world.clock.monotonic() + 120_000;
    await world.pass(5 * leaseMs);
    expect(a.membership.clusterStatus.alerts).toMatchObject([{ aspect: 'doubt' }]);
  });

  test('the only daemon that is left owns in doubt after two leases without an owner though its clock is off, and says so', async () => {
    const { world, a, b } = await startPair();
    b.skewMs = 2500;
    await world.pass(2000);
    a.killed = true;
    await world.pass(13_000);
    expect(b.role).toBe('standby');
    expect(b.membership.clusterStatus).toMatchObject({ ready: false, polling: { who: 'nobody' } });
    await world.pass(4000);
    expect(b.acts).toBe(true);
    expect(b.membership.clusterStatus).toMatchObject({
      ready: true,
      polling: { who: 'this' },
      alerts: [
        { aspect: 'doubt', text: expect.stringContaining('b does in doubt: the clock of b is 2.5 s off') },
      ],
    });
    b.skewMs = 0;
    await world.pass(3000);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test('a database whose clock is off is named where the daemons agree with one another, and one of them owns', async () => {
    const { world, a, b } = await startPair();
    world.cluster.aheadMs = -5000;
    await world.pass(6000);
    expect([a.role, b.role]).toEqual(['owner', 'standby']);
    expect(a.membership.clusterStatus.alerts).toEqual([
      {
        aspect: 'clock',
        severity: 'warning',
        text: expect.stringContaining('the clock of the database is 5 s behind the clocks of the daemons'),
      },
    ]);
    a.killed = true;
    await world.pass(9500);
    expect(b.acts).toBe(true);
    world.cluster.aheadMs = 0;
    await world.pass(3000);
    expect(b.membership.clusterStatus.alerts).toEqual([]);
    expect(world.judge()).toEqual([]);
  });

  test('an owner whose clock is off keeps the accounts where every other clock is off as well', async () => {
    const { world, a, b } = await startPair();
    b.skewMs = -9000;
    await world.pass(3000);
    a.skewMs = 5000;
    await world.pass(10_000);
    expect(a.acts).toBe(true);
    expect(b.role).toBe('standby');
  });

  test('another configuration than the owner has for ten minutes is reported by the owner, until it is the same', async () => {
    const { world, a, b } = await startPair();
    b.configHash = 'other';
    await world.pass(590_000);
    expect(a.membership.clusterStatus.alerts).toEqual([]);
    await world.pass(15_000);
    expect(a.membership.clusterStatus.alerts).toMatchObject([
      {
        aspect: 'configuration',
        text: expect.stringContaining('the configuration of b has not been that of the owner'),
      },
    ]);
    b.configHash = 'same';
    await world.pass(5000);
    expect(a.membership.clusterStatus.alerts).toEqual([]);
  }, 20_000);

  test('another configuration than the owner has is said', async () => {
    const { b } = await startPair();
    b.configHash = 'other';
    expect(b.membership.clusterStatus.problems).toEqual([
      'the configuration of b is not that of a, which owns the accounts',
    ]);
  });
});

describe('a database that loses what it had stored', () => {
  test('gets it again from the owner, which keeps the accounts', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    world.cluster.rollBack({ commits: 4 });
    await world.pass(6000);
    expect([a.role, b.role, a.abandoned]).toEqual(['owner', 'standby', 0]);
    expect(world.judge()).toEqual([]);
    expect(a.happened).toEqual([
      'the database failed over (timeline 1 to 2) and lost at least its last 2 commits',
    ]);
    a.killed = true;
    await world.pass(4 * leaseMs);
    expect([b.role, b.happened]).toEqual(['owner', []]);
  });

  test('and its owner at once is told of by who takes over, as what is lost then stays lost', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.killed = true;
    world.cluster.rollBack({ commits: 4 });
    await world.pass(4 * leaseMs);
    expect([b.role, b.happened]).toEqual([
      'owner',
      ['the database failed over (timeline 1 to 2) and lost at least its last 3 commits'],
    ]);
    const c = world.add('c');
    await world.pass(leaseMs);
    b.killed = true;
    await world.pass(4 * leaseMs);
    expect([c.role, c.happened]).toEqual(['owner', []]);
  });

  test.each(['lives', 'dies'])(
    'gets an order that a person gave a standby again from that, though its owner %s',
    async (owner) => {
      const { world, a, b } = await startPair();
      const replica = world.cluster.replicate(2);
      const given = b.orders.leave({ kind: 'expire', id: 's-1', orderId: 'one' });
      await world.pass(100);
      await given;
      a.killed = owner === 'dies';
      world.cluster.leadTo(replica);
      await world.pass(4 * leaseMs);
      expect([a.acts, b.acts]).toEqual([owner === 'lives', owner === 'dies']);
      expect(world.cluster.server.orders).toMatchObject([{ order: { orderId: 'one' } }]);
    },
  );

  test('and with it that the owner took the accounts gets both again, under an epoch that nobody had', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    const stored = world.cluster.log.length;
    world.cluster.rollBack({ commits: stored, claims: 1 });
    await world.pass(6000);
    expect([a.role, b.role, a.abandoned]).toEqual(['owner', 'standby', 0]);
    expect(world.cluster.epoch).toBeGreaterThan(1);
    expect(world.judge().filter((line) => !line.includes('the epoch fell'))).toEqual([]);
    // All that it had found there when it took the accounts is stored again after that, and once.
    expect(a.takenBack).toHaveLength(1);
    expect(a.takenBack[0]).toBeGreaterThanOrEqual(stored);
    expect(b.takenBack).toEqual([]);
  });

  test('gets it again also where the answer to the claim of its owner is lost on the way', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.losesClaims = true;
    world.cluster.rollBack({ commits: world.cluster.log.length, claims: 1 });
    await world.pass(6000);
    expect([a.role, b.role, a.abandoned]).toEqual(['owner', 'standby', 0]);
    expect(world.judge().filter((line) => !line.includes('the epoch fell'))).toEqual([]);
    expect(a.takenBack).toHaveLength(1);
  });

  test('is not what who stands by shows before its owner has stored all of it again', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.comparesForEver = true;
    world.cluster.rollBack({ commits: 4, claims: 1 });
    for (let second = 0; second < 12; second++) {
      await world.pass(1000);
      const { revision, heardAt } = b.membership.news;
      expect([second, b.role, revision, heardAt]).toEqual([second, 'standby', null, null]);
    }
    expect(a.takenBack).toHaveLength(1);
    // What is lost with its owner is how the accounts are.
    a.killed = true;
    const c = world.add('c');
    await world.pass(4 * leaseMs);
    const [heir, other] = b.role === 'owner' ? [b, c] : [c, b];
    expect([heir.role, other.role]).toEqual(['owner', 'standby']);
    expect(other.membership.news.revision).not.toBeNull();
  });

  test('is shown by who stands by once its owner has stored all of it again', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    world.cluster.rollBack({ commits: 4, claims: 1 });
    await world.pass(2 * leaseMs);
    expect([a.takenBack.length, b.membership.news.revision]).toEqual([1, expect.any(String)]);
  });

  test('is shown again by who stands by once its owner has stored the batch again of which nobody told it that it was stored', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    const stored = world.cluster.log.length;
    a.line.losesAnswer = () => world.cluster.log.length > stored;
    while (world.cluster.log.length === stored) await world.clock.pass(100);
    await world.pass(1000);
    world.cluster.rollBack({ commits: 1 });
    a.line.losesAnswer = () => false;
    await world.pass(1000);
    expect(b.membership.news.revision).toBeNull();
    await world.pass(leaseMs);
    expect([a.takenBack, b.role]).toEqual([[], 'standby']);
    expect(world.judge()).toEqual([]);
    expect(b.membership.news.revision).not.toBeNull();
  });

  test('keeps its owner while that stores a lot again, and gets all of it', async () => {
    const { world, a, b } = await startPair();
    await world.pass(60_000);
    a.line.latencyMs = 250;
    world.cluster.rollBack({ commits: 50 });
    await world.pass(3000);
    for (let second = 3; second < 40; second++) {
      await world.pass(1000);
      expect([second, a.acts, b.role]).toEqual([second, true, 'standby']);
    }
    expect(world.judge()).toEqual([]);
    expect(a.takenBack[0]).toBeGreaterThanOrEqual(50);
  });

  test('keeps its owner while that compares what it knows with what is stored, however long that takes', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.comparesForEver = true;
    world.cluster.rollBack({ commits: 2 });
    for (let second = 0; second < 20; second++) {
      await world.pass(1000);
      expect([a.acts, b.role]).toEqual([true, 'standby']);
    }
    expect(a.takenBack).toHaveLength(1);
  });

  test('is no reason to poll nothing where the database then answers nothing more: the owner goes on from memory', async () => {
    const world = new ClusterWorld();
    const a = world.add('a');
    await world.pass(3000);
    world.cluster.rollBack({ commits: 1, claims: 1 });
    // Its commits are refused, and it cannot look why.
    a.line.losesAnswer = () => true;
    await world.pass(2 * leaseMs);
    expect([a.role, a.acts]).toEqual(['alone', true]);
    a.line.losesAnswer = () => false;
    await world.pass(2 * leaseMs);
    expect([a.role, a.acts, a.abandoned]).toEqual(['owner', true, 0]);
  });

  test('gets it again where nobody hears that its owner took the accounts again', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    const stored = world.cluster.log.length;
    let claims = 0;
    world.cluster.taken = () => {
      claims += 1;
      a.line.losesAnswer = () => claims === 1;
    };
    world.cluster.rollBack({ commits: stored, claims: 1 });
    await world.pass(2000);
    a.line.losesAnswer = () => false;
    await world.pass(10_000);
    expect([claims, a.role, b.role, a.abandoned]).toEqual([1, 'owner', 'standby', 0]);
    expect(world.judge().filter((line) => !line.includes('the epoch fell'))).toEqual([]);
    expect(a.takenBack).toHaveLength(1);
  });

  test('stays with its owner where all are led back to it within a lease', async () => {
    const { world, a, b } = await startPair();
    const replica = world.cluster.replicate(2);
    await world.pass(2 * leaseMs);
    const left = world.cluster.server;
    world.cluster.leadTo(replica);
    await world.pass(leaseMs / 2);
    expect([a.role, b.role]).toEqual(['owner', 'standby']);
    world.cluster.leadTo(left);
    await world.pass(leaseMs / 2);
    expect([a.role, b.role, a.abandoned]).toEqual(['owner', 'standby', 0]);
  });

  test.each([4000, 5000, 7000])(
    'stays with its owner, whose lease ends on a server that is %d ms behind before it is renewed there',
    async (behindMs) => {
      const { world, a, b } = await startPair();
      await world.pass(10_000);
      const replica = world.cluster.replicate(2);
      await world.pass(behindMs);
      world.cluster.leadTo(replica);
      // The owner hears of it a little later.
      a.frozenUntil = world.clock.monotonic() + 3000;
      await world.pass(leaseMs);
      expect([a.role, a.abandoned, b.role]).toEqual(['owner', 0, 'standby']);
    },
  );

  test('is left to the next owner where the owner died with it', async () => {
    const { world, a, b } = await startPair();
    await world.pass(10_000);
    a.killed = true;
    world.cluster.rollBack({ commits: 4 });
    await world.pass(19_000);
    expect(b.acts).toBe(true);
  });

  test('gives the accounts to who was quicker, and the owner lets go', async () => {
    const { world, a, b } = await startPair();
    await world.pass(5000);
    a.frozenUntil = world.clock.monotonic() + 25_000;
    world.cluster.rollBack({ commits: world.cluster.log.length, claims: 1 });
    await world.pass(30_000);
    expect([a.role, b.role, a.abandoned]).toEqual(['standby', 'owner', 1]);
  });
});

describe('two servers that both take writes', () => {
  /** `a` owns the accounts on one server, and its earlier companion on another one of this timeline. */
  async function split(timeline: number): Promise<{ world: ClusterWorld; a: Node; there: Node }> {
    const { world, a, b } = await startPair();
    b.killed = true;
    const other = new SimCluster(world.clock, leaseMs);
    other.timeline = timeline;
    world.cluster.timeline = 2;
    const there = world.add('b', { cluster: other });
    await world.clock.pass(3 * leaseMs);
    return { world, a, there };
  }

  test('leave the accounts to the owner on the newer timeline, and the older one says why it let go', async () => {
    const { world, a, there } = await split(3);
    expect([a.acts, there.acts, a.abandoned]).toEqual([false, true, 1]);
    expect(a.membership.clusterStatus).toMatchObject({
      ready: true,
      polling: { who: 'other', node: 'b' },
      alerts: [
        {
          aspect: 'split',
          text: 'two database servers take writes: b owns the accounts on one on timeline 3, this one is on 2',
        },
      ],
    });
    await world.clock.pass(4 * leaseMs);
    expect([a.acts, there.acts, a.membership.ownerElsewhere]).toEqual([false, true, 'b']);
    there.killed = true;
    await world.clock.pass(4 * leaseMs);
    expect(a.acts).toBe(true);
  });

  /** Whether the owner here says that two servers take writes, that they do not, or that it does not know. */
  function splitSaid({ membership: { clusterStatus } }: Node): boolean | null {
    if (clusterStatus.alerts.some(({ aspect }) => aspect === 'split')) return true;
    return clusterStatus.undecided.includes('split') ? null : false;
  }

  test('are not said to be one by who takes the accounts over, and does not know of the other', async () => {
    const { world, a } = await split(1);
    expect(splitSaid(a)).toBe(true);
    const c = world.add('c');
    await world.pass(2000);
    void a.membership.handOver(now(world));
    for (let waited = 0; waited < 4 * leaseMs; waited += 100) {
      await world.pass(100);
      if (c.role === 'owner') expect(splitSaid(c)).toBeNull();
    }
    expect(c.role).toBe('owner');
  });

  test('are not told of any more by who handed the accounts over, and asks nobody since', async () => {
    const { world, a } = await split(1);
    const c = world.add('c');
    await world.pass(2000);
    void a.membership.handOver(now(world));
    await world.pass(4 * leaseMs);
    expect([a.role, c.role, splitSaid(a)]).toEqual(['standby', 'owner', null]);
  });

  test('are not said to be one while the other does not answer, and are one once it is known to be gone', async () => {
    const { world, a, there } = await split(1);
    there.frozenUntil = world.clock.monotonic() + 10 * leaseMs;
    await world.pass(5 * leaseMs);
    expect(splitSaid(a)).toBeNull();
    await world.pass(7 * leaseMs);
    expect(splitSaid(a)).toBe(true);
    there.killed = true;
    await world.pass(2 * leaseMs);
    expect(splitSaid(a)).toBe(false);
  });

  test.each([1, 2])('the owner on timeline 2 goes on next to one on timeline %d', async (timeline) => {
    const { a } = await split(timeline);
    expect([a.acts, a.abandoned]).toEqual([true, 0]);
    expect(a.membership.clusterStatus.alerts).toHaveLength(timeline === 1 ? 1 : 0);
  });
});

describe('two daemons of one name', () => {
  test('are one too many: the later one ends and says why', async () => {
    const { world, a, b } = await startPair();
    const twin = world.add('c', { calls: 'a' });
    await world.pass(6000);
    expect(String(twin.ended)).toContain(
      'another daemon (lowwater test at http://a) is named a too: give each a cluster.node of its own',
    );
    expect([a.role, b.role, a.ended, b.ended]).toEqual(['owner', 'standby', null, null]);
    expect(world.judge()).toEqual([]);
  });

  test('are none where the first one was killed', async () => {
    const { world, a } = await startPair();
    a.killed = true;
    const again = world.add('c', { calls: 'a' });
    await world.pass(15_000);
    expect([again.ended, again.membership.clusterStatus.problems]).toEqual([null, []]);
  });
});

describe('two fleets on one database', () => {
  async function meet(accounts: readonly string[]): Promise<ClusterStatus> {
    const { world, a, b } = await startPair();
    const known = (ids: readonly string[]) =>
      JSON.stringify({ accounts: Object.fromEntries(ids.map((id) => [id, 'x'])) });
    world.cluster.configurations.set('same', known(['otp', 'voice'])).set('other', known(accounts));
    b.configHash = 'other';
    await world.pass(6000);
    return a.membership.clusterStatus;
  }

  test('are recognised: they have no account in common', async () => {
    expect((await meet(['mail'])).alerts).toEqual([
      {
        aspect: 'configuration',
        severity: 'warning',
        text: 'b and a have no account in common: two fleets share this database',
      },
    ]);
  });

  test('are none where they have one', async () => {
    expect((await meet(['mail', 'otp'])).alerts).toEqual([]);
  });
});

describe('a daemon that has never reached the database', () => {
  test('waits as one that does not know, says why, and begins once it answers', async () => {
    const world = new ClusterWorld();
    const a = world.add('a', { cut: true });
    await world.pass(60_000);
    expect(a.membership.clusterStatus).toMatchObject({
      role: 'joining',
      owner: null,
      epoch: null,
      reachesDatabase: false,
      sameConfiguration: null,
      problems: [
        expect.stringContaining('does not answer this daemon (simulated: the database cannot be reached)'),
      ],
    });
    expect([a.membership.mayPoll(), a.membership.news.revision]).toEqual([false, null]);
    expect(a.logged).toEqual(['the shared database does not answer']);
    a.line.cut = false;
    await world.pass(9000);
    expect([a.role, a.begins.length]).toEqual(['owner', 1]);
    expect(a.membership.clusterStatus.problems).toEqual([]);
  });

  test('tries again after 1, 2 and 4 seconds, and then every 5', async () => {
    const world = new ClusterWorld();
    const a = world.add('a', { cut: true });
    a.misfit = new StorageError('busy', 'simulated: the server is starting');
    await world.pass(30_000);
    // Of the first one nobody hears until its line is given up.
    const [, ...again] = a.opens;
    const pauses = again.slice(1).map((at, place) => at - (again[place] ?? 0));
    expect(pauses.slice(0, 4)).toEqual([2000, 4000, 5000, 5000]);
  });

  test.each(['unfit', 'corrupt'] as const)('ends where it is %s', async (kind) => {
    const world = new ClusterWorld();
    const a = world.add('a', { cut: true });
    await world.pass(3000);
    a.line.cut = false;
    a.misfit = new StorageError(kind, 'simulated: refused');
    await world.pass(9000);
    expect(a.ended).toBe(a.misfit);
  });

  test('ends when it is told to', async () => {
    const world = new ClusterWorld();
    const a = world.add('a', { cut: true });
    await world.pass(3000);
    await a.membership.stop();
    a.line.cut = false;
    await world.pass(9000);
    expect([a.role, world.cluster.epoch]).toEqual(['joining', 0]);
  });
});

type Happen = (world: ClusterWorld, node: Node, ms: number) => void;

/** What may happen to a process or to its way to the database. */
const happenings = {
  cut: (_, { line }) => {
    line.cut = true;
  },
  mend: (_, { line }) => {
    line.cut = false;
  },
  freeze: ({ clock }, node, ms) => {
    node.frozenUntil = clock.monotonic() + ms;
  },
  slow: (_, { line }, ms) => {
    line.latencyMs = Math.min(2400, ms / 4);
  },
  lose: (_, { line }, ms) => {
    let draws = ms;
    line.losesAnswer = () => ++draws % 3 === 0;
  },
  cutAll: ({ nodes }) => {
    for (const { line } of nodes) line.cut = true;
  },
  mendAll: ({ nodes }) => {
    for (const { line } of nodes) line.cut = false;
  },
} as const satisfies Record<string, Happen>;

const names = ['a', 'b', 'c'];
const story = fc.array(
  fc.record({
    happen: fc.constantFrom<Happen>(...Object.values(happenings)),
    place: fc.nat(names.length - 1),
    ms: fc.integer({ min: 100, max: 20_000 }),
  }),
  { maxLength: 12 },
);

/** What may happen to the database itself, besides. */
const databaseHappenings = {
  ...happenings,
  clockAhead: ({ cluster }, _, ms) => {
    cluster.aheadMs = ms * 100;
  },
  clockBehind: ({ cluster }, _, ms) => {
    cluster.aheadMs = -ms * 100;
  },
  clockRight: ({ cluster }) => {
    cluster.aheadMs = 0;
  },
  rollBack: ({ cluster }, _, ms) => {
    cluster.rollBack({ commits: Math.min(cluster.log.length, ms % 5) });
  },
  forgetOwner: ({ cluster }) => {
    cluster.rollBack({ commits: 0, claims: Math.min(1, cluster.epoch) });
  },
} as const satisfies Record<string, Happen>;

const forgottenWhileUnsure = [
  { happen: databaseHappenings.lose, place: 0, ms: 100 },
  { happen: databaseHappenings.forgetOwner, place: 0, ms: 100 },
];

test('no matter what happens to the clock and the history of the database, two act at once for less than a lease, and somebody polls in the end', {
  timeout: 120_000,
}, async () => {
  const parts = fc.record({
    happen: fc.constantFrom<Happen>(...Object.values(databaseHappenings)),
    place: fc.nat(names.length - 1),
    ms: fc.integer({ min: 100, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(parts, { maxLength: 10 }), async (story) => {
      const world = new ClusterWorld();
      const nodes = names.map((name) => world.add(name));
      await world.pass(2000);
      for (const { happen, place, ms } of story) {
        for (const node of nodes.slice(place, place + 1)) happen(world, node, ms);
        await world.pass(ms);
      }
      for (const { line } of nodes)
        Object.assign(line, { cut: false, latencyMs: 5, losesAnswer: () => false });
      // What was lost while its owner stood still is lost, and an epoch that the database forgot comes again.
      await world.pass(45_000);
      const broken = world.judge();
      expect(broken.filter((line) => line.startsWith('stored twice'))).toEqual([]);
      // An owner of which the database forgot everything hears so at its next renewal: until then another may act at the same time.
      const together = broken.filter((line) => line.startsWith('two own')).length * 100;
      const forgotten = story.filter(({ happen }) => happen === databaseHappenings.forgetOwner).length;
      expect(together).toBeLessThanOrEqual(forgotten * leaseMs);
      expect(nodes.filter(({ acts }) => acts)).toHaveLength(1);
      world.clock.dropTimers();
    }),
    // An owner does not know whether its last batch was stored when the database forgets it.
    { numRuns: 40, examples: [[forgottenWhileUnsure]] },
  );
});

test('no matter what happens, two never own at once, no epoch falls, every batch is stored once, and somebody owns in the end', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(story, async (parts) => {
      const world = new ClusterWorld();
      const nodes = names.map((name) => world.add(name));
      await world.pass(2000);
      for (const { happen, place, ms } of parts) {
        for (const node of nodes.slice(place, place + 1)) happen(world, node, ms);
        await world.pass(ms);
      }
      for (const { line } of nodes)
        Object.assign(line, { cut: false, latencyMs: 5, losesAnswer: () => false });
      await world.pass(45_000);
      expect(world.judge()).toEqual([]);
      expect(nodes.filter(({ acts }) => acts)).toHaveLength(1);
      world.clock.dropTimers();
    }),
    { numRuns: 60 },
  );
});
