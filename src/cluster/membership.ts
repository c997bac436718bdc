import { OperatorError, StorageError } from '../domain/operator-error.ts';
import type { ClusterLook, ClusterMember, ClusterStatus, MemberCard, Role } from '../ports/cluster.ts';
import { clockOff, clusterStatusOf, namesake } from './cluster-status.ts';
import { FleetView } from './fleet-view.ts';
import { createOwnLease, type Instant, type OwnLease } from './held-lease.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import { OwnedAccounts } from './owned-accounts.ts';
import { createPauses, openPatiently } from './pauses.ts';
import { Seat } from './seat.ts';

/** A renewal is sent so many times in a lease … */
const renewalsPerLease = 4;
/** … and who stands by looks this often, or so many times. */
const lookMs = 1000;
const looksPerLease = 8;

/**
 * The life of one daemon among those that share a database: it stands by, takes the accounts when they are nobody's, owns them
 * (`owned-accounts.ts`) while it renews its lease, and gives them away.
 *
 * - The database decides who owns, by its own clock; the owner goes by how long ago it sent its last renewal that succeeded,
 *   and stops acting before its lease ends there.
 * - It takes them when `claim` gave an epoch, or a look says that it did though nobody heard of it.
 * - It loses them when another owns (a look, or a change that was refused), when another reaches the database while this one does not, or
 *   when nobody did for too long. Everything is forgotten.
 * - Where its clock is off it takes none, unless nobody has polled for two leases: then it owns them in doubt, and says so.
 */
export class Membership {
  readonly #dependencies: MembershipDependencies;
  readonly #lease: OwnLease;
  readonly #fleet: FleetView;
  readonly #pauses: ReturnType<typeof createPauses>;
  /** Who had the accounts at the last look and did not give them away. */
  #lapsedOwner: string | null = null;
  readonly #seat: Seat;
  #standsBy = false;
  #owned: OwnedAccounts | null = null;
  #takeovers = 0;
  #loadFailure: string | null = null;

  constructor(dependencies: MembershipDependencies) {
    const { clock, leaseMs } = dependencies;
    this.#dependencies = dependencies;
    this.#lease = createOwnLease(clock, leaseMs);
    this.#fleet = new FleetView(dependencies);
    this.#pauses = createPauses(clock);
    this.#seat = new Seat(dependencies, (process) => this.#describe(process));
  }

  /** Looked at before anything is asked of a provider. */
  holds(): boolean {
    return this.#owned?.holds ?? false;
  }

  /**
   * Looked at before a message goes out. What an owner cannot store it sends only when its lease has outlasted that: sent at once from
   * memory it would be unknown to who takes over, who would send it again, or believe an incident open that was said to be over.
   */
  maySend(): boolean {
    return this.holds() && (this.#owned?.store.failingForMs === undefined || this.mayActUnpersisted());
  }

  /** Whether nobody else can take the accounts, though it does not store what it does: who shares a database goes on no sooner. */
  mayActUnpersisted(): boolean {
    return this.#owned?.mayActUnpersisted ?? false;
  }

  get clusterStatus(): ClusterStatus {
    this.#notePolling();
    return clusterStatusOf({
      role: this.#role,
      card: this.#dependencies.card(),
      fleet: this.#fleet,
      takeovers: this.#takeovers,
      isBlind: this.#fleet.blindForMs > this.#dependencies.leaseMs,
      doubt: this.#doubt ?? this.#owned?.unreadable ?? null,
      loadFailure: this.#loadFailure,
    });
  }

  /** Another one each time that something was stored; null where that is not known now. */
  get revision(): string | null {
    return this.#fleet.link.revision;
  }

  /** Lives until `stop`. Rejects with `StorageError` where it never reached the database and waiting would not help. */
  async run(): Promise<void> {
    const { pause } = this.#pauses;
    const { cluster, looked } = this.#dependencies;
    await openPatiently(cluster, this.#fleet.link, pause);
    while (!this.#pauses.ended) {
      await this.#round();
      this.#notePolling();
      looked?.();
      await pause(this.#nextRoundMs());
    }
  }

  /** Gives the accounts away and lets somebody else take them for the length of a lease. */
  async handOver(): Promise<void> {
    if (this.#role !== 'owner') return;
    this.#fleet.letOthersClaim();
    const { isClockOff, aheadMs } = this.#fleet.link;
    await this.#dependencies.finish(isClockOff ? aheadMs : 0);
    await this.#leave();
  }

  async stop(): Promise<void> {
    this.#pauses.end();
    await this.#leave();
  }

  get #role(): Role {
    return this.#owned?.phase ?? (this.#standsBy ? 'standby' : 'joining');
  }

  async #round(): Promise<void> {
    try {
      await this.#meet();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#fleet.link.failed(error);
      const owned = this.#owned;
      const { advertise } = this.#dependencies.card();
      const verdict = await owned?.endure(this.#fleet.link.peersBeside(advertise));
      if (verdict?.kind === 'lose' && this.#owned === owned) this.#lose(verdict.why);
    }
  }

  async #meet(): Promise<void> {
    const card = this.#seat.card ?? (await this.#seat.join());
    const sentAt = this.#lease.instant();
    const storedBefore = this.#owned?.store.stored ?? 0;
    const look = await this.#dependencies.cluster.renew(this.#seat.describe(card));
    // It was left or lost while the answer was on its way.
    if (this.#seat.card !== card || this.#pauses.ended) return;
    const wallNow = (sentAt.wall + this.#dependencies.clock.now()) / 2;
    const happened = this.#fleet.heard(look, this.#seat.describe(card), wallNow);
    if (happened !== null && this.#owned !== null) this.#dependencies.happened?.(happened);
    // With lost commits the claim of an owner that acts may be lost: who stands by lets one that remembers more than the database be first.
    else if (happened !== null) this.#fleet.letOthersClaim();
    this.#refuseTwin(card);
    if (this.#owned === null) this.#lapsedOwner = look.lapsedOwner;
    // Who owned the accounts counts on a lease only once it owns them again.
    if (look.renewed && (this.#owned === null || look.owner === card.incarnation))
      this.#lease.countFrom(sentAt);
    if (this.#owned !== null) await this.#keep(this.#owned, look, card, sentAt, storedBefore);
    else if (!look.renewed) this.#seat.renounce();
    else if (look.owner === card.incarnation) this.#take(look.epoch);
    else if (look.owner === null && this.#fleet.mayClaim) await this.#claim(card);
    else this.#standBy(look);
  }

  /** Of two processes of one name the later one ends, unless it owns the accounts. */
  #refuseTwin(card: MemberCard): void {
    const { twin } = this.#fleet.names;
    if (twin === null || this.#owned !== null || !this.#fleet.names.isLater(this.#seat.describe(card)))
      return;
    throw new OperatorError(namesake(card.node, twin));
  }

  #standBy({ owner }: ClusterLook): void {
    this.#standsBy = true;
    if (owner === null) return;
    this.#fleet.claimAgain();
    if (this.#fleet.link.owner?.status?.polls === true) this.#loadFailure = null;
  }

  #describe(process: string): Omit<MemberCard, 'incarnation'> {
    const { skewMs, firstLookAt } = this.#fleet.link;
    const skew = skewMs === null ? null : Math.round(skewMs);
    return {
      ...this.#dependencies.card(),
      status: { process, skewMs: skew, polls: this.holds(), since: firstLookAt },
    };
  }

  /** Whether nobody has polled for so long that alive and able to poll is enough. */
  get isDoubtful(): boolean {
    return this.#fleet.isDoubtful;
  }

  async #claim({ incarnation }: MemberCard): Promise<void> {
    this.#standsBy = true;
    const epoch = await this.#dependencies.cluster.claim(incarnation);
    if (epoch !== null && this.#seat.card?.incarnation === incarnation) this.#take(epoch);
  }

  #take(epoch: number): void {
    const incarnation = this.#seat.card?.incarnation ?? '';
    const owned: OwnedAccounts = new OwnedAccounts(
      this.#dependencies,
      this.#lease,
      { incarnation, epoch },
      (why) => {
        if (this.#owned === owned) this.#lose(why);
      },
    );
    this.#owned = owned;
    this.#takeovers += 1;
    this.#dependencies.log.info({ epoch }, 'this daemon takes the accounts');
    void this.#load(owned, this.#fleet.lastOwner);
  }

  async #load(owned: OwnedAccounts, before: ClusterMember | null): Promise<void> {
    const { begin, log, looked } = this.#dependencies;
    try {
      const state = await owned.load(this.#fleet.isDoubtful, before);
      if (this.#owned !== owned || this.#pauses.ended) return;
      owned.phase = 'owner';
      this.#loadFailure = null;
      begin({ store: owned.store.port, state, takenFrom: this.#lapsedOwner });
      if (this.#fleet.link.isClockOff)
        log.error({ doubt: this.#doubt }, 'nobody could own the accounts: this daemon does, in doubt');
      looked?.();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (this.#owned !== owned) return;
      this.#loadFailure = `what is stored cannot be read: ${error.message}`;
      // Somebody else may be able to; the next try is as good as this one was.
      this.#fleet.letOthersClaim();
      this.#lose(this.#loadFailure);
    }
  }

  /** What the database says to who owns, or owned. */
  async #keep(
    owned: OwnedAccounts,
    look: ClusterLook & { readonly renewed: boolean },
    card: MemberCard,
    sentAt: Instant,
    storedBefore: number,
  ): Promise<void> {
    const { incarnation } = card;
    const isCurrent = () => this.#seat.card === card && this.#owned === owned;
    const verdict = owned.judge(look, incarnation, storedBefore);
    const { newerOwner } = this.#fleet;
    if (newerOwner !== null)
      this.#lose(
        `two database servers take writes, and ${newerOwner} owns the accounts on the newer history`,
      );
    else if (verdict.kind === 'keep') this.#followClock(owned, incarnation);
    else if (verdict.kind === 'lose') this.#lose(verdict.why);
    else if (verdict.kind === 'rejoin') {
      this.#seat.renounce();
      await this.#meet();
    } else await owned.takeAgain(verdict.kind, { incarnation, sentAt, look, isCurrent });
  }

  /** A daemon whose clock is off gives the accounts away where somebody else has a clock that counts. */
  #followClock({ phase }: OwnedAccounts, incarnation: string): void {
    const { link } = this.#fleet;
    if (phase !== 'owner' || !link.isClockSurelyOff || !link.hasRightClockBeside(incarnation)) return;
    const { aheadMs } = link;
    this.#dependencies.log.warn({ aheadMs }, 'the clock of this machine is off: giving the accounts away');
    void this.handOver();
  }

  /** Why it owns the accounts though its clock is off; null where it does not, or the clock is right. */
  get #doubt(): string | null {
    const { aheadMs, isClockSurelyOff } = this.#fleet.link;
    const owns = this.#owned !== null && this.#owned.phase !== 'loading';
    return owns && isClockSurelyOff ? clockOff(this.#dependencies.card().node, aheadMs) : null;
  }

  /** Everything is forgotten, and the next round begins as a new incarnation. */
  #lose(why: string): void {
    const hadBegun = this.#owned !== null && this.#owned.phase !== 'loading';
    if (!hadBegun) this.#loadFailure ??= why;
    this.#seat.abandon();
    this.#forget();
    this.#dependencies.log.warn({ why }, 'this daemon lets go of the accounts');
    if (hadBegun) this.#dependencies.abandon();
    this.#dependencies.looked?.();
  }

  async #leave(): Promise<void> {
    this.#forget();
    await this.#seat.leave();
  }

  #forget(): void {
    this.#owned = null;
    this.#standsBy = false;
    this.#lease.end();
  }

  #notePolling(): void {
    this.#fleet.notePolling(this.holds(), this.#owned !== null);
  }

  #nextRoundMs(): number {
    const { leaseMs } = this.#dependencies;
    // A renewal of which nobody heard is made good before the lease that it was for is over.
    const owns = this.#owned !== null && this.#owned.phase !== 'alone';
    if (owns && this.#fleet.link.reaches) return leaseMs / renewalsPerLease;
    return Math.min(lookMs, leaseMs / looksPerLease);
  }
}
