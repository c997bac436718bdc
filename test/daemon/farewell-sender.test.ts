import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import type { Mood, RecordingChannel } from '../support/recording-channel.ts';
import { read, startWorld, type World } from '../support/world.ts';

const ended = 'otp/sms-low resolved warning (channel-removed)';
const named = '@lowwater/channel-failed:ops event warning';

/** A pager has an alert open, and the configuration sends elsewhere from now on while it answers so. */
async function moveAway(
  mood: Mood,
  diskFull = false,
): Promise<{ readonly world: World; readonly old: RecordingChannel }> {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  world.diskFull = diskFull;
  const old = world.channel('ops');
  old.news();
  old.mood = mood;
  world.channels.delete('ops');
  const channels = world.settings.channels.map((channel) =>
    channel.name === 'ops' ? { ...channel, place: new Secret('https://hooks.example.com/new') } : channel,
  );
  await world.daemon.reload({ ...world.settings, channels });
  await world.pass(0);
  return { world, old };
}

describe('a receiver that the configuration has no more', () => {
  test('and that refuses for now is told again until it takes that its alerts end there', async () => {
    const { world, old } = await moveAway('down');
    await world.pass(5 * minuteMs);
    expect(old.news()).toEqual([]);
    old.mood = 'up';
    await world.pass(5 * minuteMs);
    expect(old.news()).toEqual([ended]);
    expect(world.errors).toEqual([]);
  });

  test('and that asks to wait is not asked before, and then for those who miss it alone', async () => {
    const { world, old } = await moveAway({ owes: ['second'], afterMs: 2 * minuteMs });
    const before = old.attempts.length;
    old.mood = 'up';
    await world.pass(2 * minuteMs - 1);
    expect(old.attempts).toHaveLength(before);
    await world.pass(1);
    expect(old.attempts.at(-1)?.message).toMatchObject({ recipients: ['second'] });
  });

  test('and that refuses some for good is named though the others take it later', async () => {
    const { world, old } = await moveAway({ refusesAll: ['first'], others: ['second'], afterMs: minuteMs });
    old.mood = 'up';
    await world.pass(2 * minuteMs);
    expect(old.attempts.at(-1)?.message).toMatchObject({ recipients: ['second'] });
    expect(world.errors).toMatchObject([{ channel: 'ops', reason: 'refused for first (550 no such user)' }]);
  });

  test('and that takes nothing for long is named in the log and on the channels, the new one of its name too', async () => {
    const { world, old } = await moveAway('down');
    await world.pass(20 * minuteMs);
    expect(old.news()).toEqual([]);
    expect(world.errors).toEqual([
      {
        channel: 'ops',
        reason: 'connection refused',
        message: 'a receiver was not told that it hears no more',
      },
    ]);
    expect(world.news()).toEqual(['otp/sms-low firing warning', named]);
    const tries = old.attempts.length;
    await world.pass(60 * minuteMs);
    expect(old.attempts).toHaveLength(tries);
  });

  test('and that is configured again before it was told hears of no end any more', async () => {
    const { world, old } = await moveAway('down');
    world.channels.set('ops', old);
    await world.daemon.reload(world.settings);
    old.mood = 'up';
    await world.pass(10 * minuteMs);
    expect(old.news()).toEqual(['otp/sms-low firing warning']);
    expect(world.errors).toEqual([]);
  });

  test('and that is configured again is named where an end was not told, and will not be', async () => {
    const { world, old } = await moveAway('down');
    await read(world, 300);
    world.channels.set('ops', old);
    await world.daemon.reload(world.settings);
    old.mood = 'up';
    await world.pass(10 * minuteMs);
    expect(old.news()).toEqual([named]);
  });

  test('is not told before the database knows so: the next process may have the configuration of before', async () => {
    for (const isKilled of [false, true]) {
      const { world, old } = await moveAway('up', true);
      await world.pass(5 * minuteMs);
      expect(old.news()).toEqual([]);
      if (isKilled) world.crash();
      world.diskFull = false;
      if (isKilled) world.start();
      await world.pass(10 * minuteMs);
      expect(old.news()).toEqual(isKilled ? [] : [ended]);
      expect(world.errors.filter((each) => 'channel' in each)).toEqual([]);
    }
  });

  test('and that is configured again before anything was sent is named for that reason', async () => {
    const parts = { rules: [smsLow({ warning: units(200) })], channels: ['ops', 'pager'] };
    const world = await startWorld(parts);
    await read(world, 100);
    const underWay = Promise.withResolvers<void>();
    world.channel('pager').hold = underWay.promise;
    await read(world, 300);
    for (const channels of [['ops'], parts.channels]) await world.reload({ ...parts, channels });
    underWay.resolve();
    await world.pass(minuteMs);
    expect(world.errors).toMatchObject([{ channel: 'pager', reason: 'it was configured again before' }]);
  });

  test('is told once more where the daemon is to end, which waits for that no longer than for other work', async () => {
    const { world, old } = await moveAway('down');
    await world.pass(5 * minuteMs);
    old.mood = 'up';
    await world.stop();
    expect(old.news()).toEqual([ended]);
    const other = await moveAway('down');
    await other.world.pass(minuteMs);
    const stoppedAt = other.world.now;
    await other.world.stop();
    expect(other.world.now - stoppedAt).toBeLessThan(9000);
    expect(other.world.errors).toMatchObject([{ channel: 'ops', reason: 'connection refused' }]);
  });

  test('and that was not told when the daemon was killed is named once by the next one', async () => {
    const { world, old } = await moveAway('down');
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    world.settings = world.daemon.state.settings;
    world.crash();
    old.mood = 'up';
    world.start();
    await world.pass(5 * minuteMs);
    expect(world.news()).toEqual([named]);
    await world.restart({ downMs: minuteMs });
    await world.pass(5 * minuteMs);
    expect(world.news()).toEqual([]);
    expect(old.news()).toEqual([]);
  });

  test('and that was told, or named, before the daemon was killed is not named by the next one', async () => {
    for (const mood of ['up', 'down'] as const) {
      const { world } = await moveAway(mood);
      await world.pass(20 * minuteMs);
      world.settings = world.daemon.state.settings;
      world.crash();
      world.news();
      world.start();
      await world.pass(5 * minuteMs);
      expect(world.news()).toEqual([]);
    }
  });

  test('while nothing may be sent is told once it may', async () => {
    let owns = true;
    const parts = { rules: [smsLow({ warning: units(200) })], channels: ['ops', 'pager'] };
    const world = await startWorld(parts, { owns: () => owns });
    await read(world, 100);
    const pager = world.channel('pager');
    pager.news();
    owns = false;
    await world.reload({ ...parts, channels: ['ops'] });
    await world.pass(minuteMs);
    expect(pager.news()).toEqual([]);
    owns = true;
    await world.pass(2 * minuteMs);
    expect(pager.news()).toEqual([ended]);
  });

  test('since a start is named once on the channels where it has alerts open, and else not', async () => {
    const rules = [smsLow({ warning: units(200) })];
    const world = await startWorld({ rules, channels: ['ops', 'pager'] });
    await world.restart({ downMs: minuteMs, parts: { rules, channels: ['ops'] } });
    await world.restart({ downMs: minuteMs, parts: { rules, channels: ['ops', 'pager'] } });
    world.provider.set('otp', 100);
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await world.restart({ downMs: minuteMs, parts: { rules, channels: ['ops'] } });
    await world.restart({ downMs: minuteMs });
    await world.pass(5 * minuteMs);
    expect(world.news()).toEqual(['@lowwater/channel-failed:pager event warning']);
  });
});
