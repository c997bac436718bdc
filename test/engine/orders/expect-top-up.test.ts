import { expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time.ts';
import type { Wanted } from '../../../src/engine/orders.ts';
import { runwayOf } from '../../../src/engine/spending.ts';
import { wordItem } from '../../../src/messages/item-wording.ts';
import { accountServiceBalances } from '../../../src/providers/account-service/account-service-kind.ts';
import { hourMs, minuteMs, staleRule, topUpRule, units } from '../../support/account-facts.ts';
import { giveAtOnce } from '../../support/orders.ts';
import { makeAccount } from '../../support/settings.ts';
import { serveWorld } from '../../support/web-server.ts';
import { read, startWorld, step, type World } from '../../support/world.ts';

const order = {
  kind: 'expect-top-up',
  account: 'otp',
  amountMicros: units(5000),
  comment: 'PO-4711',
} as const;

function announce(world: World, over: Partial<Wanted<'expect-top-up'>> = {}) {
  return giveAtOnce(world, { ...order, arrivesBy: world.daemon.now() + 2 * hourMs, ...over }, 'Lin');
}

function toldLast(world: World) {
  const { message } = world.channel('ops').delivered.at(-1) ?? {};
  const [item] = message?.kind === 'incidents' ? message.items : [];
  return message && item && wordItem(item, message);
}

function expected(world: World) {
  return world.daemon.state.expected.get('otp') ?? [];
}

test('a top-up that comes in time, spent from meanwhile, is expected no more, and nothing is said', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  expect(expected(world)).toMatchObject([{ balance: 'sms', amountMicros: units(5000), comment: 'PO-4711' }]);
  await read(world, 5000);
  expect(expected(world)).toEqual([]);
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual([]);
});

test('one that does not come is said, once, after its time; it ends when the money is there', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  await world.pass(2 * hourMs - step);
  expect(world.news()).toEqual([]);
  await world.pass(2 * step);
  expect(world.news()).toEqual(['otp/late-top-up firing warning']);
  // Half of it is not all of it.
  expect(await read(world, 2600)).toEqual([]);
  expect(await read(world, 5100)).toEqual(['otp/late-top-up resolved warning']);
});

test('one that a clock a day ahead made overdue is not said to be expected no more once the clock is right', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  world.clock.jump(dayMs);
  await world.pass(2 * step);
  expect(world.news()).toEqual(['otp/late-top-up firing warning']);
  world.clock.jump(-dayMs);
  await world.pass(2 * step);
  expect(world.news()).toEqual(['otp/late-top-up resolved warning']);
  expect(expected(world)).toHaveLength(1);
  expect(toldLast(world)?.headline).toContain('the expected top-up arrived, or is overdue no more');
});

test('of two, the one that is due first has come first, though it was ordered later', async () => {
  const world = await startWorld();
  await read(world, 10_000);
  announce(world, { id: 'transfer', arrivesBy: world.daemon.now() + 5 * dayMs });
  announce(world, { id: 'card', amountMicros: units(1000) });
  await read(world, 11_000);
  expect(expected(world)).toMatchObject([{ id: 'transfer', receivedMicros: 0 }]);
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual([]);
});

test('one of which a part came says so, in the unit of its balance', async () => {
  const [sms, voip] = accountServiceBalances;
  const balances = [sms, voip].flatMap((each) => (each === undefined ? [] : { ...each, unit: 'minutes' }));
  const world = await startWorld({ accounts: [makeAccount('otp', { balances })] });
  await read(world, 100);
  announce(world);
  await read(world, 2100);
  await world.pass(3 * hourMs);
  const words = 'otp: only 2,000 minutes of the expected top-up of 5,000 minutes (SMS) arrived';
  expect(toldLast(world)?.headline).toBe(`WARNING · ${words}`);
  const { url } = await serveWorld(world);
  const page = await (await fetch(`${url}/pay`)).text();
  expect(page).toContain('3,000 minutes expected by');
});

test('another one that is overdue later is told once, though a person took the first', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  announce(world, { amountMicros: units(700), arrivesBy: world.daemon.now() + 5 * hourMs, id: 'second' });
  await world.pass(3 * hourMs);
  const take = () =>
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'late-top-up', comment: '' }, 'Lin');
  take();
  await world.pass(step);
  expect(world.news()).toEqual(['otp/late-top-up firing warning', 'otp/late-top-up acknowledged warning']);
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual(['otp/late-top-up firing warning']);
  expect(toldLast(world)).toMatchObject({
    headline: expect.stringContaining('the expected top-up of 700.00 CNY (SMS) has not arrived'),
    figures: expect.arrayContaining([{ label: 'Others overdue', value: '1' }]),
  });
  take();
  await world.pass(20 * hourMs);
  expect(world.news()).toEqual(['otp/late-top-up acknowledged warning']);
});

const second = { amountMicros: units(700), comment: 'PO-2', id: 'second' };

test('another one that is still to come is told when it is overdue, and no sooner, though the first came shortly before', async () => {
  const late = { ...staleRule(), type: 'late-top-up', recoverForMs: 3 * hourMs };
  const world = await startWorld({ rules: [late] });
  await read(world, 100);
  announce(world);
  announce(world, { ...second, arrivesBy: world.daemon.now() + 5 * hourMs });
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual(['otp/rule firing warning']);
  expect(await read(world, 5100)).toEqual([]);
  await world.pass(3 * hourMs);
  expect(world.news()).toEqual(['otp/rule firing warning']);
});

test('another one is told as long after its time as the rule says', async () => {
  const late = { ...staleRule(), type: 'late-top-up', forMs: 2 * hourMs };
  const world = await startWorld({ rules: [late] });
  await read(world, 100);
  announce(world);
  announce(world, { ...second, arrivesBy: world.daemon.now() + 5 * hourMs });
  await world.pass(6 * hourMs);
  expect(world.news()).toEqual(['otp/rule firing warning']);
  await world.pass(hourMs + 2 * step);
  expect(world.news()).toEqual(['otp/rule firing warning']);
});

test('another one is told also where the one that somebody took came just before', async () => {
  const late = { ...staleRule(), type: 'late-top-up', forMs: 2 * hourMs, recoverForMs: 3 * hourMs };
  const world = await startWorld({ rules: [late] });
  await read(world, 100);
  announce(world);
  announce(world, { ...second, arrivesBy: world.daemon.now() + 5 * hourMs });
  await world.pass(4 * hourMs + 2 * step);
  giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'rule', comment: '' }, 'Lin');
  await world.pass(step);
  expect(world.news()).toEqual(['otp/rule firing warning', 'otp/rule acknowledged warning']);
  await read(world, 5100);
  await world.pass(4 * hourMs);
  expect(world.news()).toEqual(['otp/rule firing warning']);
});

test('the end of one that came says nothing of another that is still to come', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  announce(world, { ...second, arrivesBy: world.daemon.now() + 9 * hourMs });
  await world.pass(3 * hourMs);
  world.news();
  expect(await read(world, 5100)).toEqual(['otp/late-top-up resolved warning']);
  expect(JSON.stringify(toldLast(world))).toContain('PO-4711');
  expect(JSON.stringify(toldLast(world))).not.toContain('PO-2');
});

test('the end of two that is told with the second one is no end of what the channel never knew', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  announce(world, { ...second, arrivesBy: world.daemon.now() + 5 * hourMs });
  await world.pass(4 * hourMs);
  world.channel('ops').mood = 'down';
  await world.pass(2 * hourMs);
  await read(world, 6000);
  world.channel('ops').mood = 'up';
  world.news();
  await world.pass(hourMs);
  expect(world.news()).toEqual(['otp/late-top-up firing+resolved warning']);
  const { story, figures } = toldLast(world) ?? {};
  expect(story?.join()).not.toContain('before this channel could be notified');
  expect(figures?.map(({ label }) => label)).not.toContain('Others overdue');
});

test('a reminder is about the top-up that is missing by then, and what came of it since', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  announce(world, { amountMicros: units(700), arrivesBy: world.daemon.now() + 3 * hourMs, id: 'second' });
  await world.pass(4 * hourMs);
  const headline = () => toldLast(world)?.headline.replace(/^.*?otp: /, '');
  expect(headline()).toBe('the expected top-up of 700.00 CNY (SMS) has not arrived');
  const [, { id } = { id: '' }] = expected(world);
  giveAtOnce(world, { kind: 'cancel-expected', account: 'otp', id });
  await read(world, 1100);
  await world.pass(4 * hourMs);
  expect(headline()).toBe('only 1,000.00 CNY of the expected top-up of 5,000.00 CNY (SMS) arrived');
});

test('one does not come by a rise between two readings in another currency', async () => {
  const world = await startWorld({ accounts: [makeAccount('otp', { currency: 'CNY' })] });
  announce(world);
  for (const sms of [100, 7000]) {
    world.provider.set('otp', sms, { currency: 'USD' });
    await world.pass(step);
  }
  expect(expected(world)).toMatchObject([{ receivedMicros: 0 }]);
});

test('one comes, and is told, by a rise across readings in another currency, after a restart among them too', async () => {
  const accounts = [makeAccount('otp', { currency: 'CNY' })];
  const world = await startWorld({ accounts, rules: [topUpRule()] });
  await read(world, 100);
  announce(world);
  for (let poll = 0; poll < 2; poll++) {
    world.provider.set('otp', 700, { currency: 'USD' });
    await world.pass(step);
    await world.restart({ downMs: minuteMs });
  }
  await read(world, 5000);
  expect(expected(world)).toEqual([]);
  await world.pass(3 * hourMs);
  const told = world.news().join();
  expect(told).toContain('otp/rule event info');
  expect(told).not.toContain('late-top-up');
});

test('what is expected is listed by the age of its order over all accounts, after a restart too', async () => {
  const world = await startWorld({ accounts: ['early', 'late'] });
  announce(world, { account: 'late' });
  await world.pass(minuteMs);
  announce(world, { account: 'early' });
  const listed = () => world.views.expected().map(({ account }) => account);
  expect(listed()).toEqual(['late', 'early']);
  await world.restart({ downMs: minuteMs });
  expect(listed()).toEqual(['late', 'early']);
});

test('it survives a restart, and ends when a person says that it does not come', async () => {
  const world = await startWorld();
  await read(world, 100);
  announce(world);
  await world.restart({ downMs: 3 * hourMs });
  await world.pass(2 * minuteMs);
  expect(world.news()).toEqual(['otp/late-top-up firing warning']);
  const [{ id } = { id: '' }] = expected(world);
  expect(giveAtOnce(world, { kind: 'cancel-expected', account: 'otp', id })).toEqual({});
  await world.pass(2 * step);
  expect(world.news()).toEqual(['otp/late-top-up resolved warning']);
});

test('it goes with an account that is removed before a start, and does not come back with it', async () => {
  const world = await startWorld({ accounts: ['otp', 'other'] });
  await read(world, 100);
  announce(world);
  await world.restart({ downMs: minuteMs, parts: { accounts: ['other'] } });
  expect(world.views.expected()).toEqual([]);
  await world.restart({ downMs: minuteMs, parts: { accounts: ['otp', 'other'] } });
  expect(world.views.expected()).toEqual([]);
});

test.each([
  ['of an unknown account', { account: 'oops' }, 'not-found'],
  ['of nothing', { amountMicros: 0 }, 'invalid'],
  ['of the past', { arrivesBy: 1 }, 'invalid'],
  ['without a time, where no lead time is known', { arrivesBy: undefined }, 'invalid'],
])('an announcement %s is refused with the reason', async (_, over, refused) => {
  const world = await startWorld();
  expect(announce(world, over)).toMatchObject({ refused, why: expect.stringMatching(/\w+ \w+/) });
});

test('without a time it is expected after the lead time; what is to pay is less by it', async () => {
  const world = await startWorld({ accounts: [makeAccount('otp', { leadTimeMs: dayMs, weekend: [] })] });
  for (let hour = 0; hour < 30; hour++) {
    world.provider.set('otp', 5000 - hour * 10);
    await world.pass(hourMs);
  }
  const account = world.daemon.state.accounts.get('otp');
  if (account === undefined) throw new Error('the account is watched');
  const before = runwayOf(account, 'sms', world.daemon.now());
  announce(world, { arrivesBy: undefined });
  const after = runwayOf(account, 'sms', world.daemon.now());
  expect(after?.expected).toMatchObject({
    amountMicros: units(5000),
    by: world.daemon.now() + dayMs,
    comment: 'PO-4711',
  });
  expect(after?.restoreMicros).toBe(Math.max(0, (before?.restoreMicros ?? 0) - units(5000)));
  expect(after?.payBy ?? Number.POSITIVE_INFINITY).toBeGreaterThan(before?.payBy ?? 0);
});
