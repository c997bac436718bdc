import type { Settings } from '../../src/domain/settings.ts';
import { severities } from '../../src/domain/severity.ts';
import { buildBuiltInRules } from '../../src/rules/rules-for-account.ts';
import { entryWith, ownEntry } from './draw-kinds.ts';
import { endOfOwner, type Frame, oneOrMany, type Scene } from './pair-frame.ts';
import { type Happening, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

export const latestPairs = [
  'renamed balance × restart',
  'own entry × renamed',
  'look × take-over',
  'silence × retry',
  'left readings × unheard commit',
  'silenced severity × waiting',
] as const;
export type LatestPair = (typeof latestPairs)[number];

export const latestFrames: Readonly<Record<LatestPair, Frame>> = {
  'renamed balance × restart': { nodes: oneOrMany, isOwnEntry: true },
  'own entry × renamed': { nodes: oneOrMany, isOwnEntry: true, limits: true, accounts: 3 },
  'look × take-over': { nodes: oneOrMany, faults: ['lost', 'slow'] },
  'silence × retry': { nodes: oneOrMany, faults: ['refused', 'limited', 'lost'], everywhere: true },
  'left readings × unheard commit': { nodes: [2, 3, 3] },
  'silenced severity × waiting': {
    ...{ nodes: oneOrMany, faults: ['refused'], everywhere: true },
    ...{ ladders: 2, groupWaitMs: 10 * minuteMs },
  },
};

/** The event that meets the rest of its pair, once. */
export function drawLatest(from: Seeded, pair: LatestPair, { settings, at, until }: Scene): Happening[] {
  const { accounts } = settings;
  const account = from.pick(accounts).id;
  const forMs = Math.max(0, Math.min(6 * hourMs, until - at - 20 * minuteMs));
  const once = (next: readonly Happening[]): Happening[] => [
    { at, kind: 'await', what: 'a message', forMs, next },
  ];
  const unstored = (begin: number): Happening => ({
    ...{ at: begin, kind: 'storage', forMs: from.skewed(minuteMs, 4 * hourMs) },
    fault: from.pick(['full', 'full', 'busy']),
  });
  switch (pair) {
    case 'renamed balance × restart':
    case 'own entry × renamed': {
      const renamed =
        pair === 'own entry × renamed' ? withRenamedEntry(settings) : withRenamedBalance(settings);
      return [
        { at, kind: 'reload', settings: from.pick([settings, renamed]) },
        ...from.some(
          [endOfOwner(from, Math.max(0, at + from.pick([-500, 0, 1, 50, 700, 20 * minuteMs])))],
          0.7,
        ),
      ];
    }
    case 'look × take-over': {
      const looks = Array.from(
        { length: 4 },
        (): Happening => ({ at: from.skewed(1, 3 * hourMs), kind: 'look', account }),
      );
      return once([unstored(0), ...looks, ...from.some([endOfOwner(from, from.skewed(1, 2 * hourMs))], 0.6)]);
    }
    case 'left readings × unheard commit': {
      const deaf = { kind: 'line', fault: 'deaf', everyone: true } as const;
      const left = { kind: 'left readings', account } as const;
      // The daemon that left them had polled the account, so the first process of the story has read it.
      const cutAt = Math.max(at, 5 * minuteMs);
      return [
        { at: cutAt, ...deaf, forMs: from.skewed(minuteMs, hourMs) },
        ...[1, 2, 3].map((): Happening => ({ at: cutAt + from.skewed(1, 10 * minuteMs), ...left })),
        ...from.some([endOfOwner(from, cutAt + from.skewed(1, 20 * minuteMs))], 0.4),
      ];
    }
    case 'silenced severity × waiting': {
      const match = { severity: [from.pick(severities)] };
      return [
        { at, kind: 'silence', match, forMs: from.skewed(hourMs, 12 * hourMs), byOrder: from.chance(0.3) },
        ...from.some([endOfOwner(from, at + from.skewed(minuteMs, 6 * hourMs))], 0.4),
      ];
    }
    case 'silence × retry': {
      const silence = {
        kind: 'silence',
        match: { account: [account] },
        forMs: from.skewed(minuteMs, 4 * hourMs),
      } as const;
      const mutedAt = from.skewed(1, 10 * minuteMs);
      return once([
        { at: mutedAt, ...silence, byOrder: from.chance(0.3) },
        ...from.some([endOfOwner(from, mutedAt + from.pick([0, 1, 50, 700, 5 * minuteMs]))], 0.8),
        ...from.some<Happening>(
          [{ at: mutedAt + from.skewed(minuteMs, 2 * hourMs), kind: 'expire', place: 0 }],
          0.3,
        ),
      ]);
    }
  }
}

/** The same entry under another name. */
function withRenamedEntry(settings: Settings): Settings {
  const name = `${ownEntry}-renamed`;
  const { [ownEntry]: entry, ...others } = settings.providers;
  if (entry === undefined) return settings;
  const accounts = settings.accounts.map((account) => ({ ...account, provider: name }));
  return { ...settings, accounts, providers: { ...others, [name]: { ...entry, name } } };
}

/** The balance of the entry has another id. */
function withRenamedBalance(settings: Settings): Settings {
  const entry = entryWith('wallet');
  const { balances } = entry;
  const accounts = settings.accounts.map((account) => ({ ...account, balances }));
  const rules = settings.rules.filter(({ builtIn }) => !builtIn);
  return {
    ...settings,
    accounts,
    rules: [...rules, ...buildBuiltInRules(rules, accounts)],
    providers: { ...settings.providers, [ownEntry]: entry },
  };
}
