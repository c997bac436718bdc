import { expect, onTestFinished, test } from 'vitest';
import { createStandbyViews } from '../../src/cluster/standby-views.ts';
import { Counting } from '../../src/daemon/counting.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Wanted } from '../../src/engine/orders.ts';
import { renderMetrics } from '../../src/http/metrics.ts';
import { renderOverview } from '../../src/http/page/overview.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import type { LeftOrder, StoreFile } from '../../src/ports/store.ts';
import { leaveOrder } from '../../src/store/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { CurrentViews } from '../../src/views/current-views.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { english } from '../../src/wording/language.ts';
import { sayAgain } from '../../src/wording/say-again.ts';
import { belowRule, hourMs, minuteMs, units } from '../support/account-facts.ts';
import { FakeViews } from '../support/fake-views.ts';
import { give, orderOf } from '../support/orders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount } from '../support/settings.ts';
import { runFakeServer } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** A daemon that owns nothing, on the database of one that does. */
function standBy(world: World, parts: Partial<Parameters<typeof createStandbyViews>[0]> = {}) {
  let asked = 0;
  return createStandbyViews({
    settings: () => world.settings,
    reader: world.store,
    revision: () => `another each time: ${++asked}`,
    heardAt: () => world.clock.monotonic(),
    leaseMs: 8000,
    leaveOrder: async (order) => leaveOrder(world.path, order),
    clock: world.clock,
    random: seededRandom(),
    calendar: cronCalendar,
    counters: new Counting(silent),
    owner: () => ({ node: 'a', program: 'lowwater 0.4.0' }),
    ownerElsewhere: () => null,
    programs: () => ['lowwater 0.4.0', 'lowwater 0.4.0'],
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

test('says as the owner does which channel does not take messages', async () => {
  const world = await startWorld({
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
  });
  world.channel('ops').mood = 'down';
  await read(world, 100);
  await world.pass(10 * minuteMs);
  const { problems } = world.views.status();
  expect(problems).toEqual(['messages wait for channel ops: connection refused']);
  const standby = await standBy(world, { status: () => ({ ...world.views.status(), problems: [] }) });
  await standby.refresh();
  expect(standby.status().problems).toEqual(problems);
});

test('says as the owner does since when an alert is pending, though nothing was polled for hours', async () => {
  const low = belowRule({ id: 'sms-low', thresholds: { warning: units(200) }, forMs: 12 * hourMs });
  const poll = { kind: 'cron', cron: '*/15 8-20 * * *', timezone: 'UTC' } as const;
  const accounts = [makeAccount('otp', { poll })];
  const startAt = Date.parse('2026-11-19T20:10:00Z');
  const world = await startWorld({ rules: [low], accounts }, { startAt });
  await read(world, 100);
  await world.pass(8 * hourMs);
  const since = Date.parse('2026-11-19T20:15:00Z');
  for (const views of [world.views, await standBy(world)])
    expect(await views.alerts({ all: false })).toMatchObject([{ state: 'pending', since }]);
});

test('says as the owner does how urgent each alert is, before anybody looked at its account', async () => {
  const world = await startWorld({
    rules: [belowRule({ id: 'sms-low', thresholds: { warning: units(200) } })],
  });
  for (const sms of [300, 280, 260, 240, 220, 200, 180, 160, 140, 120, 100, 80, 60]) await read(world, sms);
  const urgencies = (views: LiveViews) => [...views.firing()].map(({ urgency }) => urgency);
  const standby = await standBy(world);
  await standby.refresh();
  const [known] = urgencies(standby);
  expect(known?.actBy).toBeLessThan(world.now + hourMs);
  expect([known]).toEqual(urgencies(world.views));
});

/** Counts how often everything is read. */
function countLoads(world: World): { readonly reader: StoreFile; readonly loads: () => number } {
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

test('reads again soon after a database that stood still, whether it answered late or not at all, and rests long where reading always takes long', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  let takesMs = 0;
  let isGivenUp = false;
  const load = async () => {
    await world.pass(takesMs);
    if (isGivenUp) throw new StorageError('other', 'no answer');
    return reader.load();
  };
  const standby = await standBy(world, { reader: { ...reader, load } });
  for (const fails of [false, true]) {
    await standby.accounts();
    [takesMs, isGivenUp] = [9000, fails];
    await world.pass(6000);
    await standby.accounts();
    [takesMs, isGivenUp] = [0, false];
    await world.pass(2000);
    const before = loads();
    expect(await standby.alerts({ all: false })).toHaveLength(1);
    expect(loads()).toBe(before + 1);
  }
  takesMs = 4000;
  for (let minute = 0; minute < 3; minute++) {
    await world.pass(minuteMs);
    await standby.accounts();
  }
  const before = loads();
  await world.pass(minuteMs);
  await standby.accounts();
  expect(loads()).toBe(before);
  await world.pass(20_000);
  await standby.accounts();
  expect(loads()).toBe(before + 1);
});

test('rests no longer than reading takes after two reads that were slow, be they hours apart', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  let takesMs = 0;
  const load = async () => {
    await world.pass(takesMs);
    return reader.load();
  };
  const standby = await standBy(world, { reader: { ...reader, load } });
  for (takesMs of [800, 2200, 2200]) {
    await world.pass(hourMs);
    await standby.accounts();
  }
  const before = loads();
  await world.pass(15_000);
  await standby.accounts();
  expect(loads()).toBe(before + 1);
});

test('asks a database that answers no read in time more and more seldom', async () => {
  const world = await firingWorld();
  let loads = 0;
  const load = async () => {
    loads += 1;
    await world.pass(9000);
    throw new StorageError('other', 'no answer');
  };
  const standby = await standBy(world, { reader: { ...world.store, load } });
  const until = world.now + 10 * minuteMs;
  while (world.now < until) {
    await standby.accounts();
    await world.pass(1000);
  }
  expect(loads).toBeLessThan(10);
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
  await expect(standby.alerts({ all: false })).rejects.toThrow('has not been read');
  const order = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  await expect(give(standby, order)).rejects.toThrow('has not been read');
});

/** A database that answers until it is cut off. */
function cutOff(world: World) {
  let heardAt: number | null = null;
  let revision: string | null = '1 1';
  return {
    revision: () => revision,
    heardAt: () => (revision === null ? heardAt : world.clock.monotonic()),
    cut() {
      heardAt = world.clock.monotonic();
      revision = null;
    },
    answer(next: string) {
      revision = next;
    },
  };
}

const acknowledgement = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;

test('shows what it read last for a lease after the database answered last, and then as one that knows nothing', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  const database = cutOff(world);
  const standby = await standBy(world, { reader, ...database });
  await standby.accounts();
  await world.pass(60_000);
  await standby.refresh();
  database.cut();
  await world.pass(7000);
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low' }]);
  await world.pass(1000);
  await expect(standby.alerts({ all: false })).rejects.toThrow('has not been read');
  await expect(standby.alert('otp', 'sms-low')).rejects.toThrow('has not been read');
  expect(await standby.accounts()).toMatchObject([{ id: 'otp', outcome: null, reading: null }]);
  expect([...standby.firing()]).toEqual([]);
  expect(loads()).toBe(1);
  database.answer('1 1');
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low' }]);
});

test('shows at once nothing of what it read where the database answers that this is not what the owner knows', async () => {
  const world = await firingWorld();
  let heardAt: number | null = world.clock.monotonic();
  const standby = await standBy(world, { heardAt: () => heardAt });
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low' }]);
  heardAt = null;
  await expect(standby.alerts({ all: false })).rejects.toThrow('has not been read');
});

test('metrics have no balance, wait or queue once what was read is a lease old', async () => {
  const world = await firingWorld();
  const database = cutOff(world);
  const standby = await standBy(world, database);
  const scrape = async () => {
    await standby.refresh();
    let text = '';
    for await (const part of renderMetrics(standby, { now: world.now, refusedTokens: 0 })) text += part;
    return text;
  };
  expect(await scrape()).toContain('lowwater_balance{');
  database.cut();
  await world.pass(8000);
  expect(await scrape()).not.toMatch(/^lowwater_(balance|backoff_seconds|outbox_pending)\{/m);
});

test('an empty list is no answer of a daemon that has read nothing: API and pages say that it is not known', async () => {
  const world = await firingWorld();
  const database = cutOff(world);
  const views = await standBy(world, database);
  const key = 'calendar';
  const server = await runFakeServer({
    views: Object.assign(new FakeViews(), views, { calendarKey: () => key }),
  });
  onTestFinished(() => server.close());
  const lists = ['silences', 'expected-top-ups', 'expected-spending', 'audit', 'channels', 'views/silences'];
  lists.push('pay', 'pay.csv', 'spending-forecast', 'spending-forecast.csv', 'views/explain?account=otp');
  // The database gives what it has, also where the owner cannot store what is so now.
  lists.push('accounts/otp/explain', 'incidents', 'notifications', 'review', 'accounts/otp/chart');
  const ask = (path: string) => fetch(server.url + path);
  for (const list of lists) expect((await ask(`/api/v1/${list}`)).status).toBe(200);
  expect((await ask(`/pay.ics?key=${key}`)).status).toBe(200);
  expect(await (await ask('/silences')).text()).toContain('Nothing is silenced');
  database.cut();
  await world.pass(8000);
  for (const list of lists)
    expect({ list, status: (await ask(`/api/v1/${list}`)).status }).toEqual({ list, status: 503 });
  // A calendar would drop what it has.
  expect((await ask(`/pay.ics?key=${key}`)).status).toBe(503);
  // Nor is there no such thing.
  const cancelled = await fetch(`${server.url}/api/v1/expected-top-ups/x-1`, { method: 'DELETE' });
  expect(cancelled.status).toBe(503);
  const form = { method: 'POST', body: new URLSearchParams({ back: '/sessions' }) };
  const ended = await fetch(`${server.url}/sessions/stolen/end`, form);
  expect(ended.status).toBe(503);
  const silence = { method: 'POST', body: new URLSearchParams({ account: 'otp', for: '2h' }) };
  expect((await fetch(`${server.url}/silences`, silence)).status).toBe(503);
  const unread = 'The database cannot be read just now';
  const pages = await Promise.all(
    ['/silences', '/messages', '/', '/pay', '/sessions'].map(async (path) => (await ask(path)).text()),
  );
  for (const page of pages) expect(page).toContain(unread);
  expect(pages.join()).not.toContain('Nothing is silenced');
  expect(pages[2]).toContain('Which alerts there are is not known just now');
  expect(pages[2]).not.toContain('No alert needs you');
});

test('a daemon that has read nothing calls neither the address of a calendar nor the link of a message invalid', async () => {
  const world = await firingWorld();
  const database = cutOff(world);
  const views = await standBy(world, database);
  const settings = { token: new Secret('operator') };
  const server = await runFakeServer({ views: Object.assign(new FakeViews(), views), settings });
  onTestFinished(() => server.close());
  const statuses = () =>
    Promise.all(
      ['/pay.ics?key=calendar', '/a/link', '/ack'].map(
        async (path) => (await fetch(server.url + path)).status,
      ),
    );
  expect(await statuses()).toEqual([403, 403, 403]);
  database.cut();
  await world.pass(8000);
  expect(await statuses()).toEqual([503, 503, 503]);
});

test('what cannot be read though the database answers is shown for a lease, and why is said', async () => {
  const world = await firingWorld();
  let isLocked = false;
  const load = async () => {
    if (isLocked) throw new StorageError('other', 'the table is locked');
    return world.store.load();
  };
  const standby = await standBy(world, { reader: { ...world.store, load } });
  await standby.accounts();
  isLocked = true;
  await world.pass(6000);
  expect(await standby.alerts({ all: false })).toMatchObject([{ rule: 'sms-low' }]);
  await expect(give(standby, acknowledgement)).rejects.toThrow('cannot be read');
  expect(standby.status().problems).toEqual(['what is stored cannot be read: the table is locked']);
  await world.pass(2000);
  await expect(standby.alerts({ all: false })).rejects.toThrow('has not been read');
});

test('takes no order that it would judge by what it read before the database went away', async () => {
  const world = await firingWorld();
  await give(world.views, acknowledgement, 'Ada');
  const database = cutOff(world);
  const standby = await standBy(world, database);
  await standby.accounts();
  database.cut();
  await expect(give(standby, acknowledgement, 'Ben')).rejects.toThrow('cannot be read');
  await world.pass(8000);
  await expect(give(standby, acknowledgement, 'Ben')).rejects.toThrow('has not been read');
});

test('shows nothing of the time before its process owned the accounts', async () => {
  const world = await firingWorld();
  const database = cutOff(world);
  const standby = await standBy(world, database);
  await standby.accounts();
  database.cut();
  standby.forget();
  await expect(standby.alerts({ all: false })).rejects.toThrow('has not been read');
  expect(await standby.accounts()).toMatchObject([{ outcome: null, reading: null }]);
});

test('lets nobody in by a session that was ended, nor by another key, while nothing can be read', async () => {
  const world = await firingWorld();
  await give(world.views, { kind: 'end-session', id: 'stolen', endsAt: world.now + 60 * minuteMs });
  const database = cutOff(world);
  const standby = await standBy(world, database);
  await standby.refresh();
  const keys = standby.linkKeys();
  database.cut();
  await world.pass(8000);
  await standby.refresh();
  expect(standby.counts()).toEqual({ accounts: 1, unread: 1 });
  expect(standby.isSessionEnded('stolen')).toBe(true);
  expect(standby.linkKeys()).toEqual(keys);
});

test('each answer is of what the owner has stored by then, or says nothing of what is stored', async () => {
  const world = await firingWorld();
  const { reader, loads } = countLoads(world);
  const standby = await standBy(world, { reader });
  /** A new answer has a line here: `null` says that it reads the database itself, or nothing that is stored. */
  const ask: Record<keyof LiveViews, (() => unknown) | null | 'after refresh'> = {
    accounts: () => standby.accounts(),
    accountsInBrief: () => standby.accountsInBrief(),
    summary: () => standby.summary(1),
    account: () => standby.account('otp'),
    alerts: () => standby.alerts({ all: false }),
    alert: () => standby.alert('otp', 'sms-low'),
    explain: () => standby.explain('otp'),
    silenced: () => standby.silenced({ account: 'otp', balance: 'sms', since: 0, until: world.now }),
    orders: () => standby.orders([]),
    refresh: () => standby.refresh(),
    stores: null,
    accountIds: 'after refresh',
    announced: 'after refresh',
    audit: 'after refresh',
    calendarKey: 'after refresh',
    channels: 'after refresh',
    choices: 'after refresh',
    coming: 'after refresh',
    counts: 'after refresh',
    expected: 'after refresh',
    finance: 'after refresh',
    firing: 'after refresh',
    isKnown: 'after refresh',
    isSessionEnded: 'after refresh',
    linkKeys: 'after refresh',
    outlook: 'after refresh',
    damageEnd: 'after refresh',
    record: 'after refresh',
    rulesHeardIn: 'after refresh',
    seriesSince: 'after refresh',
    sessions: 'after refresh',
    silences: 'after refresh',
    weekAgo: 'after refresh',
    wouldMute: 'after refresh',
    incidents: null,
    notifications: null,
    polls: null,
    readings: null,
    readingsInParts: null,
    counters: null,
    listening: null,
    pushReading: null,
    recordSession: null,
    status: null,
    subscribe: null,
  };
  for (const [name, question] of Object.entries(ask)) {
    if (typeof question !== 'function') continue;
    await world.pass(6000);
    const before = loads();
    await question();
    expect({ name, loads: loads() - before }).toEqual({ name, loads: 1 });
  }
  const silence = {
    kind: 'silence',
    match: { account: ['otp'] },
    everything: false,
    startsAt: world.now,
    endsAt: world.now + 60 * minuteMs,
    comment: '',
  } as const;
  await give(world.views, silence, 'Ada');
  await world.pass(6000);
  await standby.refresh();
  expect(standby.silences()).toMatchObject([{ match: { account: ['otp'] } }]);
  expect(standby.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { by: 'Ada', action: 'silence' },
  ]);
});

test('every request looks first whether there is something newer', async () => {
  const views = new FakeViews();
  let looks = 0;
  views.refresh = async () => {
    looks += 1;
  };
  const server = await runFakeServer({ views });
  onTestFinished(() => server.close());
  for (const path of ['/', '/api/v1/silences', '/api/v1/expected-topups', '/api/v1/audit', '/metrics']) {
    looks = 0;
    await (await fetch(server.url + path)).text();
    expect({ path, looks }).toEqual({ path, looks: 1 });
  }
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

test('an order there is judged by what the owner has stored by then, however lately that was read there', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  await standby.refresh();
  await give(world.views, acknowledgement, 'Ada');
  expect(await give(standby, acknowledgement, 'Ben')).toEqual({ doneBy: 'Ada' });
});

test('who would call something over there reads what the owner has stored by then, or hears that it cannot be read', async () => {
  const world = await firingWorld();
  const database = cutOff(world);
  const standby = await standBy(world, database);
  await standby.refresh();
  await give(world.views, acknowledgement, 'Ada');
  await standby.refresh(true);
  expect((await standby.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('Ada');
  database.cut();
  await expect(standby.refresh(true)).rejects.toThrow('cannot be read');
});

test('an order that no owner has taken yet is shown there each time that what is stored is read again', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  await give(standby, acknowledgement);
  standby.forget();
  expect((await standby.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('ana');
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

test('an order of which nobody knows whether it was left, or some of many, is not answered as if nothing was stored', async () => {
  const world = await firingWorld();
  const giveMany = async (orders: readonly Wanted[], ends: readonly (StorageError['kind'] | 'left')[]) => {
    const rest = [...ends];
    const leaveOrder = async () => {
      const end = rest.shift() ?? 'left';
      if (end !== 'left') throw new StorageError(end, 'cut off');
    };
    const standby = await standBy(world, { leaveOrder });
    await standby.orders(orders.map((order) => orderOf(order)));
  };
  const silence = {
    ...({ kind: 'silence', match: { account: ['otp'] }, everything: false, comment: '' } as const),
    ...{ startsAt: world.now, endsAt: world.now + 60 * minuteMs },
  };
  await expect(giveMany([silence], ['unknown'])).rejects.toThrow('nobody knows');
  await expect(giveMany([silence], ['other'])).rejects.toThrow('cut off');
  await expect(giveMany([acknowledgement, silence], ['left', 'other'])).rejects.toThrow('nobody knows');
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

test('so is one that a daemon which may take the accounts over does not know', async () => {
  const world = await firingWorld();
  const standby = await standBy(world, { programs: () => ['lowwater 0.4.0', 'lowwater 0.3.0'] });
  expect(await give(standby, { kind: 'renew-calendar-key', key: 'k' })).toMatchObject({
    refused: 'not-now',
    why: expect.stringContaining('lowwater 0.3.0 shares the database and does not know this order'),
  });
  expect(await world.store.leftOrders()).toEqual([]);
  const known = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  expect(await give(standby, known)).toEqual({});
});

test('an order is refused, and not said to be in the database, where the accounts are owned on another server, which never reads it', async () => {
  const world = await firingWorld();
  const standby = await standBy(world, { owner: () => null, ownerElsewhere: () => 'b' });
  expect(await give(standby, acknowledgement)).toEqual({
    refused: 'not-now',
    why: 'this daemon stands by: b polls the accounts',
  });
  expect(await world.store.leftOrders()).toEqual([]);
  expect((await standby.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
});

test('an order that could not be left for the owner is not shown as done', async () => {
  const world = await firingWorld();
  const leaveOrder = () => Promise.reject(new StorageError('other', 'it is full'));
  const standby = await standBy(world, { revision: () => 'the same', leaveOrder });
  const order = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
  await expect(give(standby, order)).rejects.toThrow('it is full');
  expect((await standby.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
});

test('an acknowledgement there is of the incident that was seen there, and not of one that began before the owner took it', async () => {
  const world = await firingWorld();
  const left: LeftOrder[] = [];
  const standby = await standBy(world, { leaveOrder: async (each) => void left.push(each) });
  await give(standby, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
  await read(world, 900);
  await read(world, 100);
  for (const each of left) leaveOrder(world.path, each);
  await world.pass(2000);
  expect(await world.store.leftOrders()).toEqual([]);
  expect(await world.views.alert('otp', 'sms-low')).toMatchObject({ state: 'firing', acknowledged: null });
});

test('a payment that two people order at two daemons at once is expected once, and the audit says whose order was not done', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  await standby.refresh();
  const arrivesBy = world.now + 60 * minuteMs;
  const payment = {
    account: 'otp',
    amountMicros: units(500),
    arrivesBy,
    comment: '',
    seen: { expected: [] },
  };
  expect(await give(standby, { kind: 'expect-top-up', ...payment }, 'Ben')).toMatchObject({
    orderedBy: 'Ben',
  });
  await give(world.views, { kind: 'expect-top-up', ...payment }, 'Ada');
  await world.pass(2000);
  expect(world.views.expected().map(({ orderedBy }) => orderedBy)).toEqual(['Ada']);
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { by: 'Ben', action: 'expect-top-up', detail: expect.stringContaining('not done: Ada has ordered 500') },
    { by: 'Ada', action: 'expect-top-up' },
  ]);
});

test('an acknowledgement that two people order at two daemons at once is of the first, and the audit says whose order was not done', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  await standby.refresh();
  expect(await give(standby, acknowledgement, 'Ben')).toEqual({});
  await give(world.views, acknowledgement, 'Ada');
  await world.pass(2000);
  expect((await world.views.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('Ada');
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { by: 'Ben', action: 'acknowledge', detail: expect.stringContaining('not done: Ada did it before') },
    { by: 'Ada', action: 'acknowledge' },
  ]);
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

test('what does not fire is refused there, and a poll with the name of who polls, in the language of who asks', async () => {
  const world = await firingWorld();
  const standby = await standBy(world);
  const nobody = { kind: 'acknowledge', account: 'otp', rule: 'voip-low', comment: '' } as const;
  expect(await give(standby, nobody)).toMatchObject({ refused: 'not-found' });
  const why = 'this daemon stands by: a polls the accounts';
  expect(await give(standby, { kind: 'poll', account: 'otp' })).toEqual({ refused: 'not-now', why });
  expect(sayAgain(why, { language: await loadLanguage('es') })).toBe(
    'este proceso está en espera: a consulta las cuentas',
  );
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
