import { maxSkewMs } from '../../src/cluster/database-link.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { ClusterMember, PeerAnswer } from '../../src/ports/cluster.ts';
import type { Batch, LeftOrder } from '../../src/ports/store.ts';
import { SimCluster } from '../support/sim-cluster.ts';
import type { EventQueue } from './event-queue.ts';
import { LeftReadings } from './left-readings.ts';
import type { Life } from './life.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import { isByPeople } from './pair-frame.ts';
import type { Happening, Scenario } from './scenario.ts';
import { chanceOf } from './seeded.ts';
import { Servers } from './servers.ts';
import type { SimStorage } from './sim-storage.ts';
import { isStandingBy } from './standby-orders.ts';

/** As the product has it by default. */
export const leaseMs = 8000;

/** The machines that share a database, or the one that has it for itself. */
export class Fleet {
  readonly machines: Machine[] = [];
  readonly left = new LeftReadings();
  readonly shared: SimCluster | null;
  /**
   * Leases go by a clock that is so much slower, so that a day does not consist of looks at leases: to a daemon that looks around seldom
   * its database is one whose leases are long.
   */
  readonly slowness: number;
  readonly #scenario: Scenario;
  readonly #model: Model;
  /** By how much the clock is off that readings were last dated by. */
  #offsetMs = 0;
  /** What the daemon was configured by that did the work last. */
  #settings: Settings | null = null;
  /** Whether somebody was in doubt when the accounts were taken: who takes them so gives them away again once it is not. */
  #wasInDoubt = false;
  #epoch = 0;
  readonly #stored = new WeakSet<Batch>();
  #storedPolls = new WeakSet<object>();
  readonly #queue: EventQueue;
  /** When something last befell a machine or the database. */
  #befellAt = 0;
  readonly #servers: Servers | null;

  constructor(parts: {
    readonly scenario: Scenario;
    readonly queue: EventQueue;
    readonly model: Model;
    readonly storage: SimStorage;
  }) {
    const { scenario, queue, model, storage } = parts;
    this.#scenario = scenario;
    this.#model = model;
    this.#queue = queue;
    this.slowness = scenario.sleepMs <= 1000 ? 1 : 20;
    const trueTime = { now: () => scenario.startAt + queue.now, monotonic: () => queue.now };
    this.shared = scenario.nodes === 1 ? null : new SimCluster(this.slowed(trueTime), leaseMs);
    if (this.shared !== null)
      this.shared.taken = (incarnation, epoch, after) => this.#taken(incarnation, epoch, after);
    this.#servers =
      this.shared === null || storage.servers === null ? null : new Servers(this.shared, storage.servers);
  }

  /** The machine whose daemon does the work. */
  get owner(): Machine | null {
    return this.machines.find(({ span }) => span?.watched === true) ?? null;
  }

  get daemon(): Daemon | null {
    return this.owner?.span?.daemon ?? null;
  }

  get takeovers(): number {
    return this.shared?.epoch ?? 0;
  }

  get stopping(): boolean {
    return this.owner?.stopping ?? false;
  }

  get refused(): string | null {
    return this.owner?.refused ?? null;
  }

  slowed<T extends Pick<Clock, 'now' | 'monotonic'>>(clock: T): T {
    const by = this.slowness;
    return { ...clock, now: () => clock.now() / by, monotonic: () => clock.monotonic() / by };
  }

  /** Whom it befalls: mostly whoever does the work. */
  struck(it: Happening): Machine | null {
    if (!isByPeople(it)) this.#befellAt = this.#queue.now;
    const chance = chanceOf(this.#scenario.seed, 8, it.at);
    const drawn = this.machines[Math.floor(chance * this.machines.length)] ?? null;
    return chanceOf(this.#scenario.seed, 9, it.at) < 0.3 ? drawn : (this.owner ?? drawn);
  }

  /** Whether the model has to hear of what befalls this one. */
  isTheirs(machine: Machine): boolean {
    return this.machines.length === 1 || this.owner === machine;
  }

  /** Changes of the servers behind the address of the database. */
  serve(what: Extract<Happening, { kind: 'server' }>['what']): void {
    const servers = this.#servers;
    if (what === 'replica cut') servers?.cutReplica();
    else if (servers?.promote() === true) {
      // The server's rows of these are seen in the end.
      this.#storedPolls = new WeakSet();
      this.#model.storageFails();
    }
  }

  leaveOrder(order: LeftOrder): void {
    this.shared?.leaveOrder(order);
  }

  /** The clock of a machine was set. */
  clockSet(machine: Machine): void {
    if (this.isTheirs(machine)) this.#offsetMs = machine.offsetMs;
  }

  configured(machine: Machine): void {
    if (this.isTheirs(machine)) this.#settings = machine.settings;
  }

  /** Where another machine's clock is as far off, the daemons agree with one another against the database's. */
  #isSurelyOff(machine: Machine): boolean {
    const mostMs = 1.5 * maxSkewMs * this.slowness;
    return this.machines.every(
      (each) => Math.abs(machine.offsetMs - (each === machine ? 0 : each.offsetMs)) > mostMs,
    );
  }

  /** A daemon is about to begin, perhaps by another clock and another configuration than the one before. */
  begins(machine: Machine): void {
    if (this.#settings !== null && this.#settings !== machine.settings) this.#model.reconfigured();
    this.#settings = machine.settings;
    if (machine.refused !== null) this.#model.configurationRefused();
    const movedMs = machine.offsetMs - this.#offsetMs;
    this.#offsetMs = machine.offsetMs;
    if (movedMs !== 0) this.#model.wallMoved(movedMs);
    const isInDoubt = this.#wasInDoubt || machine.membership?.isDoubtful === true;
    if (this.shared !== null && !isInDoubt && this.#isSurelyOff(machine))
      this.#model.broken('a clock that is off owns nothing', `${machine.name}: ${this.#offsetMs} ms`);
  }

  /** The owner gave the accounts away. Where nothing else befalls daemons, who stands by takes them within a lease. */
  givenAway(): void {
    const isReady = (): boolean =>
      this.machines.some((it) => isStandingBy(it) && it.membership?.clusterStatus.reachesDatabase === true) &&
      this.machines.every(
        ({ line, storage }) => storage.fault === null && Object.values(line).every((it) => it === 0),
      );
    if (this.#scenario.losesNoAnswer !== true || !isReady()) return;
    const { now } = this.#queue;
    this.#queue.at(now + leaseMs * this.slowness, () => {
      if (this.owner === null && this.#befellAt <= now && isReady())
        this.#model.broken('what is given away is taken at once', 'nobody has the accounts');
    });
  }

  /** Whether somebody has taken the accounts since. */
  isOvertaken({ epoch }: Life): boolean {
    return epoch !== null && epoch < this.#epoch;
  }

  /** What these say of themselves at their addresses. */
  askPeers(asker: Machine, members: readonly ClusterMember[]): readonly PeerAnswer[] {
    return members.flatMap(({ node }) => {
      const peer = this.machines.find(({ name }) => name === node);
      const status = peer?.membership?.clusterStatus;
      if (peer === undefined || status === undefined || !peer.up || peer.frozen) return [];
      if (asker.line.isolated || peer.line.isolated) return [];
      const { reachesDatabase, role, origin, epoch } = status;
      const takenUnder = role === 'joining' || role === 'standby' ? null : epoch;
      return [{ node, reachesDatabase, owns: role === 'owner', takenUnder, origin }];
    });
  }

  /** A process lets go of the accounts: not because it takes itself for another. */
  letsGo({ number }: Life, why: string): void {
    if (
      why.startsWith('another daemon') &&
      !why.includes('reaches') &&
      this.shared?.owner?.startsWith(`${number}-`)
    )
      this.#model.broken('who owns the accounts knows itself', why);
  }

  /** The shared database stores a batch: everything once, whoever says it how often. False where it had been stored before, and was lost. */
  stored(batch: Batch): boolean {
    this.left.stored(batch);
    for (const poll of batch.polls) {
      if (this.#storedPolls.has(poll)) this.#model.broken('every batch is stored once', poll.account);
      this.#storedPolls.add(poll);
    }
    const isNew = !this.#stored.has(batch);
    this.#stored.add(batch);
    return isNew;
  }

  /** Somebody took the accounts: whoever had them before has them no more, whether or not it knows. */
  #taken(incarnation: string, epoch: number, after: number | undefined): void {
    if (epoch <= this.#epoch)
      this.#model.broken('an epoch never comes again', `${epoch} after ${this.#epoch}`);
    this.#epoch = epoch;
    this.#wasInDoubt = this.machines.some(
      ({ membership }) => membership?.isDoubtful === true || membership?.clusterStatus.role === 'alone',
    );
    const { owner } = this;
    const isAgain = after !== undefined || incarnation.startsWith(`${owner?.process}-`);
    if (!isAgain) owner?.overtaken();
  }
}
