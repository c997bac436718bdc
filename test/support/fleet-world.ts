import type { AccountSettings } from '../../src/domain/settings.ts';
import { belowRule, dayMs, hourMs, negativeRule, runwayRule, units } from './account-facts.ts';
import { makeAccount, makeRoute, type SettingsParts } from './settings.ts';
import { World, type WorldOptions } from './world.ts';

const services = ['OTP', 'Marketing', 'Voice alerts', 'Billing', 'Support', 'Delivery', 'Fraud', 'Travel'];
const places = ['production', 'Europe', 'China', 'Latin America', 'batch jobs'];
const fleet = services.flatMap((service) => places.map((place) => `${service} ${place}`));
const pollMs = hourMs;
const days = 3;

function accountAt(name: string, index: number): AccountSettings {
  const id = name.toLowerCase().replaceAll(' ', '-');
  return makeAccount(id, {
    name,
    labels: {
      team: services[Math.floor(index / places.length)] ?? '',
      region: places[index % places.length] ?? '',
    },
    currency: ['CNY', 'EUR', 'USD'][index % 3] ?? 'CNY',
    poll: { kind: 'every', everyMs: pollMs },
    topUpUrl: `https://pay.example/${id}`,
    leadTimeMs: dayMs,
    ...(index % 4 === 0
      ? { note: 'Finance pays by card until 18:00, ask Priya.', runbookUrl: 'https://wiki.example/top-up' }
      : {}),
    ...(refused.indexOf(index) > 0 ? { credentials: sharedKey } : {}),
  });
}

/** Accounts whose key is refused; all but the first share one. */
const refused = [3, 4, 14, 24];
const sharedKey = makeAccount('shared').credentials;

const parts = {
  accounts: fleet.map(accountAt),
  rules: [
    belowRule({ id: 'sms-low', thresholds: { info: units(500), warning: units(200), critical: units(50) } }),
    runwayRule({ id: 'sms-runway', thresholds: { warning: 3 * dayMs, critical: dayMs } }),
    negativeRule({ id: 'sms-negative' }),
  ],
  channels: ['ops', 'finance'],
  routes: [makeRoute({ channels: ['ops', 'finance'] })],
} satisfies SettingsParts;

type AtEnd = NonNullable<WorldOptions['atEnd']>;

/** Three days of forty accounts that spend and last for weeks. */
export function startCalmFleet(atEnd: AtEnd): Promise<World> {
  return liveThrough(atEnd, (index, left) => 9_000 + index * 40 + left * (100 + index));
}

/**
 * The same, but at the end four are empty, eight run out within a day, eight within the week, four keys are refused, three of them one
 * key, and two are not read.
 */
export async function startFleetInCrisis(atEnd: AtEnd): Promise<World> {
  const world = await liveThrough(atEnd, (index, left) => {
    const perDay = 100 + index * 3;
    if (index % 10 === 0) return -index + left * perDay;
    if (index % 5 === 1) return 20 + index + left * perDay * 1.3;
    if (index % 5 === 2) return 3.2 * perDay + left * perDay;
    return 9_000 + index * 40 + left * perDay;
  });
  const fail = (index: number, kind: 'auth_failed' | 'timeout') =>
    world.provider.fail(world.settings.accounts[index]?.id ?? '', kind);
  for (const index of refused) fail(index, 'auth_failed');
  for (const index of [8, 18]) fail(index, 'timeout');
  await world.pass(2 * hourMs);
  return world;
}

/** With the balance of each account, by its place in the fleet and the days that are left. */
async function liveThrough(
  atEnd: AtEnd,
  balanceOf: (index: number, daysLeft: number) => number,
): Promise<World> {
  const world = new World(parts, { sleepMs: pollMs, atEnd });
  for (let left = days; left >= 0; left -= pollMs / dayMs) {
    for (const [index, { id, currency }] of world.settings.accounts.entries())
      world.provider.set(id, Math.round(balanceOf(index, left) * 100) / 100, { currency: currency ?? 'CNY' });
    if (left === days) world.daemon.start();
    await world.pass(pollMs);
  }
  return world;
}
