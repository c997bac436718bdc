import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { belowRule, hourMs, minuteMs, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { incidentMessage } from '../support/recording-channel.ts';
import { makeRoute } from '../support/settings.ts';
import { read, startWorld, type World } from '../support/world.ts';

const low = belowRule({
  id: 'sms-low',
  thresholds: { info: units(500), warning: units(200), critical: units(50) },
});
const parts = { rules: [low], routes: [makeRoute({ repeatEveryMs: 12 * hourMs })] };

const heartbeat = { url: new Secret('https://watchdog.example/ping/1'), everyMs: minuteMs };

function mute(world: World): void {
  giveAtOnce(world, {
    ...{ kind: 'silence', match: {}, everything: true, comment: 'works' },
    ...{ startsAt: world.now, endsAt: world.now + hourMs },
  });
}

/** Its readers know of a warning; that it is critical waits, and a silence takes that back. */
async function startTakenBack(): Promise<World> {
  const world = await startWorld(parts);
  expect(await read(world, 150)).toEqual(['otp/sms-low firing warning']);
  world.channel('ops').mood = 'down';
  await read(world, 10);
  mute(world);
  world.channel('ops').mood = 'up';
  return world;
}

describe('after a rise that was taken back', () => {
  test('what is no worse than its readers knew before is no news', async () => {
    const world = await startTakenBack();
    expect(await read(world, 120)).toEqual([]);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual([]);
    expect(await read(world, 20)).toEqual(['otp/sms-low worse critical']);
  });

  test('what is worse than its readers knew before is told', async () => {
    const world = await startTakenBack();
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low worse critical']);
  });

  test('of two rises that waited, what is no worse than before the first is no news, and a rise beyond is', async () => {
    const world = await startWorld(parts);
    expect(await read(world, 300)).toEqual(['otp/sms-low firing info']);
    world.channel('ops').mood = 'down';
    await read(world, 150);
    await read(world, 10);
    mute(world);
    world.channel('ops').mood = 'up';
    expect(await read(world, 300)).toEqual([]);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual([]);
    expect(await read(world, 150)).toEqual(['otp/sms-low worse warning']);
  });

  test('what waits since an older version, which says nothing of what was known before it, is told as worse', async () => {
    const world = await startWorld(parts);
    await read(world, 150);
    world.channel('ops').mood = 'down';
    await read(world, 10);
    await world.stop();
    const db = new Database(world.path);
    const changed = db
      .prepare(
        "UPDATE message SET body = json_remove(body, '$.items[0].before') WHERE body LIKE '%\"before\"%'",
      )
      .run();
    expect(changed.changes).toBe(1);
    db.close();
    world.start();
    mute(world);
    world.channel('ops').mood = 'up';
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low worse critical']);
  });

  test('that a channel refused for good, what is no worse than its readers knew before is no news', async () => {
    const world = await startWorld(parts);
    await read(world, 150);
    world.channel('ops').mood = 'dead';
    await read(world, 10);
    world.channel('ops').mood = 'up';
    expect(await read(world, 120)).toEqual([]);
    await world.pass(13 * hourMs);
    expect(world.news().filter((line) => line.startsWith('otp'))).toEqual(['otp/sms-low reminder warning']);
  });
});

test('that nobody has it any more is told after a silence that took back the word of it', async () => {
  const world = await startWorld(parts);
  await read(world, 150);
  giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: 'on it' });
  await world.pass(minuteMs);
  expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
  world.channel('ops').mood = 'down';
  giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
  await world.pass(minuteMs);
  mute(world);
  world.channel('ops').mood = 'up';
  await world.pass(2 * hourMs);
  expect(world.news()).toEqual(['otp/sms-low reminder warning']);
});

/** Somebody takes it in a silence, while the message about its beginning is on its way. */
async function takenInSilence() {
  const world = await startWorld(parts);
  const channel = world.channel('ops');
  channel.mood = 'lost';
  await read(world, 150);
  mute(world);
  giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: 'on it' });
  channel.mood = 'up';
  return { world, channel };
}

test('that nobody has it any more is told after a silence where a message that was on its way said who had it', async () => {
  const { world, channel } = await takenInSilence();
  await world.pass(10 * minuteMs);
  const [item] = incidentMessage(channel.delivered.at(-1)).items;
  expect(item).toMatchObject({ kinds: ['firing'], incident: { acknowledgement: { by: 'ana' } } });
  giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
  world.news();
  await world.pass(2 * hourMs);
  expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  // A tool took it for taken: only another key wakes somebody.
  expect(incidentMessage(channel.delivered.at(-1)).items[0]?.keys).toMatchObject({ taken: 0, newest: 1 });
});

test('that nobody has it any more is told after a silence where it is given back while a message says who had it', async () => {
  const { world, channel } = await takenInSilence();
  const { promise, resolve } = Promise.withResolvers<void>();
  channel.hold = promise;
  await world.pass(10 * minuteMs);
  giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
  channel.hold = null;
  resolve();
  await world.pass(minuteMs);
  const [item] = incidentMessage(channel.delivered.at(-1)).items;
  expect(item).toMatchObject({ kinds: ['firing'], incident: { acknowledgement: { by: 'ana' } } });
  world.news();
  await world.pass(2 * hourMs);
  expect(world.news()).toEqual(['otp/sms-low reminder warning']);
});

test('the heartbeat stops where nobody heard that it is critical again after a top-up that helped', async () => {
  const world = await startWorld({
    ...{ rules: [low], heartbeat, channels: ['ops', 'finance'] },
    routes: [makeRoute({ match: { account: ['otp'] } }), makeRoute({ channels: ['finance'] })],
  });
  expect(await read(world, 10)).toEqual(['otp/sms-low firing critical']);
  await read(world, 120);
  world.channel('ops').mood = 'dead';
  await read(world, 10);
  await world.pass(minuteMs);
  const before = world.pings.length;
  await world.pass(10 * minuteMs);
  expect(world.pings.length).toBe(before);
});
