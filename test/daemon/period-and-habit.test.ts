import { describe, expect, it, test } from 'vitest';
import type { BudgetRule } from '../../src/rules/budget.ts';
import type { MissedTopUpRule } from '../../src/rules/missed-top-up.ts';
import { hourMs, minuteMs, moneyBase, units } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { startWorld, type World } from '../support/world.ts';

const budget: BudgetRule = {
  ...moneyBase,
  id: 'budget',
  type: 'budget',
  by: 'spent',
  per: 'day',
  thresholds: { warning: units(60) },
};
const recharge: MissedTopUpRule = {
  ...moneyBase,
  id: 'recharge',
  type: 'missed-top-up',
  atMicros: null,
  withinMs: 20 * minuteMs,
};

const dayOf = (world: World) => world.daemon.state.accounts.get('otp')?.spending.since('day');
const news = (world: World) =>
  world.news().filter((line) => /^otp.(budget|recharge) (firing|resolved)/.test(line));

describe('the budget of a day in Berlin', () => {
  test.each([
    ['of 23 hours', Date.UTC(2027, 2, 27, 23), 23],
    ['of 24 hours', Date.UTC(2027, 2, 28, 22), 24],
    ['of 25 hours', Date.UTC(2027, 9, 30, 22), 25],
  ])(
    '%s begins and ends at midnight there, though the process was dead at both',
    async (_, midnight, hours) => {
      const account = makeAccount('otp', { timezone: 'Europe/Berlin' });
      const world = await startWorld(
        { accounts: [account], rules: [budget] },
        { startAt: midnight - hourMs, sleepMs: hourMs },
      );
      let left = 10_000;
      const spendUntil = async (until: number) => {
        while (world.now < until) {
          world.provider.set('otp', --left);
          await world.pass(Math.min(10 * minuteMs, until - world.now));
        }
      };
      const dieAcross = async (instant: number) => {
        await spendUntil(instant - 10 * minuteMs);
        world.crash();
        world.clock.jump(20 * minuteMs);
        world.start();
        await spendUntil(instant + 30 * minuteMs);
      };
      await dieAcross(midnight);
      const end = midnight + hours * hourMs;
      expect(dayOf(world)).toMatchObject({ startsAt: midnight, endsAt: end, knownSince: midnight });
      expect(dayOf(world)?.spent.sms).toBeLessThanOrEqual(units(5));
      // Six an hour: sixty are spent in the eleventh.
      await spendUntil(midnight + 12 * hourMs);
      expect(news(world)).toEqual(['otp/budget firing warning']);
      await dieAcross(end);
      expect(news(world)).toEqual(['otp/budget resolved warning']);
      expect(dayOf(world)?.startsAt).toBe(end);
      expect(dayOf(world)?.spent.sms).toBeLessThanOrEqual(units(5));
    },
  );
});

it('a habit of recharging is known after a crash, and a recharge that was due before it is missed in time', async () => {
  const world = await startWorld({ rules: [recharge] }, { sleepMs: hourMs });
  let left = 10_000;
  const read = async () => {
    world.provider.set('otp', left);
    await world.pass(5 * minuteMs);
    left -= 5;
  };
  for (let recharges = 0; recharges < 5; recharges++) {
    while (left >= 9900) await read();
    await read();
    left += 200;
  }
  while (left >= 9895) await read();
  // Below the lowest balance at which one has come.
  await read();
  const below = world.now;
  expect(news(world)).toEqual([]);
  world.crash();
  world.clock.jump(5 * minuteMs);
  world.start();
  while (world.now < below + 15 * minuteMs) await read();
  expect(news(world)).toEqual([]);
  while (world.now < below + 30 * minuteMs) await read();
  expect(news(world)).toEqual(['otp/recharge firing warning']);
});
