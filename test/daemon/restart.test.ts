import { describe, expect, test, vi } from 'vitest';
import { endSession, isSessionEnded } from '../../src/engine/access.ts';
import {
  dayMs,
  dropRule,
  hourMs,
  minuteMs,
  smsLow,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { give, giveAtOnce } from '../support/orders.ts';
import { makeAccount, makeRoute, type SettingsParts } from '../support/settings.ts';
import { isAllStored } from '../support/stored.ts';
import { read, startWorld, type World } from '../support/world.ts';

const rule = smsLow({ warning: units(200), critical: units(50) });

function alertOf(world: World, id = 'sms-low') {
  return world.daemon.state.alerts.get('otp', id);
}

/** Stopped while a message about an account that may not be asked yet waits. */
async function stopWithOneThatWaits() {
  const world = await startWorld({
    rules: [rule],
    accounts: [makeAccount('otp'), makeAccount('marketing')],
  });
  world.channel('ops').mood = 'down';
  await read(world, 100);
  world.provider.fail('otp', 'rate_limited', { retryAfterMs: dayMs });
  await world.pass(6 * minuteMs);
  await world.stop();
  return world;
}

describe('a restart keeps every state and its clocks', () => {
  test('an orderly end stores everything, however many transactions it takes', async () => {
    const world = await startWorld({ rules: [rule] });
    const { state } = world.daemon;
    for (let at = 0; at < 2500; at++)
      state.polls.add({ account: 'otp', poll: { at: world.now + at, outcome: 'timeout', reading: null } });
    await world.stop();
    expect(isAllStored(state)).toBe(true);
  });

  test('pending: the time before counts, the time between does not', async () => {
    const world = await startWorld({ rules: [{ ...rule, forMs: 10 * minuteMs }] });
    await read(world, 100);
    const watchedMs = world.now - (alertOf(world)?.breachedSince ?? 0);
    await world.restart({ downMs: 6 * hourMs });
    await world.pass(10 * minuteMs - watchedMs - 1000);
    expect(world.news()).toEqual([]);
    await world.pass(10_000);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('pending: the time in which the end waits for a poll does not count', async () => {
    const accounts = [makeAccount('otp'), makeAccount('marketing')];
    const world = await startWorld({ rules: [{ ...rule, forMs: 2 * minuteMs }], accounts });
    await read(world, 100);
    await world.pass((alertOf(world)?.breachedSince ?? 0) + 2 * minuteMs - 3000 - world.now);
    const held = Promise.withResolvers<void>();
    world.provider.hold = held.promise;
    void give(world.views, { kind: 'poll', account: 'marketing' });
    await world.pass(1000);
    const stopped = world.daemon.stop();
    await world.pass(4000);
    held.resolve();
    await world.pass(0);
    await stopped;
    expect(alertOf(world)?.state).toBe('pending');
  });

  test.each([
    ['9 s, before Docker kills it', {}, 9000],
    ['8 s where it has a lease to give back', { owns: () => true }, 8000],
  ])('an end whose poll and database hang takes %s', async (_, options, withinMs) => {
    const world = await startWorld({ rules: [rule] }, options);
    world.provider.hold = new Promise(() => undefined);
    Object.assign(world.store, { commit: () => new Promise(() => undefined) });
    give(world.views, { kind: 'poll', account: 'otp' }).catch(() => undefined);
    await world.pass(1000);
    const ended = vi.fn();
    void world.daemon.stop().then(ended);
    await world.pass(withinMs - 500);
    expect(ended).not.toHaveBeenCalled();
    await world.pass(500);
    expect(ended).toHaveBeenCalled();
  });

  test('pending after a crash: at most one poll interval of the time between counts', async () => {
    const world = await startWorld({ rules: [{ ...rule, forMs: 20 * minuteMs }] });
    await read(world, 100);
    world.crash();
    await world.pass(6 * hourMs);
    world.start();
    await world.pass(13 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(3 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('killed before the rest of its schedule and started in it: the night is no staleness, the morning is', async () => {
    const poll = { kind: 'cron', cron: '*/15 8-20 * * *', timezone: 'UTC' } as const;
    const startAt = Date.parse('2026-11-19T18:00:00Z');
    const world = await startWorld(
      { rules: [staleRule({ id: 'stale' })], accounts: [makeAccount('otp', { poll })] },
      { startAt },
    );
    await world.pass(45 * minuteMs);
    world.crash();
    await world.pass(3 * hourMs);
    world.start();
    await world.pass(10 * hourMs);
    expect(world.news()).toEqual([]);
    world.provider.fail('otp', 'timeout');
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['otp/stale firing warning']);
  });

  test('a daemon that dies again and again still reaches the end of a `for`', async () => {
    const world = await startWorld({ rules: [{ ...rule, forMs: 20 * minuteMs }] });
    world.provider.set('otp', 100);
    for (let crash = 0; crash < 12; crash++) {
      world.crash();
      world.start();
      await world.pass(3 * minuteMs);
    }
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('pending: the time without lowwater counts once, though a daemon died in it before its first poll', async () => {
    let polls = true;
    const world = await startWorld({ rules: [{ ...rule, forMs: 20 * minuteMs }] }, { owns: () => polls });
    await read(world, 100);
    world.crash();
    polls = false;
    await world.pass(6 * hourMs);
    world.start();
    await world.pass(1000);
    world.crash();
    polls = true;
    world.start();
    await world.pass(20 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('a pending alert whose breach was over meanwhile leaves no trace', async () => {
    const world = await startWorld({ rules: [{ ...rule, forMs: 10 * minuteMs }] });
    await read(world, 100);
    await world.stop();
    world.provider.set('otp', 300);
    await world.pass(hourMs);
    world.start();
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
    expect(world.database.load().alerts).toEqual([]);
  });

  test('firing: nothing is reported again, reminders go on, the end is reported', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    await read(world, 100);
    await world.restart({ downMs: 10 * minuteMs });
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
    await world.pass(minuteMs);
    expect(await read(world, 300)).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('firing, and over before the first poll after a long time: only the end is reported, no reminder', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    await world.stop();
    world.provider.set('otp', 300);
    await world.pass(2 * dayMs);
    world.start();
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('firing, with a worse severity waiting for its `for`', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({ rules: [{ ...rule, forMs: 10 * minuteMs }] });
    await read(world, 10);
    await world.restart({ downMs: hourMs });
    await world.pass(3 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(8 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low worse critical']);
  });

  test('a worse severity that had passed does not come back with the restart', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({ rules: [{ ...rule, forMs: 10 * minuteMs }] });
    await read(world, 10);
    await read(world, 100);
    await world.restart({ downMs: minuteMs });
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
  });

  test('recovering: the downtime is no recovery', async () => {
    const world = await startWorld({ rules: [{ ...rule, recoverForMs: 10 * minuteMs }] });
    await read(world, 100);
    await read(world, 300);
    await world.restart({ downMs: 3 * hourMs });
    await world.pass(4 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(7 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('silenced: still silent, and reported when the silence ends', async () => {
    const world = await startWorld({ rules: [rule] });
    mute(world, 2 * hourMs);
    await read(world, 100);
    await world.restart({ downMs: 10 * minuteMs });
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('a silence that a person ended early does not come back with a restart', async () => {
    const world = await startWorld({ rules: [rule] });
    const id = mute(world, 5 * hourMs);
    expect(giveAtOnce(world, { kind: 'expire', id })).toEqual({});
    await world.pass(1000);
    world.crash();
    world.start();
    await world.pass(minuteMs);
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  });

  test('acknowledged: still quiet', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    await read(world, 100);
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
    await world.restart({ downMs: hourMs });
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual([]);
    expect((await world.views.alerts({ all: false }))[0]?.acknowledged?.by).toBe('ana');
  });

  test('before an escalation: nobody could act while lowwater was down, so that time does not count', async () => {
    const world = await startWorld(escalating);
    await read(world, 100);
    await world.restart({ downMs: 6 * hourMs, parts: escalating });
    await world.pass(20 * minuteMs);
    expect(world.news('boss')).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
  });

  test('before an escalation of an account that is read once an hour: it waits for the escalation, not for another poll', async () => {
    const hourly: SettingsParts = {
      ...escalating,
      accounts: [makeAccount('otp', { poll: { kind: 'every', everyMs: hourMs } })],
    };
    const world = await startWorld(hourly);
    world.provider.set('otp', 100);
    await world.pass(hourMs + 4 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await world.restart({ downMs: 0, parts: hourly });
    await world.pass(24 * minuteMs);
    expect(world.news('boss')).toEqual([]);
    await world.pass(3 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
  });

  test('after an escalation: it is not escalated again', async () => {
    const world = await startWorld(escalating);
    await read(world, 100);
    await world.pass(hourMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
    await world.restart({ downMs: 10 * minuteMs, parts: escalating });
    await world.pass(hourMs);
    expect(world.news('boss')).toEqual([]);
  });

  test('flapping: held and calmed as without the restart', async () => {
    const calmed = async (restarts: boolean): Promise<number> => {
      const world = await startWorld({ rules: [rule] });
      for (let round = 0; round < 10; round++) await read(world, round % 2 === 0 ? 100 : 300);
      await read(world, 300);
      if (restarts) await world.restart({ downMs: 0 });
      const startAt = world.now;
      while (world.news().length === 0 && world.now < startAt + dayMs) await world.pass(minuteMs);
      return world.now - startAt;
    };
    expect(await calmed(true)).toBe(await calmed(false));
  });
});

describe('a restart loses no message', () => {
  test('what fired just before a crash is reported after it', async () => {
    const world = await startWorld({ rules: [rule] });
    world.provider.set('otp', 100);
    await world.pass(4 * minuteMs + 2000);
    expect(world.news()).toEqual([]);
    world.crash();
    await world.pass(minuteMs);
    world.start();
    await world.pass(10_000);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('an end that was not delivered yet is reported after the restart, with what fired', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await read(world, 300);
    await world.restart({ downMs: hourMs });
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+resolved warning (topped-up)']);
    expect(world.database.load().incidents).toEqual([]);
  });

  test('what begins after a restart leaves at once, though an older message waits a minute for an account that may not be asked yet', async () => {
    const world = await stopWithOneThatWaits();
    world.news();
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    world.provider.set('marketing', 100);
    world.start();
    await world.pass(20_000);
    expect(world.news()).toEqual(['marketing/sms-low firing warning']);
    world.provider.set('marketing', 300);
    await world.pass(35_000);
    expect(world.news()).toEqual([]);
    await world.pass(30_000);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['marketing/sms-low resolved warning (topped-up)']);
  });

  test('what begins after a restart leaves at once, though somebody takes an older alert that waits for a poll', async () => {
    const world = await startWorld({
      rules: [rule],
      accounts: [makeAccount('otp'), makeAccount('marketing')],
      routes: [makeRoute({ groupWaitMs: 10_000 })],
    });
    await read(world, 100);
    world.provider.fail('otp', 'rate_limited', { retryAfterMs: dayMs });
    await world.pass(6 * minuteMs);
    await world.stop();
    world.news();
    await world.pass(hourMs);
    world.provider.set('marketing', 100);
    world.start();
    await world.pass(4000);
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
    await world.pass(16_000);
    expect(world.news()).toEqual(['marketing/sms-low firing warning']);
    await world.pass(50_000);
    expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
  });

  test('what began after a restart and perhaps arrived is repeated under its own id once an older message may leave', async () => {
    const world = await stopWithOneThatWaits();
    await world.pass(hourMs);
    world.channel('ops').attempts.length = 0;
    world.channel('ops').mood = 'lost';
    world.provider.set('marketing', 100);
    world.start();
    await world.pass(50_000);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    const about = (account: string) =>
      world.channel('ops').attempts.flatMap(({ message }) => {
        const items = message.kind === 'incidents' ? message.items : [];
        return items.some(({ incident }) => incident.account === account) ? [message.id] : [];
      });
    expect(about('marketing').length).toBeGreaterThan(1);
    expect(new Set(about('marketing')).size).toBe(1);
    expect(about('otp')).toHaveLength(1);
  });

  test('what was delivered only after a long pause is repeated at the usual pace: the pause came before', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.restart({ downMs: 5 * hourMs });
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('a top-up that was not delivered yet is reported after the restart', async () => {
    const parts: SettingsParts = {
      rules: [topUpRule({ id: 'paid', atLeastMicros: units(1) })],
    };
    const world = await startWorld(parts);
    world.channel('ops').mood = 'down';
    await read(world, 20_000);
    await world.restart({ downMs: minuteMs, parts });
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/paid event info']);
  });

  test('a message under way at a crash comes again with the same id', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'lost';
    world.provider.set('otp', 100);
    await world.pass(4 * minuteMs + 5500);
    world.crash();
    world.channel('ops').mood = 'up';
    world.start();
    await world.pass(minuteMs);
    const ids = world.channel('ops').attempts.map(({ message }) => message.id);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });
});

test('an account that never answered goes stale, downtime not counted', async () => {
  const world = await startWorld();
  world.provider.breakDown();
  await world.pass(6 * minuteMs);
  await world.restart({ downMs: dayMs });
  await world.pass(5 * minuteMs);
  expect(world.news()).toEqual([]);
  await world.pass(5 * minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
});

test.each([
  ['an account that the start sees first', [makeAccount('otp'), makeAccount('marketing')], 'marketing'],
  [
    'an account whose address changed meanwhile',
    [makeAccount('otp', { baseUrl: 'https://other.example/' })],
    'otp',
  ],
])('%s goes stale in its own time, however long nothing ran before', async (_, accounts, id) => {
  const rules = [staleRule({ id: 'stale', afterMs: 10 * minuteMs })];
  const world = await startWorld({ rules });
  world.provider.set('marketing', 100);
  await world.pass(minuteMs);
  world.provider.fail(id, 'timeout');
  await world.restart({ downMs: dayMs, parts: { rules, accounts } });
  await world.pass(9 * minuteMs);
  expect(world.news()).toEqual([]);
  await world.pass(2 * minuteMs);
  expect(world.news()).toEqual([`${id}/stale firing warning`]);
});

test('an account that is not polled until tomorrow shows and repeats after a restart what was read last, not what fired', async () => {
  const poll = { kind: 'cron', cron: '*/15 8-20 * * *', timezone: 'UTC' } as const;
  const routes = [makeRoute({ repeatEveryMs: 4 * hourMs })];
  const accounts = [makeAccount('otp', { poll })];
  const startAt = Date.parse('2026-11-19T20:10:00Z');
  const world = await startWorld({ rules: [rule], accounts, routes }, { startAt });
  await read(world, 199);
  world.provider.set('otp', 60);
  await world.pass(30 * minuteMs);
  await world.restart({ downMs: minuteMs });
  await world.pass(minuteMs);
  const [alert] = await world.views.alerts({ all: false });
  await world.pass(5 * hourMs);
  const message = world.channel('ops').attempts.at(-1)?.message;
  const value = { unit: 'money', micros: units(60) };
  expect(alert).toMatchObject({ value });
  expect(message).toMatchObject({ items: [{ kinds: ['reminder'], value }] });
});

test('an account that could not be read for longer than its rules look back lasts as long after a restart as before', async () => {
  const world = await startWorld();
  for (let sms = 500; sms > 400; sms -= 10) await read(world, sms);
  world.provider.fail('otp');
  await world.pass(3 * dayMs);
  const burn = async () => (await world.views.account('otp'))?.runways.sms?.burnPerDay;
  const before = await burn();
  expect(before).toBeGreaterThan(0);
  await world.restart({ downMs: minuteMs });
  await world.pass(minuteMs);
  expect(await burn()).toBe(before);
});

test('a reminder says for how long nothing was read by now, though the provider allows no poll meanwhile', async () => {
  const routes = [makeRoute({ repeatEveryMs: 4 * hourMs })];
  const world = await startWorld({ rules: [staleRule({ id: 'stale' })], routes });
  world.provider.fail('otp', 'rate_limited', { retryAfterMs: 20 * hourMs });
  await world.pass(4 * hourMs + 40 * minuteMs);
  const message = world.channel('ops').attempts.at(-1)?.message;
  const value = { unit: 'duration', ms: 4 * hourMs + 15 * minuteMs + 10_000 };
  expect(message).toMatchObject({ items: [{ kinds: ['reminder'], value }] });
  const [alert] = await world.views.alerts({ all: false });
  expect(alert?.summary).toMatch('otp: no reading for 4 hours 41 minutes');
});

test('a message too old to be sent after a long time was not reported: what is still open fires again', async () => {
  const world = await startWorld({ rules: [rule] }, { sleepMs: minuteMs });
  world.channel('ops').mood = 'down';
  await read(world, 100);
  await world.stop();
  await world.pass(8 * dayMs);
  world.start();
  world.channel('ops').mood = 'up';
  await world.pass(10 * minuteMs);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('an account that was stale before a crash is so after it: only a reading ends that', async () => {
  const world = await startWorld({
    accounts: [makeAccount('otp', { poll: { kind: 'every', everyMs: 20 * minuteMs } })],
  });
  world.provider.breakDown('rate_limited');
  await world.pass(61 * minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
  world.crash();
  await world.pass(dayMs);
  world.start();
  expect(world.daemon.state.alerts.get('otp', 'stale')?.state).toBe('firing');
  await world.pass(minuteMs);
  expect(world.news().filter((line) => line.includes('resolved'))).toEqual([]);
});

test('readings from before the clock was set back do not come back into what rules look at', async () => {
  const world = await startWorld({ rules: [dropRule({ windowMs: dayMs })] }, { sleepMs: minuteMs });
  const known = () => world.daemon.state.accounts.get('otp')?.log.readings(0) ?? [];
  await world.pass(hourMs);
  world.clock.jump(-30 * hourMs);
  await world.pass(hourMs);
  world.provider.breakDown();
  await world.pass(28.5 * hourMs);
  world.provider.recover();
  await world.pass(15 * minuteMs);
  const before = known();
  await world.stop();
  world.start();
  await world.views.accounts();
  // Meanwhile the first poll may have ended.
  expect(known().slice(0, before.length)).toEqual(before);
});

test('a clock that stands a year behind after a restart neither holds up a `for` nor a reminder', async () => {
  const parts: SettingsParts = {
    rules: [{ ...rule, forMs: 7 * minuteMs }],
    routes: [makeRoute({ repeatEveryMs: hourMs })],
  };
  const world = await startWorld(parts);
  await read(world, 100);
  await world.stop();
  world.clock.jump(-365 * dayMs);
  world.start();
  await world.pass(10 * minuteMs);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
  await world.pass(hourMs + minuteMs);
  expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  world.provider.breakDown();
  await world.pass(30 * minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
});

const escalating: SettingsParts = {
  rules: [rule],
  channels: ['ops', 'boss'],
  routes: [makeRoute({ escalate: { afterMs: 30 * minuteMs, channels: ['boss'] } })],
};

function mute(world: World, forMs: number): string {
  const made = giveAtOnce(world, {
    kind: 'silence',
    match: { account: ['otp'] },
    everything: false,
    startsAt: world.now,
    endsAt: world.now + forMs,
    comment: 'night',
  });
  if ('refused' in made) throw new Error(made.why);
  return made.id;
}

test('a session of the page that was signed out of stays so after a restart, and is forgotten when it would have ended', async () => {
  const world = await startWorld();
  const end = (id: string, endsAt: number) =>
    world.daemon.runDurably((now) => endSession(world.daemon.state, { id, endsAt }, now));
  await end('one', world.now + hourMs);
  await world.stop();
  world.start();
  expect(isSessionEnded(world.daemon.state, 'one')).toBe(true);
  expect(isSessionEnded(world.daemon.state, 'two')).toBe(false);
  await world.pass(2 * hourMs);
  await end('two', world.now + hourMs);
  expect(isSessionEnded(world.daemon.state, 'one')).toBe(false);
});

describe('after a pause', () => {
  const below = smsLow({ warning: units(200) });

  test('longer than the time between reminders, the next comes when as much of that has passed as before', async () => {
    const routes = [makeRoute({ repeatEveryMs: hourMs })];
    const world = await startWorld({ rules: [below], routes });
    await read(world, 100);
    await world.pass(20 * minuteMs);
    await world.restart({ downMs: 5 * hourMs });
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('by a kill reminders come in their time, however often, though the account is read once a day', async () => {
    const accounts = [makeAccount('otp', { poll: { kind: 'every', everyMs: dayMs } })];
    const world = await startWorld({
      rules: [below],
      routes: [makeRoute({ repeatEveryMs: hourMs })],
      accounts,
    });
    world.provider.set('otp', 100);
    await world.pass(dayMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    for (let kills = 0; kills < 3; kills++) {
      await world.pass(25 * minuteMs);
      world.crash();
      world.start();
    }
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('what waited to be sent waits for a poll, and says what has become of it', async () => {
    const world = await startWorld({ rules: [below], routes: [makeRoute({ groupWaitMs: 10 * minuteMs })] });
    await read(world, 100);
    await world.stop();
    world.provider.set('otp', 1000);
    await world.pass(3 * hourMs);
    world.start();
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+resolved warning (topped-up)']);
  });
});
