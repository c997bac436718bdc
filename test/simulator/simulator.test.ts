import { Agent, request } from 'undici';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ScenarioInput, scenarioSchema } from '../../src/simulator/scenario.ts';
import { systemRandom } from '../../src/system/random.ts';
import { HandClock } from '../support/hand-clock.ts';
import { accountAt, createTestClient } from '../support/loopback-provider.ts';
import { type Simulator, startSimulator } from '../support/simulator.ts';

const never = new AbortController().signal;
const otp = { id: 'otp', authSecret: 'otp-key', sms: '100', voip: '-2.5', currency: 'CNY' };

const dispatcher = new Agent({ allowH2: false });

let clock: HandClock;
let simulator: Simulator;

async function play(scenario: Omit<ScenarioInput, 'accounts'> & Partial<ScenarioInput>): Promise<void> {
  clock = new HandClock();
  simulator = await startSimulator({
    port: 0,
    host: '127.0.0.1',
    scenario: scenarioSchema.parse({ accounts: [otp], ...scenario }),
    clock,
    random: systemRandom,
  });
}

beforeEach(() => play({}));
afterEach(() => simulator.close());
afterAll(() => dispatcher.close());

async function post(
  path: string,
  body: unknown = { authSecret: 'otp-key' },
  method = 'POST',
  type: string | null = 'application/json',
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await request(simulator.url + path, {
    method,
    body: method === 'GET' ? null : text,
    headers: type === null ? {} : { 'content-type': type },
    dispatcher,
  });
  return {
    status: response.statusCode,
    headers: response.headers,
    ...JSON.parse(await response.body.text()),
  };
}

async function postMany(path: string, count: number): Promise<Record<number, number>> {
  const codes: Record<number, number> = {};
  for (const { code } of await Promise.all(Array.from({ length: count }, () => post(path))))
    codes[code] = (codes[code] ?? 0) + 1;
  return codes;
}

describe('the documented interface', () => {
  test.each([null, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'refuses a body of the type %s',
    async (type) => {
      const { status, code, result } = await post('/user/account/balance', undefined, 'POST', type);
      expect({ status, code, result }).toEqual({ status: 415, code: -5, result: undefined });
    },
  );

  test('takes parameters of the type', async () => {
    const type = 'Application/JSON; charset=utf-8';
    expect(await post('/user/account/balance', undefined, 'POST', type)).toMatchObject({ code: 200 });
  });

  test('the balance of an account, negative values included', async () => {
    expect(await post('/user/account/balance')).toMatchObject({
      status: 200,
      code: 200,
      msg: 'SUCCESS',
      result: { smsBalance: 100, voipBalance: -2.5, currency: 'CNY' },
    });
  });

  test.each([[{ authSecret: 'wrong' }], [{}], [{ authSecret: 7 }]])(
    'a wrong secret is refused by code -22 without a result: %j',
    async (body) => {
      const answer = await post('/user/account/balance', body);
      expect(answer).toMatchObject({ status: 400, code: -22, msg: 'auth secret error!' });
      expect(answer).not.toHaveProperty('result');
    },
  );

  test.each([
    ['/sms/txt/2/send', 'sms', 99_950_000],
    ['/sms/txt/3/query', 'sms', 99_950_000],
    ['/sms/txt/3/send/json', 'sms', 99_950_000],
    ['/sms/hlr/lookup', 'sms', 99_990_000],
    ['/call', 'voip', -2_700_000],
    ['/user/account/keys', 'sms', 100_000_000],
  ] as const)('%s authenticates and spends what it costs', async (path, balance, micros) => {
    expect(await post(path, { authSecret: 'wrong' })).toMatchObject({ code: -22 });
    expect(await post(path)).toMatchObject({ code: 200 });
    expect(simulator.control.balance('otp', balance)).toBe(micros);
  });

  test('usage headers come with answers and tell what is left', async () => {
    const { headers } = await post('/sms/hlr/');
    expect(headers['x-ratelimit-limit']).toBe('60');
    expect(headers['x-ratelimit-remaining']).toBe('59');
  });
});

describe('limits per account and group', () => {
  test.each([
    ['/user/account/balance', 200],
    ['/sms/txt/2/', 200],
    ['/sms/txt/3/', 60],
    ['/sms/txt/3/send/json', 200],
    ['/sms/hlr/', 60],
    ['/call', 200],
  ])('%s takes %i a second', async (path, limit) => {
    expect(await postMany(path, limit + 5)).toEqual({ 200: limit, [-32]: 5 });
    const refused = await post(path);
    expect(refused).toMatchObject({ status: 429, code: -32, msg: 'Too Many Requests' });
    clock.advance(1000);
    expect(await post(path)).toMatchObject({ code: 200 });
  });

  test('groups are measured apart from each other, also the two of one-time passwords', async () => {
    await postMany('/sms/txt/3/', 61);
    await postMany('/sms/txt/2/', 201);
    for (const path of ['/sms/txt/3/send/json', '/sms/hlr/', '/call', '/user/account/balance']) {
      expect(await post(path)).toMatchObject({ code: 200 });
    }
  });

  test('members of one group share its limit', async () => {
    await postMany('/user/account/keys', 200);
    expect(await post('/user/account/balance')).toMatchObject({ code: -32 });
  });

  test('any one second counts, not the seconds of the clock', async () => {
    await postMany('/sms/hlr/', 30);
    clock.advance(900);
    await postMany('/sms/hlr/', 30);
    expect(await post('/sms/hlr/')).toMatchObject({ code: -32 });
    clock.advance(100);
    expect(await postMany('/sms/hlr/', 31)).toEqual({ 200: 30, [-32]: 1 });
  });

  test('accepted messages are passed on, and paid, at 60 a second', async () => {
    expect(await postMany('/sms/txt/3/send/json', 180)).toEqual({ 200: 180 });
    const spent = () => (100_000_000 - simulator.control.balance('otp', 'sms')) / 50_000;
    expect(spent()).toBe(1);
    clock.advance(999);
    expect(spent()).toBe(60);
    clock.advance(1001);
    expect(spent()).toBe(121);
    expect(simulator.control.waitingMessages('otp')).toBe(59);
    clock.advance(1000);
    expect(spent()).toBe(180);
    expect(simulator.control.waitingMessages('otp')).toBe(0);
  });

  test('another account has limits of its own', async () => {
    await simulator.close();
    await play({ accounts: [otp, { ...otp, id: 'other', authSecret: 'other-key' }] });
    await postMany('/call', 201);
    expect(await post('/call', { authSecret: 'other-key' })).toMatchObject({ code: 200 });
  });
});

describe('mistakes are answered in the envelope, by codes of the simulator', () => {
  test.each<[name: string, path: string, body: string, method: string, status: number]>([
    ['a path that is not documented', '/nowhere', '{}', 'POST', 404],
    ['another method', '/user/account/balance', '', 'GET', 405],
    ['a body that is no JSON', '/user/account/balance', '{"authSecret":', 'POST', 400],
    ['a body that is a list', '/user/account/balance', '[]', 'POST', 400],
    ['a body that is empty', '/user/account/balance', '', 'POST', 400],
    ['a body that is too large', '/user/account/balance', ' '.repeat(70_000), 'POST', 413],
  ])('%s', async (_name, path, body, method, status) => {
    const answer = await post(path, body, method);
    expect(answer).toMatchObject({ status, msg: expect.any(String) });
    expect(answer.code).toBeLessThan(0);
    expect([-22, -32]).not.toContain(answer.code);
  });
});

describe('the script', () => {
  test('spends by the hour of the day, exactly, however often somebody looks', async () => {
    await simulator.close();
    const burn = {
      sms: [
        { from: 9, to: 10, perHour: '7.000001' },
        { from: 22, to: 6, perHour: '1' },
      ],
      voip: '0.000007',
    };
    await play({ accounts: [{ ...otp, burn }] });
    for (let minute = 0; minute < 90; minute += 1) {
      clock.advance(60_000);
      simulator.control.balance('otp', 'sms');
    }
    // 08:00 to 09:30.
    expect(simulator.control.balance('otp', 'sms')).toBe(100_000_000 - 3_500_000);
    expect(simulator.control.balance('otp', 'voip')).toBe(-2_500_010);
    clock.advance((22.5 * 3600 + 365 * 24 * 3600) * 1000);
    // A year and a day later, 08:00: 366 times 7.000001 + 8.
    expect(simulator.control.balance('otp', 'sms')).toBe(100_000_000 - 366 * 15_000_001);
  });

  test('runs faster than the clock by `speed`', async () => {
    await simulator.close();
    await play({ speed: 60, accounts: [{ ...otp, burn: { sms: '10' } }] });
    clock.advance(60_000);
    expect(simulator.control.balance('otp', 'sms')).toBe(90_000_000);
  });

  test('tops up once, and again where it says so', async () => {
    await simulator.close();
    await play({
      events: [
        { at: '10s', do: 'top-up', account: 'otp', balance: 'voip', amount: '2.5' },
        { at: '1m', every: '1m', do: 'top-up', account: 'otp', amount: '0.000001' },
      ],
    });
    clock.advance(9999);
    expect(simulator.control.balance('otp', 'voip')).toBe(-2_500_000);
    clock.advance(1);
    expect(simulator.control.balance('otp', 'voip')).toBe(0);
    clock.advance(3_590_000);
    expect(simulator.control.balance('otp', 'sms')).toBe(100_000_060);
  });

  test('sets a balance at its instant, and spending goes on from there', async () => {
    await simulator.close();
    const burn = { sms: '3600' };
    await play({
      accounts: [{ ...otp, burn }],
      events: [{ at: '10s', do: 'set-balance', account: 'otp', amount: '50' }],
    });
    clock.advance(15_000);
    expect(simulator.control.balance('otp', 'sms')).toBe(45_000_000);
  });

  test('revokes and restores a key, and changes a currency', async () => {
    await simulator.close();
    await play({
      events: [
        { at: '1s', do: 'revoke-key', account: 'otp' },
        { at: '2s', do: 'restore-key', account: 'otp' },
        { at: '3s', do: 'currency', account: 'otp', currency: 'USD' },
      ],
    });
    clock.advance(1000);
    expect(await post('/user/account/balance')).toMatchObject({ code: -22 });
    clock.advance(1000);
    expect(await post('/user/account/balance')).toMatchObject({ code: 200, result: { currency: 'CNY' } });
    clock.advance(1000);
    expect(await post('/user/account/balance')).toMatchObject({ result: { currency: 'USD' } });
  });

  test('an event that comes again before it is over goes on', async () => {
    await simulator.close();
    await play({ events: [{ at: '1s', for: '5s', every: '3s', do: 'wrong-body', body: { code: -7 } }] });
    for (const _ of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      clock.advance(1000);
      expect(await post('/user/account/balance')).toMatchObject({ code: -7 });
    }
  });

  test.each([
    ['an outage', { do: 'outage' }, { kind: 'http_error', status: 503 }],
    ['an outage of another status', { do: 'outage', status: 500 }, { kind: 'http_error', status: 500 }],
    ['a reset', { do: 'outage', as: 'reset' }, { kind: 'network_error' }],
    ['a truncated answer', { do: 'outage', as: 'truncated' }, { kind: 'network_error' }],
    ['hanging', { do: 'outage', as: 'hang' }, { kind: 'timeout' }],
    ['a wrong body as text', { do: 'wrong-body', body: '<html>' }, { kind: 'invalid_response' }],
    [
      'a wrong body as JSON',
      { do: 'wrong-body', body: { code: -7, msg: 'busy' } },
      { kind: 'api_error', code: -7 },
    ],
    ['a wrong body with a status', { do: 'wrong-body', status: 429, body: '' }, { kind: 'rate_limited' }],
  ] as const)('%s begins and ends', async (_name, event, expected) => {
    await simulator.close();
    await play({ events: [{ at: '1s', for: '5s', ...event }] });
    // Long enough for a busy machine; only an answer that never comes waits for all of it.
    const client = createTestClient({ timeoutMs: expected.kind === 'timeout' ? 1000 : 10_000 });
    const read = () => client.readBalance(accountAt(simulator.url, 'otp-key'), never);
    expect(await read()).toMatchObject({ kind: 'ok' });
    clock.advance(1000);
    expect(await read()).toMatchObject(expected);
    clock.advance(5000);
    expect(await read()).toMatchObject({ kind: 'ok' });
    await client.close();
  });

  test('troubles one account and leaves the others alone', async () => {
    await simulator.close();
    await play({
      accounts: [otp, { ...otp, id: 'other', authSecret: 'other-key' }],
      events: [{ at: '0s', for: '1h', do: 'wrong-body', account: 'other', body: { code: -1, msg: 'x' } }],
    });
    expect(await post('/user/account/balance')).toMatchObject({ code: 200 });
    expect(await post('/user/account/balance', { authSecret: 'other-key' })).toMatchObject({ code: -1 });
  });
});

describe('control', () => {
  test('changes balances, currency and keys while it runs', async () => {
    const { control } = simulator;
    control.setBalance('otp', 'sms', '12.000001');
    control.topUp('otp', 'sms', '0.5');
    control.setCurrency('otp', '"<EUR>');
    expect(await post('/user/account/balance')).toMatchObject({
      result: { smsBalance: 12.500001, currency: '"<EUR>' },
    });
    control.revokeKey('otp');
    expect(await post('/user/account/balance')).toMatchObject({ code: -22 });
    control.restoreKey('otp');
    expect(await post('/user/account/balance')).toMatchObject({ code: 200 });
    expect(() => control.setBalance('otp', 'sms', 'much')).toThrow('"much" is no amount');
    expect(() => control.topUp('nobody', 'sms', '1')).toThrow('no account "nobody"');
  });

  test('begins and ends faults, and counts requests by path and account', async () => {
    const { control } = simulator;
    control.fail({ kind: 'body', status: 200, body: '{"code":-9,"msg":"x"}' }, 'otp');
    expect(await post('/user/account/balance')).toMatchObject({ code: -9 });
    control.recover('otp');
    control.slowDown(10);
    expect(await post('/call')).toMatchObject({ code: 200 });
    await post('/call', { authSecret: 'wrong' });
    expect(control.requests()).toBe(3);
    expect(control.requests({ path: '/call' })).toBe(2);
    expect(control.requests({ account: 'otp' })).toBe(2);
    expect(control.requests({ path: '/call', account: 'otp' })).toBe(1);
  });
});
