import { expect, test } from 'vitest';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const account = makeAccount('otp', { nearEmptyMs: minuteMs });

async function pollsIn(world: World, ms: number): Promise<number> {
  const since = world.now;
  await world.pass(ms);
  const query = { account: 'otp', since, until: world.now + 1 };
  return [...world.database.polls(query)].flat().length;
}

test('an account is polled more often while an alert says that it runs out, and as before when it is over', async () => {
  const world = await startWorld({ accounts: [account], rules: [smsLow({ warning: units(200) })] });
  world.provider.set('otp', 500);
  await world.pass(10 * minuteMs);
  expect(await pollsIn(world, 30 * minuteMs)).toBeLessThanOrEqual(7);
  world.provider.set('otp', 100);
  await world.pass(10 * minuteMs);
  expect(await pollsIn(world, 30 * minuteMs)).toBeGreaterThanOrEqual(29);
  world.provider.set('otp', 500);
  await world.pass(10 * minuteMs);
  expect(await pollsIn(world, 30 * minuteMs)).toBeLessThanOrEqual(7);
});

test('an account is polled more often while it may be empty within a day by the forecast', async () => {
  const world = await startWorld({ accounts: [account] }, { sleepMs: minuteMs / 4 });
  for (let spent = 0; spent < 600; spent++) {
    world.provider.set('otp', 10_000 - spent);
    await world.pass(5 * minuteMs);
  }
  expect(await pollsIn(world, 30 * minuteMs)).toBeLessThanOrEqual(7);
  world.provider.set('otp', 100);
  await world.pass(10 * minuteMs);
  expect(await pollsIn(world, 20 * minuteMs)).toBeGreaterThanOrEqual(19);
});

test('an account that stood still and was used up but for less than a message, without an alert about that, is polled as before', async () => {
  const world = await startWorld({ accounts: [account] }, { sleepMs: minuteMs / 4 });
  for (let step = 0; step < 800; step++) {
    world.provider.set('otp', Math.min(10_000, Math.max(2, 40_002 - 100 * step)));
    await world.pass(5 * minuteMs);
  }
  expect(await pollsIn(world, 30 * minuteMs)).toBeLessThanOrEqual(7);
});
