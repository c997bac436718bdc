import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { read, startWorld, World } from '../support/world.ts';

const heartbeat = { url: new Secret('https://watchdog.example/ping/1'), everyMs: minuteMs };

describe('the heartbeat', () => {
  test('goes out at its interval while all is well', async () => {
    const world = await startWorld({ heartbeat });
    const before = world.pings.length;
    await world.pass(10 * minuteMs);
    expect(world.pings.length - before).toBe(10);
  });

  test('is sent again a minute after it was not received, however long its interval is', async () => {
    const world = new World({ heartbeat: { ...heartbeat, everyMs: hourMs } });
    world.pingsAreLost = true;
    world.daemon.start();
    await world.pass(5 * minuteMs);
    expect(world.pings.length).toBe(5);
    world.pingsAreLost = false;
    await world.pass(hourMs);
    expect(world.pings.length).toBe(6);
  });

  test('goes out on waking where it was due while the machine slept: who waits for it did not sleep', async () => {
    const world = await startWorld({ heartbeat: { ...heartbeat, everyMs: 8 * hourMs } });
    await world.pass(hourMs);
    const before = world.pings.length;
    world.clock.jump(9 * hourMs);
    await world.pass(minuteMs);
    expect(world.pings.length).toBe(before + 1);
    world.clock.jump(-2 * dayMs);
    await world.pass(9 * hourMs);
    expect(world.pings.length).toBe(before + 2);
  });

  test('waits for the first poll to be stored: a daemon that dies at each start must not look alive', async () => {
    const world = new World({ heartbeat });
    for (let start = 0; start < 20; start++) {
      if (start > 0) world.start();
      else world.daemon.start();
      world.crash();
      await world.pass(1000);
    }
    expect(world.pings).toEqual([]);
    world.start();
    await world.pass(5000);
    expect(world.pings.length).toBe(1);
  });

  test('waits also while the first poll cannot be stored, and goes out soon after it can', async () => {
    const world = new World({ heartbeat: { ...heartbeat, everyMs: hourMs } });
    world.diskFull = true;
    world.daemon.start();
    await world.pass(20 * minuteMs);
    expect(world.pings).toEqual([]);
    world.diskFull = false;
    await world.pass(10_000);
    expect(world.pings.length).toBe(1);
  });

  test('stops while an open critical alert has reached no channel, and goes on when one took it', async () => {
    const rules = [smsLow({ warning: units(200), critical: units(50) })];
    const routes = [makeRoute({ match: { account: ['otp'] }, channels: ['ops', 'finance'] })];
    const world = await startWorld({ heartbeat, rules, routes, channels: ['ops', 'finance'] });
    const beats = async (): Promise<number> => {
      const before = world.pings.length;
      await world.pass(10 * minuteMs);
      return world.pings.length - before;
    };
    for (const name of ['ops', 'finance']) world.channel(name).mood = 'dead';
    world.provider.set('otp', 20);
    await world.pass(6 * minuteMs);
    expect(await beats()).toBe(0);
    world.channel('finance').mood = 'up';
    await world.pass(4 * hourMs);
    expect(await beats()).toBe(10);
  });

  test('stops while the only channel refuses for good', async () => {
    const world = await startWorld({ heartbeat, rules: [smsLow({ warning: units(200) })] });
    world.channel('ops').mood = 'dead';
    world.provider.set('otp', 100);
    await world.pass(6 * minuteMs);
    const stopped = world.pings.length;
    await world.pass(10 * minuteMs);
    expect(world.pings.length).toBe(stopped);
  });

  test('stops while polls cannot be stored', async () => {
    const world = await startWorld({ heartbeat });
    world.diskFull = true;
    await world.pass(10 * minuteMs);
    const stopped = world.pings.length;
    await world.pass(10 * minuteMs);
    expect(world.pings.length).toBe(stopped);
    world.diskFull = false;
    await world.pass(10_000);
    expect(world.pings.length).toBe(stopped + 1);
  });

  test('stops while a message is overdue, and goes on when it is delivered', async () => {
    const world = await startWorld({ heartbeat });
    world.channel('ops').mood = 'down';
    world.provider.fail('otp', 'auth_failed');
    await world.pass(15 * minuteMs);
    const stopped = world.pings.length;
    await world.pass(30 * minuteMs);
    expect(world.pings.length).toBe(stopped);
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    expect(world.pings.length).toBeGreaterThan(stopped + 3);
  });

  test('stops once a message has waited for a minute, though the clock was set back by an hour meanwhile', async () => {
    const world = await startWorld({ heartbeat, rules: [smsLow({ warning: units(200) })] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    world.clock.jump(-hourMs);
    const before = world.pings.length;
    await world.pass(5 * minuteMs);
    expect(world.pings.length - before).toBeLessThanOrEqual(1);
  });

  test('stops for what goes on alone once the message that it waited in is given up, though nothing ran for hours before', async () => {
    const world = await startWorld(
      {
        ...{ heartbeat, accounts: ['otp', 'ads'], rules: [smsLow({ warning: units(200) })] },
        ...{ channels: ['ops', 'finance'], routes: [makeRoute({})] },
      },
      { sleepMs: minuteMs },
    );
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.stop();
    await world.pass(10 * hourMs);
    world.start();
    await world.pass(23 * hourMs);
    world.provider.set('ads', 100);
    await world.pass(6 * minuteMs);
    const before = world.pings.length;
    await world.pass(3 * hourMs);
    expect(world.news('finance').at(-1)).toBe('@lowwater/channel-failed:ops firing critical');
    expect(world.pings.length - before).toBeLessThanOrEqual(1);
  });

  test('goes on through a night in which the schedule asks for no poll', async () => {
    const poll = { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } as const;
    const world = await startWorld({ heartbeat, accounts: [makeAccount('otp', { poll })] });
    await world.restart({ downMs: minuteMs });
    const before = world.pings.length;
    await world.pass(hourMs);
    expect(world.pings.length - before).toBeGreaterThanOrEqual(59);
  });
});

test('what waits for a channel that takes nothing is a problem that probes, page and status name, until it arrives', async () => {
  const world = await startWorld({ rules: [smsLow({ critical: units(50) })], channels: ['ops'] });
  world.channel('ops').mood = 'down';
  await read(world, 30);
  expect(world.views.status().problems).toEqual([]);
  await world.pass(2 * minuteMs);
  expect(world.views.status().problems).toEqual(['messages wait for channel ops: connection refused']);
  world.channel('ops').mood = 'up';
  await world.pass(5 * minuteMs);
  expect(world.views.status().problems).toEqual([]);
});

test('a channel that refuses for good stands among the problems until it takes a message again', async () => {
  const world = await startWorld({ rules: [smsLow({ critical: units(50) })], channels: ['ops', 'finance'] });
  const problems = () => world.views.status().problems;
  world.channel('ops').mood = 'dead';
  world.provider.set('otp', 20);
  await world.pass(10 * minuteMs);
  expect(problems()).toEqual([expect.stringMatching(/^channel-failed:ops: ./)]);
  world.channel('ops').mood = 'up';
  await world.pass(5 * hourMs);
  expect(problems()).toEqual([]);
});

test.each([-hourMs, hourMs])(
  'after the clock jumped by %i ms, what waits is a problem as soon as it has waited for a minute',
  async (byMs) => {
    const world = await startWorld({ rules: [smsLow({ critical: units(50) })], channels: ['ops'] });
    world.channel('ops').mood = 'down';
    world.provider.set('otp', 30);
    while (world.channel('ops').attempts.length === 0) await world.pass(1000);
    world.clock.jump(byMs);
    await world.pass(10_000);
    expect(world.views.status().problems).toEqual([]);
    await world.pass(2 * minuteMs);
    expect(world.views.status().problems).toEqual(['messages wait for channel ops: connection refused']);
  },
);
