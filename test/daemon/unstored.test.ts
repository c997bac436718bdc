import { expect, test } from 'vitest';
import { takeUnstored } from '../../src/engine/unstored.ts';
import type { Unstored } from '../../src/ports/store.ts';
import { flat } from '../store/beds.ts';
import { always } from '../store/sqlite/batches.ts';
import { factsNoon, smsLow, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const rules = { rules: [smsLow({ warning: units(200) })] };

/** What a daemon did from memory that told `ops` of a low balance and then lost the accounts. */
async function loseFromMemory(): Promise<{ readonly left: readonly Unstored[]; readonly readings: number }> {
  const world = await startWorld(rules);
  world.diskFull = true;
  const news = [...(await read(world, 100)), ...(await read(world, 90))];
  expect(news.join()).toContain('otp/sms-low firing warning');
  const left = takeUnstored(world.daemon.state, world.now).map((each) => ({
    ...each,
    // Both worlds draw the same ids, and poll at the same instants.
    polls: each.polls.map(({ account, poll }) => {
      const at = poll.at + 7;
      return { account, poll: { ...poll, at, reading: poll.reading && { ...poll.reading, at } } };
    }),
    incidents: each.incidents.map((incident) => ({ ...incident, id: `other-${incident.id}` })),
  }));
  return { left, readings: left.flatMap(({ polls }) => polls).length };
}

async function takeIn(world: World, left: readonly Unstored[]): Promise<void> {
  for (const [nth, each] of left.entries()) world.unstored.set(`@unstored/${nth}`, each);
  await world.pass(2000);
}

const readingsOf = async (world: World) =>
  (await flat(world.store.readings({ account: 'otp', ...always }))).length;

test('the owner stores the readings of one that lost the accounts, each once, and ends what people were notified of when it is over', async () => {
  const { left, readings } = await loseFromMemory();
  expect(readings).toBe(2);
  const world = await startWorld(rules, { takesOrders: true });
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  await takeIn(world, left);
  // Still low: to say that it is over would be a lie.
  expect(world.news()).toEqual([]);
  expect(await read(world, 80)).toEqual(['@lowwater/storage-failed resolved critical']);
  world.provider.set('otp', 5000);
  await world.pass(2 * step);
  expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up); otp/sms-low resolved warning']);
  const stored = (await flat(world.store.readings({ account: 'otp', ...always }))).map(({ at }) => at);
  expect(stored).toEqual(
    expect.arrayContaining(left.flatMap(({ polls }) => polls.map(({ poll }) => poll.reading?.at))),
  );
  expect(new Set(stored).size).toBe(stored.length);
});

test('who takes over a healthy account ends what people were notified of once it has read the account itself', async () => {
  const { left } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  await takeIn(
    world,
    left.map((each) => ({ ...each, at: world.now + 1000 })),
  );
  expect(world.news()).toEqual([]);
  await world.pass(2 * step);
  expect(world.news().toSorted()).toEqual([
    '@lowwater/storage-failed resolved critical',
    'otp/sms-low resolved warning',
  ]);
});

test('the end of what people were notified of says the balance of now, and not the one that it began with', async () => {
  const { left } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  await takeIn(
    world,
    left.map((each) => ({ ...each, at: world.now + 1000 })),
  );
  await read(world, 5000);
  const ended = await world.views.incidents({ account: 'otp', since: 0, until: world.now });
  const now = { unit: 'money', micros: units(5000) };
  expect(ended.map(({ rule, value }) => [rule, value])).toEqual([['sms-low', now]]);
  // The words of a message are made of these.
  expect(ended[0]?.facts).toContainEqual({ name: 'balance', value: now });
});

test('a reading that was stored though nobody heard of that is not stored again', async () => {
  const { left } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  await takeIn(world, left);
  const once = await readingsOf(world);
  for (const [nth, each] of left.entries()) world.unstored.set(`@unstored/again-${nth}`, each);
  await world.pass(step);
  expect(await readingsOf(world)).toBe(once + 1);
});

test('readings that were taken in are stored once, however often it is looked for more while nobody hears whether they were', async () => {
  const { left, readings } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  const before = await readingsOf(world);
  world.unheard = true;
  await takeIn(world, left);
  await world.pass(10_000);
  world.unheard = false;
  await world.pass(5000);
  expect(await readingsOf(world)).toBe(before + readings);
});

test('a reading that two records hold, since who left them had the accounts in between, is stored once', async () => {
  const { left } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  for (const each of left)
    if (each.polls.length > 0) world.unstored.set('@unstored/again', structuredClone(each));
  await takeIn(world, left);
  const stored = (await flat(world.store.readings({ account: 'otp', ...always }))).map(({ at }) => at);
  expect(stored).toEqual(
    expect.arrayContaining(left.flatMap(({ polls }) => polls.map(({ poll }) => poll.at))),
  );
  expect(new Set(stored).size).toBe(stored.length);
});

test('what people did while nothing was stored is done by who takes over, once and in their name', async () => {
  const world = await startWorld(rules, { takesOrders: true });
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  world.diskFull = true;
  await give(world.views, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: 'paid' }, 'ada');
  const silence = { match: { account: ['otp'] }, everything: false, comment: '' };
  await give(
    world.views,
    { kind: 'silence', ...silence, startsAt: world.now, endsAt: world.now + 9 * step },
    'ben',
  );
  await give(world.views, { kind: 'poll', account: 'otp' }, 'ben');
  const left = takeUnstored(world.daemon.state, world.now);
  expect(left.flatMap(({ orders }) => orders.map(({ kind }) => kind))).toEqual(['acknowledge', 'silence']);
  world.crash();
  world.diskFull = false;
  world.start();
  await world.pass(step);
  await takeIn(world, left);
  await takeIn(world, left);
  const [incident] = await world.views.incidents({ account: 'otp', since: 0, until: world.now });
  expect(incident?.acknowledgement).toMatchObject({ by: 'ada', comment: 'paid' });
  expect([...world.daemon.state.silences.values()].map(({ createdBy }) => createdBy)).toEqual(['ben']);
});

/** Somebody takes the alert while another process locks the database, and the daemon is stopped after so long. */
async function stopWhileLocked(lockedMs: number) {
  const world = await startWorld(rules);
  await read(world, 100);
  world.locked = true;
  const answer = give(
    world.views,
    { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: 'paid' },
    'ada',
  );
  await world.pass(lockedMs);
  let endedAt: number | null = null;
  const stopped = world.daemon.stop().then(() => {
    endedAt = world.now;
  });
  return { world, answer, stopped, endedAt: () => endedAt };
}

async function takenBy(world: World): Promise<string | undefined> {
  world.database.close();
  world.start();
  return (await world.views.alert('otp', 'sms-low'))?.acknowledged?.by;
}

test.each([
  ['a second', 1000],
  ['so long that lowwater has told of it', 7000],
])(
  'a daemon stopped while the database was locked for %s stores what people ordered once it is free, and ends then',
  async (_, lockedMs) => {
    const { world, answer, stopped, endedAt } = await stopWhileLocked(lockedMs);
    await world.pass(6000);
    expect(endedAt()).toBeNull();
    world.locked = false;
    await world.pass(300);
    expect(endedAt()).not.toBeNull();
    await Promise.all([answer, stopped]);
    expect(world.errors).not.toContainEqual(expect.objectContaining({ orders: expect.anything() }));
    expect(await takenBy(world)).toBe('ada');
  },
);

test('a daemon stopped while the database stays locked ends within ten seconds, and its log says how much is lost', async () => {
  const { world, answer, stopped, endedAt } = await stopWhileLocked(7000);
  const askedAt = world.now;
  await world.pass(10_000);
  expect((endedAt() ?? Number.POSITIVE_INFINITY) - askedAt).toBeLessThan(9500);
  await Promise.all([answer, stopped]);
  expect(world.errors.at(-1)).toMatchObject({
    orders: 1,
    messages: 2,
    message: 'ended before all could be stored: what was in memory alone is lost',
  });
  world.locked = false;
  expect(await takenBy(world)).toBeUndefined();
});

test('what was taken in leaves the note with the commit that stores it, so that the next owner ends only what still waits, and once', async () => {
  const { left } = await loseFromMemory();
  const world = await startWorld(rules, { takesOrders: true });
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  await takeIn(world, left);
  await world.pass(2000);
  const waiting = [...world.unstored.values()];
  expect(waiting.flatMap(({ polls, orders }) => [...polls, ...orders])).toEqual([]);
  expect(waiting.flatMap(({ incidents }) => incidents.map(({ rule }) => rule))).toEqual(['sms-low']);
  world.crash();
  world.start();
  world.provider.set('otp', 5000);
  await world.pass(2 * step);
  expect(world.news().join()).toContain('otp/sms-low resolved warning');
  await world.pass(2000);
  expect(world.unstored.size).toBe(0);
});

test('an incident that is stored is not taken in again: its end stays where it is, and nobody is told again', async () => {
  const lost = await loseFromMemory();
  // Later than the other one told of it.
  const world = await startWorld(rules, { takesOrders: true, startAt: factsNoon + 10 * step });
  const left = lost.left.map((each) => ({ ...each, at: world.now + 1000 }));
  await takeIn(world, structuredClone(left));
  await world.pass(2 * step);
  expect(world.news().join()).toContain('otp/sms-low resolved warning');
  const stored = () => world.views.incidents({ account: 'otp', since: 0, until: world.now });
  const before = await stored();
  await world.restart({ downMs: step });
  await takeIn(world, left);
  await world.pass(2 * step);
  expect(world.news()).toEqual([]);
  expect(await stored()).toEqual(before);
  expect(world.unstored.size).toBe(0);
});

test.each(['acknowledge', 'unacknowledge'] as const)(
  'an order to %s is refused where its incident is over by now and another is open, and the audit says so once',
  async (kind) => {
    const world = await startWorld(rules, { takesOrders: true });
    const order = { account: 'otp', rule: 'sms-low', comment: '' };
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    if (kind === 'unacknowledge') await give(world.views, { kind: 'acknowledge', ...order }, 'ada');
    await world.pass(2000);
    world.diskFull = true;
    await give(world.views, { kind, ...order }, 'ben');
    const left = takeUnstored(world.daemon.state, world.now);
    world.crash();
    world.diskFull = false;
    world.start();
    const isFiring = () => world.daemon.state.alerts.get('otp', 'sms-low')?.state === 'firing';
    await read(world, 5000);
    expect(isFiring()).toBe(false);
    await read(world, 100);
    expect(isFiring()).toBe(true);
    if (kind === 'unacknowledge') await give(world.views, { kind: 'acknowledge', ...order }, 'cem');
    for (let nth = 0; nth < 2; nth += 1) {
      await takeIn(world, structuredClone(left));
      expect(world.unstored.size).toBe(0);
      await world.restart({ downMs: 1000 });
    }
    const [incident] = await world.views.incidents({ account: 'otp', since: 0, until: world.now });
    expect(incident?.acknowledgement?.by).toBe(kind === 'acknowledge' ? undefined : 'cem');
    const notDone = [...world.daemon.state.notes.values()].filter(({ value }) => value.includes('not done'));
    expect(notDone.map(({ value }) => JSON.parse(value))).toMatchObject([{ by: 'ben', action: kind }]);
  },
);
