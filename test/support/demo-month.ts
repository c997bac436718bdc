import {
  dayMs,
  dropRule,
  hourMs,
  minuteMs,
  negativeRule,
  runwayRule,
  smsLow,
  units,
} from './account-facts.ts';
import { give } from './orders.ts';
import { makeAccount, makeRoute, type SettingsParts } from './settings.ts';
import { officeHours } from './spending.ts';
import { World, type WorldOptions } from './world.ts';

/** Fri 20 Nov 2026, 18:41 UTC: the one moment that all pictures show. */
const endsAt = Date.UTC(2026, 10, 20, 18, 41);
const days = 30;
const pollMs = 30 * minuteMs;

/** The names of a team's accounts, in its language. */
export interface TeamNames {
  readonly otp: string;
  readonly marketing: string;
  readonly voice: string;
  readonly billing: string;
  readonly batch: string;
  readonly support: string;
  readonly standby: string;
  readonly note: string;
}

function partsOf(names: TeamNames, timezone: string): SettingsParts {
  const poll = { kind: 'every', everyMs: pollMs } as const;
  const account = (id: string, name: string, over: Parameters<typeof makeAccount>[1] = {}) =>
    makeAccount(id, {
      name,
      poll,
      timezone,
      topUpUrl: `https://pay.example/${id}`,
      leadTimeMs: dayMs,
      ...over,
    });
  return {
    timezone,
    accounts: [
      account('otp', names.otp, { labels: { team: 'identity', region: 'cn' }, note: names.note }),
      account('marketing-eu', names.marketing, { labels: { team: 'growth' }, currency: 'EUR' }),
      account('voice-alerts', names.voice, { labels: { team: 'sre' } }),
      account('billing', names.billing, { labels: { team: 'finance' } }),
      account('batch', names.batch, { labels: { team: 'data' }, currency: 'USD' }),
      account('support', names.support, { labels: { team: 'support' }, currency: 'USD' }),
      account('standby', names.standby),
    ],
    rules: [
      { ...smsLow({ warning: units(400), critical: units(100) }), match: { account: ['otp'] } },
      runwayRule({ id: 'sms-runway', thresholds: { warning: 6 * dayMs, critical: dayMs } }),
      negativeRule({ id: 'voip-negative', balance: 'voip' }),
      dropRule({ id: 'spending', by: { kind: 'amount', micros: units(150) }, match: { account: ['batch'] } }),
    ],
    channels: ['ops', 'finance'],
    routes: [makeRoute({ channels: ['ops', 'finance'] })],
    silences: [
      {
        match: { account: ['marketing-eu'] },
        cron: '0 2 * * 0',
        timezone: 'UTC',
        durationMs: 2 * hourMs,
        comment: 'weekly provider maintenance',
      },
    ],
  };
}

/** An account's month: what it spends at an instant, per hour, what was put in how many days before the end, and what is left. */
interface Month {
  readonly id: string;
  readonly currency: string;
  readonly perHour: (at: number) => number;
  readonly topUps?: readonly (readonly [daysBefore: number, amount: number])[];
  readonly left: number;
}

const office = (perHour: number) => (at: number) => (officeHours(at) / 10_000_000) * perHour;
const nothing = () => 0;
const atNight = (at: number) => (at % dayMs < 2 * hourMs ? 45 : 0);
const months: readonly Month[] = [
  {
    id: 'otp',
    currency: 'CNY',
    perHour: office(9.2),
    topUps: [
      [25, 750],
      [16, 750],
      [8, 750],
    ],
    left: 176.4,
  },
  { id: 'marketing-eu', currency: 'EUR', perHour: office(21), topUps: [[12, 4_000]], left: 912.75 },
  { id: 'voice-alerts', currency: 'CNY', perHour: nothing, left: 64 },
  { id: 'billing', currency: 'CNY', perHour: () => 0.9, left: 910.4 },
  { id: 'batch', currency: 'USD', perHour: atNight, left: 4_205 },
  { id: 'support', currency: 'USD', perHour: office(4), left: 15_230.04 },
  { id: 'standby', currency: 'CNY', perHour: nothing, left: 500 },
];

/** The balance from poll to poll, in whole hundredths. */
function balancesOf({ perHour, topUps = [], left }: Month, instants: readonly number[]): readonly number[] {
  let balance = left;
  return instants
    .toReversed()
    .map((at) => {
      const now = balance;
      balance += (perHour(at) * pollMs) / hourMs;
      for (const [daysBefore, amount] of topUps)
        if (Math.abs(endsAt - daysBefore * dayMs - at) * 2 <= pollMs) balance -= amount;
      return Math.round(now * 100) / 100;
    })
    .toReversed();
}

/** A month of a team on a real daemon, at whose end something is empty, something must be paid, and a key is refused. */
export async function liveThroughMonth(
  names: TeamNames,
  timezone: string,
  options: Pick<WorldOptions, 'atEnd' | 'version'>,
): Promise<World> {
  const startAt = endsAt - days * dayMs;
  const world = new World(partsOf(names, timezone), { startAt, ...options });
  const instants = Array.from({ length: (days * dayMs) / pollMs }, (_, poll) => startAt + poll * pollMs);
  const balances = months.map((month) => balancesOf(month, instants));
  for (const [poll, at] of instants.entries()) {
    for (const [index, { id, currency }] of months.entries()) {
      const voip = id === 'voice-alerts' ? Math.round((poll * -15.85) / 10) / 10 + 210 : 0;
      world.provider.set(id, balances[index]?.[poll] ?? 0, { currency, voip });
    }
    if (endsAt - at < 3 * hourMs) world.provider.fail('billing', 'auth_failed');
    if (at === startAt) world.daemon.start();
    await world.pass(pollMs);
  }
  await give(
    world.views,
    {
      kind: 'silence',
      match: { account: ['batch'], severity: ['warning'] },
      everything: false,
      startsAt: world.now,
      endsAt: world.now + 3 * hourMs,
      comment: 'load test until 22:00',
    },
    'Lin',
  );
  return world;
}
