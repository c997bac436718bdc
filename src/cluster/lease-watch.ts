import type { ClusterLook, MemberCard } from '../ports/cluster.ts';

interface SeenLease {
  /** An instant of the database's clock. */
  readonly endsAt: number;
  /** When it last changed, by the monotonic clock of this process. */
  readonly changedAt: number;
}

/** A living daemon renews its lease several times in its length: a lease that stays the same for that long is over, whatever its end says. */
export class LeaseWatch {
  /** When the last owner was last seen to have renewed; null if that is unknown. Monotonic. */
  ownerRenewedAt: number | null = null;
  readonly #leaseMs: number;
  #seen = new Map<string, SeenLease>();

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Forgets what was seen: while the database did not answer, nobody could renew. */
  interrupted(): void {
    this.#seen.clear();
    this.ownerRenewedAt = null;
  }

  /** The look without members whose leases are over, and without earlier incarnations of this process, whose card is `own`. */
  observe<Look extends ClusterLook>(look: Look, own: MemberCard, now: number): Look {
    const seen = look.members.map(({ incarnation, expiresAt }): [string, SeenLease] => {
      const before = this.#seen.get(incarnation);
      return [incarnation, before?.endsAt === expiresAt ? before : { endsAt: expiresAt, changedAt: now }];
    });
    this.#seen = new Map(seen);
    this.ownerRenewedAt = this.#seen.get(look.owner ?? '')?.changedAt ?? this.ownerRenewedAt;
    const members = look.members.filter(
      ({ incarnation, status }) =>
        incarnation === own.incarnation ||
        (status?.process !== own.status?.process && this.#ageOf(incarnation, now) < this.#leaseMs),
    );
    if (look.owner === null || members.some((member) => member.incarnation === look.owner))
      return { ...look, members };
    const gone = look.members.find((member) => member.incarnation === look.owner);
    const overdue = gone === undefined ? {} : { overdue: gone.expiresAt, lapsedOwner: gone.node };
    return { ...look, ...overdue, members, owner: null };
  }

  /** Whether it renewed a short time ago: a standby renews each second, or more often. */
  isFresh(incarnation: string, now: number): boolean {
    return this.#ageOf(incarnation, now) < this.#leaseMs / 2;
  }

  #ageOf(incarnation: string, now: number): number {
    const seen = this.#seen.get(incarnation);
    return seen === undefined ? Number.POSITIVE_INFINITY : now - seen.changedAt;
  }
}
