import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createApi } from '../../src/http/api/routes.ts';
import { dayMs, hourMs, minuteMs } from '../support/account-facts.ts';
import { viewsNow } from '../support/built-views.ts';
import { demoParts } from '../support/demo-world.ts';
import { useMorning } from '../support/morning.ts';
import { seedDatabase } from '../support/seed-database.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';
import { startWorld, step, World } from '../support/world.ts';

const morning = useMorning();

describe('what the API gives', () => {
  it('accounts, money as decimal strings, times in UTC, null where unknown', async () => {
    const { accounts } = await get('/accounts');
    const usedUp = '2026-11-20T18:40:00.667Z';
    expect(accounts.find(({ id }: { id: string }) => id === 'voice-alerts')).toEqual({
      id: 'voice-alerts',
      name: 'Voice alerts',
      labels: { team: 'sre' },
      currency: 'CNY',
      outcome: 'ok',
      failure: null,
      polledAt: '2026-11-20T18:40:00.667Z',
      readAt: '2026-11-20T18:40:00.667Z',
      balances: { sms: '64', voip: '-18.383' },
      units: { sms: 'CNY', voip: 'CNY' },
      burnPerDay: { sms: '0', voip: '225' },
      runwaySeconds: { sms: null, voip: 0 },
      forecast: {
        sms: { emptyAt: null, earliest: null, latest: null, basis: 'mean-burn' },
        voip: { emptyAt: usedUp, earliest: usedUp, latest: usedUp, basis: 'mean-burn' },
      },
      consecutiveFailures: 0,
      backoffUntil: null,
      usageHeaders: {},
      severity: 'critical',
      firing: 1,
      pending: 0,
    });
    expect(accounts.at(-1)).toMatchObject({
      id: 'new-account',
      outcome: null,
      readAt: null,
      balances: { sms: null, voip: null },
    });
  });

  it.each(readOperations())('%s as its OpenAPI schema says', async (path, answer) => {
    const body = await get(path.replace('/api/v1', '').replace('{id}', 'otp').replace('{view}', 'accounts'));
    const parsed = answer.safeParse(body);
    expect(parsed.error?.issues.slice(0, 3)).toBeUndefined();
  });

  it('a view as the program holds it, whole', async () => {
    const held = JSON.parse(JSON.stringify(await morning.server.world.views.explain('otp')));
    expect(await get('/views/explain?account=otp')).toEqual({ items: held });
    expect(await get('/views/account?account=unknown')).toEqual({ items: [null] });
    expect((await get('/views/readings?account=otp')).items).toHaveLength(
      (await morning.server.world.views.readings('otp', 0, viewsNow + 1)).length,
    );
    expect(await refusal('/views/secrets')).toEqual([400, 'bad_request']);
  });

  it('alerts that are resolved only when asked for', async () => {
    const states = async (query: string) =>
      new Set((await get(`/alerts${query}`)).alerts.map(({ state }: { state: string }) => state));
    expect(await states('')).toEqual(new Set(['firing', 'pending']));
    expect(await states('?all=true')).toEqual(new Set(['firing', 'pending', 'resolved']));
  });

  it('the explanation of one rule, or a word that no such rule applies', async () => {
    const { explanations } = await get('/accounts/otp/explain?rule=sms-low');
    expect(explanations).toHaveLength(1);
    expect(explanations[0]).toMatchObject({
      verdict: 'breached',
      severity: 'critical',
      value: '42.1',
      threshold: '50',
    });
    expect(await refusal('/accounts/otp/explain?rule=other')).toEqual([404, 'not_found']);
  });

  it('an OpenAPI document in which every reference leads somewhere', async () => {
    const document = await get('/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const name of references) expect(Object.keys(document.components.schemas)).toContain(name);
    expect(Object.keys(document.paths)).toContain('/api/v1/accounts/{id}/history');
  });

  it('examples of bodies that match their patterns, which say no flags', async () => {
    type Schema = {
      readonly examples?: readonly Record<string, unknown>[];
      readonly properties?: Record<string, { readonly pattern?: string }>;
    };
    const { components } = await get('/openapi.json');
    for (const { examples = [], properties = {} } of Object.values<Schema>(components.schemas))
      for (const [key, text] of examples.flatMap((example) => Object.entries(example)))
        expect(String(text)).toMatch(new RegExp(properties[key]?.pattern ?? '', 'u'));
  });

  it('an operation of a name of its own for each path and method', async () => {
    const { paths } = await get('/openapi.json');
    const names = Object.values<Record<string, { operationId: string }>>(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(names.length).toBeGreaterThan(15);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a collection in pages', () => {
  it.each([
    ['accounts', '/accounts', 'id'],
    ['alerts', '/alerts', 'incident'],
    ['incidents', '/incidents', 'id'],
    ['notifications', '/notifications', 'id'],
    ['polls', '/accounts/otp/polls?since=3h', 'at'],
    ['points', '/accounts/otp/history?since=3h', 'at'],
    ['channels', '/channels', 'name'],
    ['silences', '/silences', 'startsAt'],
    ['explanations', '/accounts/otp/explain', 'rule'],
  ])('%s: two at a time give what all at once do', async (name, path, key) => {
    const ask = (query: string) => get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
    const keys = (answer: Record<string, Record<string, string>[]>) =>
      answer[name]?.map((item) => item[key]) ?? [];
    const whole = keys(await ask('limit=1000'));
    expect(whole.length).toBeGreaterThan(1);
    const paged: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page = await ask(`limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      paged.push(...keys(page));
      cursor = page.nextCursor;
    } while (cursor !== null && paged.length <= whole.length);
    expect(paged).toEqual(whole);
  });

  it('of readings goes on at its cursor though no limit is given then', async () => {
    const { points, nextCursor } = await get('/accounts/otp/history?since=3h&limit=2');
    const rest = await get(`/accounts/otp/history?since=3h&cursor=${nextCursor}`);
    expect([...points, ...rest.points]).toEqual((await get('/accounts/otp/history?since=3h')).points);
    expect(await refusal('/accounts/otp/history?cursor=zzz')).toEqual([400, 'bad_request']);
  });

  it('goes on where it was though what was given has gone, or all of it', async () => {
    await morning.change();
    const { nextCursor } = await get('/accounts?limit=2');
    const [first, second, third] = morning.server.world.views.accountIds();
    for (const gone of [[second], [first, second]]) {
      const accounts = demoParts.accounts.filter(({ id }) => !gone.includes(id));
      morning.server.world.reload({ ...demoParts, accounts });
      const rest = await get(`/accounts?limit=1&cursor=${nextCursor}`);
      expect(rest.accounts[0].id).toBe(third);
    }
  });

  it('leaves no open alert out where the last one given has resolved meanwhile', async () => {
    await morning.change();
    const namesAt = async (path: string): Promise<readonly string[]> =>
      (await get(path)).alerts.map((it: { account: string; rule: string }) => `${it.account} ${it.rule}`);
    const before = await namesAt('/alerts');
    const given = before.indexOf('otp sms-low') + 1;
    const { nextCursor } = await get(`/alerts?all=true&limit=${given}`);
    morning.server.world.provider.set('otp', 1_000_000);
    await morning.server.world.pass(10 * minuteMs);
    const open = await namesAt('/alerts');
    expect(open).not.toContain('otp sms-low');
    const left = before.slice(given).filter((name) => open.includes(name));
    expect(left.length).toBeGreaterThan(0);
    expect(await namesAt(`/alerts?all=true&cursor=${nextCursor}`)).toEqual(expect.arrayContaining(left));
  });

  it('gives a cursor that it takes, however much a silence names', async () => {
    await morning.change();
    const account = Array.from({ length: 100 }, (_, index) => `account-${index}-${'x'.repeat(50)}`);
    for (const comment of ['one', 'two'])
      await post('/silences', { match: { account, rule: ['a', 'b'] }, for: '1h', comment });
    const { silences, nextCursor } = await get('/silences?limit=1');
    const rest = await get(`/silences?cursor=${nextCursor}`);
    expect([...silences, ...rest.silences]).toHaveLength((await get('/silences')).silences.length);
  });

  it.each(['cursor=nonsense', 'cursor=WzFd', 'limit=0', 'limit=1001', 'limit=x'])(
    'refuses %s',
    async (query) => {
      expect(await refusal(`/incidents?${query}`)).toEqual([400, 'bad_request']);
    },
  );

  it('is compressed for those who take it', async () => {
    const response = await fetch(`${morning.server.url}/api/v1/accounts`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect((await read(response)).accounts.length).toBeGreaterThan(2);
  });
});

describe('history', () => {
  const history = (query: string) => get(`/accounts/otp/history?${query}`);

  it('comes whole and exact, from `since` inclusive to `until` exclusive', async () => {
    await morning.serve(await polledWorld(-18.383));
    expect(await history('since=2026-11-20T18:01:00Z&until=2026-11-20T18:41:00Z')).toEqual({
      nextCursor: null,
      points: [
        { at: '2026-11-20T18:01:00.000Z', sms: '-18.383', voip: '80', currency: 'CNY' },
        { at: '2026-11-20T18:21:00.000Z', sms: '-18.383', voip: '80', currency: 'CNY' },
      ],
    });
    const csv = await fetch(`${morning.server.url}/api/v1/accounts/otp/history.csv?since=30m`);
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect(csv.headers.get('content-disposition')).toBe(
      'attachment; filename="otp-2026-11-20-2026-11-20.csv"',
    );
    expect(await csv.text()).toBe(
      'at,sms,voip,currency\r\n2026-11-20T18:21:00.000Z,-18.383,80,CNY\r\n2026-11-20T18:41:00.000Z,-18.383,80,CNY\r\n',
    );
    expect((await history('since=30m')).points).toHaveLength(2);
    expect((await history(`since=${viewsNow - 30 * minuteMs}`)).points).toHaveLength(2);
  });

  it.each([
    ['2026-11-20T18:01:00Z', 3],
    ['2026-11-21T02:01:00%2B08:00', 3],
    // A plus that nobody escaped.
    ['2026-11-21T02:01:00+08:00', 3],
    ['2026-11-20T18:21', 2],
    ['2026-11-20', 4],
    ['2026-11-21', 0],
  ])('takes since=%s, in UTC where no zone is named', async (since, count) => {
    await morning.serve(await polledWorld(5));
    expect((await history(`since=${since}`)).points).toHaveLength(count);
  });

  it('is thinned to the points asked for and keeps the lowest and the highest', async () => {
    const dip = viewsNow - 3 * hourMs;
    const units = (at: number) => (at === dip ? -5 : at === dip + minuteMs ? 900 : 100);
    await morning.serve(lastingWorld((at) => units(at) * 1_000_000));
    const { points } = await history('since=1d&points=50');
    expect(points.length).toBeLessThanOrEqual(50);
    const values = points.map(({ sms }: { sms: string }) => Number(sms));
    expect([Math.min(...values), Math.max(...values)]).toEqual([-5, 900]);
  });

  it.each([
    'since=yesterday',
    'until=2026-13-45T00:00:00Z',
    'points=1',
    'points=lots',
    'points=-5',
    'since=99999999999999999',
    'since=2026-02-30',
    'since=2026-11-20T24:30:00Z',
  ])('refuses %s in words', async (query) => {
    expect(await refusal(`/accounts/otp/history?${query}`)).toEqual([400, 'bad_request']);
  });

  it('of an unknown account is not found', async () => {
    expect(await refusal('/accounts/nobody/history')).toEqual([404, 'not_found']);
  });
});

describe('what the API is asked to do', () => {
  it.each([
    ['/alerts?al=true', 'al: unknown key; did you mean "all"'],
    ['/accounts/otp/history?points=10&step=5m', 'step: unknown key'],
    ['/channels?x=1', 'x: unknown key'],
    ['/views/accounts?limit=7', 'limit: unknown key; none is known here'],
    ['/views/alerts?limit=7', 'limit: unknown key; known here: all'],
  ])('names a query parameter that it does not know: %s', async (path, said) => {
    const response = await fetch(`${morning.server.url}/api/v1${path}`);
    expect(response.status).toBe(400);
    expect((await read(response)).detail).toContain(said);
  });

  it('acknowledges with and without a body', async () => {
    await morning.change();
    const bare = await post('/alerts/otp/sms-low/ack');
    expect(bare.status).toBe(200);
    expect((await read(bare)).alert).toMatchObject({
      account: 'otp',
      acknowledged: { by: 'api', comment: '' },
    });
    await post('/alerts/voice-alerts/voip-negative/ack', { by: 'Lin', comment: 'on it' });
    expect((await morning.server.world.views.alert('voice-alerts', 'voip-negative'))?.acknowledged).toEqual({
      at: viewsNow,
      by: 'Lin',
      comment: 'on it',
      severity: 'critical',
      rises: 0,
    });
    expect((await post('/alerts/otp/none/ack')).status).toBe(404);
  });

  it('acknowledges many at once and names those that have ended', async () => {
    await morning.change();
    const { acks } = await read(
      await post('/acks', {
        alerts: [
          { account: 'otp', rule: 'sms-low' },
          { account: 'otp', rule: 'gone' },
        ],
        by: 'Lin',
      }),
    );
    expect(acks).toEqual([
      { account: 'otp', rule: 'sms-low', acknowledged: true, why: null },
      {
        account: 'otp',
        rule: 'gone',
        acknowledged: false,
        why: 'no incident of rule "gone" is open for account "otp"; firing: sms-low, sms-runway',
      },
    ]);
  });

  it('gives an acknowledgement back', async () => {
    await morning.change();
    expect((await morning.server.world.views.alert('marketing-eu', 'sms-runway'))?.acknowledged?.by).toBe(
      'Priya',
    );
    const response = await fetch(`${morning.server.url}/api/v1/alerts/marketing-eu/sms-runway/ack`, {
      method: 'DELETE',
    });
    expect((await read(response)).alert).toMatchObject({ account: 'marketing-eu', acknowledged: null });
  });

  it('silences everything only in so many words', async () => {
    await morning.change();
    await post('/silences', { match: {}, everything: true, for: '1h' });
    await post('/silences', { everything: true, for: '1h' });
    expect(ordered().map(({ match }) => match)).toEqual([{}, {}]);
    expect([...morning.server.world.views.firing()].map(({ silenced }) => silenced)).toEqual(
      Array(5).fill(true),
    );
  });

  it('takes one that names every severity for one of everything', async () => {
    const body = JSON.stringify({ match: { severity: ['info', 'warning', 'critical'] }, for: '1h' });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${morning.server.url}/api/v1/silences`, { method: 'POST', body, headers });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('every alert of every account');
    expect(ordered()).toEqual([]);
  });

  it.each([
    '{"match":{"labels":{"__proto__":"x"}},"for":"1h"}',
    '{"match":{"account":"otp","labels":{"\\u005f_proto__":"x"}},"for":"1h"}',
    '{"match":{"account":"otp","__proto__":{"rule":"sms-low"}},"for":"1h"}',
  ])('refuses a label that would be lost: %s', async (body) => {
    const response = await fetch(`${morning.server.url}/api/v1/silences`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('__proto__');
    expect(ordered()).toEqual([]);
  });

  it('reaches alerts whose ids need escaping', async () => {
    const path = `/alerts/${encodeURIComponent('@provider:api.example.com')}/provider-down/ack`;
    expect((await post(path)).status).toBe(404);
    const world = await startWorld({ accounts: ['a', 'b', 'c', 'd'] });
    await morning.serve(world);
    world.provider.breakDown('network_error');
    await world.pass(6 * step);
    expect((await post(path)).status).toBe(200);
  });

  it('silences for a time, lists it, and ends it', async () => {
    await morning.change();
    const made = await post('/silences', {
      match: { account: 'otp', severity: ['warning'] },
      for: '2h',
      by: 'Lin',
      comment: 'test',
    });
    expect(made.status).toBe(201);
    const { silence } = await read(made);
    expect(silence).toEqual({
      id: ordered()[0]?.id,
      match: { account: ['otp'], severity: ['warning'] },
      startsAt: '2026-11-20T18:41:00.000Z',
      endsAt: '2026-11-20T20:41:00.000Z',
      by: 'Lin',
      comment: 'test',
      active: true,
    });
    expect((await get('/silences')).silences.map(({ id }: { id: string }) => id)).toContain(silence.id);
    const ended = await fetch(`${morning.server.url}/api/v1/silences/${silence.id}`, { method: 'DELETE' });
    expect(await ended.json()).toEqual({ expired: silence.id });
    const again = await fetch(`${morning.server.url}/api/v1/silences?id=${silence.id}`, { method: 'DELETE' });
    expect(again.status).toBe(404);
    expect((await read(again)).detail).toBe(`the silence "${silence.id}" has ended already, or never was`);
  });

  it('ends a silence that the body names', async () => {
    await morning.change();
    const [batch] = morning.server.world.views.silences().filter(({ by }) => by === 'Lin');
    const response = await fetch(`${morning.server.url}/api/v1/silences`, {
      method: 'DELETE',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: batch?.id }),
    });
    expect(response.status).toBe(200);
    expect(morning.server.world.views.silences().map(({ by }) => by)).toEqual(['configuration']);
  });

  it('silences from and until instants of another zone', async () => {
    await morning.change();
    const match = { rule: 'sms-low' };
    const made = await post('/silences', {
      match,
      startsAt: '2026-11-21T04:00:00+08:00',
      endsAt: '2026-11-21T06:00:00+08:00',
    });
    expect((await read(made)).silence).toMatchObject({
      startsAt: '2026-11-20T20:00:00.000Z',
      endsAt: '2026-11-20T22:00:00.000Z',
    });
  });

  it.each([
    ['neither duration nor end', { match: {} }],
    ['both', { match: {}, for: '1h', endsAt: '2026-11-21T00:00:00Z' }],
    ['an end in the past', { match: {}, endsAt: '2026-11-19T00:00:00Z' }],
    ['more than a year', { match: {}, for: '400d' }],
    ['a duration that is none', { match: {}, for: 'soon' }],
    ['an unknown key', { match: { acount: 'otp' }, for: '1h' }],
    ['an unknown severity', { match: { severity: 'bad' }, for: '1h' }],
    ['a list', []],
  ])('refuses a silence with %s', async (_what, body) => {
    const response = await post('/silences', body);
    expect(response.status).toBe(400);
    const { error } = await read(response);
    expect(error.code).toBe('bad_request');
    expect(error.message).not.toBe('');
    expect(ordered()).toEqual([]);
  });

  it('says which severities there are', async () => {
    const { error } = await read(await post('/silences', { match: { severity: 'bad' }, for: '1h' }));
    expect(error.message).toBe('match.severity: give info, warning, critical, or a list of these');
  });

  it.each([
    ['/silences', { duration: '1h' }, 'duration: unknown key; known here: '],
    [
      '/silences',
      { match: { acount: 'otp' }, for: '1h' },
      'match.acount: unknown key; did you mean "account"?',
    ],
    ['/silences', { match: 'otp', for: '1h' }, 'match: must be an object in braces'],
    [
      '/silences',
      { match: { account: [] }, for: '1h' },
      'match.account: give a text, or a list of 1 to 100 texts',
    ],
    ['/silences', { everything: 1, for: '1h' }, 'everything: must be true or false'],
    [
      '/silences',
      { everything: true, endsAt: '2026-12-01T08:00Z' },
      'endsAt: give a time with seconds and Z or an offset, such as 2026-11-20T12:00:00Z',
    ],
    ['/acks', { alerts: [] }, 'alerts: give 1 to 1000 alerts, each as {"account","rule"}'],
    ['/acks', {}, 'alerts: give 1 to 1000 alerts, each as {"account","rule"}'],
    ['/alerts/otp/sms-low/ack', { severity: 'high' }, 'severity: give info, warning or critical'],
    ['/accounts/otp/readings', { balances: 5 }, 'balances: give each balance by its id, such as {"'],
    ['/expected-top-ups', { seen: 'x-1' }, 'seen: give a list of at most 100 ids'],
  ])('says where the body of %s is wrong and what is allowed: %j', async (path, body, expected) => {
    const { error } = await read(await post(path, body));
    expect(error.message).toContain(expected);
  });

  it('refuses a reading of which a balance stands twice with different values', async () => {
    const reading = '{"at":"2026-11-20T12:00:00Z","currency":"CNY","balances":{"sms":"3","sms":"300"}}';
    const headers = { 'content-type': 'application/json', origin: morning.server.url };
    const address = `${morning.server.url}/api/v1/accounts/otp/readings`;
    const response = await fetch(address, { method: 'POST', body: reading, headers });
    expect(response.status).toBe(400);
    expect((await read(response)).error.message).toBe('The body holds a key twice, with different values.');
  });

  it('refuses to guess what "all" means', async () => {
    const response = await fetch(`${morning.server.url}/api/v1/alerts?all=1`);
    expect(response.status).toBe(400);
    expect((await read(response)).error.message).toBe('all: give true or false');
  });

  it('polls now, and says when it may not', async () => {
    await morning.change();
    const { world } = morning.server;
    world.provider.set('otp', 41);
    const polled = post('/accounts/otp/poll');
    await expect.poll(() => world.pass(10).then(() => world.provider.asked.get('otp')?.length)).toBe(2);
    expect(await (await polled).json()).toMatchObject({
      outcome: 'ok',
      account: { id: 'otp', balances: { sms: '41' } },
    });
    world.provider.fail('otp', 'rate_limited', { retryAfterMs: 17 * minuteMs });
    await world.pass(step);
    const refused = await post('/accounts/otp/poll');
    expect(refused.status).toBe(409);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(await refused.json()).toEqual({
      type: 'about:blank',
      title: 'Not now',
      status: 409,
      detail: 'the provider refused lately; the next poll is due in 960 s',
      error: { code: 'not_now', message: 'the provider refused lately; the next poll is due in 960 s' },
    });
  });

  it('never says of a refused key that the provider asked to wait', async () => {
    await morning.change();
    const { world } = morning.server;
    world.provider.fail('otp', 'auth_failed');
    await world.pass(step);
    const refused = await post('/accounts/otp/poll');
    expect(refused.status).toBe(409);
    expect((await read(refused)).detail).toMatch(
      /^the provider refused lately; the next poll is due in \d+ s$/,
    );
  });

  it.each([
    ['no JSON', '{"by":', 'application/json', 400],
    ['a form', 'by=x', 'application/x-www-form-urlencoded', 415],
    ['text', '{}', 'text/plain', 415],
    ['too much', JSON.stringify({ comment: 'x'.repeat(70_000) }), 'application/json', 413],
    [
      'a comment of a thousand characters',
      JSON.stringify({ comment: 'x'.repeat(1_000) }),
      'application/json',
      400,
    ],
  ])('refuses %s', async (_what, body, type, status) => {
    const response = await fetch(`${morning.server.url}/api/v1/alerts/otp/sms-low/ack`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect((await morning.server.world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
  });
});

describe('addresses', () => {
  it('answers a wrong method with the ones it takes', async () => {
    const response = await fetch(`${morning.server.url}/api/v1/accounts`, { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('HEAD, GET');
  });

  it('answers HEAD without a body', async () => {
    const response = await fetch(`${morning.server.url}/api/v1/accounts`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it('refuses a broken percent sign', async () => {
    expect(await refusal('/accounts/%E0%A4%A')).toEqual([400, 'bad_request']);
  });

  it('names nothing that Object has by itself', async () => {
    expect((await fetch(`${morning.server.url}/assets/constructor`)).status).toBe(404);
    expect((await fetch(`${morning.server.url}/assets/..%2Fhtml.ts`)).status).toBe(404);
  });
});

/** A world that has polled `otp` each 20 minutes of the hour before `viewsNow`. */
async function polledWorld(sms: number): Promise<World> {
  const seldom = makeAccount('otp', { poll: { kind: 'every', everyMs: 20 * minuteMs } });
  const world = new World({ accounts: [seldom] }, { startAt: viewsNow - hourMs });
  world.provider.set('otp', sms, { voip: 80 });
  world.daemon.start();
  await world.pass(hourMs + 1_000);
  return world;
}

/** A world after a day of a poll each minute, up to `viewsNow`. */
function lastingWorld(sms: (at: number) => number): World {
  const polls = Array.from({ length: 1_441 }, (_, index) => viewsNow - dayMs + index * minuteMs);
  const answers = polls.map((at) => ({ account: 'otp', at, answer: { sms: sms(at), voip: 0 } }));
  return new World({}, { startAt: viewsNow, leave: (path) => seedDatabase(path, makeSettings(), answers) });
}

/** The silences that were ordered since the morning. */
function ordered() {
  return morning.server.world.views
    .silences()
    .filter(({ by, comment }) => by !== 'configuration' && comment !== 'load test until 22:00');
}

/** What is read without a change, by path, with the schema of its answer. */
function readOperations(): (readonly [path: string, answer: z.ZodType])[] {
  return createApi('test').openAPIRegistry.definitions.flatMap((definition) => {
    if (definition.type !== 'route' || definition.route.method !== 'get') return [];
    const answer = definition.route.responses[200];
    const content = answer !== undefined && 'content' in answer ? answer.content?.['application/json'] : null;
    const schema = content && 'schema' in content ? content.schema : null;
    return schema instanceof z.ZodType ? [[definition.route.path, schema] as const] : [];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of any shape, looked at by the tests.
async function get(path: string): Promise<any> {
  const response = await fetch(`${morning.server.url}/api/v1${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  return response.json();
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function read(response: Response): Promise<any> {
  return response.json();
}

async function refusal(path: string): Promise<[number, string]> {
  const response = await fetch(`${morning.server.url}/api/v1${path}`);
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}

function post(path: string, body?: unknown): Promise<Response> {
  return fetch(`${morning.server.url}/api/v1${path}`, {
    method: 'POST',
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
}
