import { describe, expect, test } from 'vitest';
import { freshAccount } from '../../src/domain/reading.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { keyedDigest } from '../../src/engine/access.ts';
import { accountsAtOnce } from '../../src/engine/changed-accounts.ts';
import { observePoll } from '../../src/engine/observe.ts';
import type { BudgetRule } from '../../src/rules/budget.ts';
import {
  dayMs,
  hourMs,
  idleRule,
  minuteMs,
  moneyBase,
  smsLow,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { incidentMessage } from '../support/recording-channel.ts';
import {
  channelOf,
  makeAccount,
  makeChannel,
  makeProvider,
  makeRoute,
  makeSettings,
} from '../support/settings.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const rule = smsLow({ warning: units(200) });

const silence = (startsAt: number) => {
  const span = { startsAt, endsAt: startsAt + hourMs };
  return { kind: 'silence', match: { account: ['otp'] }, everything: false, comment: '', ...span } as const;
};

describe('a reload', () => {
  test('of more accounts than one turn takes judges each by its old rules or its new ones, and tells everything once', async () => {
    const ids = Array.from({ length: accountsAtOnce + 3 }, (_, index) => `a${index}`);
    const [first = '', early = '', late = '', last = ''] = [...ids.slice(0, 2), ...ids.slice(-2)];
    const gone = { ...rule, id: 'gone', balance: 'voip', match: { account: [first, early, late, last] } };
    const world = await startWorld({ accounts: ids, rules: [rule, gone] });
    for (const id of [first, early, late, last]) world.provider.set(id, 100, { voip: 50 });
    await world.pass(2 * step);
    world.news();
    const { daemon } = world;
    const poll = (id: string, sms: number) =>
      daemon.act((now) => {
        const account = daemon.state.accounts.get(id);
        const answer = { balances: { sms: units(sms), voip: units(50) }, currency: 'CNY' };
        if (account !== undefined)
          observePoll(daemon.state, account, { kind: 'ok', answer, usage: {}, durationMs: 1 }, now);
      });
    const firing = (id: string) =>
      [...daemon.state.alerts.of(id).values()]
        .filter(({ state }) => state === 'firing')
        .map(({ rule: of, severity }) => `${of} ${severity}`);
    const all = world.reload({ accounts: ids, rules: [{ ...rule, thresholds: { critical: units(200) } }] });
    for (const id of [early, late]) poll(id, 90);
    expect(firing(early)).toEqual(['sms-low critical']);
    expect(firing(late)).toEqual(['gone warning', 'sms-low warning']);
    await all;
    expect(firing(late)).toEqual(['sms-low warning']);
    await world.pass(2 * step);
    const news = [first, early, last, late]
      .sort()
      .flatMap((id) => [`${id}/gone resolved warning (rule-removed)`, `${id}/sms-low worse critical`]);
    const told = world.news().flatMap((text) => text.split('; '));
    expect(told.sort()).toEqual(news);
  });

  test('that takes an account out and back goes on from what is stored of it, as a restart does', async () => {
    const accounts = ['otp', 'marketing'];
    const world = await startWorld({ accounts, rules: [idleRule({ windowMs: 2 * hourMs })] });
    await world.pass(hourMs);
    await world.reload({ accounts: ['marketing'], rules: [idleRule({ windowMs: 2 * hourMs })] });
    await world.pass(step);
    await world.reload({ accounts, rules: [idleRule({ windowMs: 2 * hourMs })] });
    await world.pass(step);
    const known = () =>
      [...(world.daemon.state.accounts.get('otp')?.log.readings(0) ?? [])].map(({ at }) => at);
    const before = known();
    expect(before.length).toBeGreaterThan(10);
    await world.restart({ downMs: 0 });
    await world.pass(minuteMs);
    expect(known().slice(0, before.length)).toEqual(before);
  });

  test('that is overtaken by another one leaves no account with the rules in between', async () => {
    const accounts = Array.from({ length: accountsAtOnce + 3 }, (_, index) => `a${index}`);
    const world = await startWorld({ accounts, rules: [rule] });
    const overtaken = world.reload({ accounts, rules: [smsLow({ warning: units(1) })] });
    await Promise.all([overtaken, world.reload({ accounts, rules: [smsLow({ warning: units(2) })] })]);
    const thresholds = [...world.daemon.state.accounts.values()].map(({ rules }) => rules[0]?.thresholds);
    expect(new Set(thresholds.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ warning: units(2) })]),
    );
  });

  test('that edits the threshold keeps the incident and judges it at the next snapshot', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    const before = (await world.views.alerts({ all: false }))[0]?.incident;
    world.reload({ rules: [{ ...rule, thresholds: { warning: units(150) } }] });
    await world.pass(step);
    expect(world.news()).toEqual([]);
    expect((await world.views.alerts({ all: false }))[0]?.incident).toBe(before);
    world.reload({ rules: [{ ...rule, thresholds: { warning: units(50) } }] });
    await world.pass(10_000);
    expect(world.news()).toEqual([]);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-low resolved warning']);
  });

  test('that makes the same incident worse says so', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({ rules: [{ ...rule, thresholds: { critical: units(200) } }] });
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-low worse critical']);
  });

  test.each([0, 3 * step])(
    'that takes back a threshold makes news of the real fall once it has lasted %i ms, also to who took the alert before',
    async (forMs) => {
      const raised = { ...smsLow({ warning: units(200), critical: units(160) }), forMs };
      const world = await startWorld({ rules: [raised] });
      await read(world, 150);
      await world.pass(forMs);
      await giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
      world.reload({ rules: [{ ...raised, thresholds: { warning: units(200), critical: units(50) } }] });
      await world.pass(step);
      expect(world.news()).toContain('otp/sms-low acknowledged critical');
      const atOnce = await read(world, 40);
      await world.pass(forMs);
      expect([...atOnce, ...world.news()]).toEqual(['otp/sms-low worse critical']);
    },
  );

  test('that takes back a budget makes news of the spending that reaches it, also to who took the alert before', async () => {
    const budget = (critical: number): BudgetRule => ({
      ...{ ...moneyBase, type: 'budget', id: 'spent', per: 'day', by: 'spent' },
      thresholds: { warning: units(20), critical: units(critical) },
    });
    const world = await startWorld(
      { rules: [budget(70)] },
      { startAt: Date.UTC(2026, 10, 20) - 30 * minuteMs },
    );
    for (const sms of [1000, 1000, 1000, 1000, 1000, 1000, 1000, 920]) await read(world, sms);
    await giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'spent', comment: '' });
    world.reload({ rules: [budget(150)] });
    await read(world, 915);
    expect(await read(world, 800)).toEqual(['otp/spent worse critical']);
    expect(await read(world, 700)).toEqual([]);
  });

  test('that removes a rule closes its incident once and says why, not that all is well', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({});
    await world.pass(hourMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (rule-removed)']);
  });

  test('that changes one account leaves the others alone, and closes what no rule says of it any more', async () => {
    const night = { team: 'night' };
    const nightly = { ...rule, match: { labels: { team: ['night'] } } };
    const accounts = ['otp', 'ads', 'web'].map((id) =>
      makeAccount(id, { labels: night, authSecret: new Secret('shared') }),
    );
    const world = await startWorld({ accounts, rules: [nightly] });
    world.provider.set('ads', 100);
    await read(world, 100);
    await world.pass(15 * minuteMs);
    world.news();
    const { state } = world.daemon;
    const watched = state.accounts.get('ads');
    const day = world.settings.accounts.map((account) =>
      account.id === 'otp' ? { ...account, labels: { team: 'day' } } : account,
    );
    world.daemon.reload({ ...world.settings, accounts: day });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (rule-removed)']);
    expect(state.accounts.get('ads')).toBe(watched);
    expect(state.accounts.get('otp')?.settings.labels).toEqual({ team: 'day' });
    world.daemon.reload({ ...world.settings, accounts: day.slice(0, 2) });
    expect([...state.providers.values()].map(({ accounts: count }) => count)).toEqual([2]);
    expect([...state.groups]).toEqual([['ads', 'otp']]);
  });

  test('that removes an account closes its incidents and says why; the account name is still shown', async () => {
    const accounts = [makeAccount('otp', { name: 'OTP production' }), makeAccount('ads')];
    const world = await startWorld({ accounts, rules: [rule] });
    await read(world, 100);
    world.reload({ accounts: ['ads'], rules: [rule] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (account-removed)']);
    expect(incidentMessage(world.channel('ops').delivered.at(-1)).items[0]?.accountName).toBe(
      'OTP production',
    );
    const asked = world.provider.asked.get('otp')?.length;
    await world.pass(hourMs);
    expect(world.provider.asked.get('otp')?.length).toBe(asked);
  });

  test('that points the rule at another balance closes the incident, and the other balance gets its own', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.provider.set('otp', 1000, { voip: 50 });
    world.reload({ rules: [{ ...rule, balance: 'voip' }] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (rule-removed)']);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    expect((await world.views.alerts({ all: false }))[0]).toMatchObject({ balance: 'voip' });
  });

  test('that shortens the group wait sends what waits for it', async () => {
    const waiting = (groupWaitMs: number) => ({ rules: [rule], routes: [makeRoute({ groupWaitMs })] });
    const world = await startWorld(waiting(hourMs));
    await read(world, 100);
    await world.pass(minuteMs);
    world.reload(waiting(2 * minuteMs));
    await world.pass(2 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('that turns the rule into one of another type closes the incident as well', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({ rules: [idleRule({ id: rule.id, windowMs: hourMs })] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (rule-removed)']);
  });

  test('keeps a `for` and a silence running', async () => {
    const slow = { ...rule, forMs: 12 * minuteMs };
    const world = await startWorld({ rules: [slow] });
    await read(world, 100);
    world.reload({ rules: [slow] });
    await world.pass(6 * minuteMs);
    world.reload({ rules: [slow] });
    await world.pass(6 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
  });

  test('routes by the currency and the provider of an account, and by what is left out', async () => {
    const routes = [
      makeRoute({ match: { currency: ['EUR'] }, channels: ['pager'] }),
      makeRoute({
        match: { currency: ['CNY'], provider: ['provider'], not: { account: ['other'] } },
        channels: ['finance'],
      }),
      makeRoute({ channels: ['ops'] }),
    ];
    const world = await startWorld({
      accounts: ['otp', 'other'],
      rules: [rule],
      channels: ['ops', 'finance', 'pager'],
      routes,
    });
    world.provider.set('other', 100);
    expect(await read(world, 100)).toEqual(['other/sms-low firing warning']);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
    expect(world.news('pager')).toEqual([]);
  });

  test('routes an open incident by the labels that its account has now', async () => {
    const routes = [
      makeRoute({ match: { labels: { team: ['night'] } }, channels: ['finance'] }),
      makeRoute({ channels: ['ops'] }),
    ];
    const parts = { rules: [rule], channels: ['ops', 'finance'], routes };
    const world = await startWorld(parts);
    await read(world, 100);
    world.reload({ ...parts, accounts: [makeAccount('otp', { labels: { team: 'night' } })] });
    await world.pass(minuteMs);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
    await read(world, 1000);
    expect(world.news('finance')).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });
});

describe('an account that points at another prepaid account', () => {
  const topUp = topUpRule({ id: 'top-up' });
  const moved = { baseUrl: 'https://eu.example.com' };

  test('by a new address begins a new series: no top-up, no recovery, and its alert is judged again', async () => {
    const world = await startWorld({ rules: [rule, topUp] });
    await read(world, 100);
    world.provider.set('otp', 5000);
    world.reload({ accounts: [makeAccount('otp', moved)], rules: [rule, topUp] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (account-moved)']);
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    await world.restart({ downMs: minuteMs });
    await world.pass(minuteMs);
    const remembered = world.daemon.state.accounts.get('otp')?.log.readings(0) ?? [];
    expect(remembered.map(({ balances }) => (balances.sms ?? 0) / units(1))).toEqual([5000, 100, 100]);
  });

  test('while its clock was a day ahead begins a series that is known after the clock was set right and a restart', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.clock.jump(dayMs);
    await read(world, 90);
    world.provider.set('otp', 5000);
    world.reload({ accounts: [makeAccount('otp', moved)], rules: [rule] });
    await world.pass(5 * minuteMs);
    world.clock.jump(-dayMs);
    await read(world, 4000);
    await read(world, 3900);
    await world.restart({ downMs: minuteMs });
    await world.pass(minuteMs);
    const remembered = world.daemon.state.accounts.get('otp')?.log.readings(0) ?? [];
    expect(remembered.map(({ balances }) => (balances.sms ?? 0) / units(1))).toContain(4000);
  });

  test('by swapped ids, across a restart, begins a new series for both', async () => {
    const keys = ['first', 'second'].map((text) => new Secret(`${text}-secret`));
    const [first = keys[0], second = keys[1]] = keys;
    if (first === undefined || second === undefined) throw new Error('there are two keys');
    const accounts = (otp: Secret, ads: Secret) => [
      makeAccount('otp', { authSecret: otp }),
      makeAccount('ads', { authSecret: ads }),
    ];
    const world = await startWorld({ accounts: accounts(first, second), rules: [rule, topUp] });
    world.provider.set('ads', 9000);
    await read(world, 100);
    world.provider.set('ads', 100);
    world.provider.set('otp', 9000);
    await world.restart({ downMs: 0, parts: { accounts: accounts(second, first), rules: [rule, topUp] } });
    await world.pass(minuteMs);
    expect(world.news()).toEqual([
      'ads/sms-low firing warning; otp/sms-low resolved warning (account-moved)',
    ]);
  });

  test('not by a key that is merely new', async () => {
    const world = await startWorld({ rules: [rule, topUp] });
    await read(world, 100);
    world.provider.set('otp', 5000);
    world.reload({
      accounts: [makeAccount('otp', { authSecret: new Secret('renewed-key') })],
      rules: [rule, topUp],
    });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up); otp/top-up event info']);
  });

  test('begins a new series where its provider entry asks another host, and none where the entry is merely renamed', async () => {
    const parts = (name: string, entryAddress: string) => ({
      providers: { [name]: makeProvider({ name, address: entryAddress, written: { url: entryAddress } }) },
      accounts: [makeAccount('otp', { provider: name, baseUrl: null, entryAddress })],
      rules: [rule, topUp],
    });
    const world = await startWorld(parts('gateway', 'https://one.example'));
    await read(world, 100);
    await world.restart({ downMs: 0, parts: parts('wallet', 'https://one.example') });
    expect(await read(world, 90)).toEqual([]);
    world.reload(parts('purse', 'https://one.example'));
    expect(await read(world, 80)).toEqual([]);
    world.provider.set('otp', 5000);
    world.reload(parts('purse', 'https://two.example'));
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (account-moved)']);
  });

  test('begins no new series where a provider entry without an address is renamed', async () => {
    const parts = (name: string) => ({
      providers: { [name]: makeProvider({ name, written: { type: 'pushed' } }) },
      accounts: [makeAccount('otp', { provider: name, baseUrl: null })],
      rules: [rule],
    });
    const world = await startWorld(parts('shop'));
    await read(world, 100);
    world.reload(parts('till'));
    expect(await read(world, 90)).toEqual([]);
  });

  test('begins no new series where a provider entry is renamed after another edit of it', async () => {
    const parts = (name: string, timeout: string) => ({
      provider: makeProvider({ written: undefined }),
      providers: { [name]: makeProvider({ name, written: { type: 'pushed', timeout } }) },
      accounts: [makeAccount('otp', { provider: name, baseUrl: null })],
      rules: [rule],
    });
    const world = await startWorld(parts('shop', '10s'));
    await read(world, 100);
    world.settings = { ...world.settings, providers: makeSettings(parts('shop', '9s')).providers };
    await world.daemon.reload(world.settings);
    world.reload(parts('till', '9s'));
    expect(await read(world, 90)).toEqual([]);
  });

  test('is asked at once where its provider entry, which was refused, says something else', async () => {
    const parts = (key: string) => ({
      providers: { gateway: makeProvider({ name: 'gateway', written: { headers: { key } } }) },
      accounts: [makeAccount('otp', { provider: 'gateway', baseUrl: null })],
      rules: [rule],
    });
    const world = await startWorld(parts('wrong'));
    world.provider.fail('otp', 'auth_failed');
    await world.pass(6 * 60 * minuteMs);
    world.provider.set('otp', 100);
    world.news();
    world.reload(parts('right'));
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing warning; otp/auth-failed resolved critical']);
  });

  test('goes on from what 0.3.0 stored of its provider entry, and stores what 0.3.0 goes on from', async () => {
    const entryAddress = 'https://one.example';
    const accounts = [makeAccount('otp', { provider: 'gateway', baseUrl: null, entryAddress })];
    const providers = { gateway: makeProvider({ name: 'gateway', address: entryAddress }) };
    const world = await startWorld({ providers, accounts, rules: [rule, topUp] });
    await read(world, 100);
    const { state } = world.daemon;
    const stored = state.polled.get('otp') ?? freshAccount('otp', 0);
    const { address = '', key = '' } = stored.purse ?? {};
    expect(address).toBe(keyedDigest(state, 'gateway'));
    state.polled.set('otp', { ...stored, purse: { address, key } });
    await world.restart({ downMs: 0, parts: { providers, accounts, rules: [rule, topUp] } });
    expect(await read(world, 90)).toEqual([]);
  });
});

describe('a channel', () => {
  test('of PagerDuty that 0.2.0 left with an open alert has its receiver still, and hears nothing twice', async () => {
    const routingKey = 'R0123456789ABCDEF0123456789ABCDE';
    const parts = { rules: [rule], channels: [channelOf('ops', { type: 'pagerduty', routingKey })] };
    const world = await startWorld(parts);
    await read(world, 100);
    const { state } = world.daemon;
    // Its key stood last there.
    state.notes.write(
      'receiver:ops',
      keyedDigest(state, `pagerduty https://events.pagerduty.com ${routingKey}`),
    );
    await world.restart({ downMs: 0, parts });
    expect(await read(world, 90)).toEqual([]);
    expect(world.errors).toEqual([]);
  });

  test('has its receiver still where the key is lost that says where it sent, and hears the end of what it was told', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.daemon.state.notes.delete('digest-key');
    await world.restart({ downMs: 0 });
    world.provider.set('otp', 1000);
    await world.pass(step + minuteMs);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
    expect(world.errors).toEqual([]);
  });

  test('that is renamed is not reported again, keeps what was on its way, and hears the end', async () => {
    const world = await startWorld({ accounts: ['otp', 'ads'], rules: [rule] });
    await read(world, 100);
    world.channel('ops').mood = 'down';
    world.provider.set('ads', 100);
    await world.pass(step);
    rename(world, 'ops', 'operations');
    await world.pass(6 * minuteMs);
    expect(world.news('operations')).toEqual(['ads/sms-low firing warning']);
    world.provider.set('otp', 1000);
    await world.pass(step);
    expect(world.news('operations')).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('that gets a name that another one had, while a message to it is being stored, gets that message', async () => {
    const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
    const { store } = world;
    const commit = store.commit.bind(store);
    store.commit = async (batch) => {
      await commit(batch);
      if (!batch.messages.some(({ channel, attempts }) => channel === 'ops' && attempts === 1)) return;
      const channels = [makeChannel('finance', 'ops'), makeChannel('operations', 'finance')];
      const routes = [makeRoute({ match: { account: ['otp'] }, channels: ['finance', 'operations'] })];
      world.settings = { ...world.settings, channels, routes };
      void world.daemon.reload(world.settings);
    };
    world.provider.set('otp', 100);
    await world.pass(step + minuteMs);
    expect([world.news('finance'), world.news('operations'), world.news('ops')]).toEqual([
      ['otp/sms-low firing warning'],
      ['otp/sms-low firing warning'],
      [],
    ]);
  });

  test('that takes the name of one that is removed, whose message is under way, gets what waits for it', async () => {
    const world = await startWorld({ rules: [rule], channels: ['finance', 'ops'] });
    world.channel('finance').mood = 'down';
    const answers = Promise.withResolvers<void>();
    world.channel('ops').hold = answers.promise;
    world.provider.set('otp', 100);
    await world.pass(step);
    const old = world.channel('finance');
    const channels = [makeChannel('ops', 'finance')];
    world.settings = { ...world.settings, channels, routes: [makeRoute({ channels: ['ops'] })] };
    world.channels.delete('ops');
    await world.daemon.reload(world.settings);
    answers.resolve();
    await world.pass(20 * minuteMs);
    expect([world.news('ops'), old.news()]).toEqual([['otp/sms-low firing warning'], []]);
  });

  test('that is renamed across a restart hears the end, and nothing twice', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    await world.stop();
    world.settings = renamed(world, 'ops', 'operations');
    world.start();
    await world.pass(2 * step);
    expect(world.news('operations')).toEqual([]);
    world.provider.set('otp', 1000);
    await world.pass(step + minuteMs);
    expect(world.news('operations')).toEqual(['otp/sms-low resolved warning (topped-up)']);
  });

  test('that has another address hears of what is open as news, and the old receiver that it ends there', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
    await read(world, 100);
    const old = world.channel('ops');
    world.channels.delete('ops');
    world.settings = moved(world, 'ops');
    await world.daemon.reload(world.settings);
    await world.pass(minuteMs);
    expect(old.news()).toEqual(['otp/sms-low resolved warning (channel-removed)']);
    expect(world.news()).toEqual(['otp/sms-low firing warning']);
    world.provider.set('otp', 900);
    await world.pass(step);
    expect(world.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
    expect(old.news()).toEqual([]);
  });

  test.each(['is silenced', 'waits'])(
    'that has another address while an end %s leaves nothing open at the old receiver',
    async (how) => {
      const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
      await read(world, 100);
      const old = world.channel('ops');
      if (how === 'waits') old.mood = 'down';
      else giveAtOnce(world, silence(world.now));
      world.provider.set('otp', 900);
      await world.pass(step);
      expect(old.news()).toEqual([]);
      old.mood = 'up';
      world.channels.delete('ops');
      world.settings = moved(world, 'ops');
      await world.daemon.reload(world.settings);
      await world.pass(2 * hourMs);
      expect(old.news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
      expect(world.news()).toEqual([]);
    },
  );

  test.each(['reload', 'restart'])(
    'that is removed by a %s while another one has its receiver leaves the end, and no repetition, to that one',
    async (how) => {
      const quiet = makeChannel('quiet', 'ops');
      const channels = ['ops', quiet, 'finance'];
      const routes = [makeRoute({ match: { account: ['otp'] }, channels: ['quiet', 'finance'] })];
      const world = await startWorld({ rules: [rule], channels, routes });
      await read(world, 100);
      const left = {
        rules: [rule],
        channels: ['ops', 'finance'],
        routes: [makeRoute({ channels: ['ops'] })],
      };
      if (how === 'reload') world.reload(left);
      else await world.restart({ downMs: 0, parts: left });
      await world.pass(10 * minuteMs);
      expect(world.channel('ops').news()).toEqual([]);
      world.provider.set('otp', 900);
      await world.pass(10 * minuteMs);
      expect(world.channel('ops').news()).toEqual(['otp/sms-low resolved warning (topped-up)']);
    },
  );

  test.each(['reload', 'restart'])(
    'that gets another address by a %s before a message leaves owes the old receiver nothing',
    async (how) => {
      const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
      const old = world.channel('ops');
      old.mood = 'down';
      await read(world, 100);
      old.mood = 'up';
      if (how === 'restart') await world.stop();
      world.channels.delete('ops');
      world.settings = moved(world, 'ops');
      if (how === 'restart') world.start();
      else await world.daemon.reload(world.settings);
      await world.pass(10 * minuteMs);
      expect(old.news()).toEqual([]);
      expect(world.news()).toEqual(['otp/sms-low firing warning']);
    },
  );

  test.each(['is taken', 'goes elsewhere'])(
    'that gets another address does not hear of what waits and %s meanwhile, as it would never hear of the end',
    async (what) => {
      const parts = { rules: [rule], channels: ['ops', 'finance'] };
      const world = await startWorld(parts);
      world.channel('ops').mood = 'lost';
      await read(world, 100);
      if (what === 'is taken')
        giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
      else await world.reload({ ...parts, routes: [makeRoute({ channels: ['finance'] })] });
      await world.pass(step);
      const [old] = [world.channel('ops'), world.channels.delete('ops')];
      world.settings = moved(world, 'ops');
      await world.daemon.reload(world.settings);
      old.mood = 'up';
      await world.pass(10 * minuteMs);
      world.provider.set('otp', 1000);
      await world.pass(10 * minuteMs);
      expect(world.news()).toEqual([]);
      expect(world.news('finance').at(-1)).toBe('otp/sms-low resolved warning (topped-up)');
    },
  );

  test('that has another address after a restart hears no end of what it was never told', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
    await read(world, 100);
    world.channel('ops').mood = 'down';
    world.provider.set('otp', 900);
    await world.pass(step);
    await world.stop();
    world.channels.delete('ops');
    world.settings = moved(world, 'ops');
    world.start();
    await world.pass(10 * minuteMs);
    expect(world.news()).toEqual(['@lowwater/channel-failed:ops event warning']);
  });

  test('that has another address after a kill is named where the old receiver may have heard what could not be stored', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
    world.channel('ops').mood = 'down';
    await read(world, 100);
    world.diskFull = true;
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    expect(world.news()[0]).toBe('otp/sms-low firing warning');
    world.crash();
    world.diskFull = false;
    world.channels.delete('ops');
    world.settings = moved(world, 'ops');
    world.start();
    await world.pass(10 * minuteMs);
    expect(world.news().join('; ')).toContain('@lowwater/channel-failed:ops event warning');
  });

  test('that swaps its address with another leaves no receiver untold and tells none twice', async () => {
    const routes = [
      makeRoute({ match: { account: ['otp'] }, channels: ['ops'] }),
      makeRoute({ match: { account: ['ads'] }, channels: ['finance'] }),
    ];
    const parts = { accounts: ['otp', 'ads'], rules: [rule], channels: ['ops', 'finance'], routes };
    const world = await startWorld(parts);
    world.provider.set('ads', 1000);
    await read(world, 100);
    const swapped = {
      ...world.settings,
      channels: [makeChannel('ops', 'finance'), makeChannel('finance', 'ops')],
      routes: [
        makeRoute({ match: { account: ['otp'] }, channels: ['finance'] }),
        makeRoute({ match: { account: ['ads'] }, channels: ['ops'] }),
      ],
    };
    world.daemon.reload(swapped);
    await world.pass(2 * step);
    expect([world.news('ops'), world.news('finance')]).toEqual([[], []]);
    world.provider.set('otp', 1000);
    await world.pass(step);
    expect([world.news('ops'), world.news('finance')]).toEqual([
      [],
      ['otp/sms-low resolved warning (topped-up)'],
    ]);
  });

  test.each(['reload', 'restart'])(
    'that swaps its address by a %s with one that fails hears the end of that failure by its new name',
    async (how) => {
      const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
      world.channel('finance').mood = 'dead';
      const told = await read(world, 100);
      expect(told).toContain('@lowwater/channel-failed:finance firing critical');
      const channels = [makeChannel('ops', 'finance'), makeChannel('finance', 'ops')];
      if (how === 'restart') await world.stop();
      world.settings = { ...world.settings, channels };
      world.channel('finance').mood = 'up';
      if (how === 'restart') world.start();
      else await world.daemon.reload(world.settings);
      await read(world, 1000);
      await world.pass(minuteMs);
      expect(world.news('finance').join('; ')).toContain(
        '@lowwater/channel-failed:finance resolved critical',
      );
    },
  );

  test('that is new hears of what is open', async () => {
    const world = await startWorld({ rules: [rule] });
    await read(world, 100);
    world.reload({ rules: [rule], channels: ['ops', 'finance'] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual([]);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
  });

  test('that is removed leaves nothing waiting, by reload or by restart', async () => {
    for (const how of ['reload', 'restart'] as const) {
      const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
      world.channel('finance').mood = 'down';
      await read(world, 100);
      if (how === 'reload') world.reload({ rules: [rule] });
      else await world.restart({ downMs: minuteMs, parts: { rules: [rule] } });
      await world.pass(step);
      const waiting = (await world.views.notifications(10)).filter(({ state }) => state === 'pending');
      expect(waiting).toEqual([]);
      world.news();
      await world.pass(minuteMs);
      expect(await read(world, 1000)).toEqual(['otp/sms-low resolved warning (topped-up)']);
      await world.pass(minuteMs);
      expect(world.daemon.state.incidents.size).toBe(0);
    }
  });

  test('that failed and is removed is closed as removed, not as working', async () => {
    const world = await startWorld({ rules: [rule], channels: ['ops', 'finance'] });
    world.channel('finance').mood = 'dead';
    await read(world, 100);
    await world.pass(minuteMs);
    world.news();
    world.reload({ rules: [rule] });
    await world.pass(minuteMs);
    expect(world.news()).toEqual(['@lowwater/channel-failed:finance resolved critical (channel-removed)']);
  });
});

/** The same webhook under another name. */
function moved({ settings }: World, name: string): Settings {
  const channels = settings.channels.map((channel) =>
    channel.name === name
      ? { ...channel, place: new Secret('https://hooks.example.com/elsewhere') }
      : channel,
  );
  return { ...settings, channels };
}

function rename(world: World, from: string, to: string): void {
  world.settings = renamed(world, from, to);
  world.daemon.reload(world.settings);
}

function renamed({ settings: { channels, routes, ...rest } }: World, from: string, to: string): Settings {
  return {
    ...rest,
    channels: channels.map((channel) => (channel.name === from ? makeChannel(to, from) : channel)),
    routes: routes.map((route) => ({
      ...route,
      channels: route.channels.map((name) => (name === from ? to : name)),
    })),
  };
}

test('the settings of these tests are as the configuration makes them', () => {
  expect(makeSettings().rules.map(({ id }) => id)).toEqual([
    'sms-negative',
    'late-top-up',
    'currency',
    'stale',
    'auth-failed',
  ]);
});
