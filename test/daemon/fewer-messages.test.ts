import { describe, expect, test } from 'vitest';
import { wordIncidents } from '../../src/messages/message-wording.ts';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { give, giveAtOnce } from '../support/orders.ts';
import { incidentMessage } from '../support/recording-channel.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { read, startWorld, step, World } from '../support/world.ts';

const rule = smsLow({ warning: units(200), critical: units(50) });

describe('routes', () => {
  const channels = ['ops', 'finance', 'pager'];

  async function heard(routes: ReturnType<typeof makeRoute>[], sms = 100): Promise<Record<string, string[]>> {
    const world = await startWorld({ rules: [rule], channels, routes });
    world.provider.set('otp', sms);
    await world.pass(step);
    return Object.fromEntries(channels.map((name) => [name, world.news(name)]));
  }

  const fired = ['otp/sms-low firing warning'];

  test.each([
    [
      'the first route that matches wins',
      [
        makeRoute({ match: { severity: ['critical'] }, channels: ['pager'] }),
        makeRoute({ channels: ['ops'] }),
        makeRoute({ channels: ['finance'] }),
      ],
      ['ops'],
    ],
    [
      '`continue` goes on to the next match',
      [
        makeRoute({ channels: ['ops'], continue: true }),
        makeRoute({ match: { rule: ['sms-low'] }, channels: ['finance'] }),
      ],
      ['ops', 'finance'],
    ],
    [
      'what no route matches goes to every channel',
      [makeRoute({ match: { account: ['other'] }, channels: ['ops'] })],
      channels,
    ],
    [
      'a channel in two routes hears once',
      [makeRoute({ channels: ['ops'], continue: true }), makeRoute({ channels: ['ops', 'pager'] })],
      ['ops', 'pager'],
    ],
  ])('%s', async (_, routes, expected) => {
    const news = await heard(routes);
    expect(channels.filter((name) => news[name]?.length === 1)).toEqual(
      channels.filter((name) => expected.includes(name)),
    );
    for (const name of expected) expect(news[name]).toEqual(fired);
  });

  test('labels route, and a severity that rises takes the route of the new one, while the old channel hears that it rose, and the end', async () => {
    const world = await startWorld({
      accounts: [makeAccount('otp', { labels: { team: 'identity' } })],
      rules: [rule],
      channels,
      routes: [
        makeRoute({ match: { severity: ['critical'], labels: { team: ['identity'] } }, channels: ['pager'] }),
        makeRoute({ channels: ['ops'] }),
      ],
    });
    world.provider.set('otp', 100);
    await world.pass(step);
    world.provider.set('otp', 10);
    await world.pass(step);
    world.provider.set('otp', 1000);
    await world.pass(step);
    expect(world.news('ops')).toEqual([
      'otp/sms-low firing warning',
      'otp/sms-low worse critical',
      'otp/sms-low resolved critical (topped-up)',
    ]);
    expect(world.news('pager')).toEqual([
      'otp/sms-low firing critical',
      'otp/sms-low resolved critical (topped-up)',
    ]);
  });
});

describe('grouping', () => {
  test('what becomes due within the group wait is one message per channel, the most urgent first', async () => {
    const world = await startWorld({
      accounts: ['a', 'b', 'c'],
      rules: [rule],
      channels: ['ops', 'finance'],
    });
    world.provider.set('a', 100);
    world.provider.set('b', 10);
    world.provider.set('c', 100);
    await world.pass(step);
    for (const name of ['ops', 'finance']) {
      const [message, ...more] = world.news(name);
      expect(more).toEqual([]);
      expect(message?.split('; ')[0]).toBe('b/sms-low firing critical');
      expect(message?.split('; ').length).toBe(3);
    }
  });

  test('each route has its own group wait', async () => {
    const routes = [
      makeRoute({ channels: ['ops'], groupWaitMs: 0, continue: true }),
      makeRoute({ channels: ['slow'], groupWaitMs: minuteMs }),
    ];
    const world = await startWorld({ rules: [rule], channels: ['ops', 'slow'], routes });
    world.provider.set('otp', 100);
    await world.pass(step);
    const [ops = 0, slow = 0] = ['ops', 'slow'].map((name) => world.channel(name).delivered[0]?.at);
    expect(slow - ops).toBe(minuteMs);
  });

  test('2,000 alerts at once are one message per channel, and every one is reported', async () => {
    const channels = ['ops', 'mail'];
    const accounts = Array.from({ length: 2000 }, (_, index) => `a${index}`);
    const routes = [makeRoute({ channels, groupWaitMs: minuteMs })];
    const world = new World({ accounts, rules: [rule], channels, routes });
    world.provider.fill(100);
    world.daemon.start();
    await world.pass(2 * minuteMs);
    for (const name of channels) {
      expect(world.channel(name).delivered.length).toBe(1);
      const { items } = incidentMessage(world.channel(name).delivered[0]);
      expect(new Set(items.map((item) => item.incident.account)).size).toBe(2000);
      // Readings are gathered for those alone who draw them, and for the first alerts.
      const drawn = items.filter(({ account }) => (account?.history.length ?? 0) > 0).length;
      expect(drawn).toBe(name === 'mail' ? 10 : 0);
    }
  });
});

describe('inhibition', () => {
  const floor = { ...rule, id: 'floor', thresholds: { critical: units(150) } };
  const soft = { ...rule, id: 'soft', thresholds: { warning: units(200) } };

  test('a worse alert on the same balance speaks for the milder one, which is reported when the worse one ends', async () => {
    const world = await startWorld({ rules: [soft, floor] });
    world.provider.set('otp', 100);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/floor firing critical']);
    expect(
      (await world.views.alerts({ all: false })).map(({ rule: id, inhibited }) => [id, inhibited]),
    ).toEqual([
      ['soft', true],
      ['floor', false],
    ]);
    world.provider.set('otp', 180);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/soft firing warning; otp/floor resolved critical (topped-up)']);
  });

  describe('takes back what nobody has', () => {
    test('what waits for its group says one alert of the balance, and the milder one is reported when the worse one ends', async () => {
      const routes = [makeRoute({ groupWaitMs: 2 * step })];
      const world = await startWorld({ rules: [soft, floor], routes });
      await read(world, 180);
      await read(world, 100);
      await world.pass(2 * step);
      expect(world.news()).toEqual(['otp/floor firing critical']);
      await read(world, 180);
      await world.pass(2 * step);
      expect(world.news()).toEqual(['otp/soft firing warning; otp/floor resolved critical (topped-up)']);
    });

    test.each([
      ['down', ['otp/floor firing critical']],
      ['lost', ['otp/floor firing critical; otp/soft firing warning']],
    ] as const)(
      'a message that a channel refused speaks so, one that may have arrived stays: %s',
      async (mood, told) => {
        const world = await startWorld({ rules: [soft, floor] });
        world.channel('ops').mood = mood;
        await read(world, 180);
        world.news();
        await read(world, 100);
        world.channel('ops').mood = 'up';
        await world.pass(hourMs);
        expect(world.news()).toEqual(told);
      },
    );

    test('a rise that nobody read is told when the worse alert has ended', async () => {
      const steps = { ...rule, id: 'steps', thresholds: { info: units(250), warning: units(200) } };
      const world = await startWorld({ rules: [steps, floor] });
      expect(await read(world, 240)).toEqual(['otp/steps firing info']);
      world.channel('ops').mood = 'down';
      await read(world, 180);
      await read(world, 100);
      world.channel('ops').mood = 'up';
      await world.pass(hourMs);
      expect(world.news()).toEqual(['otp/floor firing critical']);
      expect(await read(world, 180)).toEqual([
        'otp/steps worse warning; otp/floor resolved critical (topped-up)',
      ]);
    });

    test('also of an alert whose end before waits in the same message', async () => {
      const world = await startWorld({ rules: [soft, floor] });
      const ops = world.channel('ops');
      expect(await read(world, 180)).toEqual(['otp/soft firing warning']);
      ops.mood = 'down';
      await read(world, 500);
      await read(world, 180);
      // The message about both is under way while it gets worse.
      const { promise, resolve } = Promise.withResolvers<void>();
      ops.hold = promise;
      await world.pass(step);
      await read(world, 100);
      ops.hold = null;
      resolve();
      await world.pass(0);
      ops.mood = 'up';
      await world.pass(hourMs);
      expect(world.news()).toEqual(['otp/floor firing critical; otp/soft resolved warning (topped-up)']);
    });

    test('of a channel that hears of the worse one later, when it escalates', async () => {
      const escalate = { afterMs: hourMs, channels: ['boss'] };
      const world = await startWorld({
        rules: [soft, floor],
        channels: ['ops', 'boss'],
        routes: [makeRoute({ channels: ['ops'], escalate })],
      });
      world.channel('boss').mood = 'down';
      await read(world, 180);
      await world.pass(hourMs);
      await read(world, 100);
      await world.pass(hourMs);
      world.channel('boss').mood = 'up';
      await world.pass(hourMs);
      expect(world.news('boss')).toEqual(['otp/floor escalated critical']);
    });

    test('not on a channel that hears nothing of the worse one', async () => {
      const world = await startWorld({
        rules: [soft, floor],
        channels: ['ops', 'pager'],
        routes: [
          makeRoute({ match: { severity: ['critical'] }, channels: ['pager'] }),
          makeRoute({ channels: ['ops'], groupWaitMs: 2 * step }),
        ],
      });
      await read(world, 180);
      await read(world, 100);
      await world.pass(2 * step);
      expect(world.news('ops')).toEqual(['otp/soft firing warning']);
      expect(world.news('pager')).toEqual(['otp/floor firing critical']);
    });
  });

  test('who took both is said of the milder one too, and nobody hears that it got worse', async () => {
    const steps = { ...rule, id: 'steps', thresholds: { warning: units(200), critical: units(170) } };
    const world = await startWorld({ rules: [steps, floor] });
    expect(await read(world, 180)).toEqual(['otp/steps firing warning']);
    expect(await read(world, 100)).toEqual(['otp/floor firing critical']);
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'floor', comment: '' }, 'Ada');
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/floor acknowledged critical; otp/steps acknowledged critical']);
  });

  test('not on the other balance, not on another account; at the same severity the deeper threshold speaks', async () => {
    const voip = { ...soft, id: 'voip-soft', balance: 'voip' as const };
    const equal = { ...soft, id: 'equal', thresholds: { critical: units(200) } };
    const world = await startWorld({ accounts: ['otp', 'other'], rules: [equal, floor, voip] });
    // Both accounts began with an empty VoIP balance.
    expect(world.news()[0]?.split('; ').sort()).toEqual([
      'other/voip-soft firing warning',
      'otp/voip-soft firing warning',
    ]);
    world.provider.set('otp', 100);
    world.provider.set('other', 180);
    await world.pass(step);
    expect(world.news()[0]?.split('; ').sort()).toEqual([
      'other/equal firing critical',
      'otp/floor firing critical',
    ]);
  });

  test('an empty balance is one voice: one message, one reminder, one acknowledgement for all', async () => {
    const world = await startWorld({
      rules: [soft, floor],
      routes: [makeRoute({ repeatEveryMs: hourMs })],
    });
    world.provider.set('otp', -1);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-negative firing critical']);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-negative reminder critical']);
    const order = { kind: 'acknowledge', account: 'otp', rule: 'floor', comment: 'paid' } as const;
    expect(await give(world.views, order)).toEqual({});
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['otp/sms-negative acknowledged critical']);
    expect(
      (await world.views.alerts({ all: false })).map(({ acknowledged }) => acknowledged?.comment),
    ).toEqual(['paid', 'paid', 'paid']);
    // What is only low still is no news to whoever took the empty balance, but that the other ended is no all-clear.
    world.provider.set('otp', 150);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-negative resolved critical (topped-up)']);
    const ended = incidentMessage(world.channel('ops').delivered.at(-1));
    expect(wordIncidents(ended, 1).items[0]?.story).toContain(
      'Rule soft still fires (warning); ana has acknowledged it.',
    );
  });

  test('a channel that knows of the milder alert and hears nothing of the worse hears that the milder one rose; one that knows of neither does not', async () => {
    const routes = [
      makeRoute({ match: { rule: ['sms-negative'] }, channels: ['pager'] }),
      makeRoute({ channels: ['finance'], repeatEveryMs: hourMs }),
    ];
    const world = await startWorld({ rules: [rule], channels: ['pager', 'finance'], routes });
    world.provider.set('otp', 100);
    await world.pass(step);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
    world.provider.set('otp', -1);
    await world.pass(step + hourMs);
    expect(world.news('finance')).toEqual(['otp/sms-low worse critical', 'otp/sms-low reminder critical']);
    world.provider.set('otp', 1000);
    await world.pass(step);
    world.news('finance');
    world.provider.set('otp', -1);
    await world.pass(step);
    expect(world.news('finance')).toEqual([]);
    expect(world.news('pager').at(-1)).toBe('otp/sms-negative firing critical');
  });

  test('a worse alert that every channel refused does not keep the milder one quiet on another channel', async () => {
    const routes = [
      makeRoute({ match: { rule: ['sms-negative'] }, channels: ['pager'] }),
      makeRoute({ channels: ['finance'] }),
    ];
    const world = await startWorld({ rules: [rule], channels: ['pager', 'finance'], routes });
    world.channel('pager').mood = 'dead';
    world.provider.set('otp', -1);
    await world.pass(step);
    expect(world.news('finance').join('; ').split('; ').toSorted()).toEqual([
      '@lowwater/channel-failed:pager firing critical',
      'otp/sms-low firing critical',
    ]);
  });

  test('a silenced worse alert does not keep the milder one quiet', async () => {
    const world = await startWorld({
      rules: [soft, floor],
      silences: [
        { match: { rule: ['floor'] }, cron: '0 0 * * *', timezone: 'UTC', durationMs: dayMs, comment: '' },
      ],
    });
    world.provider.set('otp', 100);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/soft firing warning']);
  });

  test('a refused key explains why readings are stale: no second message, also when it lasts', async () => {
    const world = await startWorld();
    world.provider.fail('otp', 'auth_failed');
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual(['otp/auth-failed firing critical']);
  });
});

describe('an outage of the provider', () => {
  const ten = Array.from({ length: 10 }, (_, index) => `a${index}`);
  const host = '@provider:api.example.com/provider-down';

  async function lastOut(world: World, ms: number): Promise<void> {
    world.provider.breakDown('network_error');
    await world.pass(ms);
    world.provider.recover();
    await world.pass(15 * minuteMs);
  }

  test('is one message per channel and one at its end, none for its accounts', async () => {
    const world = await startWorld({ accounts: ten, channels: ['ops', 'finance'] });
    await lastOut(world, 2 * hourMs);
    for (const name of ['ops', 'finance']) {
      expect(world.news(name)).toEqual([`${host} firing critical`, `${host} resolved critical`]);
    }
    await world.pass(5 * hourMs);
    expect(world.news()).toEqual([]);
  });

  test('counts the accounts that are affected when it is reported, not when it was noticed', async () => {
    const world = await startWorld({ accounts: ten });
    world.provider.breakDown();
    await world.pass(5 * hourMs);
    const said = world
      .channel('ops')
      .delivered.map((message) => incidentMessage(message).items[0]?.value ?? null);
    expect(said.at(-1)).toEqual({ unit: 'text', text: '10 of 10 accounts' });
    const facts = world.channel('ops').delivered.map((message) => incidentMessage(message).items[0]?.facts);
    expect(facts.at(-1)).toContainEqual({
      name: 'reason',
      value: { unit: 'text', text: 'the scripted provider answered timeout' },
    });
    expect(world.news()).toEqual([`${host} firing critical`, `${host} reminder critical`]);
  });

  test('is one even where accounts are polled all over the interval', async () => {
    const many = Array.from({ length: 120 }, (_, index) => `a${index}`);
    const world = await startWorld({ accounts: many });
    await world.pass(10 * minuteMs);
    await lastOut(world, hourMs);
    expect(world.news()).toEqual([`${host} firing critical`, `${host} resolved critical`]);
  });

  test('accounts that stay stale after it are reported then', async () => {
    const world = await startWorld({ accounts: ten });
    world.provider.fail('a3', 'http_error');
    await lastOut(world, hourMs);
    expect(world.news()).toEqual([
      `${host} firing critical`,
      `${host} resolved critical`,
      'a3/stale firing warning',
    ]);
  });

  test('is reported where each of its accounts would have been reported', async () => {
    const world = await startWorld({
      accounts: ten,
      channels: ['ops', 'team', 'idle'],
      routes: [
        makeRoute({ match: { account: ['a9'] }, channels: ['team'] }),
        makeRoute({ match: { rule: ['sms-negative'] }, channels: ['idle'] }),
        makeRoute({ channels: ['ops'] }),
      ],
    });
    world.provider.breakDown();
    await world.pass(hourMs);
    const stale = (await world.views.alerts({ all: false })).filter(({ type }) => type === 'stale');
    expect(stale.map(({ inhibited }) => inhibited)).toEqual(ten.map(() => true));
    world.provider.recover();
    await world.pass(hourMs);
    const story = [`${host} firing critical`, `${host} resolved critical`];
    expect(world.news('ops')).toEqual(story);
    expect(world.news('team')).toEqual(story);
    expect(world.news('idle')).toEqual([]);
  });

  test.each([
    ['two of two accounts', ['a0', 'a1'], ['a0', 'a1']],
    ['four of ten accounts', ten, ['a0', 'a1', 'a2', 'a3']],
  ])('%s are none: each is reported', async (_, accounts, failing) => {
    const world = await startWorld({ accounts });
    for (const id of failing) world.provider.fail(id);
    await world.pass(hourMs);
    expect(
      world
        .news()
        .flatMap((line) => line.split('; '))
        .sort(),
    ).toEqual(failing.map((id) => `${id}/stale firing warning`));
  });

  test('three of five are one', async () => {
    const world = await startWorld({ accounts: ten.slice(0, 5) });
    for (const id of ['a0', 'a1', 'a2']) world.provider.fail(id);
    await world.pass(hourMs);
    expect(world.news()).toEqual([`${host} firing critical`]);
  });

  test('accounts that went stale one after the other over hours are none', async () => {
    const world = await startWorld({ accounts: ['a0', 'a1', 'a2'] });
    for (const id of ['a0', 'a1', 'a2']) {
      world.provider.fail(id);
      await world.pass(hourMs);
    }
    const notified = world.news();
    expect(notified.filter((line) => line.includes('provider-down'))).toEqual([]);
    expect(notified.filter((line) => line.includes('firing')).length).toBe(3);
  });

  test('one key refused for every account is none: the provider answers', async () => {
    const world = await startWorld({ accounts: ['a0', 'a1', 'a2'] });
    world.provider.breakDown('auth_failed');
    await world.pass(3 * hourMs);
    expect(
      world
        .news()
        .flatMap((line) => line.split('; '))
        .sort(),
    ).toEqual(['a0', 'a1', 'a2'].map((id) => `${id}/auth-failed firing critical`));
  });

  test('ends when the accounts that it consisted of are removed', async () => {
    const world = await startWorld({ accounts: ten.slice(0, 5) });
    for (const id of ['a0', 'a1', 'a2']) world.provider.fail(id);
    await world.pass(hourMs);
    world.news();
    world.reload({ accounts: ['a3', 'a4'] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual([`${host} resolved critical`]);
  });

  test('survives a restart: not reported again, its end reported once', async () => {
    const world = await startWorld({ accounts: ten });
    world.provider.breakDown();
    await world.pass(hourMs);
    await world.restart({ downMs: 10 * minuteMs });
    await world.pass(30 * minuteMs);
    world.provider.recover();
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual([`${host} firing critical`, `${host} resolved critical`]);
  });

  test('of three days is one stale per channel for a lone account, reminders at the set pace, and one end', async () => {
    const world = await startWorld({ channels: ['ops', 'finance'] }, { sleepMs: minuteMs });
    await lastOut(world, 3 * dayMs);
    for (const name of ['ops', 'finance']) {
      const notified = world.news(name);
      expect(notified[0]).toBe('otp/stale firing warning');
      expect(notified.at(-1)).toBe('otp/stale resolved warning');
      expect(notified.slice(1, -1)).toEqual(Array(17).fill('otp/stale reminder warning'));
    }
  });
});
