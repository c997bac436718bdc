import { StorageError } from '../domain/operator-error.ts';
import type { MonitorState } from '../engine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  Cluster,
  ClusterLook,
  ClusterMember,
  ClusterStatus,
  MemberCard,
  Role,
} from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoredState } from '../ports/store.ts';
import { clusterStatusOf } from './cluster-status.ts';
import { DatabaseLink } from './database-link.ts';
import { type Instant, OwnLease } from './held-lease.ts';
import { Pauses } from './interruptible-sleep.ts';
import { createLeaderStore, type LeaderStore } from './leader-store.ts';
import { openPatiently } from './wait-for-database.ts';

/** A renewal is sent so many times in a lease … */
const renewalsPerLease = 4;
/** … and who stands by looks this often, or so many times. */
const lookMs = 1000;
const looksPerLease = 8;

interface MembershipDependencies {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly newIncarnation: () => string;
  /** What this process says of itself, as it is now. */
  readonly card: () => Omit<MemberCard, 'incarnation'>;
  readonly leaseMs: number;
  /** How long it goes on from memory at the most. */
  readonly aloneForMs: number;
  /** Whether one of these says that it reaches the database. */
  readonly anyReaches: (members: readonly ClusterMember[]) => Promise<boolean>;
  /** Makes of what is stored what the owner begins with. */
  readonly restore: (stored: StoredState) => Promise<MonitorState>;
  /** Begins the owner's work. */
  readonly begin: (tenure: { readonly store: Store; readonly state: MonitorState }) => void;
  /** Ends that work at once and forgets all of it. */
  readonly abandon: () => void;
  /** Ends that work properly: what it knows is stored, by the clock of the database where the own is ahead of it by so much. */
  readonly finish: (aheadMs: number) => Promise<void>;
}

/**
 * The life of one daemon among those that share a database: it stands by, takes the accounts when they are nobody's, owns them
 * while it renews its lease, and lets go of them.
 *
 * - The database decides who owns, by its own clock; the owner goes by how long ago it sent its last renewal that succeeded,
 *   and stops acting before its lease ends there.
 * - standby → loading: `claim` gave an epoch, or a look says that it did though nobody heard of it. loading → owner: all is read.
 * - owner → standby: another owns (a look, or a change that was refused), another reaches the database while this one does not,
 *   or nobody did for too long. Everything is forgotten.
 * - owner → alone: its lease is over and nobody reaches the database. alone → owner: the epoch is still the same when the
 *   database is back, so that nobody wrote since: it goes on as a new incarnation with what it has in memory.
 */
export class Membership {
  readonly #parts: MembershipDependencies;
  readonly #lease: OwnLease;
  readonly #databaseLink: DatabaseLink;
  readonly #pauses: Pauses;
  #role: Role = 'joining';
  #card: MemberCard | null = null;
  #store: LeaderStore | null = null;
  #epoch: number | null = null;
  #aloneSince = 0;
  #takeovers = 0;
  /** It gave the accounts away and lets others take them first. */
  #claimsFrom = Number.NEGATIVE_INFINITY;

  constructor(parts: MembershipDependencies) {
    this.#parts = parts;
    this.#lease = new OwnLease(parts.clock, parts.leaseMs);
    this.#databaseLink = new DatabaseLink(parts.log);
    this.#pauses = new Pauses(parts.clock);
  }

  /** Looked at before anything is asked of a provider. */
  holds(): boolean {
    return this.#role === 'alone' || (this.#role === 'owner' && this.#lease.lasts);
  }

  /**
   * Looked at before a message goes out. What an owner cannot store it tells only when its lease has outlasted that: told at once from
   * memory it would be unknown to who takes over, who would tell it again, or believe an incident open that was told to be over.
   */
  maySend(): boolean {
    return this.holds() && (this.#store?.failingForMs === undefined || this.mayActUnpersisted());
  }

  /** Whether nobody else can take the accounts, though it does not store what it does: who shares a database goes on no sooner. */
  mayActUnpersisted(): boolean {
    return this.#role === 'alone' || (this.#store?.failingForMs ?? 0) >= this.#parts.leaseMs;
  }

  get clusterStatus(): ClusterStatus {
    const role = this.#role;
    const takeovers = this.#takeovers;
    return clusterStatusOf({ role, card: this.#parts.card(), databaseLink: this.#databaseLink, takeovers });
  }

  /** Another one each time that something was stored; null where that is not known now. */
  get revision(): string | null {
    return this.#databaseLink.revision;
  }

  /** Lives until `stop`. Rejects with `StorageError` where it never reached the database and waiting would not help. */
  async run(): Promise<void> {
    const { pause } = this.#pauses;
    await openPatiently({ cluster: this.#parts.cluster, databaseLink: this.#databaseLink, pause });
    while (!this.#pauses.ended) {
      await this.#round();
      await pause(this.#nextRoundMs());
    }
  }

  /** Gives the accounts away and lets somebody else take them for the length of a lease. */
  async handOver(): Promise<void> {
    if (this.#role !== 'owner') return;
    this.#claimsFrom = this.#parts.clock.monotonic() + this.#parts.leaseMs;
    await this.#parts.finish(this.#databaseLink.isClockOff ? this.#databaseLink.skewMs : 0);
    await this.#leave();
  }

  /** Ends; the owner's work has ended before. */
  async stop(): Promise<void> {
    this.#pauses.end();
    await this.#leave();
  }

  async #round(): Promise<void> {
    try {
      await this.#meet();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#databaseLink.failed(error);
      await this.#endureAlone();
    }
  }

  async #meet(): Promise<void> {
    const card = this.#card ?? (await this.#join());
    const sentAt = this.#lease.instant();
    const look = await this.#parts.cluster.renew({ ...card, ...this.#parts.card() });
    // It was left or lost while the answer was on its way.
    if (this.#card !== card || this.#pauses.ended) return;
    this.#databaseLink.heard(look, (sentAt.wall + this.#parts.clock.now()) / 2);
    // Who owned the accounts counts on a lease only once it owns them again.
    if (look.renewed && (this.#epoch === null || look.owner === card.incarnation))
      this.#lease.countFrom(sentAt);
    if (this.#epoch !== null) await this.#keep(look, { card, sentAt });
    else if (!look.renewed) this.#card = null;
    else if (look.owner === card.incarnation) this.#take(look.epoch);
    else if (look.owner === null && this.#mayClaim()) await this.#claim(card);
    else this.#standBy(look);
  }

  #standBy({ owner }: ClusterLook): void {
    this.#role = 'standby';
    // Others had their turn: what they let go of is anybody's again.
    if (owner !== null) this.#claimsFrom = Number.NEGATIVE_INFINITY;
  }

  async #join(): Promise<MemberCard> {
    const card = { incarnation: this.#parts.newIncarnation(), ...this.#parts.card() };
    await this.#parts.cluster.join(card);
    this.#card = card;
    return card;
  }

  #mayClaim(): boolean {
    return !this.#databaseLink.isClockOff && this.#parts.clock.monotonic() >= this.#claimsFrom;
  }

  async #claim({ incarnation }: MemberCard): Promise<void> {
    this.#role = 'standby';
    const epoch = await this.#parts.cluster.claim(incarnation);
    if (epoch !== null && this.#card?.incarnation === incarnation) this.#take(epoch);
  }

  #take(epoch: number): void {
    const { cluster, log } = this.#parts;
    const incarnation = this.#card?.incarnation ?? '';
    const store = createLeaderStore({
      store: cluster.store({ incarnation, epoch }),
      reader: cluster.reader,
      monotonic: () => this.#parts.clock.monotonic(),
      overtaken: () => {
        if (this.#store === store) this.#lose('another daemon owns the accounts');
      },
    });
    this.#store = store;
    this.#epoch = epoch;
    this.#role = 'loading';
    this.#takeovers += 1;
    log.info({ epoch }, 'this daemon takes the accounts');
    void this.#load(store);
  }

  async #load(store: LeaderStore): Promise<void> {
    try {
      const { reader } = this.#parts.cluster;
      // For one lost answer the accounts would be nobody's as long as the lease lasts.
      const stored = await reader.load().catch((error: unknown) => {
        if (!(error instanceof StorageError) || !this.#lease.lasts) throw error;
        return reader.load();
      });
      const state = await this.#parts.restore(stored);
      if (this.#store !== store || this.#pauses.ended) return;
      this.#role = 'owner';
      this.#parts.begin({ store, state });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (this.#store === store) this.#lose(`what is stored cannot be read: ${error.message}`);
    }
  }

  /** What the database says to who owns, or owned. */
  async #keep(
    look: ClusterLook & { readonly renewed: boolean },
    it: { readonly card: MemberCard; readonly sentAt: Instant },
  ): Promise<void> {
    const isOwn = look.owner === it.card.incarnation;
    if (isOwn && look.epoch === this.#epoch) this.#stay(look);
    else if (!isOwn && (look.owner !== null || look.epoch !== this.#epoch))
      this.#lose('another daemon took the accounts');
    else if (this.#role === 'loading') this.#lose('the lease ended before everything was read');
    else if (look.renewed) await this.#regain({ ...it, heardOf: isOwn ? look.epoch : null });
    else {
      this.#card = null;
      await this.#meet();
    }
  }

  #stay({ members }: ClusterLook): void {
    // The renewals had arrived, and only their answers had not.
    if (this.#role === 'alone') this.#role = 'owner';
    else if (this.#role === 'owner' && this.#databaseLink.isClockOff && members.length > 1) {
      this.#parts.log.warn(
        { skewMs: this.#databaseLink.skewMs },
        'the clock of this machine is off: giving the accounts away',
      );
      void this.handOver();
    }
  }

  /**
   * Its lease was over, and nobody else has taken the accounts since: it goes on with what it knows, as a new incarnation. `heardOf`: the
   * epoch that a look says that one has, where nobody heard of its claim.
   */
  async #regain(it: {
    readonly card: MemberCard;
    readonly sentAt: Instant;
    readonly heardOf: number | null;
  }): Promise<void> {
    const { card, sentAt } = it;
    const { cluster, log } = this.#parts;
    await this.#store?.continueWith(async () => {
      if (this.#card !== card || this.#epoch === null) return null;
      const epoch = it.heardOf ?? (await cluster.claim(card.incarnation, this.#epoch));
      // Who was quicker, if anybody, is seen in the next look.
      if (epoch === null || this.#card !== card) return null;
      this.#lease.countFrom(sentAt);
      this.#epoch = epoch;
      this.#role = 'owner';
      log.info({ epoch }, 'the lease was over and nobody had taken the accounts: this daemon goes on');
      return cluster.store({ incarnation: card.incarnation, epoch });
    });
  }

  /** The database does not answer. */
  async #endureAlone(): Promise<void> {
    const { clock, log, aloneForMs, anyReaches } = this.#parts;
    if (this.#epoch === null || this.#lease.lasts) return;
    if (this.#role === 'loading') {
      this.#lose('the lease ended before everything was read');
      return;
    }
    const epoch = this.#epoch;
    const reached = await anyReaches(this.#databaseLink.peersBeside(this.#parts.card().advertise));
    if (this.#epoch !== epoch) return;
    if (reached) this.#lose('another daemon reaches the database and this one does not');
    else if (this.#role === 'owner') {
      this.#role = 'alone';
      this.#aloneSince = clock.monotonic();
      log.error({}, 'nobody reaches the database: this daemon goes on from memory');
    } else if (clock.monotonic() - this.#aloneSince > aloneForMs)
      this.#lose('nobody has reached the database for as long as this daemon may go on alone');
  }

  /** Everything is forgotten, and the next round begins as a new incarnation. */
  #lose(why: string): void {
    const hadBegun = this.#role === 'owner' || this.#role === 'alone';
    this.#forgetTenure();
    this.#parts.log.warn({ why }, 'this daemon lets go of the accounts');
    if (hadBegun) this.#parts.abandon();
  }

  async #leave(): Promise<void> {
    const incarnation = this.#card?.incarnation;
    this.#forgetTenure();
    if (incarnation === undefined) return;
    const { cluster } = this.#parts;
    const unlessUnheard = (error: unknown): boolean => {
      if (!(error instanceof StorageError)) throw error;
      return false;
    };
    const leave = (): Promise<boolean> => cluster.leave(incarnation).then(() => true, unlessUnheard);
    // Unheard twice, it leaves the accounts to nobody until the lease ends by itself.
    if (!(await leave())) await leave();
  }

  #forgetTenure(): void {
    this.#role = 'joining';
    this.#store = null;
    this.#epoch = null;
    this.#card = null;
    this.#lease.end();
  }

  #nextRoundMs(): number {
    const { leaseMs } = this.#parts;
    const owns = this.#role === 'owner' || this.#role === 'loading';
    // A renewal of which nobody heard is made good before the lease that it was for is over.
    if (owns && this.#databaseLink.reaches) return leaseMs / renewalsPerLease;
    return Math.min(lookMs, leaseMs / looksPerLease);
  }
}
