import type { Clock } from '../ports/clock.ts';

/** Of the lease in the database, the owner believes in so much of its own, from the sending of the renewal on. */
const ownShare = 3 / 4;

/** An instant by both clocks of the machine: the wall clock goes on while it sleeps, the other one does not jump. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/**
 * The lease as its holder believes in it: the database decides by its own clock when it is over, and the holder stops before that,
 * whichever of its clocks says so first.
 */
export class OwnLease {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #renewedAt: Instant | null = null;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  instant(): Instant {
    return { monotonic: this.#clock.monotonic(), wall: this.#clock.now() };
  }

  countFrom(sentAt: Instant): void {
    this.#renewedAt = sentAt;
  }

  end(): void {
    this.#renewedAt = null;
  }

  get lasts(): boolean {
    if (this.#renewedAt === null) return false;
    const { monotonic, wall } = this.instant();
    const passedMs = Math.max(monotonic - this.#renewedAt.monotonic, wall - this.#renewedAt.wall);
    return passedMs < this.#leaseMs * ownShare;
  }
}
