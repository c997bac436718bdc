import { outcomeKinds } from '../../src/domain/reading.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { drawPair } from './draw-pairs.ts';
import { drawMatch, drawSettings, editSettings } from './draw-settings.ts';
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
  type Traffic,
} from './scenario.ts';
import { Seeded } from './seeded.ts';

const unit = 1_000_000;
/** Stories longer than this are about what piles up over months: polls and mishaps come more seldom in them. */
const longDays = 60;

/** The story of one seed. `days` overrides how long the faults last, `pair` what is drawn together. */
export function drawScenario(seed: number, days?: number, pair?: string): Scenario {
  const drawn = drawMixed(seed, days);
  const from = new Seeded(seed, 'pair');
  return from.chance(0.3) || pair !== undefined ? drawPair(from, drawn, pair) : drawn;
}

function drawMixed(seed: number, days?: number): Scenario {
  const from = new Seeded(seed, 'shape');
  // A few run as the product runs, looking around every second; most look around as seldom as nothing is missed.
  const faithful = from.chance(0.04);
  const storage = from.chance(0.06) ? 'file' : 'memory';
  const nodes = storage === 'file' ? 1 : new Seeded(seed, 'nodes').pick([1, 1, 1, 2, 3]);
  const drawn = faithful ? 1 : storage === 'file' ? from.int(1, 4) : from.skewed(2, 14);
  const length = days ?? drawn;
  const long = length > longDays;
  const settings = drawSettings(new Seeded(seed, 'settings'), { long });
  const calm = from.chance(0.1);
  return {
    seed,
    days: length,
    startAt: drawStart(from),
    sleepMs: faithful && !long ? 1000 : from.pick([minuteMs, 5 * minuteMs, 5 * minuteMs]),
    storage,
    nodes,
    storeMs: new Seeded(seed, 'store').pick(nodes === 1 ? [0, 0, 3, 40, 400] : [3, 40, 400]),
    settings,
    traffic: Object.fromEntries(settings.accounts.map(({ id }, place) => [id, drawTraffic(seed, place)])),
    weather: calm ? [] : drawWeather(new Seeded(seed, 'weather'), settings, length),
    channelWeather: calm ? [] : drawChannelWeather(new Seeded(seed, 'channels'), settings, length),
    events: calm ? [] : drawEvents(seed, { settings, days: length, nodes }),
    noise: calm ? 0 : from.pick([0, 0.002, 0.02]),
  };
}

/** Around the changes of summer time and leap days more often than chance would have it. */
function drawStart(from: Seeded): number {
  const days = ['2026-03-27', '2026-10-23', '2026-03-06', '2026-10-30', '2028-02-26', '2026-12-28'];
  const day = from.chance(0.5) ? from.pick(days) : '2026-11-20';
  return Date.parse(`${day}T00:00:00Z`) + from.int(0, 23) * hourMs + from.int(0, 3599) * 1000;
}

function drawTraffic(seed: number, place: number): Traffic {
  const from = new Seeded(seed, `traffic ${place}`);
  return {
    key: seed * 16 + place,
    cycleMs: from.pick([6 * hourMs, dayMs, 3 * dayMs, 10 * dayMs]),
    grainMicros: from.pick([10_000, unit, 10 * unit, 50 * unit]),
    highMicros: from.pick([350, 500, 2000]) * unit,
    lows: [-30, 0, 40, 150, 250, 320].map((low) => low * unit),
    swings: from.pick([0, 0, 0.1, 0.3]),
    idles: from.pick([0, 0.1]),
    levels: [0, 100, 200, 300].map((level) => level * unit),
    currency: 'EUR',
  };
}

const providerFaults: readonly ProviderFault[] = [
  ...outcomeKinds.filter((kind) => kind !== 'ok'),
  'currency',
  'slow',
];

function drawWeather(from: Seeded, settings: Settings, days: number): Spell[] {
  const ids = settings.accounts.map((account) => account.id);
  return times(from, days, 0.5).map(
    (at): Spell => ({
      kind: from.pick(providerFaults),
      from: at,
      until: at + from.skewed(2 * minuteMs, 3 * dayMs),
      accounts: from.chance(0.5) ? null : from.atLeastOne(ids, 0.3),
      share: from.pick([1, 1, 0.5]),
      retryAfterMs: from.chance(0.3) ? from.pick([1000, 90_000, 40 * minuteMs, hourMs]) : null,
    }),
  );
}

const channelFaults: readonly ChannelFault[] = [
  'refused',
  'arrived',
  'lost',
  'slow',
  'limited',
  'dead',
  'partial',
];

function drawChannelWeather(from: Seeded, settings: Settings, days: number): ChannelSpell[] {
  return times(from, days, 0.5).map((at): ChannelSpell => {
    const drawn = from.pick(channelFaults);
    // Half of those that refuse a recipient refuse it for now, and half of these the others for good.
    const isOwing = drawn === 'partial' && at % 2 === 0;
    const kind = isOwing ? (Math.floor(at / 8) % 2 === 0 ? 'nobody' : 'owing') : drawn;
    const forGood = kind === 'dead' && from.chance(0.2);
    return {
      kind,
      from: at,
      until: forGood
        ? Number.MAX_SAFE_INTEGER
        : at + from.skewed(5 * minuteMs, from.pick([6, 6, 6, 30]) * hourMs),
      channel: from.pick(settings.channels).name,
      share: from.pick([1, 1, 0.5]),
      afterMs:
        kind === 'limited'
          ? from.pick([1000, 30_000, 20 * minuteMs])
          : isOwing && at % 4 === 0
            ? 5 * minuteMs
            : null,
    };
  });
}

function drawEvents(
  seed: number,
  it: { readonly settings: Settings; readonly days: number; readonly nodes: number },
): Happening[] {
  const { days, nodes } = it;
  const from = new Seeded(seed, 'events');
  let current = it.settings;
  const perDay = days > longDays ? [0.2, 0.5, 1] : [0.5, 2, 5];
  const common = times(from, days, from.pick(perDay)).map((at): Happening => {
    const happening = drawEvent(from, current);
    if (happening.kind === 'reload') current = happening.settings;
    return { at, ...happening };
  });
  if (nodes === 1) return common;
  // All daemons are stopped before a shared database is set back.
  const kept = common.filter(({ kind }) => kind !== 'backup' && kind !== 'restore');
  const more = new Seeded(seed, 'cluster events');
  const shared = times(more, days, more.pick([1, 4, 10])).map(
    (at): Happening => ({ at, ...drawSharedEvent(more) }),
  );
  return [...kept, ...shared].sort((left, right) => left.at - right.at);
}

/** What befalls daemons that share a database. */
function drawSharedEvent(from: Seeded): Undated {
  if (from.chance(0.1)) return { kind: 'hand over' };
  if (from.chance(0.2)) return { kind: 'kill', downMs: from.skewed(2000, hourMs) };
  return {
    kind: 'line',
    fault: from.pick(['cut', 'cut', 'isolated', 'deaf', 'slow']),
    everyone: from.chance(0.3),
    forMs: from.skewed(3000, 3 * hourMs),
  };
}

type Undated = Happening extends infer Each ? (Each extends Happening ? Omit<Each, 'at'> : never) : never;

function drawEvent(from: Seeded, settings: Settings): Undated {
  const downMs = from.skewed(2000, 12 * hourMs);
  switch (from.int(0, 22)) {
    case 0:
    case 1:
      return { kind: 'kill', downMs: from.pick([2000, downMs]) };
    case 2:
    case 3:
    case 4:
      return { kind: 'kill at call', calls: from.int(1, 200), downMs: from.pick([2000, downMs]) };
    case 5:
    case 6:
    case 7:
      return {
        kind: 'kill in commit',
        when: from.pick(['before', 'after']),
        downMs: from.pick([2000, downMs]),
      };
    case 8:
      return { kind: 'stop', downMs };
    case 9:
      return { kind: 'jump', byMs: from.pick([-1, 1]) * from.skewed(3000, dayMs) };
    case 10:
      return { kind: 'suspend', forMs: from.skewed(minuteMs, dayMs) };
    case 11:
      return { kind: 'pause', forMs: from.skewed(minuteMs, 6 * hourMs) };
    case 12:
    case 13:
      return {
        kind: 'storage',
        fault: from.pick(['full', 'read-only', 'busy']),
        forMs: from.skewed(minuteMs, 2 * hourMs),
      };
    case 14:
      return from.chance(0.5) ? { kind: 'backup' } : { kind: 'restore', downMs };
    case 15:
    case 16:
      return from.chance(0.1)
        ? { kind: 'invalid configuration' }
        : { kind: 'reload', settings: editSettings(from, settings) };
    case 17:
    case 20:
    case 21:
    case 22:
      return { kind: 'acknowledge', place: from.int(0, 5), byOrder: from.chance(0.5) };
    case 18:
      return {
        kind: 'silence',
        match: from.chance(0.3) ? {} : drawMatch(from, settings.accounts, settings.rules),
        forMs: from.skewed(10 * minuteMs, dayMs),
        byOrder: from.chance(0.5),
      };
    default:
      return from.chance(0.5)
        ? { kind: 'expire', place: from.int(0, 3) }
        : { kind: 'poll now', account: from.pick(settings.accounts).id };
  }
}

/** Instants over the days with so many a day on average, in order. */
function times(from: Seeded, days: number, perDay: number): number[] {
  const count = Math.round(days * perDay * (0.5 + from.fraction()));
  const instants = Array.from({ length: count }, () => Math.round(from.fraction() * days * dayMs));
  return instants.sort((left, right) => left - right);
}
