/** A tenth of the documented limit of the account group. */
export const maxRequestsPerSecondLimit = 20;

/** Milliseconds of the caller's clock. */
export interface Reservation {
  readonly startAt: number;
  readonly nextFreeAt: number;
}

/** Clocks are read in whole milliseconds: twenty requests a second would sometimes be twenty-one. */
const marginMs = 1;

/** The least time between two sendings of one group, in milliseconds. */
export function spacingMs(perSecond: number): number {
  return 1000 / perSecond + marginMs;
}

/**
 * Takes the next place in a group's queue: requests of one group start at least `spacingMs(perSecond)` apart,
 * no matter what asks for them.
 *
 * A group that rested saves nothing up: there are no bursts. `nextFreeAt` is what the group's last
 * reservation gave, or `-Infinity` for its first. A reservation once taken is spent even when its request is
 * given up.
 */
export function reserve(nextFreeAt: number, now: number, perSecond: number): Reservation {
  const startAt = Math.max(nextFreeAt, now);
  return { startAt, nextFreeAt: startAt + spacingMs(perSecond) };
}
