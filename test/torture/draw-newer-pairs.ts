import type { Settings } from '../../src/domain/settings.ts';
import { drawLatest, type LatestPair, latestFrames, latestPairs } from './draw-latest-pairs.ts';
import { drawLife, type LifePair, lifeFrames, lifePairs } from './draw-life-pairs.ts';
import { drawNewest, type NewestPair, newestFrames, newestPairs } from './draw-newest-pairs.ts';
import { drawOwners, type OwnerPair, ownerFrames, ownerPairs } from './draw-owner-pairs.ts';
import { drawServers, type ServerPair, serverFrames, serverPairs } from './draw-server-pairs.ts';
import { endOfOwner, type Frame, type Scene } from './pair-frame.ts';
import { renamedAccounts, withoutChannel } from './receiver-names.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

const ownPairs = [
  'refused order × standby',
  'claim × take-over',
  'run × run',
  'silence × clock',
  'taken × in flight',
  'ordered × renamed',
  'removed × away',
  'escalation × take-over',
  'repeat × silence',
  'link × over',
  'report × sleep',
  'report × take-over',
  'extended × extended',
  'given back × taken',
  'cancelled × ordered',
  'removed channel × take-over',
  'quiet hours × escalation',
] as const;
type OwnPair = (typeof ownPairs)[number];
export type NewerPair = OwnPair | NewestPair | LatestPair | ServerPair | LifePair | OwnerPair;

export const newerPairs: readonly NewerPair[] = [
  ...ownPairs,
  ...newestPairs,
  ...latestPairs,
  ...serverPairs,
  ...lifePairs,
  ...ownerPairs,
];

const many = [2, 3, 3];
const oftenAndDaily = ['0 */2 * * *', '30 2 * * *'];

export const frames: Readonly<Record<NewerPair, Frame>> = {
  'refused order × standby': { nodes: many },
  'claim × take-over': { nodes: many, faults: ['arrived', 'lost', 'refused'] },
  'run × run': {},
  'silence × clock': { nodes: [1] },
  'taken × in flight': { faults: ['slow', 'slow', 'arrived', 'lost'], everywhere: true },
  'ordered × renamed': { weather: ['timeout', 'invalid_response', 'slow'] },
  'removed × away': { faults: ['refused', 'lost', 'arrived', 'owing'], accounts: 2 },
  'escalation × take-over': { nodes: many, escalates: true },
  'repeat × silence': { repeatEveryMs: hourMs, faults: ['lost', 'slow'] },
  'link × over': {},
  'report × sleep': { nodes: [1], reports: oftenAndDaily, faults: ['lost', 'refused'] },
  'report × take-over': { nodes: many, reports: oftenAndDaily, faults: ['lost', 'slow'] },
  'extended × extended': { nodes: many },
  'given back × taken': { nodes: many },
  'cancelled × ordered': { nodes: many },
  'quiet hours × escalation': { nodes: [1, 1, 2], escalates: true, quietHours: '0 */2 * * *' },
  'removed channel × take-over': {
    nodes: [1, 2, 3],
    faults: ['refused', 'lost', 'slow', 'dead'],
    everywhere: true,
  },
  ...newestFrames,
  ...latestFrames,
  ...serverFrames,
  ...lifeFrames,
  ...ownerFrames,
};

function isLatest(pair: NewerPair): pair is LatestPair {
  return latestPairs.some((each) => each === pair);
}

function isOfLife(pair: NewerPair): pair is LifePair {
  return lifePairs.some((each) => each === pair);
}

function isOfOwners(pair: NewerPair): pair is OwnerPair {
  return ownerPairs.some((each) => each === pair);
}

function isOfServers(pair: NewerPair): pair is ServerPair {
  return serverPairs.some((each) => each === pair);
}

type Undone = Extract<Happening, { kind: 'undo' }>;

/** The event that meets the rest of its pair, once. */
export function drawNewer(from: Seeded, pair: NewerPair, { settings, at, until }: Scene): Happening[] {
  const withinMs = (ms: number): number => Math.max(0, Math.min(ms, until - at - 20 * minuteMs));
  const { accounts, rules } = settings;
  const account = from.pick(accounts).id;
  switch (pair) {
    case 'refused order × standby': {
      // The owner has just told what the page may not show yet, or takes the order when its account is gone.
      const what = from.pick(['take', 'quiet', 'run'] as const);
      const orderedAt = from.skewed(1, 30_000);
      const take = { kind: 'acknowledge', place: from.int(0, 2), byOrder: false } as const;
      const named = from.pick([accounts, renamedAccounts(accounts)]);
      const given: Happening[] = [
        { at: orderedAt, kind: 'order at standby', what, place: from.int(0, 2) },
        ...from.some<Happening>([{ at: orderedAt + from.pick([0, 1, 300]), ...take }], 0.3),
        ...from.some<Happening>(
          [
            {
              at: orderedAt + from.skewed(1, 2000),
              kind: 'reload',
              settings: { ...settings, accounts: named },
            },
          ],
          0.6,
        ),
        ...from.some([endOfOwner(from, orderedAt + from.pick([1, 50, 700]))], 0.3),
      ];
      return [{ at, kind: 'await', what: 'a message', forMs: withinMs(6 * hourMs), next: given }];
    }
    case 'claim × take-over':
      return [
        {
          ...{ at, kind: 'await', what: 'a message', forMs: withinMs(6 * hourMs) },
          next: [
            { at: 0, kind: 'storage', fault: from.pick(['full', 'busy']), forMs: from.skewed(100, hourMs) },
            from.chance(0.7)
              ? endOfOwner(from, from.skewed(1, 5 * minuteMs))
              : { at: 1, kind: 'kill in commit', when: from.pick(['before', 'after']), downMs: minuteMs },
          ],
        },
      ];
    case 'run × run': {
      const run = { account, amountMicros: 50_000_000, forMs: from.skewed(10 * minuteMs, 12 * hourMs) };
      const announced = { ...run, kind: 'announced' } as const;
      return [
        { at, ...announced, by: 'dora', byOrder: from.chance(0.5) },
        { at, ...announced, by: from.pick(['emil', 'emil', 'dora']), byOrder: from.chance(0.5) },
        ...(from.chance(0.4) ? [endOfOwner(from, at + from.pick([0, 1, 50, 700]))] : []),
      ];
    }
    case 'silence × clock': {
      const forMs = from.skewed(10 * minuteMs, 6 * hourMs);
      const aheadMs = from.skewed(minuteMs, forMs / 2);
      const byMs = forMs - aheadMs + from.skewed(minuteMs, 2 * hourMs);
      const backAt = at + aheadMs + from.skewed(1, 40 * minuteMs);
      return [
        { at, kind: 'silence', match: { account: [account] }, forMs, byOrder: false },
        { at: at + aheadMs, kind: 'jump', byMs },
        ...(from.chance(0.3) ? [endOfOwner(from, at + aheadMs + from.pick([1, 700, 5 * minuteMs]))] : []),
        { at: backAt, kind: 'jump', byMs: -byMs },
      ];
    }
    case 'taken × in flight':
      return [
        {
          ...{ at, kind: 'await', what: 'a message', forMs: withinMs(6 * hourMs) },
          next: [
            {
              at: from.skewed(1, 60_000),
              kind: 'acknowledge',
              place: from.int(0, 2),
              byOrder: from.chance(0.3),
            },
            ...(from.chance(0.2) ? [endOfOwner(from, from.skewed(1, 60_000))] : []),
          ],
        },
      ];
    case 'ordered × renamed': {
      const named = from.pick([accounts, renamedAccounts(accounts), renamedAccounts(accounts)]);
      const amountMicros = from.pick([20, 150, 400]) * 1_000_000;
      const order = { account, amountMicros, forMs: from.skewed(hourMs, 12 * hourMs) };
      return [
        { at, kind: 'ordered', ...order, byOrder: from.chance(0.5) },
        {
          at: at + from.pick([0, 1, 50, 20 * minuteMs]),
          kind: 'reload',
          settings: { ...settings, accounts: named },
        },
        ...(from.chance(0.5) ? [endOfOwner(from, at + from.pick([0, 1, 50, 700]))] : []),
      ];
    }
    case 'removed × away': {
      const left = from.pick<Partial<Settings>>([
        {},
        { rules: rules.filter(({ id }) => id !== 'ladder') },
        { accounts: accounts.slice(1) },
        { accounts: accounts.slice(0, 1) },
      ]);
      return [
        { at, kind: 'reload', settings: { ...settings, ...left } },
        ...(from.chance(0.4) ? [endOfOwner(from, at + from.pick([0, 1, 50, 20 * minuteMs]))] : []),
      ];
    }
    case 'escalation × take-over':
      return [
        {
          ...{ at, kind: 'await', what: 'an escalation', forMs: withinMs(12 * hourMs) },
          next: [endOfOwner(from, from.skewed(1, 40_000))],
        },
      ];
    case 'repeat × silence': {
      const forMs = from.skewed(minuteMs, 3 * hourMs);
      const silence = { kind: 'silence', match: { account: [account] }, forMs } as const;
      return [
        {
          ...{ at, kind: 'await', what: 'a reminder', forMs: withinMs(6 * hourMs) },
          next: [
            { at: from.skewed(1, 40_000), ...silence, byOrder: from.chance(0.3) },
            ...(from.chance(0.7) ? [endOfOwner(from, from.skewed(1, 90_000))] : []),
          ],
        },
      ];
    }
    case 'link × over': {
      const press = { kind: 'press', place: from.int(0, 7), byLink: true } as const;
      const again: Happening = { at: at + from.skewed(1, 6 * hourMs), ...press, twice: false };
      const named = from.pick([accounts, renamedAccounts(accounts)]);
      const reload: Happening = {
        ...{ at: at + from.pick([-minuteMs, 1, minuteMs]), settings: { ...settings, accounts: named } },
        kind: 'reload',
      };
      return [
        { at, ...press, twice: from.chance(0.3) },
        ...from.some([again], 0.5),
        ...from.some([reload], 0.4),
        ...from.some([endOfOwner(from, at + from.pick([0, 1, 50]))], 0.3),
      ];
    }
    case 'report × sleep': {
      const forMs = from.skewed(minuteMs, 30 * hourMs);
      const next = from.pick<readonly Happening[]>([
        [{ at: 1, kind: 'suspend', forMs }],
        [{ at: 1, kind: 'pause', forMs }],
        [{ at: 1, kind: 'jump', byMs: from.pick([-1, 1]) * forMs }],
        [{ at: from.skewed(1, 40_000), kind: 'stop', downMs: forMs }],
        [endOfOwner(from, from.skewed(1, 40_000))],
      ]);
      return [{ at, kind: 'await', what: 'a report', forMs: withinMs(6 * hourMs), next }];
    }
    case 'report × take-over': {
      const failing = { kind: 'storage', fault: from.pick(['full', 'busy'] as const) } as const;
      const fault = from.pick(['cut', 'isolated', 'deaf'] as const);
      const line = { kind: 'line', fault, everyone: false } as const;
      const forMs = from.skewed(1000, hourMs);
      const next = [
        ...from.some<Happening>([{ at: 1, ...from.pick([failing, line]), forMs }], 0.5),
        endOfOwner(from, from.skewed(1, 60_000)),
      ];
      return [{ at, kind: 'await', what: 'a report', forMs: withinMs(6 * hourMs), next }];
    }
    case 'extended × extended': {
      const forMs = from.skewed(20 * minuteMs, 6 * hourMs);
      const silence = { kind: 'silence', match: { account: [account] }, forMs } as const;
      return drawUndone(from, 'extend', { at, ...silence, byOrder: from.chance(0.5) });
    }
    case 'given back × taken':
      return drawUndone(from, 'release', { at, kind: 'acknowledge', place: 0, byOrder: from.chance(0.5) });
    case 'cancelled × ordered': {
      const amountMicros = from.pick([150, 400]) * 1_000_000;
      const order = { account, amountMicros, forMs: from.skewed(20 * minuteMs, 12 * hourMs) };
      return drawUndone(from, 'cancel', { at, kind: 'ordered', ...order, byOrder: from.chance(0.5) });
    }
    case 'quiet hours × escalation': {
      const forMs = from.skewed(minuteMs, 2 * hourMs);
      const next = from.pick<readonly Happening[]>([
        [{ at: from.skewed(1, 40_000), kind: 'suspend', forMs }],
        [{ at: from.skewed(1, 40_000), kind: 'jump', byMs: from.pick([-1, 1]) * forMs }],
        [endOfOwner(from, from.skewed(1, 40_000))],
      ]);
      return [{ at, kind: 'await', what: 'an escalation', forMs: withinMs(12 * hourMs), next }];
    }
    case 'removed channel × take-over': {
      const left = withoutChannel(settings, from.pick(settings.channels).name);
      const removal = (at: number): Happening[] => {
        const happenings: Happening[] = [
          { at, kind: 'reload', settings: left },
          ...from.some([endOfOwner(from, at + from.pick([0, 1, 50, 700, 5 * minuteMs]))], 0.7),
          ...from.some<Happening>(
            [{ at: at + from.pick([1, 700, 5 * minuteMs, 3 * hourMs]), kind: 'reload', settings }],
            0.6,
          ),
        ];
        const forMs = from.skewed(1000, hourMs);
        return [...from.some<Happening>([{ at, kind: 'storage', fault: 'full', forMs }], 0.4), ...happenings];
      };
      if (from.chance(0.5)) return removal(at);
      const next = removal(from.skewed(1, 60_000));
      return [{ at, kind: 'await', what: 'a message', forMs: withinMs(6 * hourMs), next }];
    }
    default: {
      const scene = { settings, at, until };
      return drawLast(from, pair, scene);
    }
  }
}

function drawLast(from: Seeded, pair: Exclude<NewerPair, OwnPair>, scene: Scene): Happening[] {
  if (isOfServers(pair)) return drawServers(from, pair, scene);
  if (isOfOwners(pair)) return drawOwners(from, pair, scene);
  if (isOfLife(pair)) return drawLife(from, pair, scene);
  return isLatest(pair) ? drawLatest(from, pair, scene) : drawNewest(from, pair, scene);
}

/** People take back, or let last, what they or others ordered. */
function drawUndone(from: Seeded, what: Undone['what'], order: Happening): Happening[] {
  const undo = (at: number): Happening => ({
    ...{ at, kind: 'undo', what, place: from.int(0, 1), byOrder: from.chance(0.5) },
  });
  const at = order.at + from.pick([0, 1, 700, 10 * minuteMs]);
  return [
    order,
    undo(at),
    ...from.some([undo(at + from.pick([1, 2, 700, minuteMs]))], 0.6),
    ...from.some([endOfOwner(from, at + from.pick([0, 1, 50, 700]))], 0.4),
  ];
}
