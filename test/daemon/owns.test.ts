import { expect, test } from 'vitest';
import { StorageError } from '../../src/domain/operator-error.ts';
import { belowRule, dayMs, factsNoon, hourMs, minuteMs, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { makeAccount } from '../support/settings.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

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

test('a try that was not made because the lease ended puts off no message that was refused often before', async () => {
  let owns = true;
  const world = await startWorld({ rules }, { owns: () => owns });
  const channel = world.channel('ops');
  channel.mood = 'down';
  await read(world, 100);
  await world.pass(hourMs);
  const made = channel.attempts.length;
  const waiting = () => world.daemon.state.messages.values().map(({ attempts }) => attempts);
  const { commit } = world.store;
  Object.assign(world.store, {
    commit: async (...given: Parameters<typeof commit>) => {
      await commit(...given);
      if (given[0].messages.some(({ attempts }) => attempts > made)) owns = false;
    },
  });
  await world.pass(2 * step);
  expect([channel.attempts.length, owns, [...waiting()]]).toEqual([made, false, [made]]);
  Object.assign(world.store, { commit });
  channel.mood = 'up';
  owns = true;
  await world.pass(10_000);
  expect(world.news()).toEqual(['otp/sms-low firing warning']);
});

test('who let go of the accounts takes in nothing that ends afterwards', async () => {
  const world = await startWorld({ rules });
  const answer = Promise.withResolvers<void>();
  world.channel('ops').hold = answer.promise;
  await read(world, 100);
  void world.daemon.abandon();
  await world.pass(minuteMs);
  const { messages } = world.daemon.state;
  const known = [...messages.values()];
  expect(known).toHaveLength(1);
  answer.resolve();
  await world.pass(1000);
  expect([...messages.values()]).toEqual(known);
});

const { credentials } = makeAccount('a0');
const sharing = {
  accounts: Array.from({ length: 6 }, (_, place) => makeAccount(`a${place}`, { credentials })),
};

test('of accounts that share a key one is asked while the database knows nothing of it, and all when it may go on from memory', async () => {
  let mayActUnpersisted = false;
  const world = await startWorld(sharing, { mayActUnpersisted: () => mayActUnpersisted });
  const asked = () => [...world.provider.asked.values()].flat().length;
  expect(asked()).toBe(6);
  world.diskFull = true;
  await world.pass(step);
  expect(asked()).toBe(7);
  mayActUnpersisted = true;
  await world.pass(minuteMs);
  expect(asked()).toBe(12);
  mayActUnpersisted = false;
  await world.pass(step);
  expect(asked()).toBe(12);
  world.diskFull = false;
  await world.pass(minuteMs);
  expect(asked()).toBe(18);
});

test('accounts that wait until the database knows of another keep the pace of their guard', async () => {
  const world = await startWorld(sharing, { mayActUnpersisted: () => false });
  world.provider.asked.clear();
  for (const { id } of sharing.accounts) void give(world.views, { kind: 'poll', account: id });
  await world.pass(6 * 50);
  expect([...world.provider.asked.values()].flat()).toHaveLength(6);
});

test('so they do after a reload that renames the first of them', async () => {
  const world = await startWorld(sharing, { mayActUnpersisted: () => false });
  const asked = () => [...world.provider.asked.values()].flat().length;
  world.diskFull = true;
  await world.pass(step);
  expect(asked()).toBe(7);
  const [, ...others] = sharing.accounts;
  await world.reload({ accounts: [makeAccount('renamed', { credentials }), ...others] });
  await world.pass(step);
  expect(asked()).toBe(7);
  world.diskFull = false;
  await world.pass(minuteMs);
  expect(asked()).toBeGreaterThan(12);
});

const silence = {
  kind: 'silence',
  everything: false,
  match: { account: ['otp'] },
  startsAt: factsNoon,
  endsAt: factsNoon + dayMs,
  comment: '',
} as const;
const repeatIt =
  'Another daemon may own the accounts now, and nobody knows whether the order is stored: repeat it.';

test('orders that are being stored, or wait to be, when their daemon lets go of the accounts are answered', async () => {
  const world = await startWorld();
  Object.assign(world.store, { commit: () => new Promise(() => undefined) });
  const first = expect(give(world.views, silence)).rejects.toThrow(repeatIt);
  const second = expect(give(world.views, silence)).rejects.toThrow(repeatIt);
  void world.daemon.abandon();
  await Promise.all([first, second]);
  await expect(give(world.views, silence)).rejects.toThrow(repeatIt);
});

test('the refusal of a commit that was under way when its daemon let go of the accounts is no fault of the database', async () => {
  const world = await startWorld();
  const refusal = Promise.withResolvers<never>();
  Object.assign(world.store, { commit: () => refusal.promise });
  const order = expect(give(world.views, silence)).rejects.toThrow(repeatIt);
  void world.daemon.abandon();
  refusal.reject(new StorageError('fenced', 'another owns'));
  await order;
  await world.pass(1000);
  expect(world.errors).toEqual([]);
});

test('an order that the database refuses because another owns the accounts is answered as such', async () => {
  const world = await startWorld();
  const commit = () => Promise.reject(new StorageError('fenced', 'another owns'));
  Object.assign(world.store, { commit });
  await expect(give(world.views, silence)).rejects.toThrow(repeatIt);
});

test('an order that is not stored counts where nobody else can own the accounts, and else is to be repeated', async () => {
  let mayActUnpersisted = false;
  const world = await startWorld({}, { mayActUnpersisted: () => mayActUnpersisted });
  world.diskFull = true;
  await expect(give(world.views, silence)).rejects.toThrow(repeatIt);
  mayActUnpersisted = true;
  expect(await give(world.views, silence)).toMatchObject({ createdBy: 'ana' });
});

test.each([
  ['its daemon lets go of the accounts', (world: World) => void world.daemon.abandon()],
  ['its daemon ends', (world: World) => void world.daemon.stop()],
  ['the account is removed', (world: World) => world.reload({ accounts: ['otp'] })],
])('a poll that was asked for and has not begun is answered when %s', async (_, happen) => {
  const world = await startWorld({ ...sharing, accounts: [...sharing.accounts, 'otp'] });
  const answers = sharing.accounts.map(({ id }) => give(world.views, { kind: 'poll', account: id }));
  await world.pass(60);
  happen(world);
  const answer = await answers.at(-1);
  expect(answer !== undefined && 'ended' in answer && (await answer.ended)).toBeNull();
});
