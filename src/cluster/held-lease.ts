import type { Clock } from '../ports/clock.ts';

/** The part of the lease on which the owner relies, counted from the sending of the renewal. */
const ownShare = 3 / 4;

/** An instant by both clocks of the machine: the wall clock goes on while it sleeps, the monotonic clock never jumps. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export type OwnLease = ReturnType<typeof createOwnLease>;

/** The lease as its holder sees it: it ends before the database's clock says so, by whichever of the machine's clocks is first. */
export function createOwnLease(clock: Clock, leaseMs: number) {
  let renewedAt: Instant | null = null;
  const instant = (): Instant => ({ monotonic: clock.monotonic(), wall: clock.now() });
  return {
    instant,
    countFrom(sentAt: Instant): void {
      renewedAt = sentAt;
    },
    end(): void {
      renewedAt = null;
    },
    get lasts(): boolean {
      if (renewedAt === null) return false;
      const { monotonic, wall } = instant();
      return Math.max(monotonic - renewedAt.monotonic, wall - renewedAt.wall) < leaseMs * ownShare;
    },
  };
}
