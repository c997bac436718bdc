import type { Settings } from '../../src/domain/settings.ts';
import { endOfOwner, type Frame, oneOrMany, type Scene } from './pair-frame.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

export const newestPairs = [
  'asked to wait × take-over',
  'rounds × sleep',
  'hand-over × taken',
  'link at standby × order',
  'renamed entry × take-over',
] as const;
export type NewestPair = (typeof newestPairs)[number];

export const newestFrames: Readonly<Record<NewestPair, Frame>> = {
  // Reports stand behind no message, and no message behind them.
  'asked to wait × take-over': {
    nodes: oneOrMany,
    faults: ['closed', 'closed', 'slow'],
    everywhere: true,
    reports: ['0 * * * *'],
  },
  'rounds × sleep': { nodes: oneOrMany, types: ['alertmanager', 'alertmanager'] },
  'hand-over × taken': { nodes: [2, 3, 3] },
  'link at standby × order': { nodes: [2, 3, 3], types: ['slack', 'email'] },
  'renamed entry × take-over': { nodes: oneOrMany, weather: ['rate_limited', 'auth_failed', 'slow'] },
};

/** The event that meets the rest of its pair, once. */
export function drawNewest(from: Seeded, pair: NewestPair, { settings, at, until }: Scene): Happening[] {
  const forMs = Math.max(0, Math.min(6 * hourMs, until - at - 20 * minuteMs));
  switch (pair) {
    case 'asked to wait × take-over': {
      const take = { kind: 'acknowledge', byOrder: false } as const;
      const next: Happening[] = [
        { at: from.skewed(1, 2 * minuteMs), ...take, place: 0 },
        endOfOwner(from, from.skewed(1, 20 * minuteMs)),
        { at: from.skewed(minuteMs, 30 * minuteMs), ...take, place: 1 },
      ];
      return [{ at, kind: 'await', what: from.pick(['a message', 'a report']), forMs, next }];
    }
    case 'rounds × sleep': {
      const awayMs = from.skewed(minuteMs, 6 * hourMs);
      return from.pick<Happening[]>([
        [{ at, kind: from.pick(['suspend', 'pause']), forMs: awayMs }],
        [{ at, kind: 'jump', byMs: from.pick([-1, 1]) * awayMs }],
        [endOfOwner(from, at)],
        [endOfOwner(from, at), { at: at + from.pick([0, 1, 700]), kind: 'suspend', forMs: awayMs }],
      ]);
    }
    case 'hand-over × taken': {
      // The order comes while the owner ends its work, or when another has begun.
      const handedAt = from.skewed(1, 2 * minuteMs);
      const place = from.int(0, 2);
      const about = (): number => Math.max(0, handedAt + from.pick([-700, -1, 0, 1, 50, 700, 5000]));
      const next: Happening[] = [
        { at: handedAt, kind: 'hand over' },
        { at: about(), kind: 'acknowledge', place, byOrder: false, alone: true },
        ...from.some<Happening>([{ at: about(), kind: 'order at standby', what: 'take', place }], 0.5),
        ...from.some<Happening>(
          [{ at: about(), kind: 'undo', what: 'release', place: 0, byOrder: false }],
          0.3,
        ),
      ];
      return [{ at, kind: 'await', what: 'a message', forMs, next }];
    }
    case 'link at standby × order': {
      const place = from.int(0, 7);
      const order = (orderedAt: number): Happening =>
        from.pick<Happening>([
          { at: orderedAt, kind: 'acknowledge', place: 0, byOrder: from.chance(0.5) },
          { at: orderedAt, kind: 'undo', what: 'release', place: 0, byOrder: from.chance(0.5) },
          { at: orderedAt, kind: 'press', place, twice: false, byLink: from.chance(0.5) },
        ]);
      const pressedAt = at + from.skewed(1, hourMs);
      return [
        { at: pressedAt, kind: 'order at standby', what: 'link', place },
        order(Math.max(at, pressedAt + from.pick([-1000, -1, 0, 1, 300, 1000, 8000]))),
        ...from.some<Happening>([{ at: pressedAt + 1, kind: 'order at standby', what: 'link', place }], 0.3),
        ...from.some([endOfOwner(from, pressedAt + from.pick([1, 50, 700]))], 0.3),
      ];
    }
    case 'renamed entry × take-over':
      return [
        { at, kind: 'reload', settings: from.pick([settings, withRenamedEntry(settings)]) },
        ...from.some([endOfOwner(from, at + from.pick([0, 1, 50, 700, 20 * minuteMs]))], 0.6),
      ];
  }
}

/** The same accounts under another entry, which is written alike. */
function withRenamedEntry(settings: Settings): Settings {
  const name = 'renamed';
  const accounts = settings.accounts.map((account) => ({ ...account, provider: name }));
  return {
    ...settings,
    accounts,
    providers: { ...settings.providers, [name]: { ...settings.provider, name } },
  };
}
