import { expect, test } from 'vitest';
import { createStandbyViews } from '../../src/cluster/standby-views.ts';
import { Counting } from '../../src/daemon/counting.ts';
import { renderOverview } from '../../src/http/page/overview.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import { leaveOrder } from '../../src/store/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { CurrentViews } from '../../src/views/current-views.ts';
import { english } from '../../src/wording/language.ts';
import { belowRule, minuteMs, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { read, startWorld, type World } from '../support/world.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** A daemon that owns nothing, on the database of one that does. */
function standBy(world: World, parts: Partial<Parameters<typeof createStandbyViews>[0]> = {}) {
  let asked = 0;
  return createStandbyViews({
    settings: () => world.settings,
    reader: world.store,
    revision: () => `another each time: ${++asked}`,
    leaveOrder: async (order) => leaveOrder(world.path, order),
    clock: world.clock,
    random: seededRandom(),
    calendar: cronCalendar,
    counters: new Counting(silent),
    owner: () => ({ node: 'a', program: 'lowwater 0.4.0' }),
    status: () => world.views.status(),
    ...parts,
  });
}

async function firingWorld(): Promise<World> {
  const world = await startWorld(
    {
      rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
    },
    { takesOrders: true },
  );
  await read(world, 100);
  return world;
}

test('shows what the owner stored, a few seconds later at the most', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low', state: 'firing' }]);
  await read(world, 900);
  expect(await standby.alerts({ all: false })).toEqual([]);
  expect((await standby.account('otp'))?.reading?.balances.sms).toBe(units(900));
});

/** Counts how often everything is read. */
function countLoads(world: World): { readonly reader: StoreReader; readonly loads: () => number } {
  let loads = 0;
  const load = () => {
    loads += 1;
    return world.store.load();
  };
  return { reader: { ...world.store, load }, loads: () => loads };
}

test('reads nothing again as long as the owner has stored nothing, and tells no page that it changed', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  let revision = '1 1';
  const standby = await standBy(world, { reader, revision: () => revision });
  let notified = 0;
  standby.subscribe(() => {
    notified += 1;
    void standby.accounts();
  });
  await standby.accounts();
  await world.pass(60_000);
  await standby.accounts();
  expect({ loads: loads(), notified }).toEqual({ loads: 1, notified: 0 });
  revision = '1 2';
  await world.pass(20_000);
  expect({ loads: loads(), notified }).toEqual({ loads: 2, notified: 1 });
});

test('the first look at its overview tells what fires', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const query = new URLSearchParams();
  const { content } = await renderOverview({
    language: english,
    views: standby,
    now: world.now,
    timezone: 'UTC',
    query,
  });
  expect(content.markup).toContain('1 alert needs attention');
});

test('gives the accounts that were asked for, and no others', async () => {
  const world = await startWorld({ accounts: ['otp', 'marketing', 'voice'] }, { sleepMs: 1000 });
  const standby = await standBy(world);
  for (const views of [standby, world.views])
    expect((await views.accounts(['voice'])).map(({ id }) => id)).toEqual(['voice']);
});

test('reads again by a new configuration', async () => {
  const world = await firingWorld();
  const standby = await standBy(world, { revision: () => 'the same' });
  await standby.accounts();
  world.reload({ accounts: ['otp', 'marketing'] });
  await world.pass(6000);
  expect((await standby.accounts()).map(({ id }) => id)).toEqual(['otp', 'marketing']);
});

test('knows of no account, and does not say that no alert fires, as long as the database has never answered', async () => {
  const world = await firingWorld();
  const standby = await standBy(world, { revision: () => null });
  expect(await standby.accounts()).toMatchObject([{ id: 'otp', outcome: null, reading: null }]);
  expect(standby.counts()).toEqual({ accounts: 1, unread: 1 });
  await expect(standby.alerts({ all: false })).rejects.toThrow('nothing has been read');
  const order = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  await expect(give(standby, order)).rejects.toThrow('nothing has been read');
});

test('shows what it read last while the database does not answer, and asks it for nothing', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  let revision: string | null = '1 1';
  const standby = await standBy(world, { reader, revision: () => revision });
  await standby.accounts();
  revision = null;
  await world.pass(60_000);
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low' }]);
  expect(loads()).toBe(1);
});

test('an acknowledgement there is seen there at once, and by the owner within two seconds', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const order = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  expect(await give(standby, order)).toEqual({});
  expect((await standby.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('ana');
  await world.pass(2000);
  expect((await world.views.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('ana');
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { by: 'ana', from: '127.0.0.1', action: 'acknowledge', account: 'otp', rule: 'sms-low' },
  ]);
});

test('an acknowledgement of what somebody has is answered with their name, and left for nobody', async () => {
  const world = await firingWorld();
  const order = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  await give(world.views, order, 'Ada');
  const left: object[] = [];
  const standby = await standBy(world, { leaveOrder: async (each) => void left.push(each) });
  expect(await give(standby, order, 'Ben')).toEqual({ doneBy: 'Ada' });
  expect(left).toEqual([]);
});

test('an order that the program of the owner does not know is refused, and left for nobody', async () => {
  const world = await firingWorld();
  const standby = await standBy(world, { owner: () => ({ node: 'a', program: 'lowwater 0.3.0' }) });
  expect(await give(standby, { kind: 'renew-calendar-key', key: 'k' })).toEqual({
    refused: 'not-now',
    why: 'the accounts are with lowwater 0.3.0, which does not know this order',
  });
  expect(await world.store.leftOrders()).toEqual([]);
});

test('a silence made, made longer and ended there reaches the owner', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const window = { startsAt: world.now, endsAt: world.now + 60 * minuteMs };
  const made = await give(standby, {
    kind: 'silence',
    match: { account: ['otp'] },
    everything: false,
    ...window,
    comment: '',
  });
  const id = 'id' in made ? made.id : '';
  expect(await give(standby, { kind: 'extend-silence', id, byMs: 30 * minuteMs })).toEqual({});
  await world.pass(2000);
  expect(world.views.silences()).toMatchObject([{ id, endsAt: window.endsAt + 30 * minuteMs }]);
  await world.pass(6000);
  expect(await give(standby, { kind: 'expire', id })).toEqual({});
  await world.pass(2000);
  expect(world.views.silences()).toEqual([]);
});

test('what does not fire is refused there, and a poll with the name of who polls', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const nobody = { kind: 'acknowledge', account: 'otp', rule: 'voip-low', comment: '' } as const;
  expect(await give(standby, nobody)).toMatchObject({ refused: 'not-found' });
  expect(await give(standby, { kind: 'poll', account: 'otp' })).toEqual({
    refused: 'not-now',
    why: 'this daemon stands by: a polls the accounts',
  });
});

test('whoever watches a page goes on watching when the daemon takes the accounts', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const views = new CurrentViews(standby);
  let notified = 0;
  const leave = views.subscribe(() => {
    notified += 1;
  });
  views.become(world.views);
  expect(notified).toBe(1);
  await read(world, 50);
  expect(notified).toBeGreaterThan(1);
  leave();
  const before = notified;
  await read(world, 40);
  expect(notified).toBe(before);
});
