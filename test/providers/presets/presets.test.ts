import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { formatMicros, type Micros } from '../../../src/domain/money.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { DescribedEntry } from '../../../src/providers/http-json/http-json-kind.ts';
import { type SimulatedBalances, trialAttempt } from '../../../src/providers/kind.ts';
import { type PresetKind, presetKinds } from '../../../src/providers/presets/preset-kinds.ts';
import { createProviderClient } from '../../../src/providers/transport/client.ts';
import { type SimulatedApi, startSimulatedApi } from '../../../src/simulator/simulated-api.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { makeAccount } from '../../support/settings.ts';

/** What its source documents, written from there and not from the preset: the request, and what the sample answer says. */
interface Documented {
  /** `$name` is a credential as it is. */
  readonly request: string | RegExp;
  /** An expression where the value is a signature, made at the first instant of 1970 with a nonce of zeros. */
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  readonly body?: string;
  /** Balances in their order, and the currency. */
  readonly reading: readonly [...string[]];
  /** What the simulated API is asked for, where not every amount can be said. */
  readonly amounts?: readonly Micros[];
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
  'alibaba-cloud': {
    request: 'POST https://business.aliyuncs.com/',
    headers: {
      'x-acs-action': 'QueryAccountBalance',
      'x-acs-version': '2017-12-14',
      'x-acs-date': '1970-01-01T00:00:00Z',
      'x-acs-signature-nonce': '0'.repeat(32),
      'x-acs-content-sha256': createHash('sha256').digest('hex'),
      authorization:
        /^ACS3-HMAC-SHA256 Credential=accessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=[\da-f]{64}$/,
    },
    reading: ['10000', '10000', 'CNY'],
  },
  chuanglan: {
    request: 'POST https://smssh1.253.com/msg/balance/json',
    headers: { 'content-type': 'application/json' },
    body: '{"account":"$account","password":"$password"}',
    reading: ['953', 'messages'],
  },
  deepinfra: {
    request: 'GET https://api.deepinfra.com/payment/checklist?compute_owed=true',
    headers: bearer('apiKey'),
    reading: ['19.25', 'USD'],
  },
  didit: {
    request: 'GET https://verification.didit.me/v3/billing/balance/',
    headers: { 'x-api-key': '$apiKey' },
    reading: ['42.75', 'USD'],
  },
  'digitalocean-prepaid': {
    request: 'GET https://api.digitalocean.com/v2/customers/my/prepayment_status',
    headers: bearer('token'),
    reading: ['120.5', 'USD'],
  },
  'fal-account': {
    request: 'GET https://api.fal.ai/v1/account/billing?expand=credits',
    headers: { authorization: 'Key $adminKey' },
    reading: ['24.5', 'USD'],
  },
  feige: {
    request: 'POST https://api.4321.sh/balance/balance',
    headers: { 'content-type': 'application/json' },
    body: '{"apikey":"$apiKey","secret":"$secret"}',
    reading: ['10000.025', 'CNY'],
  },
  'huawei-cloud': {
    request: 'GET https://bss.myhuaweicloud.com/v2/accounts/customer-accounts/balances',
    headers: {
      'content-type': 'application/json',
      'x-sdk-date': '19700101T000000Z',
      authorization:
        /^SDK-HMAC-SHA256 Access=accessKey, SignedHeaders=content-type;host;x-sdk-date, Signature=[\da-f]{64}$/,
    },
    reading: ['20810.92', 'CNY'],
  },
  'inference-sh': {
    request: 'GET https://api.inference.sh/billing/balance',
    headers: bearer('apiKey'),
    reading: ['2.5', 'USD'],
  },
  itniotech: {
    request: 'GET https://api.itniotech.com/sms/getBalance',
    headers: {
      'content-type': 'application/json;charset=UTF-8',
      sign: createHash('md5').update('apiKeyapiSecret0').digest('hex'),
      timestamp: '0',
      'api-key': '$apiKey',
    },
    reading: ['149.9905', 'USD'],
  },
  jiguang: {
    request: 'GET https://api.sms.jpush.cn/v1/accounts/dev',
    headers: basic('$devKey', '$apiDevSecret'),
    reading: ['9', 'messages'],
  },
  luosimao: {
    request: 'GET https://sms-api.luosimao.com/v1/status.json',
    headers: basic('api', 'key-$apiKey'),
    reading: ['15000', 'messages'],
  },
  meshy: {
    request: 'GET https://api.meshy.ai/openapi/v1/balance',
    headers: bearer('apiKey'),
    reading: ['1000', 'credits'],
  },
  messente: {
    request: 'GET https://api.messente.com/v1/get_balance',
    headers: basic('$username', '$password'),
    reading: ['10.8125', 'EUR'],
  },
  montnets: {
    request: 'POST https://sms.example.net/sms/v2/std/get_balance',
    headers: { 'content-type': 'application/json' },
    body: `{"userid":"$userid","pwd":"${createHash('md5').update('userid00000000password0101080000').digest('hex')}","timestamp":"0101080000"}`,
    reading: ['1000', 'messages'],
  },
  msg91: {
    request: 'GET https://control.msg91.com/api/balance.php?authkey=$authKey&type=4',
    reading: ['5230', 'messages'],
    // What else it could be is three digits, which are an error, and never below zero.
    amounts: [1_234_000_000, 12_345_678, 7_000_000, 0, 99_000_000, 1_000_000_000],
  },
  nanogpt: {
    request: 'POST https://nano-gpt.com/api/check-balance',
    headers: { 'x-api-key': '$apiKey' },
    reading: ['129.469561', 'USD'],
  },
  'orange-sms': {
    request: 'GET https://api.orange.com/sms/admin/v1/contracts',
    headers: { authorization: 'Bearer ' },
    reading: ['125', 'messages'],
  },
  'ovh-sms': {
    request: 'GET https://eu.api.ovh.com/1.0/sms/$serviceName',
    headers: {
      'x-ovh-application': '$applicationKey',
      'x-ovh-consumer': '$consumerKey',
      'x-ovh-timestamp': '0',
      'x-ovh-signature': /^\$1\$[\da-f]{40}$/,
    },
    reading: ['152.5', 'credits'],
  },
  poe: {
    request: 'GET https://api.poe.com/usage/current_balance',
    headers: bearer('apiKey'),
    reading: ['295932', 'points'],
  },
  qingcloud: {
    request:
      /^GET https:\/\/api\.qingcloud\.com\/iaas\/\?action=GetBalance&version=1&signature_version=1&signature_method=HmacSHA256&access_key_id=accessKeyId&time_stamp=1970-01-01T00%3A00%3A00Z&signature=[\w%]{43,60}$/,
    reading: ['1024.56', 'CNY'],
  },
  'sms-ru': {
    request: 'GET https://sms.ru/my/balance?api_id=$apiId&json=1',
    reading: ['4122.56', 'RUB'],
  },
  smsbao: {
    request: `GET https://api.smsbao.com/query?u=$username&p=${createHash('md5').update('password').digest('hex')}`,
    reading: ['200', 'messages'],
  },
  smsfactor: {
    request: 'GET https://api.smsfactor.com/credits',
    headers: bearer('token'),
    reading: ['642', 'credits'],
  },
  smsglobal: {
    request: 'GET https://api.smsglobal.com/v2/user/credit-balance',
    headers: {
      authorization: /^MAC id="apiKey", ts="0", nonce="0{32}", mac="[\w+/]{43}="$/,
    },
    reading: ['7150.5', 'AUD'],
  },
  smspartner: {
    request: 'GET https://api.smspartner.fr/v1/me?apiKey=$apiKey',
    reading: ['10225.119', 'EUR'],
  },
  smsportal: {
    request: 'GET https://rest.smsportal.com/v3/Balance',
    headers: { authorization: 'Bearer ' },
    reading: ['1500', 'credits'],
  },
  'tencent-cloud': {
    request: 'POST https://billing.tencentcloudapi.com/',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-tc-action': 'DescribeAccountBalance',
      'x-tc-version': '2018-07-09',
      'x-tc-timestamp': '0',
      authorization:
        /^TC3-HMAC-SHA256 Credential=secretId\/1970-01-01\/billing\/tc3_request, SignedHeaders=content-type;host, Signature=[\da-f]{64}$/,
    },
    body: '{}',
    reading: ['96474.42', 'CNY'],
  },
  textbelt: {
    request: 'GET https://textbelt.com/quota/$key',
    reading: ['98', 'messages'],
  },
  'vast-ai': {
    request: 'GET https://console.vast.ai/api/v0/users/current/',
    headers: bearer('apiKey'),
    reading: ['25.03125', 'USD'],
  },
  venice: {
    request: 'GET https://api.venice.ai/api/v1/billing/balance',
    headers: bearer('apiKey'),
    reading: ['25', 'USD'],
  },
  voipms: {
    request:
      'GET https://voip.ms/api/v1/rest.php?api_username=$username&api_password=$password&method=getBalance&content_type=json',
    reading: ['42.5163', 'USD'],
  },
  volcengine: {
    request: 'GET https://billing.volcengineapi.com/?Action=QueryBalanceAcct&Version=2022-01-01',
    headers: {
      'x-date': '19700101T000000Z',
      'x-content-sha256': createHash('sha256').digest('hex'),
      authorization:
        /^HMAC-SHA256 Credential=accessKeyId\/19700101\/cn-north-1\/billing\/request, SignedHeaders=host;x-content-sha256;x-date, Signature=[\da-f]{64}$/,
    },
    reading: ['77.01', '83.01', 'CNY'],
  },
  xai: {
    request: 'GET https://management-api.x.ai/v1/billing/teams/$teamId/prepaid/balance',
    headers: bearer('managementKey'),
    reading: ['50.25', 'USD'],
  },
  ycloud: {
    request: 'GET https://api.ycloud.com/v2/balance',
    headers: { 'x-api-key': '$apiKey' },
    reading: ['190.0765', 'USD'],
  },
  zadarma: {
    request: 'GET https://api.zadarma.com/v1/info/balance/?format=json',
    headers: { authorization: /^key:[\w+/]{54}==$/ },
    reading: ['10.34', 'USD'],
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
      payDays: null,
      written: {},
      shortestEveryMs: null,
      credentialNames: [],
      secrets: [],
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

function requestOf(
  kind: PresetKind,
  entry: DescribedEntry,
  credentials: Record<string, string>,
  attempt = trialAttempt,
) {
  const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);
  const request = kind.request(
    entry,
    {
      id: 'trial',
      baseUrl: null,
      credentials: Object.fromEntries(secrets),
    },
    attempt,
  );
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

/** As it is on the wire: a text is one that is no JSON. */
function bodyOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Asks as the daemon does: a token first, signed anew for each attempt. */
function openClient(kind: PresetKind, url: string, now = () => Date.now()) {
  const clock = { ...systemClock, now };
  const entry = entryOf(kind, url);
  const client = createProviderClient({ kind, entry, clock, random: systemRandom, environment: {} });
  return {
    close: () => client.close(),
    ask(credentials: Record<string, string>) {
      const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);
      const account = makeAccount('trial', { credentials: Object.fromEntries(secrets) });
      return client.readBalance(account, new AbortController().signal);
    },
  };
}

/** What an answer of a preset means in outcomes. */
const meanings: Readonly<Record<string, { readonly kind: string; readonly reason: string }>> = {
  clock_off: { kind: 'api_error', reason: 'this machine’s clock is off' },
  postpaid: { kind: 'api_error', reason: 'the account is not prepaid' },
};

describe('each preset', () => {
  test('has a row here, and nothing else has', () => {
    expect(presetKinds.map(({ type }) => type)).toEqual(Object.keys(documented).toSorted());
  });
});

describe.each(presetKinds.map((kind) => [kind.type, kind] as const))('%s', (type, kind) => {
  const row: Documented = documented[type] ?? { request: '', reading: [] };

  test('asks as its source documents', () => {
    const { line, headers, body } = requestOf(kind, entryOf(kind), credentialsOf(kind));
    const plain = (text: string): string => text.replaceAll('$', '');
    expect(line).toEqual(
      typeof row.request === 'string' ? plain(row.request) : expect.stringMatching(row.request),
    );
    const { authorization = '', ...others } = headers;
    const readable = authorization.startsWith('Basic ')
      ? `Basic ${Buffer.from(authorization.slice(6), 'base64').toString()}`
      : authorization;
    const sent = readable === '' ? others : { ...others, authorization: readable };
    const wanted = Object.entries(row.headers ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? plain(value) : expect.stringMatching(value),
    ]);
    expect(sent).toEqual(Object.fromEntries(wanted));
    expect(body).toBe(row.body === undefined ? null : plain(row.body));
  });

  test('reads the answer that its source shows', () => {
    expect(readingOf(read(kind, { status: 200, body: bodyOf(kind.preset.sample) }))).toEqual(row.reading);
  });

  test.each(kind.preset.answers ?? [])('takes $status $body as $means', ({ status, body, means, says }) => {
    const outcome = read(kind, { status, body: bodyOf(body) });
    const { kind: as, reason } = meanings[means] ?? { kind: means, reason: '' };
    expect(outcome).toMatchObject({ kind: as, reason: expect.stringContaining(reason) });
    if (says !== undefined) expect(outcome).toMatchObject({ reason: expect.stringContaining(says) });
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
    let client: ReturnType<typeof openClient>;
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
      client = openClient(kind, api.url);
    });
    afterAll(async () => {
      await client.close();
      await api.close();
    });

    test('a wrong key is auth_failed', async () => {
      api.setAccounts([account(5_000_000, own)]);
      const wrong = credentialsOf(kind, (name) => `wrong-${name}`);
      expect(await client.ask(wrong)).toMatchObject({ kind: 'auth_failed' });
    });

    test('an account in a currency that the provider may have no word for is read all the same', async () => {
      api.setAccounts([account(5_000_000, 'XAF')]);
      const { balances } = account(5_000_000, 'XAF');
      expect(await client.ask(right)).toMatchObject({ kind: 'ok', answer: { balances } });
    });

    test('a signature of another key or another time is refused, and a nonce that was used', async () => {
      const steps = Object.values(kind.describe().sign ?? {});
      if (steps.length === 0) return;
      api.setAccounts([account(5_000_000, own)]);
      const last = Object.keys(right).at(-1) ?? '';
      expect(await client.ask({ ...right, [last]: 'another' })).toMatchObject({
        kind: 'auth_failed',
      });
      if (steps.some((step) => 'nonce' in step)) {
        const attempt = { now: Date.now(), random: randomBytes, token: null };
        const { url, ...request } = requestOf(kind, entryOf(kind, api.url), right, attempt);
        const statuses = [await fetch(url, request), await fetch(url, request)].map(({ status }) => status);
        expect(statuses[0]).toBe(200);
        expect(statuses[1]).not.toBe(200);
      }
      if (!steps.some((step) => 'time' in step)) return;
      const late = openClient(kind, api.url, () => Date.now() - 3_600_000);
      expect(await late.ask(right)).toMatchObject({
        kind: 'api_error',
        reason: expect.stringMatching(
          /^this machine’s clock is off, (?:1 hour|59 minutes) .*behind the provider’s/,
        ),
      });
      await late.close();
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
      for (const amount of row.amounts ?? amounts) {
        const other = 'path' in currency && currency.map === undefined ? 'XAF' : own;
        api.setAccounts([account(amount, other)]);
        const outcome = await client.ask(right);
        expect(outcome).toMatchObject({ kind: 'ok', answer: { currency: other } });
        const balances = outcome.kind === 'ok' ? outcome.answer.balances : {};
        expect(balances).toEqual(account(amount, other).balances);
      }
      const outcomes = [];
      for (let count = 0; count < 4; count += 1) outcomes.push((await client.ask(right)).kind);
      expect(outcomes).toContain('rate_limited');
    });
  });
});

test('what a Huawei Cloud account owes, which its balance does not say, is below zero', () => {
  const [kind] = presetKinds.filter(({ type }) => type === 'huawei-cloud');
  const owing = (body: string) =>
    body.replace('"amount":20810.92', '"amount":0').replace('"debt_amount":0', '"debt_amount":12.34');
  expect(kind && readingOf(read(kind, { status: 200, body: owing(bodyOf(kind.preset.sample)) }))).toEqual([
    '-12.34',
    'CNY',
  ]);
});

test.each([
  [
    [
      { country: 'CIV', availableUnits: 85, status: 'ACTIVE' },
      { country: 'CMR', availableUnits: 4000, status: 'EXPIRED' },
    ],
    '85',
  ],
  [
    {
      partnerContracts: {
        contracts: [{ serviceContracts: [{ availableUnits: 99 }, { availableUnits: 301_634 }] }],
      },
    },
    '301733',
  ],
])('messages of Orange contracts that are over are not counted: %j', (body, left) => {
  const [kind] = presetKinds.filter(({ type }) => type === 'orange-sms');
  expect(kind && readingOf(read(kind, { status: 200, body: bodyOf(body) }))).toEqual([left, 'messages']);
});

function readingOf(outcome: ReturnType<typeof read>): readonly string[] {
  if (outcome.kind !== 'ok') return [`${outcome.kind}: ${outcome.reason}`];
  return [...Object.values(outcome.answer.balances).map(formatMicros), outcome.answer.currency];
}
