import { endOfOwner, type Frame, type Scene } from './pair-frame.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

export const newestPairs = ['asked to wait × take-over', 'rounds × sleep'] as const;
export type NewestPair = (typeof newestPairs)[number];

/** One machine, whose process ends, as often as several. */
const oneOrMany = [1, 1, 2, 3];

export const newestFrames: Readonly<Record<NewestPair, Frame>> = {
  // Reports stand behind no message, and no message behind them.
  'asked to wait × take-over': {
    nodes: oneOrMany,
    faults: ['closed', 'closed', 'slow'],
    everywhere: true,
    reports: ['0 * * * *'],
  },
  'rounds × sleep': { nodes: oneOrMany, types: ['alertmanager', 'alertmanager'] },
};

/** The event that meets the rest of its pair, once. */
export function drawNewest(from: Seeded, pair: NewestPair, { at, until }: Scene): Happening[] {
  switch (pair) {
    case 'asked to wait × take-over': {
      const take = { kind: 'acknowledge', byOrder: false } as const;
      const next: Happening[] = [
        { at: from.skewed(1, 2 * minuteMs), ...take, place: 0 },
        endOfOwner(from, from.skewed(1, 20 * minuteMs)),
        { at: from.skewed(minuteMs, 30 * minuteMs), ...take, place: 1 },
      ];
      const forMs = Math.max(0, Math.min(6 * hourMs, until - at - 20 * minuteMs));
      return [{ at, kind: 'await', what: from.pick(['a message', 'a report']), forMs, next }];
    }
    case 'rounds × sleep': {
      const forMs = from.skewed(minuteMs, 6 * hourMs);
      return from
        .pick<readonly Happening[]>([
          [{ at, kind: from.pick(['suspend', 'pause']), forMs }],
          [{ at, kind: 'jump', byMs: from.pick([-1, 1]) * forMs }],
          [endOfOwner(from, at)],
          [endOfOwner(from, at), { at: at + from.pick([0, 1, 700]), kind: 'suspend', forMs }],
        ])
        .slice();
    }
  }
}
