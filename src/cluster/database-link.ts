import type { StorageError } from '../domain/operator-error.ts';
import type { ClusterLook, ClusterMember, DatabaseOrigin } from '../ports/cluster.ts';
import type { Log } from '../ports/log.ts';
import { isBehind } from './judge-look.ts';

/** More addresses than a cluster has. Old ones are forgotten, because each start may bring a new one. */
const maxPeers = 32;

/** Readings carry the time of the machine's clock: a daemon whose clock is further off than this owns nothing. */
export const maxSkewMs = 2000;

/** An owner looks four times in a lease. To give the accounts away it takes up to three leases: waiting for a taker, storing, and waiting again. */
const looksToGive = 12;

interface Lost {
  readonly epoch: number;
  readonly batches: number;
}

/** The latest look at the shared database, or why there is none. Logs every change. */
export class DatabaseLink {
  look: ClusterLook | null = null;
  /** When the database first answered, by its own clock; null before. */
  firstLookAt: number | null = null;
  /** When the database last answered, monotonic; null before, and if it answered that what is stored is not what the owner knows. */
  heardAt: number | null = null;
  /** Why the database did not answer the last time; null if it did. */
  trouble: StorageError | null = null;
  /** The last event of the database, as a clause. An owner has yet to notify channels of it: the next owner if the present one died with it. */
  toNotify: string | null = null;
  /** How often something happened to the database that may have lost data. */
  upsets = 0;
  /** Milliseconds that the database's clock is behind the clock that the daemons share; 0 if the database's own clock counts. */
  databaseBehindMs = 0;
  readonly #log: Log;
  readonly #peers = new Map<string, ClusterMember>();
  #skewMs = 0;
  #looksOff = 0;
  /** The epoch down to which the database lost commits. It counts until that epoch has as many batches again, or another epoch begins. */
  #lost: Lost | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  get reaches(): boolean {
    return this.look !== null && this.trouble === null;
  }

  /** Milliseconds that this machine's clock is ahead of the database's; null before the first look. */
  get skewMs(): number | null {
    return this.look === null ? null : this.#skewMs;
  }

  /** Milliseconds that this machine's clock is ahead of the clock that counts: the database's, or the one that the daemons share. */
  get aheadMs(): number {
    return this.#skewMs - this.databaseBehindMs;
  }

  get isClockOff(): boolean {
    return Math.abs(this.aheadMs) > maxSkewMs;
  }

  /** Whether the clock was also off at the look before: what other members say of their clocks is as old as their renewals. */
  get isClockSurelyOff(): boolean {
    return this.#looksOff > 1;
  }

  /** Whether the clock was off for so long that an owner would have given its accounts away if it could. */
  get isClockLongOff(): boolean {
    return this.#looksOff > looksToGive;
  }

  /** Whether a living member other than `incarnation`, among those that are `meant`, says that its clock is right. */
  hasRightClockBeside(incarnation: string, meant: (member: ClusterMember) => boolean = () => true): boolean {
    return (this.look?.members ?? []).some(
      (member) =>
        member.incarnation !== incarnation &&
        meant(member) &&
        Math.abs((member.status?.skewMs ?? this.databaseBehindMs) - this.databaseBehindMs) <= maxSkewMs,
    );
  }

  /** Known daemons at other addresses than this one, even if they left: they may be back since the last look. */
  peersBeside(address: string | null): readonly ClusterMember[] {
    return [...this.#peers.values()].filter(({ advertise }) => advertise !== address);
  }

  /** Null if nobody owns the accounts, or it is not known who does. */
  get owner(): ClusterMember | null {
    return this.look?.members.find(({ incarnation }) => incarnation === this.look?.owner) ?? null;
  }

  get programs(): readonly string[] {
    return this.look?.members.map(({ program }) => program) ?? [];
  }

  /** Null if there is no owner, or if it stores what it does. */
  get ownerThatStoresNothing(): ClusterMember | null {
    return this.owner?.status?.stores === false ? this.owner : null;
  }

  /** A different value after each change of what is stored; null if that is unknown now, or is not what the owner knows. */
  get revision(): string | null {
    return this.reaches && this.#lost === null && this.ownerThatStoresNothing === null
      ? `${this.look?.epoch} ${this.look?.batch}`
      : null;
  }

  /**
   * Takes in a look. `wallNow`: this machine's clock when the database read its own, as far as is known; `node`: this daemon's name.
   * Returns whether something happened to the database since the last look.
   */
  heard(look: ClusterLook, node: string, wallNow: number): boolean {
    const happened = this.look === null ? null : compareLooks(this.look, look);
    if (this.trouble !== null) this.#log.info({}, 'the shared database answers');
    this.trouble = null;
    this.#lost = this.#lostAt(look);
    this.look = look;
    this.firstLookAt ??= look.databaseNow;
    for (const member of look.members) this.#keep(member);
    this.#skewMs = wallNow - look.databaseNow;
    // A process that was killed a moment ago used the same clock as its successor: each machine counts once.
    const skews = new Map(look.members.map((member) => [member.node, member.status?.skewMs ?? null]));
    skews.delete(node);
    const others = [...skews.values()].filter((skew) => skew !== null);
    const behindMs = this.databaseBehindMs;
    const sharedMs = sharedSkewMs([this.#skewMs, ...others]);
    // When the daemons that agreed with it are gone, a daemon keeps using the clock that they agreed on.
    const isStillTrue =
      Math.abs(this.#skewMs - behindMs) <= maxSkewMs && others.every((skew) => Math.abs(skew) > maxSkewMs);
    this.databaseBehindMs = sharedMs === 0 && isStillTrue ? behindMs : sharedMs;
    this.#looksOff = this.isClockOff ? this.#looksOff + 1 : 0;
    if ((behindMs === 0) !== (this.databaseBehindMs === 0))
      this.#log.warn(
        { behindMs: this.databaseBehindMs },
        this.databaseBehindMs === 0
          ? 'the clock of the database is right again'
          : 'the clock of the database is off: the daemons agree with one another, and go by their own',
      );
    if (happened === null) return false;
    this.#log.warn({ origin: look.origin, epoch: look.epoch }, happened);
    this.toNotify = happened;
    this.upsets += 1;
    return true;
  }

  #lostAt(look: ClusterLook): Lost | null {
    const { epoch, batch } = look;
    const before = this.look && { epoch: this.look.epoch, stored: this.look.batch ?? 0 };
    if (before !== null && isBehind(before, look))
      return { epoch, batches: before.epoch === epoch ? before.stored : Number.POSITIVE_INFINITY };
    // An owner that does not know that its batches were stored stores them again under the same epoch.
    return epoch !== this.#lost?.epoch || (batch ?? 0) >= this.#lost.batches ? null : this.#lost;
  }

  #keep(member: ClusterMember): void {
    if (member.advertise === null) return;
    this.#peers.delete(member.advertise);
    this.#peers.set(member.advertise, member);
    const [oldest = ''] = this.#peers.keys();
    if (this.#peers.size > maxPeers) this.#peers.delete(oldest);
  }

  failed(trouble: StorageError): void {
    if (this.trouble?.message !== trouble.message)
      this.#log.warn({ err: trouble }, 'the shared database does not answer');
    this.trouble = trouble;
  }
}

/**
 * Milliseconds that the clock that counts is ahead of the database's, from how far each daemon's clock is ahead of it. 0 means that
 * the database's own clock counts. The daemons' clock counts if those that agree with one another are more than all others
 * and the database together: then the database's clock is the wrong one.
 */
export function sharedSkewMs(skews: readonly number[]): number {
  const agreeing = (skew: number): number =>
    skews.filter((other) => Math.abs(other - skew) <= maxSkewMs).length;
  const [best = 0] = skews.toSorted((left, right) => agreeing(right) - agreeing(left));
  const isMajority = agreeing(best) > skews.length - agreeing(best) + 1;
  return isMajority && Math.abs(best) > maxSkewMs ? best : 0;
}

function compareLooks(before: ClusterLook, now: ClusterLook): string | null {
  const lost = describeLoss(before, now);
  const moved = describeMove(before.origin, now.origin);
  if (moved === null) return lost === null ? null : `the database ${lost}`;
  return lost === null ? moved : `${moved} and ${lost}`;
}

function describeMove(before: DatabaseOrigin | null, now: DatabaseOrigin | null): string | null {
  if (before === null || now === null) return null;
  if (before.system !== now.system) return 'the database is another server now';
  if (before.timeline === now.timeline) return null;
  return before.timeline < now.timeline
    ? `the database failed over (timeline ${before.timeline} to ${now.timeline})`
    : `the database went back from timeline ${before.timeline} to ${now.timeline}`;
}

function describeLoss(before: ClusterLook, now: ClusterLook): string | null {
  if (now.epoch < before.epoch) return `lost its commits since epoch ${now.epoch}`;
  if (now.epoch !== before.epoch || now.batch === null || before.batch === null) return null;
  return now.batch < before.batch ? `lost at least its last ${before.batch - now.batch} commits` : null;
}
