import { readFileSync, writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import { pushedKind } from '../../src/providers/pushed/pushed-kind.ts';
import {
  belowRule,
  dayMs,
  dropRule,
  hourMs,
  minuteMs,
  negativeRule,
  runwayRule,
  staleRule,
  units,
} from './account-facts.ts';
import { viewsNow } from './built-views.ts';
import { give } from './orders.ts';
import { makeAccount, makeProvider, makeRoute, type SettingsParts } from './settings.ts';
import { step, World } from './world.ts';

const own = {
  ...makeProvider(),
  name: 'own',
  type: pushedKind.type,
  polled: false,
  balances: accountServiceBalances,
};

export const demoParts = {
  providers: { own },
  accounts: [
    makeAccount('otp', { name: 'OTP production', labels: { team: 'identity', region: 'cn' } }),
    makeAccount('marketing-eu', {
      name: 'Marketing Europe',
      labels: { team: 'growth', region: 'eu' },
      currency: 'EUR',
    }),
    makeAccount('voice-alerts', { name: 'Voice alerts', labels: { team: 'sre' } }),
    makeAccount('billing', { name: 'Billing notices', labels: { team: 'finance' } }),
    makeAccount('batch', { name: 'Batch jobs', labels: { team: 'data' } }),
    makeAccount('support', { name: 'Support desk', labels: { team: 'support' }, currency: 'USD' }),
    makeAccount('new-account', { name: 'New account', provider: 'own', baseUrl: null, credentials: {} }),
  ],
  rules: [
    belowRule({
      id: 'sms-low',
      thresholds: { warning: units(200), critical: units(50) },
      match: { account: ['otp'] },
    }),
    runwayRule({
      id: 'sms-runway',
      thresholds: { warning: 3 * dayMs },
      match: { account: ['otp', 'marketing-eu'] },
    }),
    staleRule({ id: 'stale', afterMs: dayMs }),
    negativeRule({ id: 'voip-negative', balance: 'voip', match: { account: ['voice-alerts'] } }),
    dropRule({
      id: 'spending',
      by: { kind: 'amount', micros: units(20) },
      forMs: 15 * minuteMs,
      match: { account: ['batch'] },
    }),
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
} satisfies SettingsParts;

/** The database after the morning: made once a test file, as each of its tests begins there. */
let morning: Buffer | null = null;

/**
 * A team's morning, at `viewsNow`: something critical, something acknowledged, a key refused, a balance below zero, what
 * only begins, what is well, and an account that was never read.
 */
export async function startDemoWorld(atEnd: (end: () => void) => void = onTestFinished): Promise<World> {
  morning ??= await liveThroughMorning(atEnd);
  const left = morning;
  const world = new World(demoParts, {
    startAt: viewsNow - minuteMs,
    leave: (path) => writeFileSync(path, left),
    atEnd,
  });
  setAnswers(world, 1);
  world.channel('finance').mood = 'down';
  world.daemon.start();
  await world.pass(minuteMs);
  return world;
}

const polls = 48;

async function liveThroughMorning(atEnd: (end: () => void) => void): Promise<Buffer> {
  const startAt = viewsNow - 2 * minuteMs - (polls + 3) * step;
  const world = new World(demoParts, { startAt, atEnd, sleepMs: minuteMs });
  for (const id of ['otp', 'marketing-eu', 'batch', 'support']) world.provider.set(id, 10_000);
  setAnswers(world, 0);
  world.provider.set('otp', 31.25);
  world.daemon.start();
  await world.pass(minuteMs);
  const acknowledge = (account: string, rule: string, by: string, comment: string) =>
    give(world.views, { kind: 'acknowledge', account, rule, comment }, by);
  await acknowledge('otp', 'sms-low', 'Wei', 'ordered');
  await world.pass(step);
  for (let poll = 0; poll <= polls; poll += 1) {
    setAnswers(world, poll / polls);
    if (poll === polls) world.channel('finance').mood = 'down';
    await world.pass(step);
  }
  await acknowledge('marketing-eu', 'sms-runway', 'Priya', 'invoice is with finance');
  await give(
    world.views,
    {
      kind: 'silence',
      match: { account: ['batch'], severity: ['warning'] },
      everything: false,
      startsAt: world.now,
      endsAt: viewsNow + 3 * hourMs,
      comment: 'load test until 22:00',
    },
    'Lin',
  );
  await world.stop();
  return readFileSync(world.path);
}

/** What the provider answers after such a share of the morning. */
function setAnswers({ provider }: World, share: number): void {
  const left = 1 - share;
  const falling = (end: number, by: number) => Math.round((end + left * by) * 1_000) / 1_000;
  provider.set('otp', falling(42.1, 389.15), { voip: 80 });
  provider.set('marketing-eu', falling(1_840.75, 120), { currency: 'EUR' });
  provider.set('voice-alerts', 64, { voip: falling(-18.383, 40) });
  provider.set('batch', share === 1 ? 205 : 226);
  provider.set('support', falling(15_230.04, 7), { currency: 'USD' });
  if (share > 0.25) provider.fail('billing', 'auth_failed');
  else provider.set('billing', 910.4);
}
