import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createForeignTexts } from '../../../src/domain/foreign-text.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { SendingGuard } from '../../../src/ports/provider.ts';
import { type DescribedExchange, describeExchange } from '../../../src/providers/describe-exchange.ts';
import type { WrittenDescription } from '../../../src/providers/http-json/description.ts';
import { httpJsonKind, httpJsonSchema } from '../../../src/providers/http-json/http-json-kind.ts';
import { createProviderClient } from '../../../src/providers/transport/client.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { makeAccount, makeProvider } from '../../support/settings.ts';

/** A vendor that gives tokens and takes the newest alone. */
const vendor = {
  url: '',
  seen: [] as string[],
  token: '',
  count: 0,
  tokenAnswer: (): { status: number; body: unknown } => ({
    status: 200,
    body: { access_token: vendor.token, expires_in: 3600 },
  }),
  balanceAnswer: (): { status: number; body: unknown } => ({ status: 200, body: { balance: 7 } }),
};

const first = vendor.tokenAnswer;
const firstBalance = vendor.balanceAnswer;
let now = Date.parse('2026-11-23T12:00:00Z');
const clock = { ...systemClock, now: () => now };
const exchanges: DescribedExchange[] = [];
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  Object.assign(vendor, { seen: [], count: 0, token: '', tokenAnswer: first, balanceAnswer: firstBalance });
  exchanges.length = 0;
  const server = createServer((request, response) => {
    vendor.seen.push(`${request.method} ${request.url}`);
    const isToken = request.url?.startsWith('/token') === true;
    if (isToken) vendor.count += 1;
    if (isToken) vendor.token = `secret-token-${vendor.count}`;
    const isRight = request.headers.authorization === `Bearer ${vendor.token}`;
    const refused = { status: 401, body: { message: `no such token ${request.headers.authorization}` } };
    const { status, body } = isToken ? vendor.tokenAnswer() : isRight ? vendor.balanceAnswer() : refused;
    response.writeHead(status, { date: new Date(now).toUTCString() }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const address = server.address();
  vendor.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

function openClient(written: WrittenDescription, texts = createForeignTexts([])) {
  const config = httpJsonSchema.parse({ type: 'http-json', ...written });
  const { balances: _balances, words: _words, ...shared } = makeProvider();
  const entry = httpJsonKind.build(shared, config);
  if ('problems' in entry) return expect.fail(JSON.stringify(entry.problems));
  const client = createProviderClient({
    kind: httpJsonKind,
    entry,
    clock,
    random: systemRandom,
    texts,
    environment: {},
    observe: (seen) => void exchanges.push(describeExchange(seen)),
  });
  closing.push(() => client.close());
  return client;
}

function open(texts = createForeignTexts([])) {
  const written: WrittenDescription = {
    token: {
      request: {
        method: 'POST',
        url: `${vendor.url}/token`,
        form: {
          grant_type: 'client_credentials',
          client_id: '{{credentials.id}}',
          client_secret: '{{credentials.secret}}',
        },
      },
      path: '$.access_token',
      expiresIn: '$.expires_in',
    },
    request: { url: `${vendor.url}/balance`, bearer: '{{token}}' },
    balances: [{ id: 'main', amount: '$.balance' }],
    currency: { fixed: 'EUR' },
  };
  const client = openClient(written, texts);
  return (id: string, secret = 'quite-confidential', guard: SendingGuard = () => 0) =>
    client.readBalance(
      makeAccount(id, {
        credentials: { id: new Secret('app-4711'), secret: new Secret(secret) },
        poll: { kind: 'every', everyMs: 60_000 },
      }),
      new AbortController().signal,
      guard,
    );
}

const okSeven = { kind: 'ok', answer: { balances: { main: 7_000_000 } } };

describe('a token', () => {
  test('is asked for again by those that share it where the account that asked for it is given up', async () => {
    const read = open();
    const waits = [50, Number.POSITIVE_INFINITY];
    const givenUp = read('a', undefined, () => waits.shift() ?? 0);
    const [first, ...others] = await Promise.all([givenUp, read('b'), read('c')]);
    expect(first).toMatchObject({ kind: 'network_error', reason: 'the request was given up' });
    for (const outcome of others) expect(outcome).toMatchObject(okSeven);
    expect(vendor.seen.filter((line) => line.endsWith('/token'))).toHaveLength(1);
  });

  test('is asked for once by accounts that share it, and again shortly before it expires', async () => {
    const read = open();
    const outcomes = await Promise.all(['a', 'b', 'c'].map((id) => read(id)));
    for (const outcome of outcomes) expect(outcome).toMatchObject(okSeven);
    expect(vendor.seen.filter((line) => line.endsWith('/token'))).toHaveLength(1);
    now += 3500_000;
    await read('a');
    expect(vendor.count).toBe(1);
    now += 50_000;
    await read('a');
    expect(vendor.count).toBe(2);
  });

  test('of other credentials is another', async () => {
    const read = open();
    await read('a');
    await read('b', 'another-confidence');
    expect(vendor.count).toBe(2);
  });

  test('that is refused before its time is asked for once more, and a new one that is refused is a refused key', async () => {
    const read = open();
    await read('a');
    vendor.token = 'revoked';
    expect(await read('a')).toMatchObject(okSeven);
    expect(vendor.count).toBe(2);
    vendor.balanceAnswer = () => ({ status: 403, body: { message: 'billing is not allowed' } });
    expect(await read('a')).toMatchObject({
      kind: 'auth_failed',
      reason: expect.stringContaining('"billing is not allowed"'),
    });
    expect(vendor.count).toBe(3);
    const asked = vendor.seen.length;
    await read('a');
    expect(vendor.seen.length - asked).toBe(2);
  });

  test.each([
    [401, { error_description: 'client is unknown' }, 'auth_failed', '"client is unknown"'],
    [400, { error: 'invalid_client' }, 'auth_failed', '"invalid_client"'],
    [400, { error: 'invalid_scope' }, 'http_error', '"invalid_scope"'],
    [429, {}, 'rate_limited', 'HTTP 429'],
    [200, { token: 'x' }, 'invalid_response', '$.access_token'],
    [200, { access_token: 'two words' }, 'invalid_response', '$.access_token'],
  ])('that is answered by %i %j ends as %s', async (status, body, kind, said) => {
    vendor.tokenAnswer = () => ({ status, body });
    const outcome = await open()('a');
    expect(outcome).toMatchObject({ kind, reason: expect.stringContaining(said) });
    expect(outcome).toMatchObject({ reason: expect.stringContaining('asked for a token') });
    expect(vendor.seen).toEqual(['POST /token']);
  });

  test('that nobody can be asked for is said to be what failed', async () => {
    vendor.url = 'http://127.0.0.1:1';
    expect(await open()('a')).toMatchObject({
      kind: 'network_error',
      reason: 'asked for a token: the connection was refused',
    });
  });

  test('is shown nowhere, not even where the provider echoes it', async () => {
    const read = open();
    const outcomes = [await read('a')];
    vendor.balanceAnswer = () => ({ status: 500, body: { message: `trouble with ${vendor.token}` } });
    outcomes.push(await read('a'));
    expect(exchanges).toHaveLength(3);
    expect(exchanges[0]).toMatchObject({
      request: [
        `POST ${vendor.url}/token`,
        expect.any(String),
        expect.stringContaining('client_id=[id]&client_secret=[secret]'),
      ],
      answer: 'HTTP 200 {"access_token":<text>,"expires_in":<number>}',
      read: [],
    });
    expect(JSON.stringify([outcomes, exchanges])).not.toMatch(/secret-token|quite-confidential|app-4711/);
  });
});

test('tokens that two others followed are known no more: a daemon that runs for years keeps none of them', async () => {
  const texts = createForeignTexts([]);
  const read = open(texts);
  for (let hour = 0; hour < 4; hour += 1) {
    await read('a');
    now += 3_600_000;
  }
  const known = [1, 2, 3, 4].filter((count) => texts.holdsSecret(`secret-token-${count}`));
  expect(known).toEqual([3, 4]);
});

test('the hash that a password is sent as is hidden where the provider echoes it, and forgotten with the answer', async () => {
  const texts = createForeignTexts([]);
  vendor.tokenAnswer = () => ({ status: 400, body: { message: vendor.seen.at(-1) } });
  const client = openClient(
    {
      request: { url: `${vendor.url}/token`, query: { password: '{{sign.password}}' } },
      sign: { password: { hash: 'md5', of: '{{credentials.password}}' } },
      balances: [{ id: 'main', amount: '$.balance' }],
      currency: { fixed: 'EUR' },
    },
    texts,
  );
  const account = makeAccount('a', { credentials: { password: new Secret('quite-confidential') } });
  const outcome = await client.readBalance(account, new AbortController().signal);
  expect(outcome).toMatchObject({ reason: 'HTTP 400, "GET /token?password=[secret]"' });
  expect(exchanges[0]?.request).toEqual([`GET ${vendor.url}/token?password=[password]`]);
  const hash = createHash('md5').update('quite-confidential').digest('hex');
  expect(texts.holdsSecret(hash)).toBe(false);
});

describe('a clock that is off', () => {
  test('is named as that by the answer’s own Date, and is no refused key', async () => {
    const server = createServer((_request, response) => {
      const date = new Date(now - 7 * 60_000).toUTCString();
      response
        .writeHead(403, { date })
        .end('{"Code":"InvalidTimeStamp.Expired","Message":"Specified time stamp is expired."}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    const written: WrittenDescription = {
      request: { url, headers: { 'x-date': '{{sign.now}}', 'x-signature': '{{sign.signature}}' } },
      sign: {
        now: { time: 'unix' },
        signature: { hmac: 'sha256', key: '{{credentials.secret}}', of: '{{sign.now}}' },
      },
      balances: [{ id: 'main', amount: '$.balance' }],
      currency: { fixed: 'EUR' },
      errors: [{ path: '$.Code', in: ['InvalidTimeStamp.Expired'], means: 'clock_off' }],
    };
    const client = openClient(written);
    const account = makeAccount('a', { credentials: { secret: new Secret('sixteen-letters!') } });
    const outcome = await client.readBalance(account, new AbortController().signal);
    expect(outcome).toMatchObject({
      kind: 'api_error',
      reason: expect.stringMatching(
        /^this machine’s clock is off, 7 minutes ahead of the provider’s: .*"Specified time stamp is expired\."$/,
      ),
    });
    expect(exchanges[0]?.signed).toEqual([{ step: 'signature', text: String(Math.floor(now / 1000)) }]);
    now += 1000;
    await client.readBalance(account, new AbortController().signal);
    expect(exchanges[1]?.request).not.toEqual(exchanges[0]?.request);
  });
});
