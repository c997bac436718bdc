import { endOfOwner, type Frame, type Scene } from './pair-frame.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

/** Events that befall an owner alone, for daemons with no other faults. */
export const ownerPairs = ['stood still × asked', 'outage × given away'] as const;
export type OwnerPair = (typeof ownerPairs)[number];

const frame: Frame = { nodes: [2, 3, 3], isUndisturbed: true };
export const ownerFrames: Readonly<Record<OwnerPair, Frame>> = {
  'stood still × asked': frame,
  'outage × given away': frame,
};

/** The event that meets the rest of its pair, once. */
export function drawOwners(from: Seeded, pair: OwnerPair, { at }: Scene): Happening[] {
  switch (pair) {
    case 'stood still × asked': {
      const askedAfterMs = [0, 0, 1, 50, 700, 5000];
      return [{ at, kind: 'pause', forMs: from.skewed(5000, 2 * hourMs), askedAfterMs }];
    }
    case 'outage × given away': {
      // As long as the looks of who stands by, and given away before the lease after it is over.
      const forMs = from.int(minuteMs, 6 * minuteMs);
      return [
        { at, kind: 'line', fault: 'cut', everyone: true, forMs },
        endOfOwner(from, at + forMs + from.pick([1, 5000, minuteMs, 1.5 * minuteMs, 2.5 * minuteMs])),
      ];
    }
  }
}
