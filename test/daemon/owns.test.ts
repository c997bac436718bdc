import { expect, test } from 'vitest';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { read, startWorld, step } from '../support/world.ts';

const rules = [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })];

test("while the accounts may be another daemon's, nobody is polled and nothing is sent; then it goes on", async () => {
  let owns = true;
  const world = await startWorld({ rules }, { owns: () => owns });
  const asked = () => world.provider.asked.get('otp')?.length ?? 0;
  const before = asked();
  owns = false;
  world.provider.set('otp', 100);
  await world.pass(2 * step);
  expect(asked()).toBe(before);
  owns = true;
  await world.pass(minuteMs);
  expect(asked()).toBe(before + 1);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('what was claimed when the lease ended is sent when it is there again, once', async () => {
  let owns = true;
  const world = await startWorld({ rules }, { owns: () => owns });
  const { commit } = world.store;
  Object.assign(world.store, {
    commit: async (...given: Parameters<typeof commit>) => {
      await commit(...given);
      if (given[0].messages.some(({ attempts }) => attempts > 0)) owns = false;
    },
  });
  expect(await read(world, 100)).toEqual([]);
  await world.pass(minuteMs);
  expect(world.news()).toEqual([]);
  Object.assign(world.store, { commit });
  owns = true;
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('who let go of the accounts takes in nothing that ends afterwards', async () => {
  const world = await startWorld({ rules });
  const answer = Promise.withResolvers<void>();
  world.channel('ops').hold = answer.promise;
  await read(world, 100);
  void world.daemon.forsake();
  await world.pass(minuteMs);
  const { messages } = world.daemon.state;
  const known = [...messages.values()];
  expect(known).toHaveLength(1);
  answer.resolve();
  await world.pass(1000);
  expect([...messages.values()]).toEqual(known);
});
