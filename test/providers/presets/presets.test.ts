import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { formatMicros, type Micros } from '../../../src/domain/money.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { DescribedEntry } from '../../../src/providers/http-json/http-json-kind.ts';
import type { SimulatedBalances } from '../../../src/providers/kind.ts';
import { type PresetKind, presetKinds } from '../../../src/providers/presets/preset-kinds.ts';
import { type SimulatedApi, startSimulatedApi } from '../../../src/simulator/simulated-api.ts';
import { systemClock } from '../../../src/system/clock.ts';

/** What its source documents, written from there and not from the preset: the request, and what the sample answer says. */
interface Documented {
  /** `$name` is a credential as it is. */
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Balances in their order, and the currency. */
  readonly reading: readonly [...string[]];
}

const basic = (user: string, password: string) => ({ authorization: `Basic ${user}:${password}` });
const bearer = (name: string) => ({ authorization: `Bearer $${name}` });

const documented: Readonly<Record<string, Documented>> = {
  '46elks': {
    request: 'GET https://api.46elks.com/a1/me',
    headers: basic('$apiUsername', '$apiPassword'),
    reading: ['314.15', 'SEK'],
  },
  africastalking: {
    request: 'GET https://api.africastalking.com/version1/user?username=$username',
    headers: { apikey: '$apiKey' },
    reading: ['640.25', 'KES'],
  },
  brightdata: {
    request: 'GET https://api.brightdata.com/customer/balance',
    headers: bearer('apiKey'),
    reading: ['212.25', 'USD'],
  },
  bulksms: {
    request: 'GET https://api.bulksms.com/v1/profile',
    headers: basic('$tokenId', '$tokenSecret'),
    reading: ['120.5', 'credits'],
  },
  clickatell: {
    request: 'GET https://platform.clickatell.com/public-client/balance',
    headers: { authorization: '$apiKey' },
    reading: ['88.1', 'USD'],
  },
  clicksend: {
    request: 'GET https://rest.clicksend.com/v3/account',
    headers: basic('$username', '$apiKey'),
    reading: ['12.5', 'AUD'],
  },
  deepgram: {
    request: 'GET https://api.deepgram.com/v1/projects/$projectId/balances',
    headers: { authorization: 'Token $apiKey' },
    reading: ['96.1', 'USD'],
  },
  deepseek: {
    request: 'GET https://api.deepseek.com/user/balance',
    headers: bearer('apiKey'),
    reading: ['72.5', 'CNY'],
  },
  didww: {
    request: 'GET https://api.didww.com/v3/balance',
    headers: {
      accept: 'application/vnd.api+json',
      'api-key': '$apiKey',
      'x-didww-api-version': '2026-04-16',
    },
    reading: ['50', '42', 'USD'],
  },
  digitalocean: {
    request: 'GET https://api.digitalocean.com/v2/customers/my/balance',
    headers: bearer('token'),
    reading: ['23.44', 'USD'],
  },
  elevenlabs: {
    request: 'GET https://api.elevenlabs.io/v1/user/subscription',
    headers: { 'xi-api-key': '$apiKey' },
    reading: ['41790', 'characters'],
  },
  exolve: {
    request: 'POST https://api.exolve.ru/finance/v1/GetBalance',
    headers: { ...bearer('apiKey'), 'content-type': 'application/json' },
    body: '{}',
    reading: ['915.4', 'RUB'],
  },
  exotel: {
    request: 'GET https://api.exotel.com/v1/Accounts/$accountSid/Balance.json',
    headers: basic('$apiKey', '$apiToken'),
    reading: ['880.5', 'INR'],
  },
  fal: {
    request: 'GET https://rest.alpha.fal.ai/billing/user_balance',
    headers: { authorization: 'Key $apiKey' },
    reading: ['18.25', 'USD'],
  },
  featherless: {
    request: 'GET https://api.featherless.ai/credits/balance',
    headers: bearer('apiKey'),
    reading: ['25.5', 'USD'],
  },
  gatewayapi: {
    request: 'GET https://gatewayapi.com/rest/me',
    headers: { authorization: 'Token $token' },
    reading: ['1234.56', 'DKK'],
  },
  gupshup: {
    request: 'GET https://partner.gupshup.io/partner/app/$appId/wallet/balance',
    headers: { authorization: '$appToken' },
    reading: ['24.7', 'USD'],
  },
  infobip: {
    request: 'GET https://api.infobip.com/account/1/balance',
    headers: { authorization: 'App $apiKey' },
    reading: ['47.8', 'EUR'],
  },
  linode: {
    request: 'GET https://api.linode.com/v4/account',
    headers: bearer('token'),
    reading: ['37.75', 'USD'],
  },
  messagebird: {
    request: 'GET https://rest.messagebird.com/balance',
    headers: { authorization: 'AccessKey $accessKey' },
    reading: ['9.2', 'credits'],
  },
  moonshot: {
    request: 'GET https://api.moonshot.cn/v1/users/me/balance',
    headers: bearer('apiKey'),
    reading: ['18.2', 'CNY'],
  },
  novita: {
    request: 'GET https://api.novita.ai/openapi/v1/billing/balance/detail',
    headers: bearer('apiKey'),
    reading: ['25.5', '25.5', 'USD'],
  },
  openrouter: {
    request: 'GET https://openrouter.ai/api/v1/credits',
    headers: bearer('managementKey'),
    reading: ['18.2', 'USD'],
  },
  plivo: {
    request: 'GET https://api.plivo.com/v1/Account/$authId/',
    headers: basic('$authId', '$authToken'),
    reading: ['7.215', 'USD'],
  },
  sendgrid: {
    request: 'GET https://api.sendgrid.com/v3/user/credits',
    headers: bearer('apiKey'),
    reading: ['310', 'emails'],
  },
  seven: {
    request: 'GET https://gateway.seven.io/api/balance',
    headers: { 'x-api-key': '$apiKey' },
    reading: ['12.3', 'EUR'],
  },
  siliconflow: {
    request: 'GET https://api.siliconflow.cn/v1/user/info',
    headers: bearer('apiKey'),
    reading: ['41.25', 'CNY'],
  },
  sipgate: {
    request: 'GET https://api.sipgate.com/v2/balance',
    headers: basic('$tokenId', '$token'),
    reading: ['12.34', 'EUR'],
  },
  smsaero: {
    request: 'GET https://gate.smsaero.ru/v2/balance',
    headers: basic('$email', '$apiKey'),
    reading: ['512.6', 'RUB'],
  },
  smsapi: {
    request: 'GET https://api.smsapi.com/profile',
    headers: bearer('token'),
    reading: ['87.5', 'points'],
  },
  smsc: {
    request: 'GET https://smsc.ru/sys/balance.php?login=$login&psw=$password&fmt=3&cur=1',
    reading: ['63.2', 'RUB'],
  },
  smsto: {
    request: 'GET https://auth.sms.to/api/balance',
    headers: bearer('apiKey'),
    reading: ['12.4', 'EUR'],
  },
  stability: {
    request: 'GET https://api.stability.ai/v1/user/balance',
    headers: bearer('apiKey'),
    reading: ['904.37', 'credits'],
  },
  telnyx: {
    request: 'GET https://api.telnyx.com/v2/balance',
    headers: bearer('apiKey'),
    reading: ['36.4', '31.4', 'USD'],
  },
  termii: {
    request: 'GET https://api.ng.termii.com/api/get-balance?api_key=$apiKey',
    reading: ['250.5', 'NGN'],
  },
  textlocal: {
    request: 'GET https://api.txtlocal.com/balance/?apikey=$apiKey',
    reading: ['204.5', '3', 'credits'],
  },
  textmagic: {
    request: 'GET https://rest.textmagic.com/api/v2/user',
    headers: { 'x-tm-username': '$username', 'x-tm-key': '$apiKey' },
    reading: ['12.3', 'USD'],
  },
  twilio: {
    request: 'GET https://api.twilio.com/2010-04-01/Accounts/$accountSid/Balance.json',
    headers: basic('$accountSid', '$authToken'),
    reading: ['12.34', 'USD'],
  },
  'vercel-ai-gateway': {
    request: 'GET https://ai-gateway.vercel.sh/v1/credits',
    headers: bearer('apiKey'),
    reading: ['95.5', 'USD'],
  },
  vonage: {
    request: 'GET https://rest.nexmo.com/account/get-balance',
    headers: basic('$apiKey', '$apiSecret'),
    reading: ['23.4051', 'EUR'],
  },
  vultr: {
    request: 'GET https://api.vultr.com/v2/account',
    headers: bearer('apiKey'),
    reading: ['40.3', 'USD'],
  },
  yunpian: {
    request: 'POST https://sms.yunpian.com/v2/user/get.json',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'apikey=$apiKey',
    reading: ['200.5', 'messages'],
  },
  zenmux: {
    request: 'GET https://zenmux.ai/api/v1/management/payg/balance',
    headers: bearer('managementKey'),
    reading: ['64.2', 'USD'],
  },
};

const texts = createForeignTexts([]);

/** All requests of a test fall into one second. */
const stopped = { ...systemClock, monotonic: () => 0 };

/** What an entry gives as `baseUrl` where it has to; that of the row, for comparison. */
function addressOf(kind: PresetKind): string | undefined {
  return kind.preset.baseUrl === undefined ? undefined : new URL(kind.describe().request.url).origin;
}

/** An entry as the configuration makes it, of which a preset uses the description and the address alone. */
function entryOf(kind: PresetKind, baseUrl = addressOf(kind)): DescribedEntry {
  const built = kind.build(
    {
      name: 'trial',
      type: kind.type,
      timeoutMs: 10_000,
      maxRequestsPerSecond: 1,
      allowInsecureHttp: false,
      backoff: { initialMs: 1000, maxMs: 1000 },
      topUpUrl: null,
      written: {},
      shortestEveryMs: null,
      credentialNames: [],
      putIn: [],
    },
    {
      type: kind.type,
      baseUrl: baseUrl ?? (kind.preset.baseUrl === undefined ? undefined : 'https://api.infobip.com'),
    },
  );
  return 'problems' in built ? expect.fail(JSON.stringify(built.problems)) : built;
}

function credentialsOf(kind: PresetKind, value = (name: string) => name): Record<string, string> {
  return Object.fromEntries(kind.credentials({}).map(({ name }) => [name, value(name)]));
}

function requestOf(kind: PresetKind, entry: DescribedEntry, credentials: Record<string, string>) {
  const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);
  const request = kind.request(entry, {
    id: 'trial',
    baseUrl: null,
    credentials: Object.fromEntries(secrets),
  });
  if ('reason' in request) return expect.fail(request.reason);
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.reveal(),
  ]);
  return {
    line: `${request.method} ${request.url.reveal()}`,
    url: request.url.reveal(),
    method: request.method,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: request.body?.reveal() ?? null,
  };
}

function read(kind: PresetKind, answer: { readonly status: number; readonly body: string }) {
  const entry = entryOf(kind);
  return kind.readAnswer(
    { ...answer, headers: {} },
    { entry, account: { id: 'trial', baseUrl: null, credentials: {} }, texts, now: 0 },
  );
}

async function ask(kind: PresetKind, url: string, credentials: Record<string, string>) {
  const { method, headers, body, ...request } = requestOf(kind, entryOf(kind, url), credentials);
  const response = await fetch(request.url, { method, headers, body, redirect: 'manual' });
  return read(kind, { status: response.status, body: await response.text() });
}

describe('each preset', () => {
  test('has a row here, and nothing else has', () => {
    expect(presetKinds.map(({ type }) => type)).toEqual(Object.keys(documented).toSorted());
  });
});

describe.each(presetKinds.map((kind) => [kind.type, kind] as const))('%s', (type, kind) => {
  const row = documented[type] ?? { request: '', reading: [] };

  test('asks as its source documents', () => {
    const { line, headers, body } = requestOf(kind, entryOf(kind), credentialsOf(kind));
    const plain = (text: string): string => text.replaceAll('$', '');
    expect(line).toBe(plain(row.request));
    const { authorization = '', ...others } = headers;
    const readable = authorization.startsWith('Basic ')
      ? `Basic ${Buffer.from(authorization.slice(6), 'base64').toString()}`
      : authorization;
    const sent = readable === '' ? others : { ...others, authorization: readable };
    const wanted = Object.entries(row.headers ?? {}).map(([name, value]) => [name, plain(value)]);
    expect(sent).toEqual(Object.fromEntries(wanted));
    expect(body).toBe(row.body === undefined ? null : plain(row.body));
  });

  test('reads the answer that its source shows', () => {
    expect(readingOf(read(kind, { status: 200, body: JSON.stringify(kind.preset.sample) }))).toEqual(
      row.reading,
    );
  });

  test('takes no answer without an amount for a balance', () => {
    for (const body of ['{}', '[]', '{"data":{}}', '{"error":"x"}', '"0"x', ''])
      expect(read(kind, { status: 200, body }).kind).not.toBe('ok');
  });

  test('says of itself what people have to know', () => {
    const { name, source, limits } = kind.preset;
    expect([name, source, limits].every((text) => text.length > 2)).toBe(true);
    expect(Object.keys(credentialsOf(kind)).toSorted()).toEqual(
      [...new Set(JSON.stringify(kind.preset).match(/(?<=\{\{credentials\.)\w+/g))].toSorted(),
    );
    expect(kind.schema.safeParse({ type, baseUrl: 'https://gateway.example.net/x' }).error).toBeUndefined();
  });

  describe('against its simulated API', () => {
    let api: SimulatedApi;
    const right = credentialsOf(kind, (name) => `right-${name}`);
    const account = (amount: Micros, currency: string): SimulatedBalances => ({
      credentials: right,
      balances: Object.fromEntries(
        entryOf(kind).balances.map(({ id }, index) => [id, amount + index * 1_000_000]),
      ),
      currency,
    });
    const { currency } = kind.describe();
    const own = row.reading.at(-1) ?? '';

    beforeAll(async () => {
      const simulation = (await kind.loadSimulation?.()) ?? expect.fail('it cannot be simulated');
      const options = { port: 0, host: '127.0.0.1', accounts: [], spentPerHour: 0, clock: stopped };
      api = await startSimulatedApi({ ...options, simulation, requestsPerSecond: 8 });
    });
    afterAll(() => api.close());

    test('a wrong key is auth_failed', async () => {
      api.setAccounts([account(5_000_000, own)]);
      const wrong = credentialsOf(kind, (name) => `wrong-${name}`);
      expect(await ask(kind, api.url, wrong)).toMatchObject({ kind: 'auth_failed' });
    });

    test('odd amounts are read to the last digit, in another currency too, and too many requests are rate_limited', async () => {
      const amounts = [
        12_345_678,
        -1,
        0,
        9_007_199_254_000_000 - 1_000_000,
        -9_007_199_254_000_000,
        1_000_000,
      ];
      for (const amount of amounts) {
        const other = 'path' in currency && currency.map === undefined ? 'XAF' : own;
        api.setAccounts([account(amount, other)]);
        const outcome = await ask(kind, api.url, right);
        expect(outcome).toMatchObject({ kind: 'ok', answer: { currency: other } });
        const balances = outcome.kind === 'ok' ? outcome.answer.balances : {};
        expect(balances).toEqual(account(amount, other).balances);
      }
      const outcomes = [];
      for (let count = 0; count < 4; count += 1) outcomes.push((await ask(kind, api.url, right)).kind);
      expect(outcomes).toContain('rate_limited');
    });
  });
});

function readingOf(outcome: ReturnType<typeof read>): readonly string[] {
  if (outcome.kind !== 'ok') return [`${outcome.kind}: ${outcome.reason}`];
  return [...Object.values(outcome.answer.balances).map(formatMicros), outcome.answer.currency];
}
