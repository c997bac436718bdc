import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { unsent } from '../../src/engine/delivery-ended.ts';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { RecordingChannel, wordMessage } from '../support/recording-channel.ts';
import { makeChannel, makeRoute } from '../support/settings.ts';
import { startWorld, step, type World } from '../support/world.ts';

const rule = smsLow({ info: units(500), warning: units(200), critical: units(50) });

async function read(world: World, sms: number, account = 'otp'): Promise<void> {
  world.provider.set(account, sms);
  await world.pass(step);
}

describe('a channel that is down', () => {
  test('gets one message for all that happened in two hours, in order, without stale reminders', async () => {
    const routes = [makeRoute({ repeatEveryMs: 30 * minuteMs })];
    const world = await startWorld({ accounts: ['otp', 'ads'], rules: [rule], routes });
    world.channel('ops').mood = 'down';
    await read(world, 100, 'otp');
    await read(world, 100, 'ads');
    await world.pass(hourMs);
    await read(world, 10, 'ads');
    await read(world, 1000, 'otp');
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual([
      'ads/sms-low firing+worse critical; otp/sms-low firing+resolved warning (topped-up)',
    ]);
    await world.pass(20 * minuteMs);
    expect(world.news()).toEqual([]);
  });

  test('delays no other channel', async () => {
    const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
  });

  test('sends no faster than one channel where several share a receiver', async () => {
    const parts = { rules: [rule], channels: ['ops', 'night', 'finance'] };
    const world = await startWorld(parts);
    for (const name of ['ops', 'night']) world.channel(name).paceKey = 'one webhook';
    world.reload(parts);
    await read(world, 100);
    await world.pass(10_000);
    const sentAt = (name: string) => world.channel(name).attempts[0]?.at ?? 0;
    expect(Math.abs(sentAt('night') - sentAt('ops'))).toBeGreaterThanOrEqual(1000);
    expect(sentAt('finance')).toBe(Math.min(sentAt('ops'), sentAt('night')));
  });

  test('that asks everybody to wait with a part of a message gets nothing before that, by none of its channels', async () => {
    const parts = { accounts: ['otp', 'ads'], rules: [rule], channels: ['ops', 'night'] };
    const world = await startWorld(parts);
    for (const name of parts.channels) world.channel(name).paceKey = 'one webhook';
    world.reload(parts);
    const sent = () => parts.channels.flatMap((name) => world.channel(name).attempts);
    for (const name of parts.channels)
      world.channel(name).mood = { owes: ['otp/sms-low'], afterMs: 10 * minuteMs, isForAll: true };
    await read(world, 100);
    for (const name of parts.channels) world.channel(name).mood = 'up';
    await read(world, 10, 'ads');
    await world.pass(4 * minuteMs);
    expect(sent()).toHaveLength(1);
    await world.pass(10 * minuteMs);
    for (const name of parts.channels)
      expect(world.news(name).join('; ')).toContain('ads/sms-low firing critical');
  });

  test('that always asks to wait with one message takes the others, by all of its channels', async () => {
    const parts = { accounts: ['otp', 'ads'], rules: [rule], channels: ['ops', 'night'] };
    const world = await startWorld(parts);
    for (const name of parts.channels) world.channel(name).paceKey = 'one webhook';
    world.reload(parts);
    world.channel('ops').moodFor = (message) =>
      wordMessage(message).startsWith('otp')
        ? { owes: ['otp/sms-low'], afterMs: 10 * minuteMs, isForAll: true }
        : 'up';
    await read(world, 100);
    await read(world, 10, 'ads');
    await world.pass(12 * minuteMs);
    expect(world.news('night').join('; ')).toContain('otp/sms-low firing warning');
    await world.pass(10 * minuteMs);
    expect(world.news()).toContain('ads/sms-low firing critical');
  });

  test('that asks to wait does so until that is over, whatever its channel is called, and no other receiver does', async () => {
    const world = await startWorld({ rules: [rule] });
    const setChannel = (name: string, address: string) => {
      const channels = [makeChannel(name, address)];
      world.channels.set(name, new RecordingChannel({ name, now: () => world.now }));
      world.channel(name).paceKey = address;
      world.reload({ accounts: ['otp', 'ads'], rules: [rule], channels });
    };
    setChannel('ops', 'first');
    world.channel('ops').mood = { owes: ['otp/sms-low'], afterMs: hourMs, isForAll: true };
    await read(world, 100);
    setChannel('operations', 'first');
    await read(world, 10, 'ads');
    await world.pass(10 * minuteMs);
    expect(world.news('operations')).toEqual([]);
    setChannel('operations', 'second');
    await world.pass(minuteMs);
    expect(world.news('operations').join('; ')).toContain('ads/sms-low firing critical');
  });

  test('that asks to wait does so over a restart too, and no other receiver of that name does', async () => {
    const world = await startWorld({ accounts: ['otp', 'ads'], rules: [rule] });
    world.channel('ops').mood = { owes: ['otp/sms-low'], afterMs: hourMs, isForAll: true };
    await read(world, 100);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    world.channel('ops').mood = 'up';
    await world.restart({ downMs: 1000 });
    await read(world, 10, 'ads');
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual([]);
    const channels = [makeChannel('ops', 'second')];
    await world.restart({ downMs: 1000, parts: { accounts: ['otp', 'ads'], rules: [rule], channels } });
    await world.pass(minuteMs);
    expect(world.news().join('; ')).toContain('ads/sms-low firing critical');
  });

  test('that asks to wait does so under another name too, and who has its name now does not', async () => {
    const world = await startWorld({ accounts: ['otp', 'ads'], rules: [rule] });
    world.channel('ops').mood = { owes: ['otp/sms-low'], afterMs: hourMs, isForAll: true };
    await read(world, 100);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    const channels = [makeChannel('first', 'ops'), makeChannel('ops', 'second')];
    const routes = [makeRoute({ channels: ['first', 'ops'] })];
    await world.restart({
      downMs: 1000,
      parts: { accounts: ['otp', 'ads'], rules: [rule], channels, routes: routes },
    });
    await read(world, 10, 'ads');
    await world.pass(10 * minuteMs);
    expect(world.news('first')).toEqual([]);
    expect(world.news('ops').join('; ')).toContain('ads/sms-low firing critical');
  });

  test('is tried again after 1, 2, 4 … seconds, at most 5 minutes apart', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.pass(hourMs);
    const at = world.channel('ops').attempts.map((attempt) => attempt.at);
    const gaps = at.slice(1).map((instant, index) => Math.round((instant - (at[index] ?? 0)) / 1000));
    expect(gaps.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(gaps.slice(9)).toEqual(Array(gaps.length - 9).fill(300));
  });

  test('a resolved never overtakes what fired, although a report stands between them', async () => {
    const world = await startWorld({
      rules: [rule],
      reports: [{ id: 'daily', cron: '20 12 * * *', timezone: 'UTC', channels: ['ops'] }],
    });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.pass(16 * minuteMs);
    await read(world, 1000);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news().filter((line) => !line.startsWith('report'))).toEqual([
      'otp/sms-low firing+resolved warning (topped-up)',
    ]);
  });

  test('for more than a day: given up and reported on the others; what is recent goes on', async () => {
    const world = await startWorld(
      { accounts: ['otp', 'ads'], rules: [rule], channels: ['ops', 'finance'] },
      { sleepMs: minuteMs },
    );
    world.channel('ops').mood = 'down';
    await read(world, 100, 'otp');
    await world.pass(23 * hourMs);
    await read(world, 100, 'ads');
    await read(world, 1000, 'ads');
    await world.pass(2 * hourMs);
    const others = world.news('finance').filter((line) => line.includes('channel-failed'));
    expect(others).toEqual(['@lowwater/channel-failed:ops firing critical']);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    const notified = world.news().flatMap((line) => line.split('; '));
    expect(notified.sort()).toEqual([
      'ads/sms-low firing+resolved warning (topped-up)',
      'otp/sms-low firing warning',
    ]);
    await world.pass(minuteMs);
    expect(world.news('finance').at(-1)).toBe('@lowwater/channel-failed:ops resolved critical');
  });
});

describe('an attempt of which nobody knows whether it arrived', () => {
  test('is repeated under the same id, and under a new one once there is more to say', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'lost';
    await read(world, 100);
    const ids = () => world.channel('ops').attempts.map(({ message }) => message.id);
    expect(ids().length).toBeGreaterThan(3);
    expect(new Set(ids()).size).toBe(1);
    await read(world, 10);
    await world.pass(minuteMs);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(new Set(ids()).size).toBe(2);
    expect(ids().at(-1)).not.toBe(ids()[0]);
    expect(world.news()).toEqual(['otp/sms-low firing+worse critical']);
  });

  test('a refusal keeps the id although there is more to say: nothing arrived under it', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await read(world, 10);
    await world.pass(6 * minuteMs);
    expect(new Set(world.channel('ops').attempts.map(({ message }) => message.id)).size).toBe(1);
  });
});

describe('a channel that refuses for good', () => {
  const parts = {
    rules: [rule],
    channels: ['ops', 'finance'],
    routes: [makeRoute({ channels: ['ops', 'finance'] })],
  };

  test('is reported once on the others, and tried again at the pace of reminders', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    await world.pass(9 * hourMs);
    expect(world.channel('ops').attempts.length).toBe(3);
    const notified = world.news('finance').flatMap((line) => line.split('; '));
    expect(notified.filter((line) => line.includes('channel-failed'))).toEqual([
      '@lowwater/channel-failed:ops firing critical',
      '@lowwater/channel-failed:ops reminder critical',
      '@lowwater/channel-failed:ops reminder critical',
    ]);
  });

  test('is told at once of what rose since it refused, and of what escalates', async () => {
    const steps = smsLow({ warning: units(200), critical: units(50) });
    const escalate = { afterMs: hourMs, channels: ['ops'] };
    const world = await startWorld({
      rules: [steps],
      routes: [makeRoute({ escalate, repeatEveryMs: dayMs })],
    });
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    world.channel('ops').mood = 'up';
    await read(world, 20);
    expect(world.news()).toEqual(['otp/sms-low firing critical']);
    await read(world, 900);
    world.news();
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    world.channel('ops').mood = 'up';
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+escalated warning']);
  });

  test('is reported once on a channel that no route of its alerts leads to', async () => {
    const world = await startWorld({
      ...parts,
      accounts: ['otp', 'ads'],
      routes: [
        makeRoute({ match: { account: ['ads'] }, channels: ['finance'] }),
        makeRoute({ channels: ['ops'] }),
      ],
    });
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    await world.pass(9 * hourMs);
    expect(world.news('finance')).toEqual(['@lowwater/channel-failed:ops firing critical']);
  });

  test('hears everything that is still open as soon as it works, and the others that it does', async () => {
    const world = await startWorld({ ...parts, accounts: ['otp', 'ads', 'new'] });
    world.channel('ops').mood = 'dead';
    await read(world, 100, 'otp');
    await read(world, 100, 'ads');
    world.channel('ops').mood = 'up';
    // A new incident is tried at once: nobody knows that the channel works again.
    await read(world, 100, 'new');
    await world.pass(minuteMs);
    expect(
      world
        .news()
        .flatMap((line) => line.split('; '))
        .sort(),
    ).toEqual(['ads', 'new', 'otp'].map((account) => `${account}/sms-low firing warning`));
    expect(world.news('finance').join('; ')).toContain('channel-failed:ops resolved');
  });

  test('hears the reminder that it refused when it works again', async () => {
    const world = await startWorld({ ...parts, accounts: ['otp', 'ads'] });
    await read(world, 100, 'otp');
    world.news();
    world.channel('ops').mood = 'dead';
    await world.pass(dayMs);
    world.channel('ops').mood = 'up';
    await read(world, 100, 'ads');
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['ads/sms-low firing warning', 'otp/sms-low reminder warning']);
  });

  test('that heard of an incident before it broke hears of its end when it works again', async () => {
    const world = await startWorld({ ...parts, accounts: ['otp', 'ads'] });
    await read(world, 100, 'otp');
    world.news();
    world.channel('ops').mood = 'dead';
    await read(world, 1000, 'otp');
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    await read(world, 100, 'ads');
    await world.pass(minuteMs);
    expect(
      world
        .news()
        .flatMap((line) => line.split('; '))
        .sort(),
    ).toEqual(['ads/sms-low firing warning', 'otp/sms-low resolved warning (topped-up)']);
  });

  test('that may have got a beginning before it refused it hears of the end, or of what still fires', async () => {
    const world = await startWorld({ ...parts, accounts: ['otp', 'ads', 'new'] });
    const ops = world.channel('ops');
    ops.moodFor = () => (ops.attempts.length === 0 ? 'lost' : 'dead');
    await Promise.all([read(world, 100, 'otp'), read(world, 100, 'ads')]);
    // Long enough for further tries, which it surely refuses.
    await world.pass(9 * hourMs);
    const told = (await world.views.alert('ads', 'sms-low'))?.notified;
    expect(told).toContainEqual({ channel: 'ops', at: null });
    await read(world, 1000, 'otp');
    ops.moodFor = null;
    await read(world, 100, 'new');
    await world.pass(minuteMs);
    const lines = world.news().flatMap((line) => line.split('; '));
    expect(lines.sort()).toEqual([
      'ads/sms-low firing warning',
      'new/sms-low firing warning',
      'otp/sms-low resolved warning (topped-up)',
    ]);
  });

  test('is tried at once after a reload: it may have a new address', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    world.channel('ops').mood = 'up';
    world.reload(parts);
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('when all are dead the incidents wait for one that works', async () => {
    const world = await startWorld(parts);
    for (const name of ['ops', 'finance']) world.channel(name).mood = 'dead';
    await read(world, 100);
    for (const name of ['ops', 'finance']) world.channel(name).mood = 'up';
    await world.pass(4 * hourMs + minuteMs);
    expect(world.news().join('; ')).toContain('otp/sms-low firing warning');
    expect(world.news('finance').join('; ')).toContain('otp/sms-low firing warning');
  });

  test('hears hours later what it refused about another channel, although no route leads there', async () => {
    const world = await startWorld({ ...parts, routes: [makeRoute({ channels: ['ops'] })] });
    for (const name of ['ops', 'finance']) world.channel(name).mood = 'dead';
    await read(world, 100);
    world.channel('finance').mood = 'up';
    await world.pass(3 * hourMs);
    expect(world.news('finance')).toEqual([]);
    await world.pass(hourMs + minuteMs);
    expect(world.news('finance')).toEqual(['@lowwater/channel-failed:ops firing critical']);
  });

  test('a beginning, refused while the end waits: the channel hears neither, the others both', async () => {
    const world = await startWorld(parts);
    const ops = world.channel('ops');
    const answer = Promise.withResolvers<void>();
    Object.assign(ops, { mood: 'dead', hold: answer.promise });
    await read(world, 100);
    world.channel('finance').mood = 'down';
    await read(world, 1000);
    Object.assign(ops, { mood: 'up', hold: null });
    answer.resolve();
    await world.pass(minuteMs);
    world.channel('finance').mood = 'up';
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
    const toOps = (await world.views.notifications(99)).filter(({ channel }) => channel === 'ops');
    expect(toOps.map(({ lastError }) => lastError)).toContain(unsent.unheard());
    const finance = world.news('finance').join('; ');
    expect(finance).toContain('otp/sms-low firing warning');
    expect(finance).toContain('otp/sms-low resolved warning (topped-up)');
  });

  test('a reminder, refused while the end waits: the end arrives once', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    await read(world, 100);
    const ops = world.channel('ops');
    const answer = Promise.withResolvers<void>();
    Object.assign(ops, { mood: 'dead', hold: answer.promise });
    await world.pass(hourMs);
    await read(world, 1000);
    Object.assign(ops, { mood: 'up', hold: null });
    answer.resolve();
    await world.pass(5 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning', 'otp/sms-low resolved warning (topped-up)']);
  });

  test('one recipient refused while others got it is reported as a warning, and the message is not sent again', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = { refuses: ['gone@example.com'] };
    await read(world, 100);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    expect(world.news('finance')).toEqual([
      'otp/sms-low firing warning',
      '@lowwater/channel-failed:ops firing warning',
    ]);
  });

  test('of two alerts of one severity the balance comes first, and the channel that fails after it', async () => {
    const world = await startWorld({ ...parts, rules: [smsLow({ critical: units(200) })] });
    world.channel('ops').mood = 'dead';
    world.channel('finance').mood = 'down';
    await read(world, 100);
    await world.pass(minuteMs);
    world.channel('finance').mood = 'up';
    await world.pass(hourMs);
    expect(world.news('finance')).toEqual([
      'otp/sms-low firing critical; @lowwater/channel-failed:ops firing critical',
    ]);
  });
});

describe('a database that cannot be written', () => {
  test('is reported once on each channel; alerting goes on from memory, and recovers by itself', async () => {
    const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
    world.diskFull = true;
    await world.pass(step);
    for (const name of ['ops', 'finance'])
      expect(world.news(name)).toEqual(['@lowwater/storage-failed firing critical']);
    await read(world, 100);
    await read(world, 1000);
    await read(world, 10);
    for (const name of ['ops', 'finance']) {
      expect(world.news(name)).toEqual([
        'otp/sms-low firing warning',
        'otp/sms-low resolved warning (topped-up)',
        'otp/sms-low firing critical',
      ]);
    }
    world.diskFull = false;
    await world.pass(minuteMs);
    for (const name of ['ops', 'finance'])
      expect(world.news(name)).toEqual(['@lowwater/storage-failed resolved critical']);
    expect([...world.database.readings({ account: 'otp', since: 0, until: world.now })].flat().length).toBe(
      5,
    );
    await world.restart({ downMs: minuteMs });
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
  });

  test('because another process locks it is one that fails after five seconds', async () => {
    const world = await startWorld();
    world.locked = true;
    world.daemon.reportInvalidConfiguration('line 3: unknown key');
    await world.pass(4000);
    world.locked = false;
    await world.pass(1000);
    expect(world.news()).toEqual(['@lowwater/config-invalid firing warning']);

    world.locked = true;
    world.provider.set('otp', 1000);
    await world.pass(6 * minuteMs);
    expect(world.news().join()).toContain('@lowwater/storage-failed firing critical');
  });

  test('that several daemons share is nobody’s trouble where it is over within the lease', async () => {
    const postgres = {
      url: new Secret('x'),
      node: null,
      advertise: null,
      leaseMs: 8000,
      announceTakeovers: true,
      aloneForMs: hourMs,
    };
    const world = await startWorld({ storage: { postgres, retentionMs: dayMs } });
    world.diskFull = true;
    while (world.daemon.state.alerts.get('@lowwater', 'storage-failed')?.state !== 'firing')
      await world.pass(1000);
    await world.pass(5000);
    world.diskFull = false;
    await world.pass(minuteMs);
    expect(world.news()).toEqual([]);

    world.diskFull = true;
    await world.pass(step);
    expect(world.news()).toEqual(['@lowwater/storage-failed firing critical']);
    world.diskFull = false;
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['@lowwater/storage-failed resolved critical']);
  });

  test('that several daemons share is told of within its time, and again, though the clock is set back by days', async () => {
    const postgres = {
      ...{ url: new Secret('x'), node: null, advertise: null, leaseMs: 8000 },
      ...{ announceTakeovers: true, aloneForMs: hourMs },
    };
    const world = await startWorld({ storage: { postgres, retentionMs: dayMs } });
    world.diskFull = true;
    while (world.daemon.state.alerts.get('@lowwater', 'storage-failed')?.state !== 'firing')
      await world.pass(1000);
    world.clock.jump(-2 * dayMs);
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['@lowwater/storage-failed firing critical']);
    await world.pass(5 * hourMs);
    expect(world.news()).toEqual(['@lowwater/storage-failed reminder critical']);
  });

  test('that stays so through a stop ends it all the same', async () => {
    const world = await startWorld({ rules: [rule] });
    world.diskFull = true;
    await read(world, 100);
    await world.stop();
    world.diskFull = false;
    await world.pass(minuteMs);
    world.start();
    await world.pass(dayMs / 24);
    expect(world.news()).toContain('otp/sms-low firing warning');
  });
});

test('an invalid configuration is reported once, and is over with the next valid one, by reload or restart', async () => {
  const world = await startWorld({ rules: [rule] });
  world.daemon.reportInvalidConfiguration('line 3: unknown key');
  world.daemon.reportInvalidConfiguration('line 3: unknown key');
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['@lowwater/config-invalid firing warning']);
  world.reload({ rules: [rule] });
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['@lowwater/config-invalid resolved warning']);
  world.daemon.reportInvalidConfiguration('line 4: unknown key');
  await world.pass(minuteMs);
  world.news();
  await world.restart({ downMs: minuteMs });
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['@lowwater/config-invalid resolved warning']);
});
