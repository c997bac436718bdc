import type { HandOver } from '../domain/operator.ts';
import { OperatorError, StorageError } from '../domain/operator-error.ts';
import type { ClusterLook, ClusterStatus, MemberCard } from '../ports/cluster.ts';
import { clusterStatusOf, namesake } from './cluster-status.ts';
import type { DatabaseLink } from './database-link.ts';
import { FleetView } from './fleet-view.ts';
import { giveAway } from './handing-over.ts';
import { createOwnLease, type Instant, type OwnLease } from './held-lease.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';
import type { OwnedAccounts } from './owned-accounts.ts';
import { createPauses, openPatiently, roundMs } from './pauses.ts';
import { createRegistration, type Registration } from './registration.ts';
import { Takeover } from './takeover.ts';

/**
 * The life of one daemon among those that share a database. It stands by, takes the accounts when nobody owns them (`takeover.ts`),
 * owns them (`owned-accounts.ts`) while it renews its lease, and gives them away.
 *
 * - The database decides who owns the accounts, by its own clock. The owner counts from when it sent its last successful renewal,
 *   and stops acting before its lease ends there. A lease that is not extended for its own length is over (`lease-watch.ts`).
 * - A daemon forgets the accounts only when it sees another epoch.
 *
 * Each round looks at the database and decides (`#meet`; the first row that fits counts):
 *
 * | has the accounts | what it sees                              | what it does                                                |
 * | ---------------- | ----------------------------------------- | ----------------------------------------------------------- |
 * | yes, or released | another owner on a newer history          | forgets everything                                          |
 * | yes, or released | anything else                             | `judge-look.ts`: keeps, takes again, stores again, forgets  |
 * | yes, owns        | its clock is off, another one's is right  | hands over                                                  |
 * | yes, loads       | nothing could be read for half a lease    | polls blind, from the configuration alone                   |
 * | no               | its own lease is over                     | becomes a new incarnation                                   |
 * | no               | it owns: the answer to its claim was lost | takes them                                                  |
 * | no               | nobody owns, and it may claim             | claims; in doubt when nobody has polled for two leases      |
 * | no               | anything else                             | stands by                                                   |
 * | yes, or released | the database does not answer              | `OwnedAccounts.endure`: pauses, goes on from memory, forgets |
 * | no               | the same for two leases, and nobody polls | polls blind                                                 |
 */
export class Membership {
  readonly #dependencies: MembershipDependencies;
  readonly #lease: OwnLease;
  readonly #fleet: FleetView;
  readonly #pauses: ReturnType<typeof createPauses>;
  readonly #registration: Registration;
  readonly #takeover: Takeover;

  constructor(dependencies: MembershipDependencies) {
    const { clock, leaseMs } = dependencies;
    this.#dependencies = dependencies;
    this.#lease = createOwnLease(clock, leaseMs);
    this.#fleet = new FleetView(dependencies);
    this.#pauses = createPauses(clock);
    this.#registration = createRegistration(dependencies, (process) => this.#describe(process));
    this.#takeover = new Takeover(dependencies, {
      lease: this.#lease,
      fleet: this.#fleet,
      registration: this.#registration,
      pauses: this.#pauses,
    });
  }

  get #owned(): OwnedAccounts | null {
    return this.#takeover.owned;
  }

  /** Whether this process may poll. Checked before each request to a provider. */
  mayPoll(): boolean {
    return this.#owned?.mayPoll ?? false;
  }

  /**
   * Whether this process may send. Checked before each message. If it cannot store what it does, an owner sends only once that has lasted a
   * lease. A message sent earlier would be unknown to the next owner, who would repeat it, or show an incident as open after its end was sent.
   */
  maySend(): boolean {
    return this.mayPoll() && (this.#owned?.store.failingForMs === undefined || this.mayActUnpersisted());
  }

  /** Whether nobody else can take the accounts, though this owner stores nothing. With a shared database it goes on only then. */
  mayActUnpersisted(): boolean {
    return this.#owned?.mayActUnpersisted ?? false;
  }

  /** Called before the state is shown to anybody: an owner that stood still wakes with old knowledge. */
  async confirmOwnership(): Promise<void> {
    const owned = this.#owned;
    if (owned?.phase === 'owner' && !this.#lease.lasts && this.#fleet.link.reaches)
      await owned.lookWhetherOvertaken();
  }

  get clusterStatus(): ClusterStatus {
    this.#notePolling();
    return clusterStatusOf({
      ...this.#takeover.known,
      card: this.#dependencies.card(),
      fleet: this.#fleet,
      isBlind: this.#fleet.blindForMs > this.#dependencies.leaseMs,
    });
  }

  get news(): Pick<DatabaseLink, 'revision' | 'heardAt' | 'programs' | 'upsets'> {
    return this.#fleet.link;
  }

  /** Whether it acts by its configuration alone, because what is stored could not be read. */
  get isBlind(): boolean {
    return this.#owned?.isBlind ?? false;
  }

  /** The node that owns the accounts on another server; null if there is none. Nobody there reads the orders that are left on this server. */
  get ownerElsewhere(): string | null {
    return this.#fleet.newerOwner;
  }

  /** Runs until `stop`. Rejects with `StorageError` if it never reached the database and waiting would not help. */
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

  /** Gives the accounts to a standby, as soon as one can take them. */
  async handOver(order: HandOver): Promise<void> {
    const owned = this.#owned;
    const { link } = this.#fleet;
    const isMine = () => this.#owned === owned && !this.#pauses.ended;
    const hasTaker = () => this.#fleet.hasTakerBeside(this.#registration.card?.incarnation ?? '');
    const dependencies = { ...this.#dependencies, link, isMine, hasTaker };
    if (owned === null || !(await giveAway(owned, order, dependencies))) return;
    this.#lease.end();
    this.#takeover.standsBy = true;
    await this.#registration.leave();
  }

  async stop(): Promise<void> {
    const owned = this.#owned?.incarnation;
    this.#pauses.end();
    this.#takeover.forget();
    await this.#registration.leave(owned);
  }

  async #round(): Promise<void> {
    const beganAt = this.#lease.instant().monotonic;
    try {
      await this.#meet();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#fleet.failed(error, beganAt);
      await this.#endure(beganAt);
    }
  }

  /** Handles a round in which the database did not answer. */
  async #endure(beganAt: number): Promise<void> {
    const owned = this.#owned;
    const peers = this.#fleet.link.peersBeside(this.#dependencies.card().advertise);
    const verdict = await owned?.endure(peers);
    if (this.#owned !== owned) return;
    if (verdict?.kind === 'lose') this.#takeover.lose(verdict.why);
    if (owned !== null) return;
    // The next round may take as long as this one did, and so end too late.
    const { doubtInMs } = this.#fleet;
    const roundMs = this.#lease.instant().monotonic - beganAt + this.#nextRoundMs();
    if (doubtInMs > 0 && doubtInMs < roundMs) await this.#pauses.pause(doubtInMs);
    if ((await this.#fleet.isAbandoned(peers)) && this.#owned === null && !this.#pauses.ended)
      await this.#takeover.goBlind('nobody reaches the shared database, and nobody polls');
  }

  async #meet(): Promise<void> {
    const card = this.#registration.card ?? (await this.#registration.join());
    const sentAt = this.#lease.instant();
    const storedBefore = this.#owned?.store.stored ?? 0;
    const renewal = await this.#dependencies.cluster.renew(this.#registration.describe(card));
    // The membership was left or lost while the answer was on its way.
    if (this.#registration.card !== card || this.#pauses.ended) return;
    const look = this.#fleet.sift(renewal, this.#registration.describe(card));
    const wallNow = (sentAt.wall + this.#dependencies.clock.now()) / 2;
    const happened = this.#fleet.heard(look, this.#registration.describe(card), wallNow);
    // Lost commits may include the claim of an owner that still acts. A standby lets an owner that remembers more than the database go first.
    if (happened && this.#owned === null) this.#fleet.letOthersClaim();
    this.#takeover.notifyWhatHappened();
    this.#refuseDuplicate(card);
    // A former owner counts on a lease only once it owns the accounts again.
    if (look.renewed && (this.#owned === null || look.owner === card.incarnation))
      this.#lease.countFrom(sentAt);
    if (this.#owned !== null) await this.#keep(this.#owned, look, card, sentAt, storedBefore);
    else await this.#seek(look, card);
  }

  /** Handles the database's answer to a daemon that does not have the accounts. */
  async #seek(look: ClusterLook & { readonly renewed: boolean }, card: MemberCard): Promise<void> {
    this.#takeover.lapsedOwner = look.lapsedOwner;
    if (!look.renewed) this.#registration.renounce();
    else if (look.owner === card.incarnation) this.#takeover.take(look.epoch);
    else if (look.owner === null && this.#fleet.mayClaim) await this.#takeover.claim(card, look);
    else this.#standBy(look);
  }

  /** Of two processes with one name, the later one ends, unless it owns the accounts. */
  #refuseDuplicate(card: MemberCard): void {
    const { names } = this.#fleet;
    if (names.duplicate === null || this.#owned !== null) return;
    if (names.isLater(this.#registration.describe(card)))
      throw new OperatorError(namesake(card.node, names.duplicate));
  }

  #standBy({ owner }: ClusterLook): void {
    this.#takeover.standsBy = true;
    if (owner === null) return;
    this.#fleet.claimAgain();
    if (this.#fleet.link.owner?.status?.polls === true) this.#takeover.loadFailure = null;
  }

  #describe(process: string): Omit<MemberCard, 'incarnation'> {
    const { skewMs, firstLookAt: since } = this.#fleet.link;
    const skew = skewMs === null ? null : Math.round(skewMs);
    const stores = this.#owned?.stores ?? true;
    return {
      ...this.#dependencies.card(),
      status: { process, skewMs: skew, polls: this.mayPoll(), stores, since },
    };
  }

  /** Whether nobody has polled for so long that any living daemon that can poll should. */
  get isDoubtful(): boolean {
    return this.#fleet.isDoubtful;
  }

  /** Handles the database's answer to a present or former owner. */
  async #keep(
    owned: OwnedAccounts,
    look: ClusterLook & { readonly renewed: boolean },
    card: MemberCard,
    sentAt: Instant,
    storedBefore: number,
  ): Promise<void> {
    const { incarnation } = card;
    const isCurrent = () => this.#registration.card === card && this.#owned === owned;
    const verdict = owned.judge(look, incarnation, storedBefore);
    const { newerOwner } = this.#fleet;
    if (newerOwner !== null)
      this.#takeover.lose(
        `two database servers take writes, and ${newerOwner} owns the accounts on the newer history`,
      );
    else if (verdict.kind === 'keep') await this.#goOn(owned, incarnation);
    else if (verdict.kind === 'lose') this.#takeover.lose(verdict.why);
    else if (verdict.kind === 'claim') await this.#takeover.claim(card, look);
    else if (verdict.kind === 'take') this.#takeover.take(look.epoch);
    else if (verdict.kind === 'rejoin') {
      this.#registration.renounce();
      await this.#meet();
    } else if (verdict.kind === 'restore' && owned.willStoreAgain()) await this.#meet();
    else {
      const claim = this.#takeover.claims.ask;
      await owned.takeAgain(verdict.kind, { incarnation, sentAt, look, isCurrent, claim });
      if (isCurrent()) await this.#goOnInDoubt(owned, card);
    }
  }

  /** After a failed try to take the accounts again: others may act first. Of several daemons in doubt, the one with the first name goes on. */
  async #goOnInDoubt(owned: OwnedAccounts, card: MemberCard): Promise<void> {
    if (owned.phase === 'alone' && this.#fleet.pollingBeside(card).some((node) => node < card.node))
      this.#takeover.lose('another daemon polls as well, and has the first name');
    else if (!owned.mayPoll && !this.#fleet.hasTakerBeside(card.incarnation))
      await this.#takeover.ownInDoubt(card);
  }

  /** An owner whose clock is off gives the accounts away if another member's clock is right. */
  async #goOn(owned: OwnedAccounts, incarnation: string): Promise<void> {
    const { link } = this.#fleet;
    const { clock, log, leaseMs } = this.#dependencies;
    if (owned.phase === 'loading' && owned.unreadForMs >= leaseMs / 2)
      return this.#takeover.goBlind('what is stored cannot be read', owned);
    if (owned.phase !== 'owner' || !link.isClockSurelyOff || !link.hasRightClockBeside(incarnation)) return;
    if (!owned.isGivenAway)
      log.warn({ aheadMs: link.aheadMs }, 'the clock of this machine is off: giving the accounts away');
    void this.handOver({ at: clock.now(), epoch: owned.epoch });
  }

  #notePolling(): void {
    this.#fleet.notePolling(this.mayPoll(), this.#owned !== null && this.#owned.phase !== 'released');
  }

  #nextRoundMs(): number {
    const phase = this.#owned?.phase ?? 'released';
    const renews = phase !== 'alone' && phase !== 'released' && this.#fleet.link.reaches;
    return roundMs(this.#dependencies.leaseMs, renews);
  }
}
