import { describe, expect, test } from 'vitest';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import type { RecordingChannel } from '../support/recording-channel.ts';
import { startWorld, type World } from '../support/world.ts';

/** A channel that may have several messages under way, and whose receiver has not answered the first one. */
async function startHeldWorld(maxConcurrent: number) {
  const parts = { accounts: ['otp', 'ads'], rules: [smsLow({ warning: units(200) })] };
  const world = await startWorld(parts);
  const ops = world.channel('ops');
  const answer = Promise.withResolvers<void>();
  Object.assign(ops, { maxConcurrent, hold: answer.promise });
  // The daemon reads what a channel may do when it is configured.
  world.reload(parts);
  await fall(world, 'otp', 100);
  expect(attemptsOf(ops)).toEqual(['otp firing']);
  return { world, ops, answer };
}

async function fall(world: World, account: string, balance: number): Promise<void> {
  world.provider.set(account, balance);
  await world.pass(10 * minuteMs);
}

const attemptsOf = (channel: RecordingChannel) =>
  channel.attempts.map(({ message }) =>
    message.kind === 'incidents'
      ? message.items.map(({ incident, kinds }) => `${incident.account} ${kinds.join('+')}`).join('; ')
      : message.kind,
  );

describe('a receiver that takes minutes for a message', () => {
  test('gets another alert meanwhile, where its channel may have several under way', async () => {
    const { world, ops, answer } = await startHeldWorld(2);
    await fall(world, 'ads', 100);
    expect(attemptsOf(ops)).toEqual(['otp firing', 'ads firing']);
    answer.resolve();
    await world.pass(minuteMs);
    expect(attemptsOf(ops)).toHaveLength(2);
  });

  test('never gets the end of an incident while its beginning is under way', async () => {
    const { world, ops, answer } = await startHeldWorld(5);
    await fall(world, 'otp', 1000);
    expect(attemptsOf(ops)).toEqual(['otp firing']);
    answer.resolve();
    await world.pass(minuteMs);
    expect(attemptsOf(ops)).toEqual(['otp firing', 'otp resolved']);
  });

  test('answers as the process wakes from an hour of standing still: what comes next does not wait for another hour', async () => {
    const { world, ops, answer } = await startHeldWorld(1);
    await fall(world, 'ads', 100);
    world.clock.freeze(60 * minuteMs);
    // On waking the system brings answers first, and timers after them.
    answer.resolve();
    await new Promise(setImmediate);
    await world.pass(minuteMs);
    expect(attemptsOf(ops)).toEqual(['otp firing', 'ads firing']);
  });

  test('gets nothing more where one message at a time is what its channel may have', async () => {
    const { world, ops, answer } = await startHeldWorld(1);
    await fall(world, 'ads', 100);
    expect(attemptsOf(ops)).toEqual(['otp firing']);
    answer.resolve();
    await world.pass(minuteMs);
    expect(attemptsOf(ops)).toEqual(['otp firing', 'ads firing']);
  });
});
