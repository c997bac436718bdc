import type { StorageError } from '../domain/operator-error.ts';
import { dayMs } from '../domain/time.ts';
import type {
  ClusterLook,
  ClusterMember,
  ClusterPolling,
  DatabaseOrigin,
  MemberCard,
  PeerAnswer,
} from '../ports/cluster.ts';
import { ConfigurationWatch } from './configuration-watch.ts';
import { DatabaseLink } from './database-link.ts';
import { LeaseWatch } from './lease-watch.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** After this many leases in which nobody polled, a daemon that reaches the database takes the accounts, even in doubt. */
const leasesUntilDoubt = 2;

/** The time after which an address where nobody answered counts as abandoned. */
const peerMs = dayMs;

type OtherOwner = PeerAnswer & { readonly origin: DatabaseOrigin };

/** The knowledge of a process about the others that share its database, and about the database. Decides from that whether it may take the accounts. */
export class FleetView {
  readonly link: DatabaseLink;
  readonly names = new NameWatch();
  readonly configurations: ConfigurationWatch;
  polling: ClusterPolling;
  /** The last known owner of the accounts, which may be this process. */
  lastOwner: ClusterMember | null = null;
  readonly #dependencies: MembershipDependencies;
  /** Since when nobody polls, or it is unknown whether anybody does; null while somebody does. Monotonic. */
  #blindSince: number | null = null;
  /** Since when nobody polls although the database answers; null while somebody does, or it is unknown. Monotonic. */
  #nobodySince: number | null = null;
  /** Since when the database does not answer; null while it does, or if it never did. Monotonic. */
  #silentSince: number | null = null;
  /** Until this instant, others may claim first: this process gave the accounts away, or could not load them. Monotonic. */
  #claimsFrom = Number.NEGATIVE_INFINITY;
  /** The end of the owner's lease when others were let first. */
  #leaseEndsAt: number | undefined;
  /** The epoch whose owner it waited for after an outage of the database; null if it waited for none. */
  #waitedForEpoch: number | null = null;
  readonly #leases: LeaseWatch;
  #askedPeersAt = Number.NEGATIVE_INFINITY;
  #otherOwner: OtherOwner | null = null;
  /** The addresses that did not answer the last time, and since when. Monotonic. */
  #silentPeers: ReadonlyMap<string, number> = new Map();
  /** The instant from which every address of a possible other owner is known. Monotonic. */
  #knowsPeersFrom: number;
  /** Whether an owner on another server would be known here. */
  isSplitKnown = false;

  constructor(dependencies: MembershipDependencies) {
    const { clock, cluster, log, leaseMs } = dependencies;
    this.#dependencies = dependencies;
    this.#leases = new LeaseWatch(leaseMs);
    this.link = new DatabaseLink(log);
    this.#knowsPeersFrom = clock.monotonic() + peerMs;
    this.polling = { who: 'unknown', node: null, since: clock.now() };
    this.configurations = new ConfigurationWatch(cluster);
  }

  /** The look without members whose leases are over, because they were not extended. */
  sift<Look extends ClusterLook>(look: Look, own: MemberCard): Look {
    return this.#leases.observe(look, own, this.#dependencies.clock.monotonic());
  }

  /** Takes in a look of the member `card`; `wallNow` as in `DatabaseLink.heard`. Returns whether something happened to the database since. */
  heard(look: ClusterLook, card: MemberCard, wallNow: number): boolean {
    const { trouble } = this.link;
    const happened = this.link.heard(look, card.node, wallNow);
    this.link.heardAt = this.link.revision === null ? null : this.#dependencies.clock.monotonic();
    this.lastOwner = this.link.owner ?? this.lastOwner;
    this.#silentSince = null;
    if (trouble !== null) this.#waitForOwner(look);
    this.configurations.observe(look, this.#dependencies.clock.monotonic());
    this.names.observe(look, card);
    // A standby beside an owner has nothing to decide by this. It asks nobody, and forgets earlier answers.
    if (look.owner === null || look.owner === card.incarnation)
      this.#lookForOtherOwners(look, card.advertise);
    else {
      this.isSplitKnown = false;
      this.#otherOwner = null;
    }
    return happened;
  }

  /** Takes in a failed look. `askedAt`: when the look was sent that got no answer, or a late refusal. Monotonic. */
  failed(trouble: StorageError, askedAt: number): void {
    this.link.failed(trouble);
    this.#leases.interrupted();
    if (this.link.look !== null) this.#silentSince ??= askedAt;
  }

  /** Milliseconds until the database counts as abandoned because of its silence; negative after that, infinite while it answers. */
  get doubtInMs(): number {
    const { clock, leaseMs } = this.#dependencies;
    if (this.#silentSince === null) return Number.POSITIVE_INFINITY;
    return this.#silentSince + leasesUntilDoubt * leaseMs - clock.monotonic();
  }

  /**
   * Whether the database has been silent for two leases, but no longer than a daemon may go on alone, and nobody goes on from memory. The
   * daemon that polled before may do so, unless it is gone from its address.
   */
  async isAbandoned(peers: readonly ClusterMember[]): Promise<boolean> {
    const { askPeers, clock, leaseMs, aloneForMs } = this.#dependencies;
    const now = clock.monotonic();
    if (this.doubtInMs > 0 || now - (this.#silentSince ?? now) > aloneForMs) return false;
    if (now - this.#askedPeersAt < leaseMs) return false;
    this.#askedPeersAt = now;
    const answers = await askPeers(peers);
    const { owner } = this.link;
    const polled = owner?.status?.polls === false ? null : owner;
    if (polled !== null && !answers.some(({ node }) => node === polled.node)) return false;
    return answers.every(({ takenUnder, reachesDatabase }) => takenUnder === null && !reachesDatabase);
  }

  /** After an outage, the former owner may have gone on from memory: it gets a lease to come back, once per epoch even if outages repeat. */
  #waitForOwner({ owner, lapsedOwner, epoch }: ClusterLook): void {
    if ((owner ?? lapsedOwner) !== null && this.#waitedForEpoch !== epoch) this.letOthersClaim(epoch);
  }

  /** Whether another member could take the accounts now: it renews its lease, and its clock is right. */
  hasTakerBeside(incarnation: string): boolean {
    const now = this.#dependencies.clock.monotonic();
    return this.link.hasRightClockBeside(incarnation, (it) => this.#leases.isFresh(it.incarnation, now));
  }

  /** `polls`: whether this process polls; `owns`: whether it has the accounts. */
  notePolling(polls: boolean, owns: boolean): void {
    const { look, owner, trouble } = this.link;
    const elsewhere = this.newerOwner;
    if (polls) this.#setPolling('this');
    else if (elsewhere !== null) this.#setPolling('other', elsewhere);
    else if (trouble !== null || look === null) this.#setPolling('unknown');
    else if (!owns && owner !== null && owner.status?.polls !== false) this.#setPolling('other', owner.node);
    else this.#setPolling('nobody');
  }

  #setPolling(who: ClusterPolling['who'], node: string | null = null): void {
    const { clock } = this.#dependencies;
    const isOther = this.polling.who !== who || this.polling.node !== node;
    if (who !== 'nobody') this.#nobodySince = null;
    else this.#nobodySince ??= this.#leases.ownerRenewedAt ?? clock.monotonic();
    if (who === 'this' || who === 'other') this.#blindSince = null;
    else this.#blindSince ??= this.#nobodySince ?? clock.monotonic();
    if (isOther) this.polling = { who, node, since: clock.now() };
  }

  /** For how long nobody has polled, as far as is known; 0 while somebody does. */
  get blindForMs(): number {
    return this.#blindSince === null ? 0 : this.#dependencies.clock.monotonic() - this.#blindSince;
  }

  /** Whether nobody has polled for so long that any living daemon that can poll should. */
  get isDoubtful(): boolean {
    const { clock, leaseMs } = this.#dependencies;
    return this.#nobodySince !== null && clock.monotonic() - this.#nobodySince >= leasesUntilDoubt * leaseMs;
  }

  /** The nodes of other members that say that they poll: of several in doubt, one is enough. */
  pollingBeside({ node }: Pick<ClusterMember, 'node'>): readonly string[] {
    const members = this.link.look?.members ?? [];
    return members.filter((it) => it.node !== node && it.status?.polls === true).map((it) => it.node);
  }

  get mayClaim(): boolean {
    if (this.isDoubtful) return true;
    if (this.newerOwner !== null || this.link.isClockOff) return false;
    // The owner that it waited for gave the accounts away or left. One that was killed, or will come back, would have a lapsed lease.
    if (this.#waitedForEpoch !== null && this.link.look?.lapsedOwner === null) return true;
    return this.#dependencies.clock.monotonic() >= this.#claimsFrom;
  }

  letOthersClaim(waitedForEpoch: number | null = null): void {
    const { clock, leaseMs } = this.#dependencies;
    this.#waitedForEpoch = waitedForEpoch;
    this.#claimsFrom = clock.monotonic() + leaseMs;
    this.#leaseEndsAt = this.link.owner?.expiresAt;
  }

  /** An owner that renewed its lease since had its turn, and notified channels of what happened: this process may claim again after it. */
  claimAgain(): void {
    if (this.link.owner?.expiresAt === this.#leaseEndsAt) return;
    this.#claimsFrom = Number.NEGATIVE_INFINITY;
    this.#waitedForEpoch = null;
    this.link.toNotify = null;
  }

  /**
   * Finds out whether two servers take writes, each with its own owner: a daemon that is no longer a member here, but answers at its address that
   * it owns the accounts, owns them on another server. Owners and possible owners ask once a lease. `address`: this process's own.
   */
  #lookForOtherOwners({ origin, members }: ClusterLook, address: string | null): void {
    const { clock, leaseMs } = this.#dependencies;
    const now = clock.monotonic();
    if (origin === null || now - this.#askedPeersAt < leaseMs) return;
    this.#askedPeersAt = now;
    const living = new Set(members.map(({ advertise }) => advertise));
    const absent = this.link.peersBeside(address).filter(({ advertise }) => !living.has(advertise));
    void this.#askForOtherOwners(absent, now);
  }

  async #askForOtherOwners(absent: readonly ClusterMember[], now: number): Promise<void> {
    const { askPeers } = this.#dependencies;
    const asked = absent.map(async (peer) => [peer.advertise ?? '', await askPeers([peer])] as const);
    const heard = await Promise.all(asked);
    const silent = heard.flatMap(([address, [answer]]) => (answer === undefined ? [address] : []));
    this.#silentPeers = new Map(silent.map((address) => [address, this.#silentPeers.get(address) ?? now]));
    const answers = heard.flatMap(([, [answer]]) => answer ?? []);
    const own = this.link.look?.origin;
    const otherOwners = answers.flatMap((answer) => {
      const { origin } = answer;
      const isElsewhere =
        origin !== null && (origin.system !== own?.system || origin.timeline !== own.timeline);
      return answer.owns && isElsewhere ? [{ ...answer, origin }] : [];
    });
    this.#otherOwner =
      otherOwners.toSorted((left, right) => right.origin.timeline - left.origin.timeline)[0] ?? null;
    if (this.#otherOwner !== null) this.#knowsPeersFrom = now;
    this.isSplitKnown =
      now >= this.#knowsPeersFrom && this.#silentPeers.values().every((since) => now - since >= peerMs);
  }

  /** A sentence about two servers that take writes; null if no other one is known. */
  get split(): string | null {
    const own = this.link.look?.origin;
    if (this.#otherOwner === null || own == null) return null;
    const { node, origin } = this.#otherOwner;
    const where =
      origin.system === own.system
        ? `on timeline ${origin.timeline}, this one is on ${own.timeline}`
        : 'of another origin';
    return `two database servers take writes: ${node} owns the accounts on one ${where}`;
  }

  /** The node that owns the accounts on a newer history of this database, on another server; null if there is none. */
  get newerOwner(): string | null {
    const own = this.link.look?.origin;
    if (this.#otherOwner === null || own == null) return null;
    const { node, origin } = this.#otherOwner;
    return origin.system === own.system && origin.timeline > own.timeline ? node : null;
  }
}

/** Finds another process with the same node name: nobody could tell which of the two an operator means. */
class NameWatch {
  duplicate: ClusterMember | null = null;
  /** The ends of the leases of members with the same name, by incarnation: a growing one belongs to a living process. */
  #expiry = new Map<string, number>();

  observe({ members }: ClusterLook, { node, status: own }: MemberCard): void {
    const namesakes = members.filter(
      (member) => member.node === node && member.status?.process !== own?.process,
    );
    this.duplicate =
      namesakes.find(
        ({ incarnation, expiresAt }) => expiresAt > (this.#expiry.get(incarnation) ?? expiresAt),
      ) ??
      namesakes.find(({ incarnation }) => incarnation === this.duplicate?.incarnation) ??
      null;
    this.#expiry = new Map(namesakes.map(({ incarnation, expiresAt }) => [incarnation, expiresAt]));
  }

  isLater({ status: own }: MemberCard): boolean {
    if (this.duplicate === null || own?.since == null) return false;
    const { status } = this.duplicate;
    if (status === null) return true;
    if (status.since === null) return false;
    return status.since < own.since || (status.since === own.since && status.process < own.process);
  }
}
