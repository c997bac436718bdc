import type { Settings } from '../../src/domain/settings.ts';
import { endOfOwner, type Frame, oneOrMany, type Scene } from './pair-frame.ts';
import { renamedSettings } from './receiver-names.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

/** An alert's life, where what it says waits or is taken back. */
export const lifePairs = [
  'inhibited × killed',
  'inhibited × refused',
  'waiting × silence',
  'parts × silence',
  'taken × currency',
  'renamed channel × waiting',
  'snoozed × take-over',
  'hidden × taken',
  'run × clock',
  'muted × given back',
  'silence ends × away',
  'apart × worse',
] as const;
export type LifePair = (typeof lifePairs)[number];

const waits = 10 * minuteMs;
export const lifeFrames: Readonly<Record<LifePair, Frame>> = {
  'inhibited × killed': { nodes: oneOrMany, faults: ['refused', 'lost'], everywhere: true, ladders: 2 },
  'inhibited × refused': { faults: ['dead', 'refused', 'arrived'], everywhere: true, ladders: 2 },
  'waiting × silence': { nodes: oneOrMany, ladders: 2, groupWaitMs: waits, faults: ['refused'] },
  'parts × silence': { nodes: oneOrMany, faults: ['owing', 'nobody', 'limited'], everywhere: true },
  'taken × currency': { nodes: oneOrMany, weather: Array.from({ length: 8 }, () => 'currency' as const) },
  'renamed channel × waiting': {
    nodes: oneOrMany,
    groupWaitMs: waits,
    faults: ['closed', 'owing', 'lost'],
    everywhere: true,
  },
  'snoozed × take-over': { nodes: [2, 3, 3], types: ['slack', 'telegram'] },
  'hidden × taken': { nodes: oneOrMany, faults: ['refused', 'lost'], everywhere: true, ladders: 'worse' },
  'run × clock': { nodes: [1] },
  'muted × given back': { nodes: oneOrMany, faults: ['slow', 'lost'], everywhere: true },
  'silence ends × away': { nodes: oneOrMany, faults: ['refused', 'lost'] },
  'apart × worse': {
    nodes: oneOrMany,
    ladders: 2,
    isApart: true,
    faults: ['refused', 'lost', 'dead'],
    everywhere: true,
  },
};

/** The event that meets the rest of its pair, once. */
export function drawLife(from: Seeded, pair: LifePair, { settings, at, until }: Scene): Happening[] {
  const account = from.pick(settings.accounts).id;
  const forMs = Math.max(0, Math.min(6 * hourMs, until - at - 20 * minuteMs));
  const once = (next: readonly Happening[]): Happening[] => [
    { at, kind: 'await', what: 'a message', forMs, next },
  ];
  const silence = (begin: number, lastsMs = from.skewed(minuteMs, 3 * hourMs)): Happening => ({
    ...{ at: begin, kind: 'silence', match: { account: [account] }, byOrder: from.chance(0.3) },
    forMs: lastsMs,
  });
  const take = (takenAt: number): Happening => ({
    ...{ at: takenAt, kind: 'acknowledge', place: from.int(0, 2), byOrder: from.chance(0.3) },
  });
  const release = (at: number): Happening => ({
    ...{ at, kind: 'undo', what: 'release', place: 0, byOrder: from.chance(0.3) },
  });
  const unstored = (begin: number, lastsMs: number): Happening => ({
    ...{ at: begin, kind: 'storage', fault: from.pick(['full', 'full', 'busy']), forMs: lastsMs },
  });
  switch (pair) {
    case 'inhibited × killed':
      return once([
        ...from.some<Happening>(
          [{ at: 0, kind: 'storage', fault: from.pick(['full', 'busy']), forMs: from.skewed(1000, hourMs) }],
          0.3,
        ),
        from.chance(0.5)
          ? { at: from.skewed(1, hourMs), kind: 'kill at call', calls: from.int(1, 30), downMs: 1000 }
          : endOfOwner(from, from.skewed(1, hourMs)),
      ]);
    case 'inhibited × refused':
      return once([
        ...from.some([silence(from.skewed(1, hourMs))], 0.5),
        ...from.some([take(from.skewed(1, hourMs))], 0.5),
      ]);
    case 'waiting × silence': {
      const mutedAt = at + from.skewed(1, 2 * hourMs);
      return [
        silence(mutedAt),
        ...from.some([take(mutedAt + from.pick([-1, 0, 1, 5 * minuteMs]))], 0.3),
        ...from.some([endOfOwner(from, mutedAt + from.pick([0, 1, 50, 5 * minuteMs]))], 0.5),
      ];
    }
    case 'parts × silence': {
      const mutedAt = from.skewed(1, 30 * minuteMs);
      return once([
        silence(mutedAt),
        ...from.some([take(from.skewed(1, hourMs))], 0.4),
        ...from.some([endOfOwner(from, mutedAt + from.pick([0, 1, 50, 5 * minuteMs]))], 0.4),
      ]);
    }
    case 'taken × currency':
      return once([
        take(from.skewed(1, hourMs)),
        ...from.some([endOfOwner(from, from.skewed(1, hourMs))], 0.3),
      ]);
    case 'renamed channel × waiting': {
      const renamedAt = from.skewed(1, 10 * minuteMs);
      return once([
        { at: renamedAt, kind: 'reload', settings: from.pick([settings, withRenamedChannel(settings)]) },
        ...from.some([endOfOwner(from, renamedAt + from.pick([0, 1, 50, 5 * minuteMs]))], 0.4),
        ...from.some<Happening>([{ at: renamedAt + from.skewed(1, hourMs), kind: 'reload', settings }], 0.4),
      ]);
    }
    case 'snoozed × take-over': {
      const press = {
        kind: 'press',
        verb: 'quiet',
        place: from.int(0, 3),
        byLink: from.chance(0.5),
      } as const;
      const pressedAt = from.skewed(1, 5 * minuteMs);
      return once([
        { at: pressedAt, ...press, twice: from.chance(0.2) },
        endOfOwner(from, Math.max(0, pressedAt + from.pick([-50, -1, 0, 1, 50, 700, 5000]))),
        ...from.some<Happening>([{ at: pressedAt + from.skewed(1, hourMs), kind: 'expire', place: 0 }], 0.3),
      ]);
    }
    case 'apart × worse':
      return once([
        ...from.some([take(from.skewed(1, hourMs))], 0.3),
        ...from.some([silence(from.skewed(1, hourMs))], 0.3),
        ...from.some([endOfOwner(from, from.skewed(1, hourMs))], 0.5),
      ]);
    case 'hidden × taken': {
      const takenAt = from.skewed(1, hourMs);
      return once([
        take(takenAt),
        ...from.some([endOfOwner(from, takenAt + from.pick([0, 1, 50, 5 * minuteMs]))], 0.4),
        ...from.some([release(takenAt + from.skewed(1, 10 * minuteMs))], 0.5),
      ]);
    }
    case 'run × clock': {
      const run = { account, amountMicros: 50_000_000, forMs: from.skewed(hourMs, 12 * hourMs) };
      const aheadAt = at + from.skewed(minuteMs, run.forMs);
      const byMs = from.int(26 * hourMs, 6 * 24 * hourMs);
      return [
        { at, kind: 'announced', ...run, byOrder: from.chance(0.5) },
        { at: aheadAt, kind: 'jump', byMs },
        ...from.some([endOfOwner(from, aheadAt + from.pick([1, 700, 5 * minuteMs]))], 0.3),
        { at: aheadAt + from.skewed(minuteMs, 40 * minuteMs), kind: 'jump', byMs: -byMs },
      ];
    }
    case 'muted × given back': {
      const mutedAt = from.skewed(1, 20_000);
      const takenAt = mutedAt + from.pick([0, 1, 300, 5000]);
      return once([
        silence(mutedAt),
        { at: takenAt, kind: 'acknowledge', place: 0, byOrder: false },
        release(takenAt + from.skewed(minuteMs, 20 * minuteMs)),
        ...from.some([endOfOwner(from, takenAt + from.pick([50, 5 * minuteMs, hourMs]))], 0.3),
      ]);
    }
    case 'silence ends × away': {
      const lastsMs = from.skewed(10 * minuteMs, 3 * hourMs);
      const endsAt = at + lastsMs;
      const awayAt = endsAt - from.skewed(1, 10 * minuteMs);
      const awayMs = from.skewed(minuteMs, 2 * hourMs);
      const away = from.pick<Happening>([
        { at: awayAt, kind: 'suspend', forMs: awayMs },
        { at: awayAt, kind: 'pause', forMs: awayMs },
        { at: awayAt, kind: 'stop', downMs: awayMs },
        { at: awayAt, kind: 'line', fault: from.pick(['cut', 'deaf']), everyone: true, forMs: awayMs },
        unstored(awayAt, awayMs),
        unstored(awayAt, awayMs),
      ]);
      const about = (): number => Math.max(awayAt, endsAt + from.pick([-700, 0, 1, 50, 5 * minuteMs]));
      return [
        silence(at, lastsMs),
        away,
        ...from.some([take(about())], 0.3),
        ...from.some([endOfOwner(from, about())], 0.4),
      ];
    }
  }
}

function withRenamedChannel(settings: Settings): Settings {
  const [first = ''] = settings.channels.map(({ name }) => name);
  return renamedSettings(settings, (name) => (name === first ? `${first}-renamed` : name));
}
