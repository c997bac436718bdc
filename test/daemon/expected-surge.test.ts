import { expect, it } from 'vitest';
import type { UnusualRule } from '../../src/rules/unusual.ts';
import { hourMs, minuteMs, moneyBase } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { startWorld, type World } from '../support/world.ts';

const surge: UnusualRule = {
  ...moneyBase,
  id: 'surge',
  type: 'surge',
  sensitivity: 'normal',
};
const alert = { account: 'otp', rule: 'surge' };
const order = { kind: 'acknowledge', ...alert, comment: 'our campaign' } as const;

const news = (world: World) => world.news().filter((line) => line.startsWith('otp/surge'));

let left = 0;

/** So many quarters of an hour in which so much goes. */
async function spend(world: World, quarters: number, each: number): Promise<void> {
  for (let quarter = 0; quarter < quarters; quarter++) {
    left -= each;
    world.provider.set('otp', left);
    await world.pass(15 * minuteMs);
  }
}

async function worldInSurge(): Promise<World> {
  left = 100_000;
  const world = await startWorld({ rules: [surge] }, { sleepMs: hourMs });
  await spend(world, 8 * 96, 10);
  expect(news(world)).toEqual([]);
  await spend(world, 6, 200);
  expect(news(world)).toEqual(['otp/surge firing warning']);
  return world;
}

const usualTop = (world: World) =>
  world.daemon.state.accounts.get('otp')?.spending.state('sms')?.more.usualTop;

it('a surge that a person acknowledged leaves no trace in what is usual, through a crash too; one nobody took does', async () => {
  const world = await worldInSurge();
  expect(await give(world.views, order)).toEqual({});
  await world.pass(minuteMs);
  world.crash();
  world.start();
  await spend(world, 48, 10);
  expect(news(world)).toEqual(['otp/surge acknowledged warning', 'otp/surge resolved warning']);
  expect(usualTop(world)).toBeLessThan(0.3);

  const own = await worldInSurge();
  await spend(own, 48, 10);
  expect(usualTop(own)).toBeGreaterThan(0.5);
});

it('one that was given back counts as if nobody had taken it', async () => {
  const world = await worldInSurge();
  await give(world.views, order);
  expect(await give(world.views, { kind: 'unacknowledge', ...alert })).toEqual({});
  await spend(world, 48, 10);
  expect(usualTop(world)).toBeGreaterThan(0.5);
});
