import { defaultGroupWaitMs, type Route } from '../../src/domain/route.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { BelowRule } from '../../src/rules/below.ts';
import { buildBuiltInRules } from '../../src/rules/rules-for-account.ts';
import { belowRule, units } from '../support/account-facts.ts';
import { exampleChannels } from '../support/example-channels.ts';
import { toolTypes } from '../support/paging-tool.ts';
import { makeAccount, makeProvider, makeRoute, makeSettings } from '../support/settings.ts';
import { accessOf, entryOfKind, entryWith, ownEntry } from './draw-kinds.ts';
import { drawNewer, frames, type NewerPair, newerPairs } from './draw-newer-pairs.ts';
import { endOfOwner, type Frame, lessDisturbed, withNodes } from './pair-frame.ts';
import { renamedAccounts, renamedSettings } from './receiver-names.ts';
import {
  type ChannelFault,
  type ChannelSpell,
  dayMs,
  type Happening,
  hourMs,
  minuteMs,
  type ProviderFault,
  type Scenario,
  type Spell,
} from './scenario.ts';
import { Seeded } from './seeded.ts';

/** What broke most often is where two things meet. Left to chance they seldom do, so they are drawn together. */
const pairs = [
  'taken × worse',
  'refused × worse',
  'owed × flapping',
  'taken × away',
  'sleep × cron',
  'renamed × open',
  'limited × regrouped',
  'order × order',
  'push × clock',
  'ordered × worse',
] as const;
/** Drawn by themselves, so that the seeds from before them draw what they drew. */
const laterPairs = [
  'damaged × take-over',
  'pressed × worse',
  'silenced × taken',
  'test × wait',
  'left × over',
  'unknown × take-over',
  'invalid × take-over',
  'quiet × quiet',
  'renamed channel × open',
  'unknown × refused',
] as const;
type Pair = (typeof pairs)[number] | (typeof laterPairs)[number] | NewerPair;

/** The newest ones last: what was drawn before them is drawn still. */
export const allPairs: readonly Pair[] = [...pairs, ...laterPairs, ...newerPairs];

/** Few accounts with one ladder, so that nothing else speaks in its place, and one kind of trouble again and again. */
export function drawPair(from: Seeded, mixed: Scenario, wanted?: string): Scenario {
  const picked = from.pick(pairs);
  const isDrawn = (each: Pair, place: number): boolean =>
    new Seeded(mixed.seed, each).chance(place < 2 ? 0.12 : 0.06);
  const pair =
    allPairs.find((each) => each === wanted) ?? [...laterPairs, ...newerPairs].find(isDrawn) ?? picked;
  const frame = newerPairs.some((each) => each === pair) ? frames[pair as NewerPair] : {};
  const drawn = lessDisturbed(withNodes(from, mixed, frame), frame);
  const isGroup = pair === 'limited × regrouped';
  const own = frame.isOwnEntry === true ? entryWith('main') : null;
  const accounts = Array.from(
    { length: isGroup ? 3 : (frame.accounts ?? from.pick([1, 1, 2])) },
    (_, place) =>
      makeAccount(`acc-${place}`, {
        credentials: { authSecret: new Secret(`secret-key-${isGroup ? 0 : place}`) },
        baseUrl: 'https://one.example',
        currency: 'EUR',
        poll:
          pair === 'sleep × cron'
            ? {
                kind: 'cron',
                cron: from.pick(['0 * * * *', '*/20 * * * *', '15 */3 * * *']),
                timezone: 'UTC',
              }
            : { kind: 'every', everyMs: from.pick([10, 20]) * minuteMs },
        ...(pair === 'push × clock' ? { provider: 'pushed', baseUrl: null } : {}),
        ...(own === null ? {} : accessOf(own, `secret-key-${place}`)),
      }),
  );
  const thresholds = { info: units(320), warning: units(200), critical: units(60) };
  const rule = belowRule({
    id: 'ladder',
    ...(own === null ? {} : { balance: '' }),
    thresholds,
    hysteresis: { kind: 'amount', micros: from.pick([0, units(5)]) },
  });
  const ladders = laddersOf(rule, frame);
  // Tools, and one that people read.
  const types = frame.types ?? [
    from.pick(toolTypes),
    from.pick([...toolTypes, 'slack', 'email', 'twilio-sms', 'feishu']),
  ];
  const channels = types.map((type, place) => {
    const example = exampleChannels().find((each) => each.type === type);
    if (example === undefined) throw new Error(`there is no channel of type ${type}`);
    return { ...example, name: `ch-${place}`, place: new Secret(`https://in.example/secret-place-${place}`) };
  });
  const [first = '', second = ''] = channels.map(({ name }) => name);
  const isEscalating = from.chance(0.5) || frame.escalates === true;
  const escalate = isEscalating ? { afterMs: 40 * minuteMs, channels: [second] } : null;
  const named = from.chance(0.5) ? [first] : [first, second];
  const repeatEveryMs = frame.repeatEveryMs ?? from.pick([4, 24]) * hourMs;
  const { groupWaitMs = defaultGroupWaitMs } = frame;
  const routes = routesOf({ escalate, repeatEveryMs, groupWaitMs }, frame, { named, second });
  const provider = makeProvider({ maxRequestsPerSecond: 20 });
  const settings = {
    ...makeSettings({
      provider,
      providers: { pushed: entryOfKind('pushed'), ...(own === null ? {} : { [ownEntry]: own }) },
      accounts,
      rules: [],
    }),
    rules: [...ladders, ...buildBuiltInRules(ladders, accounts)],
    channels,
    routes,
    reports: (frame.reports ?? []).map((cron, place) => ({
      ...{ id: `report-${place}`, cron, timezone: from.pick(['UTC', 'Europe/Berlin']) },
      channels: [first, second],
    })),
    silences:
      frame.quietHours === undefined
        ? []
        : [{ match: {}, cron: frame.quietHours, timezone: 'UTC', durationMs: hourMs, comment: '' }],
    storage: { path: ':memory:', retentionMs: 400 * dayMs },
    log: { level: 'debug' } as const,
  };
  const isFlapping = pair === 'owed × flapping';
  const traffic = Object.fromEntries(
    [...accounts, ...renamedAccounts(accounts)].map(({ id }, place) => [
      id,
      {
        key: drawn.seed * 16 + (place % accounts.length),
        cycleMs: from.pick([6, 12, 24]) * hourMs,
        grainMicros: units(10),
        highMicros: units(500),
        lows: [units(-20), units(30), units(40)],
        swings: isFlapping ? 0.7 : 0.1,
        idles: 0,
        levels: [units(200), units(60)],
        currency: 'EUR',
      },
    ]),
  );
  const faults: Partial<Readonly<Record<Pair, readonly ChannelFault[]>>> = {
    'refused × worse': ['dead'],
    'owed × flapping': ['owing', 'nobody'],
    'taken × away': ['refused', 'lost'],
    'test × wait': ['limited', 'refused', 'owing'],
    'unknown × refused': ['arrived', 'lost', 'dead'],
    'renamed channel × open': ['refused', 'lost', 'arrived'],
  };
  const takes = pair.startsWith('taken') || pair === 'order × order' ? 90 * minuteMs : 8 * hourMs;
  const until = drawn.days * dayMs;
  return {
    ...drawn,
    settings,
    traffic,
    weather:
      isGroup || frame.limits === true
        ? drawLimits(from, until)
        : drawWeather(from, frame.weather ?? [], until),
    channelWeather: (faults[pair] ?? frame.faults ?? []).flatMap((kind) =>
      (frame.everywhere === true ? [first, second] : [first]).flatMap((channel) =>
        drawSpells(from, kind, { until, channel }),
      ),
    ),
    events: [
      ...drawn.events.filter(isNoEdit),
      ...drawTakes(from, takes, until),
      ...drawMore(from, pair, { settings, until }),
    ].sort((left, right) => left.at - right.at),
    noise: 0,
  };
}

function laddersOf(rule: BelowRule, { ladders }: Frame): readonly BelowRule[] {
  const thresholds =
    ladders === 'worse' ? { critical: units(120) } : { warning: units(120), critical: units(35) };
  return ladders === undefined ? [rule] : [rule, { ...rule, id: secondLadder, thresholds }];
}

const secondLadder = 'deep';

function routesOf(
  paced: Partial<Route>,
  { isApart }: Frame,
  { named, second }: { readonly named: readonly string[]; readonly second: string },
): readonly Route[] {
  if (isApart === undefined) return [makeRoute({ ...paced, channels: named })];
  return [
    makeRoute({ ...paced, match: { rule: [secondLadder] }, channels: [second] }),
    makeRoute({ ...paced, channels: named.slice(0, 1) }),
  ];
}

/** Of the settings drawn before. */
function isNoEdit({ kind }: Happening): boolean {
  return kind !== 'reload' && kind !== 'silence' && kind !== 'poll now';
}

/** The first has another name, or both have each other's. */
function withRenamedChannels(from: Seeded, settings: Settings): Settings {
  const [first = '', second = ''] = settings.channels.map(({ name }) => name);
  const names = from.chance(0.5) ? { [first]: `${first}-renamed` } : { [first]: second, [second]: first };
  return renamedSettings(settings, (name) => names[name] ?? name);
}

/** What meets the rest of its pair, again and again. */
function drawMore(
  from: Seeded,
  pair: Pair,
  { settings, until }: { readonly settings: Settings; readonly until: number },
): Happening[] {
  const { accounts } = settings;
  const once = (at: number): Happening[] => {
    switch (pair) {
      case 'sleep × cron':
        return [{ at, kind: from.pick(['suspend', 'pause']), forMs: from.skewed(minuteMs, 3 * hourMs) }];
      case 'push × clock':
        return [{ at, kind: 'jump', byMs: from.pick([-1, 1]) * from.skewed(3000, 6 * hourMs) }];
      case 'renamed × open': {
        const isBack = from.chance(0.5);
        const named = isBack ? accounts : renamedAccounts(accounts);
        return [{ at, kind: 'reload', settings: { ...settings, accounts: named } }];
      }
      case 'limited × regrouped': {
        const [first, rest] = [accounts.slice(0, 1), accounts.slice(1)];
        const named = from.pick([accounts, rest, [...rest, ...first], [...renamedAccounts(first), ...rest]]);
        return [
          { at, kind: 'reload', settings: { ...settings, accounts: named } },
          ...(from.chance(0.3) ? [{ at: at + 100, kind: 'stop', downMs: 1000 } as const] : []),
        ];
      }
      case 'order × order': {
        const take = { kind: 'acknowledge', place: 0 } as const;
        const match = { account: accounts.map(({ id }) => id) };
        const mute = { kind: 'silence', match, forMs: from.skewed(10 * minuteMs, 3 * hourMs) } as const;
        return [
          { at, ...take, byOrder: from.chance(0.5) },
          { at: at + from.pick([0, 1, 700]), ...from.pick([take, mute]), byOrder: from.chance(0.5) },
          { at: at + hourMs, kind: 'expire', place: 0 },
        ];
      }
      case 'ordered × worse':
        // Enough for all, for the mildest step, or for none of them.
        return [
          {
            at,
            kind: from.pick(['ordered', 'ordered', 'announced']),
            account: from.pick(accounts).id,
            amountMicros: units(from.pick([20, 150, 400])),
            forMs: from.skewed(10 * minuteMs, 12 * hourMs),
            byOrder: from.chance(0.5),
          },
        ];
      default:
        return drawLater(from, pair, { settings, at, until });
    }
  };
  const more: Happening[] = [];
  for (let at = from.skewed(minuteMs, 3 * hourMs); at < until; at += from.skewed(hourMs, 6 * hourMs))
    more.push(...once(at));
  return more;
}

/** The same of the pairs that came later. */
function drawLater(
  from: Seeded,
  pair: Pair,
  { settings, at, until }: { readonly settings: Settings; readonly at: number; readonly until: number },
): Happening[] {
  const { accounts } = settings;
  switch (pair) {
    case 'pressed × worse': {
      const press = { kind: 'press', place: from.int(0, 7) } as const;
      return [
        { at, ...press, twice: from.chance(0.3) },
        ...(from.chance(0.4) ? [{ at: at + from.pick([0, 1, 700, hourMs]), ...press, twice: false }] : []),
        ...(from.chance(0.2)
          ? [{ at: at + from.pick([0, 1, 50]), kind: 'kill', downMs: 1000 } as const]
          : []),
      ];
    }
    case 'silenced × taken': {
      const match = { account: accounts.map(({ id }) => id) };
      const mute = { kind: 'silence', match, forMs: from.skewed(10 * minuteMs, 6 * hourMs) } as const;
      const take = { kind: 'acknowledge', place: 0, byOrder: from.chance(0.5) } as const;
      return [
        { at, ...mute, byOrder: from.chance(0.5) },
        { at: at + from.pick([0, 700, 20 * minuteMs]), ...take },
        { at: at + from.skewed(10 * minuteMs, 3 * hourMs), kind: 'expire', place: 0 },
      ];
    }
    case 'test × wait':
      return [
        ...(from.chance(0.4)
          ? [{ at: at - 500, kind: 'storage', fault: 'full', forMs: from.skewed(1000, hourMs) } as const]
          : []),
        { at, kind: 'test alert', account: from.pick(accounts).id, byOrder: from.chance(0.5) },
        ...(from.chance(0.5) ? [endOfOwner(from, at + from.skewed(1000, 2 * minuteMs))] : []),
      ];
    case 'left × over': {
      const lateMs = from.skewed(minuteMs, 12 * hourMs);
      return [{ at, kind: 'acknowledge', place: from.int(0, 2), byOrder: true, lateMs }];
    }
    case 'unknown × take-over':
      return [{ at, kind: 'order of tomorrow' }, endOfOwner(from, at + from.pick([0, 1, 50, 700]))];
    case 'invalid × take-over':
      return [
        { at, kind: 'invalid configuration' },
        endOfOwner(from, at + from.pick([0, 1, 50, 20 * minuteMs])),
        ...(from.chance(0.5)
          ? [{ at: at + from.skewed(minuteMs, 3 * hourMs), kind: 'reload', settings } as const]
          : []),
      ];
    case 'quiet × quiet': {
      const press = { kind: 'press', verb: 'quiet', place: from.int(0, 7) } as const;
      return [
        { at, ...press, twice: from.chance(0.3), byLink: from.chance(0.5) },
        {
          at: at + from.pick([0, 1, 700, 4 * minuteMs, hourMs]),
          ...press,
          twice: false,
          byLink: from.chance(0.5),
        },
        ...(from.chance(0.3) ? [endOfOwner(from, at + from.pick([0, 1, 50]))] : []),
      ];
    }
    case 'renamed channel × open':
      return [
        { at, kind: 'reload', settings: from.pick([settings, withRenamedChannels(from, settings)]) },
        ...(from.chance(0.4) ? [endOfOwner(from, at + from.pick([0, 1, 50, 20 * minuteMs]))] : []),
      ];
    case 'damaged × take-over':
      return [
        { at, kind: 'damage', source: from.pick(['alert', 'incident', 'message']), place: from.int(0, 5) },
        { at: at + from.pick([0, 1, 50]), kind: from.pick(['kill', 'kill', 'stop']), downMs: 1000 },
        // Whoever finds it may die in turn before it has told anybody.
        ...(from.chance(0.3)
          ? [{ at: at + 1060, kind: 'kill at call', calls: from.int(1, 12), downMs: 500 } as const]
          : []),
      ];
    default:
      return newerPairs.some((each) => each === pair)
        ? drawNewer(from, pair as NewerPair, { settings, at, until })
        : [];
  }
}

function drawWeather(from: Seeded, kinds: readonly ProviderFault[], until: number): Spell[] {
  return kinds.flatMap((kind) => {
    const at = from.skewed(minuteMs, until);
    const forMs = from.skewed(5 * minuteMs, 4 * hourMs);
    return [{ kind, from: at, until: at + forMs, accounts: null, share: 1, retryAfterMs: null }];
  });
}

function drawLimits(from: Seeded, until: number): Spell[] {
  const spells: Spell[] = [];
  for (let at = from.skewed(minuteMs, 6 * hourMs); at < until; at += from.skewed(hourMs, 12 * hourMs)) {
    const kind = from.pick(['rate_limited', 'rate_limited', 'http_error'] as const);
    const retryAfterMs = from.pick([kind === 'http_error' ? hourMs : null, 30 * minuteMs, 3 * hourMs]);
    spells.push({ kind, from: at, until: at + 20 * minuteMs, accounts: null, share: 1, retryAfterMs });
  }
  return spells;
}

function drawTakes(from: Seeded, everyMs: number, until: number): Happening[] {
  const takes: Happening[] = [];
  for (let at = from.skewed(minuteMs, everyMs); at < until; at += from.skewed(everyMs / 3, 3 * everyMs))
    takes.push({ at, kind: 'acknowledge', place: from.int(0, 5), byOrder: false });
  return takes;
}

function drawSpells(
  from: Seeded,
  kind: ChannelFault,
  { until, channel }: { readonly until: number; readonly channel: string },
): ChannelSpell[] {
  const spells: ChannelSpell[] = [];
  for (let at = from.skewed(minuteMs, 6 * hourMs); at < until; ) {
    const forMs = from.skewed(5 * minuteMs, 4 * hourMs);
    const afterMs =
      kind === 'closed'
        ? from.pick([5 * minuteMs, 20 * minuteMs])
        : kind === 'owing' || kind === 'nobody' || kind === 'limited'
          ? from.pick([null, 5 * minuteMs, 20 * minuteMs])
          : null;
    spells.push({ kind, from: at, until: at + forMs, channel, share: 1, afterMs });
    at += forMs + from.skewed(hourMs, 12 * hourMs);
  }
  return spells;
}
