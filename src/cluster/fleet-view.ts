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

/** After so many leases in which nobody polled, who reaches the database takes the accounts, even in doubt. */
const leasesUntilDoubt = 2;

/** An address at which nobody was seen for so long is nobody's. */
const peerMs = dayMs;

type OtherOwner = PeerAnswer & { readonly origin: DatabaseOrigin };

/** The knowledge of a process about those that share its database and the database itself, and whether it may take the accounts by that. */
export class FleetView {
  readonly link: DatabaseLink;
  readonly names = new NameWatch();
  readonly configurations: ConfigurationWatch;
  polling: ClusterPolling;
  /** The last known owner of the accounts, be it this process. */
  lastOwner: ClusterMember | null = null;
  readonly #dependencies: MembershipDependencies;
  /** Since when nobody polls, or nothing is known of that; null where somebody does. Monotonic. */
  #blindSince: number | null = null;
  /** Since when nobody polls although the database answers; null where somebody does, or nothing is known. Monotonic. */
  #nobodySince: number | null = null;
  /** Since when the database does not answer; null where it does, or never did. Monotonic. */
  #silentSince: number | null = null;
  /** It gave the accounts away, or could not load them, and lets others take them first. */
  #claimsFrom = Number.NEGATIVE_INFINITY;
  /** The end of the owner's lease then. */
  #leaseEndsAt: number | undefined;
  /** It waited for the owner of this epoch to come back after an outage of the database. */
  #waitedForEpoch: number | null = null;
  readonly #leases: LeaseWatch;
  #askedPeersAt = Number.NEGATIVE_INFINITY;
  #otherOwner: OtherOwner | null = null;
  /** The addresses at which nobody answered the last time, and since when. Monotonic. */
  #silentPeers: ReadonlyMap<string, number> = new Map();
  /** The instant from which on it knows every address at which somebody may own the accounts elsewhere. Monotonic. */
  #knowsPeersFrom: number;
  /** Whether it would know of an owner on another server. */
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

  /** A look, as seen by leases that grow. */
  sift<Look extends ClusterLook>(look: Look, own: MemberCard): Look {
    return this.#leases.observe(look, own, this.#dependencies.clock.monotonic());
  }

  /** A look of the member of this card; `wallNow` as for the link. Gives whether something happened to the database since the one before. */
  heard(look: ClusterLook, card: MemberCard, wallNow: number): boolean {
    const { trouble } = this.link;
    const happened = this.link.heard(look, card.node, wallNow);
    this.link.heardAt = this.link.revision === null ? null : this.#dependencies.clock.monotonic();
    this.lastOwner = this.link.owner ?? this.lastOwner;
    this.#silentSince = null;
    if (trouble !== null) this.#waitForOwner(look);
    this.configurations.observe(look, this.#dependencies.clock.monotonic());
    this.names.observe(look, card);
    // A standby next to an owner has nothing to decide by it, asks nobody, and forgets what it heard.
    if (look.owner === null || look.owner === card.incarnation)
      this.#lookForOtherOwners(look, card.advertise);
    else {
      this.isSplitKnown = false;
      this.#otherOwner = null;
    }
    return happened;
  }

  /** `askedAt`: when it was asked what it did not answer, or refused after seconds. Monotonic. */
  failed(trouble: StorageError, askedAt: number): void {
    this.link.failed(trouble);
    this.#leases.interrupted();
    if (this.link.look !== null) this.#silentSince ??= askedAt;
  }

  /** Until the database has been silent for so long that it may be abandoned; negative after that, infinite while it answers. */
  get doubtInMs(): number {
    const { clock, leaseMs } = this.#dependencies;
    if (this.#silentSince === null) return Number.POSITIVE_INFINITY;
    return this.#silentSince + leasesUntilDoubt * leaseMs - clock.monotonic();
  }

  /**
   * Whether the database has been silent for two leases, not for longer than a daemon may go on alone, and nobody goes on from memory: who
   * polled before may, unless it is gone from its address.
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

  /** The daemon that had the accounts before an outage, and went on from memory, has them for a lease after it: once, should the database come and go. */
  #waitForOwner({ owner, lapsedOwner, epoch }: ClusterLook): void {
    if ((owner ?? lapsedOwner) !== null && this.#waitedForEpoch !== epoch) this.letOthersClaim(epoch);
  }

  /** Whether another member could take the accounts now: it renews, and its clock is right. */
  hasTakerBeside(incarnation: string): boolean {
    const now = this.#dependencies.clock.monotonic();
    return this.link.hasRightClockBeside(incarnation, (it) => this.#leases.isFresh(it.incarnation, now));
  }

  /** `polls`: whether this process does; `owns`: whether it has the accounts. */
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

  /** For how long nobody has polled as far as can be known; 0 where somebody does. */
  get blindForMs(): number {
    return this.#blindSince === null ? 0 : this.#dependencies.clock.monotonic() - this.#blindSince;
  }

  /** Whether nobody has polled for so long that alive and able to poll is enough. */
  get isDoubtful(): boolean {
    const { clock, leaseMs } = this.#dependencies;
    return this.#nobodySince !== null && clock.monotonic() - this.#nobodySince >= leasesUntilDoubt * leaseMs;
  }

  /** The other members that say that they poll: one in doubt is enough. */
  pollingBeside({ node }: Pick<ClusterMember, 'node'>): readonly string[] {
    const members = this.link.look?.members ?? [];
    return members.filter((it) => it.node !== node && it.status?.polls === true).map((it) => it.node);
  }

  get mayClaim(): boolean {
    if (this.isDoubtful) return true;
    if (this.newerOwner !== null || this.link.isClockOff) return false;
    // The owner that it waited for gave the accounts away or left. One that was killed, or will come back, has a lapsed lease there.
    if (this.#waitedForEpoch !== null && this.link.look?.lapsedOwner === null) return true;
    return this.#dependencies.clock.monotonic() >= this.#claimsFrom;
  }

  letOthersClaim(waitedForEpoch: number | null = null): void {
    const { clock, leaseMs } = this.#dependencies;
    this.#waitedForEpoch = waitedForEpoch;
    this.#claimsFrom = clock.monotonic() + leaseMs;
    this.#leaseEndsAt = this.link.owner?.expiresAt;
  }

  /** An owner that has renewed its lease since had its turn: what it gives away is anybody's again, and channels were notified of what happened. */
  claimAgain(): void {
    if (this.link.owner?.expiresAt === this.#leaseEndsAt) return;
    this.#claimsFrom = Number.NEGATIVE_INFINITY;
    this.#waitedForEpoch = null;
    this.link.toNotify = null;
  }

  /**
   * Whether two servers take writes, each with an owner of its own: who is no member here any more, and answers at its address that it owns
   * the accounts, does so somewhere else. Asked once a lease, by who owns the accounts and by who could. `address`: this process's own.
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

  /** The state of two servers that take writes, as a sentence; null where that is not known. */
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

  /** The node that owns the accounts on a newer history of this database, on another server; null where there is none. */
  get newerOwner(): string | null {
    const own = this.link.look?.origin;
    if (this.#otherOwner === null || own == null) return null;
    const { node, origin } = this.#otherOwner;
    return origin.system === own.system && origin.timeline > own.timeline ? node : null;
  }
}

/** Finds another process of the name of this one: nobody could say which of both an operator means. */
class NameWatch {
  duplicate: ClusterMember | null = null;
  /** The ends of namesakes' leases, by incarnation: one that grows belongs to a process that lives. */
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
