import { describe, expect, test } from 'vitest';
import {
  belowRule,
  hourMs,
  minuteMs,
  negativeRule,
  runwayRule,
  smsLow,
  staleRule,
  units,
} from '../support/account-facts.ts';
import { give, giveAtOnce, orderOf } from '../support/orders.ts';
import { incidentMessage } from '../support/recording-channel.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const low = belowRule({
  id: 'sms-low',
  thresholds: { info: units(500), warning: units(200), critical: units(50) },
});
const single = smsLow({ warning: units(200) });

function take(world: World, rule = 'sms-low'): unknown {
  return giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule, comment: 'on it' });
}

describe('firing and resolving', () => {
  test('a file without rules still warns of a negative balance, a refused key and silence', async () => {
    const world = await startWorld();
    expect(await read(world, -1)).toEqual(['otp/sms-negative firing critical']);
    world.provider.fail('otp', 'auth_failed');
    await world.pass(step);
    expect(world.news()).toEqual(['otp/auth-failed firing critical']);
    world.provider.set('otp', 10);
    await world.pass(2 * step);
    expect(world.news()).toEqual([
      'otp/sms-negative resolved critical (topped-up); otp/auth-failed resolved critical',
    ]);
    world.provider.fail('otp', 'timeout');
    await world.pass(30 * minuteMs);
    expect(world.news()).toEqual(['otp/stale firing warning']);
  });

  test('the numbers behind an alert that fires stand once, in its incident, and stay when its rule is removed', async () => {
    const world = await startWorld({ rules: [single] });
    await read(world, 100);
    const { state } = world.daemon;
    expect(state.alerts.get('otp', 'sms-low')?.facts).toEqual([]);
    const [incident] = state.incidents.values();
    expect(incident?.facts).toContainEqual({ name: 'balance', value: { unit: 'money', micros: units(100) } });
    world.reload({});
    const [closed] = world.daemon.state.incidents.values();
    expect(closed?.resolution).toEqual({ kind: 'rule-removed' });
    expect(closed?.facts).toEqual(incident?.facts);
  });

  test('with `for` a breach fires only when it lasted, and a dip is never reported', async () => {
    const world = await startWorld({ rules: [{ ...single, forMs: 8 * minuteMs }] });
    expect(await read(world, 100)).toEqual([]);
    expect(await read(world, 300)).toEqual([]);
    expect(await read(world, 100)).toEqual([]);
    expect(await read(world, 100)).toEqual([]);
    // Eight minutes are over between two polls: it is reported then, not at the next one.
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    const at = incidentMessage(world.channel('ops').delivered[0]).items[0]?.firedAt;
    const [begin = 0] = world.provider.asked.get('otp')?.slice(3) ?? [];
    expect(at).toBe(begin + 8 * minuteMs);
  });

  test('with `recoverFor` a recovery is reported only when it lasted, and a relapse says nothing', async () => {
    const world = await startWorld({ rules: [{ ...single, recoverForMs: 7 * minuteMs }] });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    expect(await read(world, 300)).toEqual([]);
    expect(await read(world, 100)).toEqual([]);
    expect(await read(world, 300)).toEqual([]);
    expect(await read(world, 300)).toEqual([]);
    expect(await read(world, 300)).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('time neither fires nor resolves an alert while readings in another currency allow no verdict', async () => {
    const rules = [
      { ...single, recoverForMs: 7 * minuteMs },
      belowRule({ id: 'half', balance: 'voip', thresholds: { info: units(-1) }, forMs: 7 * minuteMs }),
    ];
    const world = await startWorld({ accounts: [makeAccount('otp', { currency: 'CNY' })], rules });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    world.provider.set('otp', 300, { voip: -2 });
    await world.pass(step);
    world.provider.set('otp', 300, { voip: -2, currency: 'USD' });
    await world.pass(6 * step);
    expect(world.news()).toEqual(['otp/currency firing critical']);
    expect((await read(world, 300)).join()).toContain('otp/sms-low resolved warning');
  });

  test('the end of a recovery is none where the newest reading, once its currency is configured, is below the threshold', async () => {
    const parts = (currency: string) => ({
      accounts: [makeAccount('otp', { currency })],
      rules: [{ ...single, recoverForMs: 7 * minuteMs }],
    });
    const world = await startWorld(parts('CNY'));
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await read(world, 300);
    world.provider.set('otp', 100, { currency: 'USD' });
    await world.pass(3 * step);
    world.news();
    await world.reload(parts('USD'));
    await world.pass(3 * step);
    expect(world.news().join()).not.toContain('sms-low resolved');
  });

  test('one reading in another currency ends no runway alert, though nothing is spent after it, nor after a restart', async () => {
    const runsOut = runwayRule({ thresholds: { warning: 72 * hourMs }, lookbackMs: null });
    const world = await startWorld({ accounts: [makeAccount('otp', { currency: 'CNY' })], rules: [runsOut] });
    for (let sms = 100; sms > 80; sms--) await read(world, sms);
    world.provider.set('otp', 80, { currency: 'USD' });
    await world.pass(step);
    world.provider.set('otp', 80, { currency: 'CNY' });
    await world.pass(2 * hourMs);
    await world.restart({ downMs: minuteMs });
    await world.pass(2 * hourMs);
    expect(world.daemon.state.alerts.get('otp', runsOut.id)?.state).toBe('firing');
  });

  test('the spending of what was read in another currency is learned from history once that is configured', async () => {
    const parts = (currency: string) => ({ accounts: [makeAccount('otp', { currency })] });
    const world = await startWorld(parts('CNY'));
    await read(world, 500);
    const spent = () => world.daemon.state.accounts.get('otp')?.spending.since('day')?.spent.sms;
    const before = spent();
    expect(before).toBeGreaterThan(0);
    for (const sms of [100, 90, 80]) {
      world.provider.set('otp', sms, { currency: 'USD' });
      await world.pass(step);
    }
    expect(spent()).toBe(before);
    await world.reload(parts('USD'));
    await world.pass(2 * step);
    expect(spent()).toBe(units(20));
    await world.restart({ downMs: minuteMs, parts: parts('CNY') });
    await world.pass(2 * step);
    expect(spent()).toBe(before);
  });

  test('what was read in another currency since a start counts once that is configured, without a restart', async () => {
    const parts = (currency: string) => ({ accounts: [makeAccount('otp', { currency })] });
    const world = await startWorld(parts('CNY'));
    for (let sms = 100; sms > 80; sms--) {
      world.provider.set('otp', sms, { currency: 'USD' });
      await world.pass(step);
    }
    const account = () => world.daemon.state.accounts.get('otp');
    await world.reload(parts('USD'));
    await world.pass(step);
    expect(account()?.log.spentBetween('sms', 0, (account()?.log.length ?? 0) - 1)).toBe(units(19));
    expect(account()?.spending.since('day')?.spent.sms).toBe(units(19));
  });

  test('a balance that flaps around the threshold within the hysteresis fires once and resolves once', async () => {
    const world = await startWorld({
      rules: [belowRule({ ...single, hysteresis: { kind: 'share', share: 0.1 } })],
    });
    const notified: string[] = [];
    for (const sms of [199, 201, 198, 219, 199, 201, 219.99, 220, 201])
      notified.push(...(await read(world, sms)));
    expect(notified).toEqual(['otp/sms-low firing warning', 'otp/sms-low resolved warning (topped-up)']);
  });

  test('a jump of the balance says what it was before', async () => {
    const world = await startWorld();
    await read(world, 500);
    await read(world, -0.5);
    const item = incidentMessage(world.channel('ops').delivered.at(-1)).items[0];
    expect(item?.facts).toContainEqual({
      name: 'previous balance',
      value: { unit: 'money', micros: units(500) },
    });
  });

  test('a failed read is neither a low balance nor an all-clear', async () => {
    const world = await startWorld({ rules: [single] });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    world.provider.fail('otp', 'invalid_response');
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual([]);
    expect((await world.views.alerts({ all: false })).map((alert) => alert.rule)).toEqual(['sms-low']);
  });
});

describe('a ladder is one incident', () => {
  test('worse speaks, better waits, and worse than what was notified speaks again', async () => {
    const world = await startWorld({ rules: [low] });
    expect(await read(world, 400)).toEqual(['otp/sms-low firing info']);
    expect(await read(world, 150)).toEqual(['otp/sms-low worse warning']);
    expect(await read(world, 400)).toEqual([]);
    // Whoever topped up believes that it helped.
    expect(await read(world, 150)).toEqual(['otp/sms-low worse warning']);
    expect(await read(world, 10)).toEqual(['otp/sms-low worse critical']);
    expect(await read(world, 1000)).toEqual(['otp/sms-low resolved critical (topped-up)']);
    const incidents = world.database.incidents({ account: 'otp', rule: 'sms-low' });
    expect(incidents.map(({ worstSeverity, rises }) => [worstSeverity, rises])).toEqual([['critical', 3]]);
  });

  test('after a reminder said that it is milder, the next rise is reported', async () => {
    const world = await startWorld({ rules: [low], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    await read(world, 150);
    await read(world, 400);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low reminder info']);
    expect(await read(world, 150)).toEqual(['otp/sms-low worse warning']);
  });

  test('straight to the worst step is one message', async () => {
    const world = await startWorld({ rules: [low] });
    expect(await read(world, 10)).toEqual(['otp/sms-low firing critical']);
  });
});

describe('a top-up that was too small', () => {
  test('critical, topped up to warning, critical again is reported again', async () => {
    const world = await startWorld({ rules: [low] });
    expect(await read(world, 40)).toEqual(['otp/sms-low firing critical']);
    expect(await read(world, 120)).toEqual([]);
    expect(await read(world, 30)).toEqual(['otp/sms-low worse critical']);
  });

  test('so it is though readings in another currency come before the top-up and after it', async () => {
    const accounts = [makeAccount('otp', { currency: 'CNY' })];
    const world = await startWorld({ accounts, rules: [low] });
    expect(await read(world, 40)).toEqual(['otp/sms-low firing critical']);
    for (const [sms, currency] of [
      [300, 'USD'],
      [120, 'CNY'],
      [20, 'USD'],
      [20, 'CNY'],
    ] as const) {
      world.provider.set('otp', sms, { currency });
      await world.pass(step);
    }
    expect(world.news().join()).toContain('otp/sms-low worse critical');
  });

  test('what fell for another reason is not reported again', async () => {
    const world = await startWorld({ rules: [low] });
    await read(world, 40);
    const milder = { ...low, thresholds: { info: units(500), warning: units(200), critical: units(30) } };
    world.reload({ rules: [milder] });
    expect(await read(world, 39)).toEqual([]);
    world.reload({ rules: [low] });
    expect(await read(world, 38)).toEqual([]);
  });
});

describe('reminders, acknowledgement and escalation', () => {
  const routes = [
    makeRoute({
      channels: ['ops'],
      repeatEveryMs: hourMs,
      escalate: { afterMs: 30 * minuteMs, channels: ['boss'] },
    }),
  ];
  const channels = ['ops', 'boss'];

  test('an open incident is reported again at the pace of its route, until it resolves', async () => {
    const world = await startWorld({ rules: [single], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await world.pass(3.5 * hourMs);
    expect(world.news()).toEqual([
      'otp/sms-low reminder warning',
      'otp/sms-low reminder warning',
      'otp/sms-low reminder warning',
    ]);
    expect(await read(world, 300)).toEqual(['otp/sms-low resolved warning (topped-up)']);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual([]);
  });

  test('nobody took it: after 30 minutes the other channel hears, and of the end as well', async () => {
    const world = await startWorld({ rules: [single], routes, channels });
    await read(world, 100);
    await world.pass(20 * minuteMs);
    expect(world.news('boss')).toEqual([]);
    await world.pass(10 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
    await world.pass(5 * hourMs);
    expect(world.news('boss')).toEqual(Array(5).fill('otp/sms-low reminder warning'));
    world.news();
    await read(world, 300);
    expect(world.news('boss')).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('a channel that already heard of it is notified that it escalated, once', async () => {
    const both = [
      makeRoute({ channels: ['ops'], escalate: { afterMs: 30 * minuteMs, channels: ['ops', 'boss'] } }),
    ];
    const world = await startWorld({ rules: [single], routes: both, channels });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low escalated warning']);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
  });

  test('what gets worse than ever, or than acknowledged, escalates only after its own time', async () => {
    const graded = smsLow({ info: units(200), critical: units(50) });
    const world = await startWorld({
      rules: [graded],
      channels,
      routes: [
        makeRoute({
          match: { severity: ['critical'] },
          channels: ['ops'],
          escalate: { afterMs: 30 * minuteMs, channels: ['boss'] },
        }),
        makeRoute({ channels: ['ops'] }),
      ],
    });
    await read(world, 100);
    await world.pass(2 * hourMs);
    await read(world, 10);
    await world.pass(20 * minuteMs);
    expect(world.news('boss')).toEqual([]);
    await world.pass(10 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated critical']);
  });

  test('an escalation is not late because a reminder was needless while the channel was down', async () => {
    const slow = [
      makeRoute({
        channels: ['ops'],
        repeatEveryMs: 50 * minuteMs,
        escalate: { afterMs: 2 * hourMs, channels: ['ops'] },
      }),
    ];
    const world = await startWorld({ rules: [single], routes: slow });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.pass(2 * hourMs);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+escalated warning']);
  });

  test('an escalation that became due while the channel was down is part of the one message', async () => {
    const both = [makeRoute({ channels: ['ops'], escalate: { afterMs: 30 * minuteMs, channels: ['ops'] } })];
    const world = await startWorld({ rules: [single], routes: both });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+escalated warning']);
  });

  test('an acknowledged incident is neither repeated nor escalated, and its end is reported', async () => {
    const world = await startWorld({ rules: [single], routes, channels });
    await read(world, 100);
    expect(take(world)).toEqual({});
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
    await world.pass(8 * hourMs);
    expect(world.news()).toEqual([]);
    expect(world.news('boss')).toEqual([]);
    expect(await read(world, 300)).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('worse breaks an acknowledgement: it is reported, repeated and escalated again', async () => {
    const world = await startWorld({ rules: [low], routes, channels });
    await read(world, 400);
    take(world);
    expect(await read(world, 150)).toEqual(['otp/sms-low acknowledged info', 'otp/sms-low worse warning']);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
    expect(world.news('boss')[0]).toBe('otp/sms-low escalated warning');
  });

  test('what a person took at its milder state is reported when it gets worse again', async () => {
    const world = await startWorld({ rules: [low], routes, channels });
    await read(world, 10);
    await read(world, 400);
    take(world);
    expect(await read(world, 10)).toEqual(['otp/sms-low acknowledged info', 'otp/sms-low worse critical']);
  });

  test('given back, whoever read that somebody has it reads at once that nobody has, be it information', async () => {
    const world = await startWorld({ rules: [low], channels });
    await read(world, 400);
    take(world);
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low acknowledged info']);
    await give(world.views, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder info']);
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual([]);
  });

  test('given back, it is reminded of again and escalates after its own time', async () => {
    const world = await startWorld({ rules: [single], routes, channels });
    await read(world, 100);
    take(world);
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
    const giveBack = { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' } as const;
    expect(await give(world.views, giveBack)).toEqual({});
    expect(await give(world.views, giveBack)).toMatchObject({ refused: 'not-found' });
    await world.pass(20 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
    expect(world.news('boss')).toEqual([]);
    await world.pass(11 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
    take(world);
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low acknowledged warning']);
    expect(world.news('boss')).toEqual(['otp/sms-low acknowledged warning']);
  });

  test('many are taken at once, each with its own answer', async () => {
    const world = await startWorld({ rules: [single, negativeRule()] });
    await read(world, -1);
    const answers = await world.views.orders(
      ['sms-low', 'nothing'].map((rule) =>
        orderOf({ kind: 'acknowledge', account: 'otp', rule, comment: '' }),
      ),
    );
    expect(answers).toEqual([{}, expect.objectContaining({ refused: 'not-found' })]);
  });

  test('acknowledging what is not open is refused in words', async () => {
    const world = await startWorld({ rules: [single] });
    expect(take(world)).toMatchObject({ refused: 'not-found' });
  });
});

describe('what flaps about lowwater itself', () => {
  test('is reported once as flapping, however often a configuration is broken and mended, and resolved when it is calm', async () => {
    const world = await startWorld();
    const notified: string[] = [];
    for (let round = 0; round < 30; round++) {
      world.daemon.reportInvalidConfiguration(`line ${round}: unknown key`);
      await world.pass(30_000);
      world.reload({});
      await world.pass(30_000);
      notified.push(...world.news());
    }
    const [begun, over] = [
      '@lowwater/config-invalid firing warning',
      '@lowwater/config-invalid resolved warning',
    ];
    expect(notified).toEqual([begun, over, begun, over, begun, '@lowwater/config-invalid flapping warning']);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual([over]);
  });

  test('a node that refuses every third key flaps as well: a storm of refusals is a few messages', async () => {
    const accounts = ['one', 'two', 'three'];
    const world = await startWorld({ accounts });
    const notified: string[] = [];
    for (let poll = 0; poll < 36; poll++) {
      for (const [place, account] of accounts.entries()) {
        if ((poll + place) % 3 === 0) world.provider.fail(account, 'auth_failed');
        else world.provider.set(account, 1000);
      }
      await world.pass(step);
      notified.push(...world.news());
    }
    // Five changes an hour for each account at most, then one word that it flaps.
    expect(notified.filter((words) => words.includes('flapping'))).toHaveLength(accounts.length);
    expect(notified.length).toBeLessThanOrEqual(accounts.length * 6);
  });
});

describe('a flapping alert', () => {
  test('is reported once as flapping, held until it calms, then resolved once', async () => {
    const world = await startWorld({ rules: [single] });
    const notified: string[] = [];
    for (let round = 0; round < 12; round++)
      notified.push(...(await read(world, round % 2 === 0 ? 100 : 300)));
    const fired = 'otp/sms-low firing warning';
    const resolved = 'otp/sms-low resolved warning (topped-up)';
    expect(notified).toEqual([fired, resolved, fired, resolved, fired, 'otp/sms-low flapping warning']);
    expect((await world.views.alerts({ all: false })).map(({ flapping }) => flapping)).toEqual([true]);
    for (let round = 0; round < 12; round++) notified.push(...(await read(world, 300)));
    expect(notified.slice(6)).toEqual([resolved]);
  });

  test('that calms while it is low goes on as an ordinary incident', async () => {
    const world = await startWorld({ rules: [single], routes: [makeRoute({ repeatEveryMs: hourMs })] });
    for (let round = 0; round < 7; round++) await read(world, round % 2 === 0 ? 100 : 300);
    world.news();
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual(Array(3).fill('otp/sms-low reminder warning'));
    expect((await world.views.alerts({ all: false })).map(({ flapping }) => flapping)).toEqual([false]);
  });

  test('calms down although something worse waits for `for`', async () => {
    const rule = { ...low, forMs: 3 * hourMs };
    const world = await startWorld({ rules: [low] });
    for (let round = 0; round < 7; round++) await read(world, round % 2 === 0 ? 400 : 1000);
    world.reload({ rules: [rule] });
    await read(world, 100);
    await world.pass(2 * hourMs);
    expect((await world.views.alerts({ all: false })).map(({ flapping }) => flapping)).toEqual([false]);
  });
});

test('an alert that waits for its `for` can be stale or negative as well', async () => {
  const world = await startWorld({
    rules: [
      { ...negativeRule({ id: 'sms-negative' }), forMs: 10 * minuteMs },
      staleRule({ id: 'stale', forMs: 10 * minuteMs }),
    ],
  });
  world.provider.breakDown();
  await world.pass(20 * minuteMs);
  expect(world.news()).toEqual([]);
  await world.pass(10 * minuteMs);
  expect(world.news()).toEqual(['otp/stale firing warning']);
});
