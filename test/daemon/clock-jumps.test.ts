import { describe, expect, test, vi } from 'vitest';
import { collect, createHistoryLoader } from '../../src/daemon/history-loader.ts';
import { dayMs, hourMs, minuteMs, smsLow, staleRule, units } from '../support/account-facts.ts';
import { give, giveAtOnce } from '../support/orders.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { startWorld, step, type World } from '../support/world.ts';

const rule = smsLow({ warning: units(200) });

/** Ways in which time goes on without lowwater, or seems to. */
const jumps: readonly (readonly [string, (world: World) => void, number])[] = [
  ['the clock is set a day ahead', (world) => world.clock.jump(dayMs), dayMs],
  ['the clock is set a day back', (world) => world.clock.jump(-dayMs), -dayMs],
  ['the machine sleeps for eight hours', (world) => world.clock.jump(8 * hourMs), 8 * hourMs],
  ['the process is frozen for eight hours', (world) => world.clock.freeze(8 * hourMs), 8 * hourMs],
  ['the event loop is blocked for a minute', (world) => world.clock.freeze(minuteMs), minuteMs],
];

test.each([hourMs, -hourMs])(
  'who hands over because its clock is off (%i ms) leaves the time of reminders as it was',
  async (aheadMs) => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: 2 * hourMs })] });
    world.provider.set('otp', 100);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    world.clock.jump(aheadMs);
    await world.pass(2000);
    const stopped = world.daemon.stop(aheadMs);
    await world.pass(0);
    await stopped;
    world.database.close();
    world.clock.jump(-aheadMs);
    world.start();
    await world.pass(110 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  },
);

test('a machine that slept past what the provider asked to wait polls when it wakes; one whose clock was set back still waits', async () => {
  const world = await startWorld({ rules: [rule] });
  const polls = (): number => world.provider.asked.get('otp')?.length ?? 0;
  world.provider.fail('otp', 'rate_limited', { retryAfterMs: 2 * hourMs });
  await world.pass(step);
  world.provider.set('otp', 1000);
  const refused = polls();
  await world.pass(hourMs);
  expect(polls()).toBe(refused);
  world.clock.jump(3 * hourMs);
  await world.pass(minuteMs);
  expect(polls()).toBe(refused + 1);

  world.provider.fail('otp', 'rate_limited', { retryAfterMs: 2 * hourMs });
  await world.pass(step);
  world.provider.set('otp', 1000);
  const again = polls();
  world.clock.jump(-3 * hourMs);
  await world.pass(hourMs);
  expect(polls()).toBe(again);
  await world.pass(hourMs);
  expect(polls()).toBeGreaterThan(again);
});

test('a machine that slept for a part of what the provider asked to wait waits for the rest alone', async () => {
  const world = await startWorld({ rules: [rule] });
  const polls = (): number => world.provider.asked.get('otp')?.length ?? 0;
  world.provider.fail('otp', 'rate_limited', { retryAfterMs: 3 * hourMs });
  await world.pass(step);
  world.provider.set('otp', 1000);
  const refused = polls();
  world.clock.jump(2 * hourMs);
  await world.pass(50 * minuteMs);
  expect(polls()).toBe(refused);
  await world.pass(15 * minuteMs);
  expect(polls()).toBeGreaterThan(refused);
});

test.each([
  ['was ahead for two hours is set right', 3 * hourMs, -3 * hourMs],
  ['was right is set back, and right again two hours later', -3 * hourMs, 3 * hourMs],
])('a clock that %s leaves no false top-up to who compares readings', async (_how, first, then) => {
  const world = await startWorld({ rules: [rule] });
  let balance = 10_000;
  const spend = async (): Promise<void> => {
    for (let nth = 0; nth < 24; nth += 1) {
      balance -= 10;
      world.provider.set('otp', balance);
      await world.pass(step);
    }
  };
  await spend();
  world.clock.jump(first);
  await spend();
  world.clock.jump(then);
  await spend();
  await spend();
  const { reader } = world.daemon;
  const readings = await collect(
    reader.readings({ account: 'otp', since: 0, until: Number.MAX_SAFE_INTEGER, timesOnce: true }),
  );
  const amounts = readings.map(({ balances }) => balances.sms ?? 0);
  expect(amounts).toEqual(amounts.toSorted((left, right) => right - left));
  expect(amounts.at(-1)).toBe(units(balance));
  const halfWay = readings[Math.floor(readings.length / 2)]?.at ?? 0;
  expect((await reader.readingBefore('otp', halfWay + 1))?.at).toBe(halfWay);
});

test('an account that is polled once a day is polled each day, though the machine sleeps at night', async () => {
  const world = await startWorld({
    accounts: [makeAccount('otp', { poll: { kind: 'every', everyMs: dayMs } })],
  });
  const polls = (): number => world.provider.asked.get('otp')?.length ?? 0;
  const before = polls();
  for (let day = 0; day < 6; day += 1) {
    await world.pass(8 * hourMs);
    world.clock.jump(15 * hourMs);
    await world.pass(hourMs);
  }
  expect(polls() - before).toBe(6);
});

test('a clock that once was a year ahead lets a start look for the readings of an account a few times, not once for each', async () => {
  const world = await startWorld({}, { sleepMs: minuteMs });
  await world.pass(dayMs);
  world.clock.jump(365 * dayMs);
  await world.pass(hourMs);
  world.clock.jump(-365 * dayMs);
  await world.pass(2 * dayMs);
  const { state } = world.daemon;
  const lived = state.accounts.get('otp')?.log.readings(0);
  state.unloaded.add('otp');
  const looks = vi.spyOn(world.store, 'readingBefore');
  await createHistoryLoader(state, world.store, () => world.now).ofAll(['otp']);
  expect(looks.mock.calls.length).toBeLessThan(10);
  expect(state.accounts.get('otp')?.log.readings(0)).toEqual(lived);
});

describe.each(jumps)('when %s', (_, jump, byMs) => {
  test('nothing goes stale and there is at most one extra poll', async () => {
    const world = await startWorld();
    await world.pass(hourMs);
    const before = world.provider.asked.get('otp')?.length ?? 0;
    jump(world);
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual([]);
    const polls = (world.provider.asked.get('otp')?.length ?? 0) - before;
    expect(polls).toBeGreaterThanOrEqual(5);
    expect(polls).toBeLessThanOrEqual(7);
    if (byMs > step)
      expect(world.provider.asked.get('otp')?.[before]).toBeLessThan(world.now - 29 * minuteMs);
  });

  test('a provider that fails meanwhile is stale only after it failed for the whole time', async () => {
    const world = await startWorld();
    world.provider.breakDown();
    await world.pass(5 * minuteMs);
    jump(world);
    await world.pass(8 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/stale firing warning']);
  });

  test('there is no burst of reminders, and the next comes at its time', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    world.provider.set('otp', 100);
    await world.pass(step);
    world.news();
    await world.pass(20 * minuteMs);
    jump(world);
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('a `for` and an escalation count only the time in which somebody watched', async () => {
    const world = await startWorld({
      rules: [{ ...rule, forMs: 12 * minuteMs }],
      channels: ['ops', 'boss'],
      routes: [makeRoute({ escalate: { afterMs: 20 * minuteMs, channels: ['boss'] } })],
    });
    world.provider.set('otp', 100);
    await world.pass(step);
    jump(world);
    await world.pass(8 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(5 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    jump(world);
    await world.pass(15 * minuteMs);
    expect(world.news('boss')).toEqual([]);
    await world.pass(6 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
  });

  test('a message that waits for its channel is still tried for a day', async () => {
    const world = await startWorld({ rules: [rule] }, { sleepMs: 10_000 });
    world.channel('ops').mood = 'down';
    world.provider.set('otp', 100);
    await world.pass(step);
    jump(world);
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });
});

test.each([
  ['ahead', dayMs],
  ['back', -dayMs],
])('a clock set %s counts once, though the daemon died before its next poll', async (_, byMs) => {
  let polls = true;
  const world = await startWorld({ rules: [{ ...rule, forMs: 20 * minuteMs }] }, { owns: () => polls });
  world.provider.set('otp', 100);
  await world.pass(step);
  polls = false;
  world.clock.jump(byMs);
  await world.pass(6000);
  world.crash();
  polls = true;
  world.start();
  await world.pass(20 * minuteMs);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('a clock that was behind when the daemon died, and is right when it starts again, makes no account stale', async () => {
  const world = await startWorld();
  await world.pass(2 * hourMs);
  // Back to before the account was first seen.
  world.clock.jump(-3 * hourMs);
  await world.pass(10 * minuteMs);
  world.crash();
  world.clock.jump(3 * hourMs);
  world.start();
  await world.pass(minuteMs);
  expect(world.news()).toEqual([]);
});

test('a clock that was ahead, and is right at the next start, makes no account stale that the start sees first', async () => {
  const world = await startWorld();
  await world.stop();
  world.clock.jump(-3 * hourMs);
  world.provider.breakDown();
  world.start({ accounts: [makeAccount('otp'), makeAccount('marketing')] });
  await world.pass(5000);
  expect(world.daemon.state.alerts.get('marketing', 'stale')?.state ?? 'inactive').toBe('inactive');
});

test('a silence ends by the clock on the wall, also when that is set', async () => {
  const world = await startWorld({
    rules: [rule],
    silences: [{ match: {}, cron: '0 12 * * *', timezone: 'UTC', durationMs: 4 * hourMs, comment: '' }],
  });
  world.provider.set('otp', 100);
  await world.pass(step);
  world.clock.jump(5 * hourMs);
  await world.pass(10_000);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('set back from a schedule’s rest into its hours, an account is stale by the polls of those hours', async () => {
  const poll = { kind: 'cron', cron: '*/15 8-20 * * 1-5', timezone: 'Europe/Berlin' } as const;
  const lastPollAt = Date.UTC(2026, 10, 20, 19, 45);
  const world = await startWorld(
    { accounts: [makeAccount('otp', { poll })] },
    { startAt: lastPollAt - 2 * hourMs - minuteMs },
  );
  await world.pass(lastPollAt + 60 * minuteMs - world.now);
  expect(world.news()).toEqual([]);
  // A quarter past eight in Berlin now, 60 minutes after the last reading: three polls of a quarter of an hour.
  world.clock.jump(-90 * minuteMs);
  await world.pass(5 * minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
  await world.pass(15 * minuteMs);
  expect(world.news()).toEqual(['otp/stale resolved warning']);
});

describe('a poll that a cron expression asks for at noon once a day', () => {
  const daily = { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } as const;
  const start = async (): Promise<World> => {
    const world = await startWorld({ accounts: [makeAccount('otp', { poll: daily })] });
    await world.pass(dayMs - 2 * minuteMs);
    return world;
  };
  const polls = (world: World): number => world.provider.asked.get('otp')?.length ?? 0;

  test.each<readonly [string, (world: World) => void | Promise<void>]>([
    ['the machine sleeps over it for three seconds', (world) => world.clock.jump(3000)],
    ['the machine sleeps over it for two minutes', (world) => world.clock.jump(2 * minuteMs)],
    ['the machine sleeps over it for nine hours', (world) => world.clock.jump(9 * hourMs)],
    ['the process stands still for five seconds', (world) => world.clock.freeze(5000)],
    ['the process stands still for two minutes', (world) => world.clock.freeze(2 * minuteMs)],
    ['lowwater is stopped meanwhile', (world) => world.restart({ downMs: 2 * minuteMs })],
  ])('comes once, within seconds of the end, when %s', async (_, pause) => {
    const world = await start();
    await world.pass(minuteMs - 1500);
    const before = polls(world);
    await pause(world);
    await world.pass(5000);
    expect(polls(world)).toBe(before + 1);
    await world.pass(20 * hourMs);
    if (_ !== 'the machine sleeps over it for nine hours') expect(polls(world)).toBe(before + 1);
  });

  test('does not come where the machine sleeps at another time', async () => {
    const world = await start();
    await world.pass(hourMs);
    const before = polls(world);
    world.clock.jump(9 * hourMs);
    await world.pass(hourMs);
    expect(polls(world)).toBe(before);
  });

  test('comes after one that was under way while the machine slept', async () => {
    const world = await start();
    const held = Promise.withResolvers<void>();
    world.provider.hold = held.promise;
    void give(world.views, { kind: 'poll', account: 'otp' });
    await world.pass(1000);
    const before = polls(world);
    world.clock.jump(2 * minuteMs);
    await world.pass(1000);
    world.provider.hold = null;
    held.resolve();
    await world.pass(5000);
    expect(polls(world)).toBe(before + 1);
  });
});

test('a poll that was due within a short sleep comes on waking', async () => {
  const world = await startWorld({ accounts: [makeAccount('otp')] });
  await world.pass(2 * minuteMs);
  const before = world.provider.asked.get('otp')?.length ?? 0;
  world.clock.jump(4 * minuteMs);
  await world.pass(5000);
  expect(world.provider.asked.get('otp')?.length).toBe(before + 1);
});

test('a stand-still of twelve seconds makes nothing stale whose time is five', async () => {
  const account = makeAccount('otp', { poll: { kind: 'every', everyMs: 1000 } });
  const world = await startWorld({ accounts: [account], rules: [staleRule({ id: 'stale', afterMs: 5000 })] });
  await world.pass(minuteMs);
  for (const ms of [3000, 7000, 12_000]) {
    world.clock.freeze(ms);
    await world.pass(10_000);
  }
  expect(world.news()).toEqual([]);
  world.provider.breakDown();
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
});

test('polls of each second stay on time while nothing can be stored', async () => {
  const account = makeAccount('otp', { poll: { kind: 'every', everyMs: 1000 } });
  const world = await startWorld({ accounts: [account] });
  await world.pass(minuteMs);
  world.diskFull = true;
  const before = world.provider.asked.get('otp')?.length ?? 0;
  await world.pass(minuteMs);
  expect((world.provider.asked.get('otp')?.length ?? 0) - before).toBeGreaterThanOrEqual(59);
});

describe.each(jumps.filter(([, , byMs]) => byMs > hourMs))('what ended when %s', (_, jump) => {
  const parts = { rules: [rule], routes: [makeRoute({ groupWaitMs: 0 })] };

  test('is not sent as firing because a silence ended meanwhile', async () => {
    const world = await startWorld(parts);
    const span = { startsAt: world.now, endsAt: world.now + hourMs };
    giveAtOnce(world, { kind: 'silence', match: {}, everything: true, comment: 'works', ...span });
    world.provider.set('otp', 100);
    await world.pass(step);
    jump(world);
    world.provider.set('otp', 1000);
    await world.pass(2 * minuteMs);
    expect(world.news()).toEqual([]);
  });

  test('is sent with its end where a message about it was about to be sent again', async () => {
    const world = await startWorld(parts);
    const ops = Object.assign(world.channel('ops'), { mood: 'down' });
    world.provider.set('otp', 100);
    while (ops.attempts.length === 0) await world.pass(100);
    jump(world);
    ops.mood = 'up';
    world.provider.set('otp', 1000);
    await world.pass(2 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+resolved warning (topped-up)']);
  });
});
