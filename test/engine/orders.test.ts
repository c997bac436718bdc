import { describe, expect, test } from 'vitest';
import { auditOf } from '../../src/engine/audit.ts';
import { orderKinds } from '../../src/engine/orders/registry.ts';
import {
  applyOrders,
  isKnownTo,
  readOrder,
  takeLeftOrder,
  type Wanted,
  writeOrder,
} from '../../src/engine/orders.ts';
import { hourMs, smsLow, units } from '../support/account-facts.ts';
import { giveAtOnce, leftOrderOf, orderOf } from '../support/orders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount } from '../support/settings.ts';
import { read, startWorld, type World } from '../support/world.ts';

const random = seededRandom();
const account = 'otp';

/** One order of each kind. */
const each: readonly Wanted[] = [
  { kind: 'acknowledge', account, rule: 'sms-low', comment: 'on it', seen: { severity: 'warning' } },
  { kind: 'unacknowledge', account, rule: 'sms-low' },
  {
    ...{ kind: 'silence', match: { account: [account] }, everything: false },
    ...{ startsAt: 1, endsAt: 2, comment: 'works', id: 's-1' },
  },
  { kind: 'extend-silence', id: 's-1', byMs: hourMs },
  { kind: 'expire', id: 's-1' },
  {
    ...{ kind: 'expect-top-up', account, balance: 'sms', amountMicros: units(80), id: 'x-1' },
    ...{ arrivesBy: 7, comment: 'PO-1', seen: { expected: ['x-0'] } },
  },
  { kind: 'cancel-expected', account, id: 'x-1' },
  {
    ...{ kind: 'expect-spending', account, balance: 'sms', amountMicros: units(80), id: 'r-1' },
    ...{ startsAt: 7, endsAt: 9, comment: 'campaign' },
  },
  { kind: 'poll', account },
  { kind: 'report', report: 'weekly' },
  { kind: 'test-alert', account, rule: 'sms-low', severity: 'warning' },
  { kind: 'hand-over', epoch: 3 },
  { kind: 'end-session', id: 'session', endsAt: 9 },
  { kind: 'renew-calendar-key', key: 'k' },
];

async function firing(): Promise<World> {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  return world;
}

function audit({ daemon }: World) {
  return auditOf(daemon.state, { since: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 });
}

test('there is an order of every kind here', () => {
  expect(each.map(({ kind }) => kind)).toEqual(orderKinds.map(({ kind }) => kind));
});

describe('an order that is left in the database', () => {
  test.each(each)('is the same when it is taken: $kind', (wanted) => {
    const order = orderOf(wanted, { by: 'Ada', from: { door: 'page', address: '192.0.2.7' }, at: 5 });
    const left = JSON.parse(JSON.stringify(writeOrder(order)));
    expect(readOrder(left, random)).toEqual({ order });
  });

  // As `JSON.stringify` of 0.3 wrote them.
  const silence = {
    ...{ id: 's-9', match: { account: [account] }, startsAt: 1, endsAt: 2 },
    ...{ createdAt: 1, createdBy: 'Ben', comment: 'c' },
  };
  test.each([
    [
      { kind: 'acknowledge', account, rule: 'r', by: 'Ben', comment: 'c', at: 5 },
      { by: 'Ben', comment: 'c', at: 5 },
    ],
    [
      { kind: 'unacknowledge', account, rule: 'r', at: 5 },
      { by: 'command line', rule: 'r' },
    ],
    [
      { kind: 'silence', silence },
      { by: 'Ben', id: 's-9', everything: false, endsAt: 2 },
    ],
    [{ kind: 'expire', id: 's-9', at: 5 }, { id: 's-9' }],
    [
      {
        kind: 'expect-top-up',
        account,
        amountMicros: 3,
        orderedBy: 'Ben',
        comment: '',
        by: 8,
        id: 'x-9',
        at: 5,
      },
      { by: 'Ben', arrivesBy: 8, id: 'x-9' },
    ],
    [{ kind: 'cancel-expected', account, id: 'x-9', at: 5 }, { id: 'x-9' }],
    [
      { kind: 'hand-over', at: 5, epoch: 3 },
      { at: 5, epoch: 3 },
    ],
  ])('by a program of 0.3 is understood: %j', (left, order) => {
    expect(readOrder(left, random)).toMatchObject({
      order: { ...order, from: { door: 'command line', address: null } },
    });
  });

  test('can be read by a program of 0.3, which takes the details from where it left them itself', () => {
    expect(leftOrderOf(each[2] as Wanted, { by: 'Ada', at: 5 })).toMatchObject({
      silence: { id: 's-1', match: { account: [account] }, createdBy: 'Ada', createdAt: 5, endsAt: 2 },
    });
    expect(leftOrderOf(each[5] as Wanted, { by: 'Ada' })).toMatchObject({
      orderedBy: 'Ada',
      by: 7,
      id: 'x-1',
    });
    expect(isKnownTo('lowwater 0.3.1', { kind: 'expire' })).toBe(true);
    expect(isKnownTo('lowwater 0.3.1', { kind: 'extend-silence' })).toBe(false);
    expect(isKnownTo('lowwater 0.4.0', { kind: 'extend-silence' })).toBe(true);
  });

  test.each([
    [
      'with numbers that are none',
      { kind: 'extend-silence', id: 's-1', byMs: 1e300, by: 'Eve' },
      'extend-silence',
    ],
    [
      'of a kind that this version does not know',
      { kind: 'buy-credit', amount: '5', by: 'Eve' },
      'buy-credit',
    ],
    ['that is not whole', { kind: 'acknowledge', account, by: 'Eve' }, 'acknowledge'],
    ['with a name of the language for a kind', { kind: 'constructor', by: 'Eve' }, 'constructor'],
    ['that is no order at all', { body: '\u0000{', by: 'Eve' }, 'an order without a kind'],
  ])(
    '%s is set aside: the audit names it, with what it said, and nothing else happens',
    async (_, left, kind) => {
      const world = await firing();
      const { daemon } = world;
      for (let start = 0; start < 2; start++)
        daemon.act((now) => takeLeftOrder(daemon.state, left, now, daemon.reach));
      expect(audit(world)).toMatchObject([
        { by: 'Eve', action: kind, detail: expect.stringMatching(/^not done: .*"by":"Eve"/) },
      ]);
      expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toBeNull();
    },
  );

  test('once more is done or refused once, and that it came again is no news', async () => {
    const world = await firing();
    const { daemon } = world;
    const done = leftOrderOf({ kind: 'acknowledge', account, rule: 'sms-low', comment: '' });
    const refused = leftOrderOf({ kind: 'expire', id: 's-none' });
    const take = (left: typeof done) =>
      daemon.act((now) => takeLeftOrder(daemon.state, left, now, daemon.reach));
    expect([done, refused].map(take)).toEqual([null, { kind: 'expire', why: expect.any(String) }]);
    await world.restart({ downMs: 1000 });
    const { daemon: next } = world;
    const again = [done, refused].map((left) =>
      next.act((now) => takeLeftOrder(next.state, left, now, next.reach)),
    );
    expect(again).toEqual([null, null]);
    expect(audit(world)).toHaveLength(2);
  });
});

describe('the audit', () => {
  test('has who, whence and what, in the turn that does it', async () => {
    const world = await firing();
    const { daemon } = world;
    const from = { door: 'page', address: '192.0.2.7' } as const;
    const order = orderOf(each[0] as Wanted, { by: 'Ada', from });
    const changed = daemon.act((now) => {
      applyOrders(daemon.state, [order], now, daemon.reach);
      return [daemon.state.incidents, daemon.state.notes].map(({ unsaved }) => unsaved.size > 0);
    });
    expect(changed).toEqual([true, true]);
    expect(audit(world)).toEqual([
      {
        at: world.now,
        by: 'Ada',
        from: '192.0.2.7',
        action: 'acknowledge',
        account,
        rule: 'sms-low',
        detail: 'on it',
      },
    ]);
  });

  test('does not have what was refused', async () => {
    const world = await firing();
    giveAtOnce(world, { kind: 'acknowledge', account, rule: 'none', comment: '' });
    giveAtOnce(world, { kind: 'poll', account: 'none' });
    expect(audit(world)).toEqual([]);
  });

  test('knows an order again: what comes twice is done once, after a restart too', async () => {
    const world = await firing();
    const order = orderOf({ kind: 'poll', account });
    const again = () =>
      world.daemon.act((now) => applyOrders(world.daemon.state, [order], now, world.daemon.reach));
    expect(again()).toMatchObject([{ ended: expect.anything() }]);
    expect(again()).toMatchObject([{ refused: 'repeated', why: 'this was done already' }]);
    await world.restart({ downMs: 1000 });
    expect(again()).toMatchObject([{ refused: 'repeated' }]);
    expect(audit(world)).toHaveLength(1);
  });
});

describe('one act that two people order', () => {
  const take = { kind: 'acknowledge', account, rule: 'sms-low', comment: '' } as const;
  const silenceFor = (world: World, hours: number) => ({
    ...({ kind: 'silence', match: { account: [account], rule: ['sms-low'] }, everything: false } as const),
    ...{ startsAt: world.now, endsAt: world.now + hours * hourMs, comment: '' },
  });
  const inChat = (world: World, wanted: Wanted, by: string) => {
    const order = orderOf(wanted, { by, from: { door: 'chat', address: 'ops C1 U1' } });
    return world.daemon.act((now) => applyOrders(world.daemon.state, [order], now, world.daemon.reach))[0];
  };
  const doers = (world: World) => audit(world).map(({ by }) => by);

  test('is an acknowledgement of the first: the second is told who has it, and the audit has no act of theirs', async () => {
    const world = await firing();
    expect(giveAtOnce(world, take, 'Ada')).toEqual({});
    expect(giveAtOnce(world, take, 'Ben')).toEqual({ doneBy: 'Ada' });
    expect(giveAtOnce(world, take, 'Ada')).toEqual({ doneBy: 'Ada' });
    expect(doers(world)).toEqual(['Ada']);
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ada' });
  });

  test('is one acknowledgement by API and command line too where one person orders it twice: what is not kept is not said to be done', async () => {
    const world = await firing();
    const from = { door: 'api', address: '127.0.0.1' } as const;
    const [first, second] = ['mine', 'until noon'].map((comment) =>
      world.daemon.act((now) => {
        const order = orderOf({ ...take, comment }, { by: 'Ada', from });
        return applyOrders(world.daemon.state, [order], now, world.daemon.reach)[0];
      }),
    );
    expect([first, second]).toEqual([{}, { doneBy: 'Ada' }]);
    expect(audit(world).map(({ detail }) => detail)).toEqual(['mine']);
  });

  test('is done by the second where the first gave it back, or it got worse since', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
    await read(world, 100);
    giveAtOnce(world, take, 'Ada');
    giveAtOnce(world, { kind: 'unacknowledge', account, rule: 'sms-low' }, 'Ada');
    expect(giveAtOnce(world, take, 'Ben')).toEqual({});
    await read(world, 20);
    expect(giveAtOnce(world, take, 'Ada')).toEqual({});
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ada' });
  });

  test('is one silence in a chat, also where they press some moments apart; a longer one is another', async () => {
    const world = await firing();
    const first = inChat(world, silenceFor(world, 2), 'Ada');
    await world.pass(60_000);
    expect(inChat(world, silenceFor(world, 2), 'Ben')).toEqual({ ...first, doneBy: 'Ada' });
    expect(inChat(world, silenceFor(world, 1), 'Ben')).toMatchObject({ doneBy: 'Ada' });
    expect(doers(world)).toEqual(['Ada']);
    expect(inChat(world, silenceFor(world, 4), 'Ben')).not.toHaveProperty('doneBy');
    await world.pass(3.9 * hourMs);
    expect(inChat(world, silenceFor(world, 1), 'Ada')).not.toHaveProperty('doneBy');
    const whole = { ...silenceFor(world, 1), match: { account: [account] } };
    expect(inChat(world, whole, 'Ada')).not.toHaveProperty('doneBy');
  });

  test('is two silences by page, API and command line, as each asked for', async () => {
    const world = await firing();
    giveAtOnce(world, silenceFor(world, 2), 'Ada');
    giveAtOnce(world, silenceFor(world, 2), 'Ben');
    expect(world.views.silences()).toHaveLength(2);
  });
});

describe('a payment that two people order', () => {
  const wanted = { kind: 'expect-top-up', account, amountMicros: units(2700), comment: '' } as const;
  const order = async (seen: object | undefined, by: string, world: World) =>
    giveAtOnce(
      world,
      { ...wanted, arrivesBy: world.now + hourMs, ...(seen && { seen: { expected: [], ...seen } }) },
      by,
    );

  test('is announced once: the second is told of the first, from an open page or at once', async () => {
    const world = await firing();
    await order({}, 'Ada', world);
    await world.pass(2 * 60_000);
    expect(await order({}, 'Ben', world)).toEqual({
      refused: 'changed',
      why: 'Ada has ordered 2,700.00 CNY 2 minutes ago',
      about: 'expected',
    });
    const [first] = world.views.expected();
    expect(await order({ expected: [first?.id] }, 'Ben', world)).toMatchObject({ orderedBy: 'Ben' });
    expect(world.views.expected()).toHaveLength(2);
  });

  test('is told of by what fires now too, where it fires otherwise than it was seen', async () => {
    const world = await firing();
    expect(await order({ worst: 'critical' }, 'Ada', world)).toMatchObject({ refused: 'changed' });
    expect(await order({ worst: 'warning' }, 'Ada', world)).toMatchObject({ orderedBy: 'Ada' });
  });

  test('that ends no alert takes none: what is expected by then counts together', async () => {
    const world = await firing();
    const taken = async () => (await world.views.alert(account, 'sms-low'))?.acknowledged ?? null;
    const pay = (amount: number) =>
      giveAtOnce(world, { ...wanted, amountMicros: units(amount), arrivesBy: world.now + hourMs }, 'Ada');
    pay(1);
    expect(await taken()).toBeNull();
    pay(2700);
    expect(await taken()).toMatchObject({ by: 'Ada' });
  });

  test('that is cancelled gives back what it took, and nothing that somebody took by hand', async () => {
    const world = await firing();
    const cancel = () => {
      const [{ id = '' } = {}] = world.views.expected();
      giveAtOnce(world, { kind: 'cancel-expected', account, id }, 'Ben');
    };
    await order({}, 'Ada', world);
    cancel();
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toBeNull();
    giveAtOnce(world, { kind: 'acknowledge', account, rule: 'sms-low', comment: '' }, 'Ada');
    await world.pass(1000);
    await order({}, 'Ada', world);
    cancel();
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ada' });
  });

  test('that is cancelled gives back what only both together end, whoever ordered the other one', async () => {
    const world = await firing();
    const pay = (amount: number, by: string) =>
      giveAtOnce(world, { ...wanted, amountMicros: units(amount), arrivesBy: world.now + hourMs }, by);
    pay(60, 'Ada');
    await world.pass(1000);
    pay(60, 'Ben');
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ben' });
    await world.pass(1000);
    pay(1, 'Ben');
    const [ada, , one] = world.views.expected();
    giveAtOnce(world, { kind: 'cancel-expected', account, id: one?.id ?? '' }, 'Ben');
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ben' });
    giveAtOnce(world, { kind: 'cancel-expected', account, id: ada?.id ?? '' }, 'Ada');
    expect((await world.views.alert(account, 'sms-low'))?.acknowledged).toBeNull();
  });

  test('that is cancelled does not put off the escalation of what got worse since, which nobody has', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
    await read(world, 100);
    const escalates = () => [...world.daemon.state.incidents.values()][0]?.escalationSince;
    await order({}, 'Ada', world);
    await read(world, 20);
    const since = escalates();
    await world.pass(hourMs / 2);
    const [{ id = '' } = {}] = world.views.expected();
    giveAtOnce(world, { kind: 'cancel-expected', account, id }, 'Ben');
    expect(escalates()).toBe(since);
  });

  test('is no second one for another balance', async () => {
    const world = await startWorld({ accounts: [makeAccount('otp', { leadTimeMs: hourMs })] });
    await order({}, 'Ada', world);
    expect(giveAtOnce(world, { ...wanted, balance: 'voip', seen: { expected: [] } }, 'Ben')).toMatchObject({
      balance: 'voip',
    });
  });
});
