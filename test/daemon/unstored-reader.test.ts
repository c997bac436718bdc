import { expect, test } from 'vitest';
import { hourMs } from '../../src/domain/time.ts';
import { smsLow, units } from '../support/account-facts.ts';
import { processorMs } from '../support/processor-time.ts';
import { read, startWorld, step } from '../support/world.ts';

const rules = [smsLow({ warning: units(200) })];

test('while the database cannot be written, history, incidents and messages are those that are known, each once and in order', async () => {
  const world = await startWorld({ rules });
  await read(world, 1000);
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  await world.pass(step);
  world.diskFull = true;
  await read(world, 900);
  await read(world, 90);

  const look = async () => {
    const { views, now } = world;
    const readings = await views.readings('otp', 0, now + 1);
    const polls = await views.polls('otp', 0, now + 1);
    const incidents = await views.incidents({ account: 'otp' });
    const messages = await views.notifications(100);
    const parts: number[] = [];
    for await (const part of views.readingsInParts('otp', now - step, now + 1))
      parts.push(...part.map(({ at }) => at));
    return { readings, polls, incidents, messages, parts };
  };
  const full = await look();
  expect(full.readings.map(({ balances }) => Number(balances.sms) / units(1))).toEqual([
    ...[10000, 1000, 100, 100, 900, 90],
  ]);
  expect(full.polls.map(({ at }) => at)).toEqual(full.readings.map(({ at }) => at));
  expect(full.parts).toEqual(full.readings.slice(-2).map(({ at }) => at));
  expect(full.incidents.map(({ resolvedAt }) => resolvedAt === null)).toEqual([true, false]);
  expect(full.messages[0]?.createdAt).toBeGreaterThan(full.messages.at(-1)?.createdAt ?? 0);
  const all = await world.views.incidents({});
  expect(all.map(({ rule }) => rule).sort()).toEqual(['sms-low', 'sms-low', 'storage-failed']);
  const [newest] = all;
  expect(await world.views.incidents({ limit: 1 })).toEqual([newest]);
  const [open, over] = full.incidents;
  const between = { account: 'otp', since: over?.resolvedAt ?? 0, until: open?.firedAt ?? 0 };
  expect(await world.views.incidents(between)).toEqual([]);

  world.diskFull = false;
  await world.pass(3000);
  const stored = await look();
  expect(stored.readings).toEqual(full.readings);
  expect(stored.incidents.map(({ id }) => id)).toEqual(full.incidents.map(({ id }) => id));
});

test('while the database cannot be written, a page of incidents is no shorter for one that memory knows to be over', async () => {
  const critical = { ...smsLow({ critical: units(50) }), id: 'sms-gone' };
  const world = await startWorld({ rules: [...rules, critical] });
  await read(world, 100);
  await read(world, 40);
  world.diskFull = true;
  await read(world, 100);
  const since = world.now;
  await world.pass(step);
  const [both, open] = [await world.views.incidents({ account: 'otp' }), { account: 'otp', since }];
  expect(both.map(({ rule, resolvedAt }) => [rule, resolvedAt === null])).toEqual([
    ['sms-gone', false],
    ['sms-low', true],
  ]);
  expect((await world.views.incidents({ ...open, limit: 1 })).map(({ rule }) => rule)).toEqual(['sms-low']);
});

test('a report that goes out while the database cannot be written names the incidents and the spending that only memory knows', async () => {
  const hourly = { id: 'hourly', cron: '0 * * * *', timezone: 'UTC', channels: ['ops'] };
  const world = await startWorld({ rules, reports: [hourly] });
  await read(world, 1000);
  world.diskFull = true;
  await read(world, 100);
  await world.pass(hourMs);
  const [message] = world
    .channel('ops')
    .delivered.flatMap(({ message }) => (message.kind === 'report' ? [message] : []));
  const [account] = message?.accounts ?? [];
  expect(account?.incidents.map(({ rule }) => rule)).toEqual(['sms-low']);
  expect(account?.spent.sms).toBe(units(9900));
});

test('waiting polls are looked through as quickly while a part of them is being written, each once', async () => {
  const world = await startWorld();
  const { reader, state } = world.daemon;
  const { now } = world;
  for (let nth = 0; nth < 50_000; nth++)
    state.polls.add({ account: `a-${nth % 50}`, poll: { at: now + nth, outcome: 'timeout', reading: null } });
  const lookThrough = async () => {
    const from = processorMs();
    let found = 0;
    for (let nth = 0; nth < 50; nth++)
      for await (const part of reader.polls({ account: `a-${nth}`, since: now, until: now + 50_000 }))
        found += part.length;
    return { found, ms: processorMs() - from };
  };
  await lookThrough();
  const waiting = await lookThrough();
  state.polls.take(2000);
  const underWay = await lookThrough();
  expect([waiting.found, underWay.found]).toEqual([50_000, 50_000]);
  expect(underWay.ms).toBeLessThan(4 * waiting.ms + 40);
});
