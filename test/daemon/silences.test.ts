import { describe, expect, test } from 'vitest';
import type { Wanted } from '../../src/engine/orders.ts';
import { belowRule, dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { makeRoute } from '../support/settings.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const rule = smsLow({ warning: units(200) });

function order(world: World, over: Partial<Wanted<'silence'>> = {}) {
  return giveAtOnce(world, {
    kind: 'silence',
    match: {},
    everything: over.match === undefined,
    startsAt: world.now,
    endsAt: world.now + hourMs,
    comment: 'works',
    ...over,
  });
}

describe('a silence made by a person', () => {
  test('mutes, and what still fires at its end is reported then', async () => {
    const world = await startWorld({ rules: [rule] });
    order(world);
    expect(await read(world, 100)).toEqual([]);
    expect((await world.views.alerts({ all: false }))[0]?.silenced).toBe(true);
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test.each([
    ['rises', 'critical', 150, 10],
    ['falls', 'warning', 10, 150],
  ] as const)(
    'keeps quiet about an alert that %s into it while its message waits',
    async (_, muted, before, after) => {
      const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
      order(world, { match: { severity: [muted] } });
      world.channel('ops').mood = 'down';
      await read(world, before);
      await read(world, after);
      world.channel('ops').mood = 'up';
      await world.pass(30 * minuteMs);
      expect(world.news()).toEqual([]);
      await world.pass(hourMs);
      expect(world.news()).toEqual([`otp/sms-low firing ${muted}`]);
    },
  );

  test('of everything is refused unless it was asked for in so many words', async () => {
    const world = await startWorld({ rules: [rule] });
    const refused = {
      refused: 'invalid',
      why: expect.stringContaining('every alert of every account'),
      about: 'everything',
    };
    expect(order(world, { match: {}, everything: false })).toEqual(refused);
    expect(order(world, { match: { labels: {} } })).toEqual(refused);
    expect(order(world, { match: { account: ['otp'] }, everything: true })).toMatchObject({
      refused: 'invalid',
    });
    expect(order(world, { match: {}, everything: true })).toMatchObject({ match: {} });
  });

  test.each([
    ['an account', { account: ['otq'] }, 'there is no account "otq"; did you mean "otp"?'],
    ['a rule', { rule: ['smslow'] }, 'there is no rule "smslow"; did you mean "sms-low"?'],
    ['one of several', { account: ['otp', 'something-else'] }, 'there is no account "something-else"'],
  ])('is refused for %s that does not exist: it would mute nothing', async (_, match, why) => {
    const world = await startWorld({ rules: [rule] });
    expect(order(world, { match })).toMatchObject({ refused: 'invalid', why });
    expect(world.views.silences()).toEqual([]);
  });

  test('is described before it is made: which alerts would fall silent, and which accounts it is about', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    const ask = (match: Wanted<'silence'>['match']) =>
      world.views.wouldMute({
        match,
        everything: false,
        startsAt: world.now,
        endsAt: world.now + hourMs,
        comment: '',
      });
    expect(ask({ account: ['otp'] })).toEqual({
      alerts: [{ account: 'otp', rule: 'sms-low' }],
      accounts: ['otp'],
    });
    expect(ask({ severity: ['info'] })).toEqual({ alerts: [], accounts: ['otp'] });
    expect(ask({ labels: { team: ['nobody'] } })).toEqual({ alerts: [], accounts: [] });
    expect(ask({ rule: ['smslow'] })).toMatchObject({ refused: 'invalid', about: 'rule' });
    expect(world.views.silences()).toEqual([]);
  });

  test('lasts longer when somebody says so, as long as it is not over', async () => {
    const world = await startWorld({ rules: [rule] });
    const made = order(world);
    if ('refused' in made) throw new Error(made.why);
    const extend = (byMs: number) => giveAtOnce(world, { kind: 'extend-silence', id: made.id, byMs });
    expect(extend(2 * hourMs)).toEqual({});
    expect(world.views.silences()[0]?.endsAt).toBe(made.endsAt + 2 * hourMs);
    expect(extend(366 * dayMs)).toMatchObject({ refused: 'invalid' });
    await world.pass(3 * hourMs + minuteMs);
    expect(extend(hourMs)).toMatchObject({ refused: 'not-found' });
  });

  test('mutes one channel that fails, by the name that the page shows', async () => {
    const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
    world.channel('ops').mood = 'dead';
    await read(world, 100);
    await world.pass(minuteMs);
    const failing = async () =>
      (await world.views.alerts({ all: false })).find(({ account }) => account === '@lowwater');
    expect(await failing()).toMatchObject({ rule: 'channel-failed:ops', silenced: false });
    order(world, { match: { account: ['@lowwater'], rule: ['channel-failed:ops'] } });
    expect(await failing()).toMatchObject({ silenced: true });
  });

  test('what came and went inside is never reported', async () => {
    const world = await startWorld({ rules: [rule] });
    order(world);
    await read(world, 100);
    await read(world, 300);
    await world.pass(2 * hourMs);
    expect(world.news()).toEqual([]);
    expect(world.daemon.state.incidents.size).toBe(0);
  });

  test('what was reported before and ended inside is reported as ended after it', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    order(world);
    expect(await read(world, 300)).toEqual([]);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('what waits for its group when it begins is not sent inside, and is reported after it', async () => {
    const routes = [makeRoute({ groupWaitMs: 10 * minuteMs, repeatEveryMs: hourMs })];
    const world = await startWorld({ rules: [rule], routes });
    expect(await read(world, 100)).toEqual([]);
    order(world);
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    expect(world.daemon.state.messages.size).toBe(0);
    await world.pass(25 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await world.pass(75 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('what others have to say in the same message is sent as it was to be', async () => {
    const above = { ...smsLow({ info: units(500) }), id: 'voip-low', balance: 'voip' as const };
    const world = await startWorld({
      rules: [rule, above],
      routes: [makeRoute({ groupWaitMs: 10 * minuteMs })],
    });
    await read(world, 100);
    order(world, { match: { rule: ['sms-low'] } });
    await world.pass(20 * minuteMs);
    expect(world.news()).toEqual(['otp/voip-low firing info']);
  });

  test('an end that waits for its group is not sent inside, and is reported after it', async () => {
    const world = await startWorld({
      rules: [rule],
      routes: [makeRoute({ groupWaitMs: 10 * minuteMs })],
    });
    await read(world, 100);
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    await read(world, 300);
    order(world);
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(25 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('what surely did not arrive when it begins is not sent inside, and is reported after it', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    expect(world.channel('ops').attempts.length).toBeGreaterThan(0);
    order(world);
    world.channel('ops').mood = 'up';
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('what waits when it begins while lowwater does not run is not sent inside, and is reported after it', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    order(world, { startsAt: world.now + 10 * minuteMs });
    await world.stop();
    await world.pass(20 * minuteMs);
    world.channel('ops').mood = 'up';
    world.start({ rules: [rule] });
    await world.pass(35 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('what is refused while it begins is not sent inside either', async () => {
    const world = await startWorld({ rules: [rule] });
    const channel = world.channel('ops');
    const answer = Promise.withResolvers<void>();
    channel.mood = 'down';
    channel.hold = answer.promise;
    await read(world, 100);
    order(world);
    answer.resolve();
    channel.hold = null;
    channel.mood = 'up';
    await world.pass(50 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(15 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('what may have arrived when it begins is sent until it surely has: who may know of it hears of its end', async () => {
    const world = await startWorld({ rules: [rule] });
    world.channel('ops').mood = 'lost';
    await read(world, 100);
    order(world);
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    expect(await read(world, 300)).toEqual([]);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('no reminder inside, one after it', async () => {
    const world = await startWorld({ rules: [rule], routes: [makeRoute({ repeatEveryMs: 30 * minuteMs })] });
    await read(world, 100);
    order(world, { endsAt: world.now + 4 * hourMs });
    await world.pass(4 * hourMs - 1000);
    expect(world.news()).toEqual([]);
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('a reminder that is due by what was said does not wait because of what a silence took back', async () => {
    const routes = [makeRoute({ repeatEveryMs: hourMs, groupWaitMs: minuteMs })];
    const world = await startWorld({ rules: [rule], routes });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await world.pass(50 * minuteMs);
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
    order(world, { endsAt: world.now + 20 * minuteMs });
    giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
    await world.pass(22 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low reminder warning']);
  });

  test('the time to acknowledge before an escalation begins when the silence ends', async () => {
    const world = await startWorld({
      rules: [rule],
      channels: ['ops', 'boss'],
      routes: [makeRoute({ escalate: { afterMs: 30 * minuteMs, channels: ['boss'] } })],
    });
    order(world, { endsAt: world.now + 3 * hourMs });
    await read(world, 100);
    await world.pass(3 * hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    expect(world.news('boss')).toEqual([]);
    await world.pass(30 * minuteMs);
    expect(world.news('boss')).toEqual(['otp/sms-low escalated warning']);
  });

  test('matches by severity, and only what it names', async () => {
    const world = await startWorld({ rules: [rule] });
    order(world, { match: { severity: ['critical'] } });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    expect(await read(world, -5)).toEqual([]);
  });

  test('that begins later mutes only then', async () => {
    const world = await startWorld({ rules: [rule] });
    order(world, { startsAt: world.now + 2 * hourMs, endsAt: world.now + 3 * hourMs });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await world.pass(2 * hourMs);
    expect(await read(world, 300)).toEqual([]);
  });

  test('ended early, what it muted is reported at once', async () => {
    const world = await startWorld({ rules: [rule] });
    const made = order(world, { endsAt: world.now + dayMs });
    await read(world, 100);
    if (!('id' in made)) throw new Error('refused');
    giveAtOnce(world, { kind: 'expire', id: made.id });
    await world.pass(6000);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test.each([
    ['the daemon lives on', false],
    ['the daemon starts anew meanwhile', true],
  ])('mutes again when a clock that ran past its end is set back: %s', async (_, isRestarted) => {
    const world = await startWorld({ rules: [rule] });
    order(world, { endsAt: world.now + 8 * hourMs });
    await world.pass(minuteMs);
    world.clock.jump(3 * dayMs);
    await world.pass(minuteMs);
    if (isRestarted) await world.restart({ downMs: minuteMs });
    expect(world.views.silences()).toEqual([]);
    world.clock.jump(-3 * dayMs);
    expect(await read(world, 100)).toEqual([]);
    await world.pass(7 * hourMs);
    expect(world.news()).toEqual([]);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('that somebody ended stays ended when the clock is set back', async () => {
    const world = await startWorld({ rules: [rule] });
    const made = order(world, { endsAt: world.now + 6 * dayMs });
    world.clock.jump(3 * dayMs);
    await world.pass(minuteMs);
    if (!('id' in made)) throw new Error('refused');
    giveAtOnce(world, { kind: 'expire', id: made.id });
    await world.pass(minuteMs);
    world.clock.jump(-3 * dayMs);
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    expect(world.views.silences()).toEqual([]);
  });

  test('is said to have ended already to whoever ends it second', async () => {
    const world = await startWorld({ rules: [rule] });
    const made = order(world, { endsAt: world.now + dayMs });
    if (!('id' in made)) throw new Error('refused');
    giveAtOnce(world, { kind: 'expire', id: made.id });
    const why = `the silence "${made.id}" has ended already, or never was`;
    expect(giveAtOnce(world, { kind: 'expire', id: made.id })).toEqual({ refused: 'not-found', why });
  });

  test.each([
    ['ends before it starts', { endsAt: 0 }],
    ['would last for ever', { endsAt: Number.MAX_SAFE_INTEGER }],
  ])('is refused when it %s', async (_, over) => {
    const world = await startWorld({ rules: [rule] });
    expect(order(world, over)).toMatchObject({ refused: 'invalid' });
  });
});

describe('an end that a silence held back, of an alert that fires again by then', () => {
  const ladder = smsLow({ warning: units(500), critical: units(50) });

  /** Told at 150, over at 1000 and critical at 40 under a silence. */
  async function fireAgain(routes = [makeRoute()], channels = ['ops']) {
    const world = await startWorld({ rules: [ladder], routes, channels });
    expect(await read(world, 150)).toEqual(['otp/sms-low firing warning']);
    const made = order(world, { match: { account: ['otp'] }, endsAt: world.now + dayMs });
    if (!('id' in made)) throw new Error('refused');
    expect(await read(world, 1000)).toEqual([]);
    expect(await read(world, 40)).toEqual([]);
    const expire = async () => {
      giveAtOnce(world, { kind: 'expire', id: made.id });
      await world.pass(6000);
      return world.news();
    };
    const take = () =>
      giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: 'mine' });
    return { world, take, expire };
  }

  test('is told with what fires, though somebody took that before anybody heard of it', async () => {
    const { world, take, expire } = await fireAgain();
    take();
    expect(await expire()).toEqual([
      'otp/sms-low acknowledged critical; otp/sms-low resolved warning (topped-up)',
    ]);
    expect(await read(world, 1000)).toEqual(['otp/sms-low resolved critical (topped-up)']);
  });

  test('is told with what fires', async () => {
    const { expire } = await fireAgain();
    expect(await expire()).toEqual(['otp/sms-low firing critical; otp/sms-low resolved warning (topped-up)']);
  });

  test('is told with what fires on a channel that routes no longer name at that severity, too', async () => {
    const { world, take, expire } = await fireAgain(
      [
        makeRoute({ match: { severity: ['critical'] }, channels: ['boss'] }),
        makeRoute({ channels: ['ops'] }),
      ],
      ['ops', 'boss'],
    );
    take();
    expect(await expire()).toEqual([
      'otp/sms-low acknowledged critical; otp/sms-low resolved warning (topped-up)',
    ]);
    expect(world.news('boss')).toEqual([]);
  });

  test('is told after the channel failed with what fires by then', async () => {
    const { world, take, expire } = await fireAgain();
    take();
    world.channel('ops').mood = 'down';
    expect(await expire()).toEqual([]);
    await world.restart({ downMs: minuteMs });
    world.channel('ops').mood = 'up';
    await world.pass(step);
    expect(world.news()).toEqual([
      'otp/sms-low acknowledged critical; otp/sms-low resolved warning (topped-up)',
    ]);
  });

  test('is all that is told where what fired meanwhile is over as well', async () => {
    const { world, take, expire } = await fireAgain();
    take();
    expect(await read(world, 1000)).toEqual([]);
    expect(await expire()).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });
});

describe('a silence of the configuration', () => {
  const nightly = {
    match: { account: ['otp'] },
    cron: '0 14 * * *',
    timezone: 'UTC',
    durationMs: 2 * hourMs,
    comment: 'batch',
  };

  test('comes and goes by its cron expression; what still fires at its end is reported', async () => {
    const world = await startWorld({ rules: [rule], silences: [nightly] });
    await world.pass(2 * hourMs);
    expect(await read(world, 100)).toEqual([]);
    await world.pass(1.5 * hourMs);
    expect(world.news()).toEqual([]);
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    expect(world.views.silences()).toMatchObject([{ by: 'configuration', comment: 'batch', active: false }]);
  });

  test('does not begin a second early', async () => {
    const world = await startWorld({
      rules: [rule],
      silences: [nightly],
      routes: [makeRoute({ groupWaitMs: 0 })],
    });
    await read(world, 300);
    world.provider.set('otp', 100);
    await world.pass(2 * hourMs - (world.now % dayMs) + 12 * hourMs - 1);
    expect(world.views.silences()).toMatchObject([{ active: false }]);
    await world.pass(1);
    expect(world.views.silences()).toMatchObject([{ active: true }]);
  });
});

test('a silence is compared a few times with each of many alerts of one balance, not for each pair of them', async () => {
  const rules = Array.from({ length: 60 }, (_, index) =>
    belowRule({ id: `low-${index}`, thresholds: { warning: units(100 + index) } }),
  );
  let looks = 0;
  const match = {
    get account() {
      looks += 1;
      return ['another'];
    },
  };
  const silence = { match, cron: '0 2 * * 0', timezone: 'UTC', durationMs: hourMs, comment: '' };
  const world = await startWorld({ rules, silences: [silence] });
  looks = 0;
  await read(world, 50);
  expect((await world.views.alerts({ all: false })).filter(({ inhibited }) => inhibited)).toHaveLength(59);
  expect(looks).toBeLessThan(20 * rules.length);
});
