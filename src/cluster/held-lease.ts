import type { Clock } from '../ports/clock.ts';

/** The part of the database's lease that the owner believes in, from the sending of the renewal on. */
const ownShare = 3 / 4;

/** An instant by both clocks of the machine: the wall clock goes on while it sleeps, the other one does not jump. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export type OwnLease = ReturnType<typeof createOwnLease>;

/** The lease as its holder believes in it: it stops before the database's clock says so, whichever of its own says so first. */
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
