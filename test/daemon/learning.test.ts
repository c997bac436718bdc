import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, runwayRule, units } from '../support/account-facts.ts';
import { makeAccount, type SettingsParts } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const left = units(100);

const forecastOf = (world: World) =>
  world.daemon.state.accounts.get('otp')?.spending.forecast('sms', left) ?? null;
const bytesOf = (world: World) => world.daemon.state.accounts.get('otp')?.spending.bytes() ?? null;

/** Two days in which a unit goes every ten minutes. */
async function worldThatSpent(parts: SettingsParts = {}): Promise<World> {
  const world = await startWorld(parts, { sleepMs: hourMs });
  for (let spent = 0; spent < 288; spent++) {
    world.provider.set('otp', 1000 - spent);
    await world.pass(10 * minuteMs);
  }
  return world;
}

it('goes on with what was learned after a restart and after a crash', async () => {
  const world = await worldThatSpent();
  const learned = bytesOf(world);
  expect(forecastOf(world)?.basis).toBe('hour-of-day');
  await world.stop();
  world.start();
  expect(bytesOf(world)).toEqual(learned);
  world.crash();
  world.start();
  expect(bytesOf(world)).toEqual(learned);
});

it('learns from stored history, while polls go on, what a database of the version before does not hold', async () => {
  const world = await worldThatSpent();
  const learned = bytesOf(world);
  await world.stop();
  const db = new Database(world.path);
  db.exec('DELETE FROM spending');
  db.close();
  world.start();
  expect(forecastOf(world)).toBeNull();
  await world.pass(2000);
  expect(bytesOf(world)).not.toBeNull();
  expect(forecastOf(world)?.emptyAt).toBeGreaterThan(world.now);
  await world.stop();
  world.start();
  expect(world.daemon.state.unlearned.size).toBe(0);
  expect(learned?.length).toBe(bytesOf(world)?.length);
});

it('ends no runway alert by the mean of a quiet Sunday, before the week is learned again after an upgrade', async () => {
  const hourly = { poll: { kind: 'every', everyMs: hourMs } } as const;
  const startAt = Date.parse('2026-11-02T00:00:00Z');
  const world = await startWorld(
    {
      accounts: ['otp', 'first', 'second'].map((id) => makeAccount(id, hourly)),
      rules: [runwayRule({ id: 'runway', thresholds: { warning: 3 * dayMs }, lookbackMs: null })],
    },
    { startAt, sleepMs: hourMs },
  );
  let sms = 4100;
  for (let at = startAt; at < startAt + 20 * dayMs + 22 * hourMs; at += hourMs) {
    if (![0, 6].includes(new Date(at).getUTCDay())) sms -= 10;
    world.provider.set('otp', sms);
    await world.pass(hourMs);
  }
  expect(world.news()[0]).toBe('otp/runway firing warning');
  await world.stop();
  const db = new Database(world.path);
  db.exec('DELETE FROM spending');
  db.close();
  await world.pass(61 * minuteMs);
  world.start();
  await world.pass(1);
  expect(world.daemon.state.unlearned).toContain('otp');
  expect(world.provider.asked.get('otp')?.at(-1)).toBe(world.now - 1);
  await world.pass(minuteMs);
  expect(world.daemon.state.unlearned.size).toBe(0);
  expect(world.news()).toEqual([]);
});

it('learns again for an account that moved to another time zone, and goes on when its credit limit changed', async () => {
  const world = await worldThatSpent();
  const account = makeAccount('otp', { creditLimitMicros: units(50) });
  world.reload({ accounts: [account] });
  expect(forecastOf(world)?.basis).toBe('hour-of-day');
  world.reload({ accounts: [{ ...account, timezone: 'Asia/Shanghai' }] });
  expect(forecastOf(world)).toBeNull();
  await world.pass(2 * hourMs);
  expect(forecastOf(world)?.basis).toBe('hour-of-day');
});

it('forgets a removed account, and learns it again from its history when it comes back', async () => {
  const world = await worldThatSpent({ accounts: ['otp', 'other'] });
  world.reload({ accounts: ['other'] });
  await world.pass(minuteMs);
  expect(world.database.load().spending.map(({ account }) => account)).not.toContain('otp');
  world.reload({ accounts: ['otp', 'other'] });
  await world.pass(dayMs);
  expect(forecastOf(world)).not.toBeNull();
});
