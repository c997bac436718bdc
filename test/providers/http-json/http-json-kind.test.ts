import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/domain/reading.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { type DescribedExchange, describeExchange } from '../../../src/providers/describe-exchange.ts';
import type { WrittenDescription } from '../../../src/providers/http-json/description.ts';
import { httpJsonKind, httpJsonSchema } from '../../../src/providers/http-json/http-json-kind.ts';
import { createProviderClient } from '../../../src/providers/transport/client.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { makeAccount } from '../../support/settings.ts';

const secret = 'very-secret-token';
const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function listen(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** Reads once, as the configuration of an entry describes it. */
async function readBy(
  config: WrittenDescription,
  credentials: Readonly<Record<string, string>>,
): Promise<{ readonly outcome: Outcome; readonly exchanges: readonly DescribedExchange[] }> {
  const exchanges: DescribedExchange[] = [];
  const entry = httpJsonKind.build(
    {
      name: 'gateway',
      type: 'http-json',
      timeoutMs: 5000,
      maxRequestsPerSecond: 1,
      allowInsecureHttp: false,
      backoff: { initialMs: 0, maxMs: 0 },
      topUpUrl: null,
      payDays: null,
      written: config,
      shortestEveryMs: null,
      credentialNames: [],
      secrets: [],
    },
    httpJsonSchema.parse({ type: 'http-json', ...config }),
  );
  if ('problems' in entry) return expect.fail(JSON.stringify(entry.problems));
  const secrets = Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]);
  const account = makeAccount('trial', { credentials: Object.fromEntries(secrets) });
  const client = createProviderClient({
    kind: httpJsonKind,
    entry,
    clock: systemClock,
    random: systemRandom,
    environment: {},
    observe: (seen) => void exchanges.push(describeExchange(seen)),
  });
  const outcome = await client.readBalance(account, new AbortController().signal);
  await client.close();
  return { outcome, exchanges };
}

const balances = [{ id: 'main', amount: '$.balance' }] satisfies WrittenDescription['balances'];
const currency = { fixed: 'EUR' };

describe('five providers that nobody made a preset for', () => {
  test('a wallet behind a token, in cents, with a status of its own', async () => {
    const url = await listen(({ headers, url: path }, response) => {
      const isRight = headers.authorization === `Bearer ${secret}` && path === '/v1/wallet?user=me%26you';
      response.end(
        isRight ? '{"status":"ok","data":{"balance":123456,"currency":"eur"}}' : '{"code":"E401"}',
      );
    });
    const config: WrittenDescription = {
      request: { url: `${url}/v1/wallet?user={{credentials.user}}`, bearer: '{{credentials.token}}' },
      balances: [{ id: 'main', label: 'Wallet', amount: '$.data.balance', scale: '0.01' }],
      currency: { path: '$.data.currency' },
      success: { path: '$.status', equals: 'ok' },
      errors: [{ path: '$.code', in: ['E401'], means: 'auth_failed' }],
    };
    expect((await readBy(config, { user: 'me&you', token: secret })).outcome).toMatchObject({
      kind: 'ok',
      answer: { balances: { main: 1_234_560_000 }, currency: 'EUR' },
    });
    expect((await readBy(config, { user: 'me&you', token: 'wrong' })).outcome.kind).toBe('auth_failed');
  });

  test('a form with a login, a text with a comma, and a limit a minute', async () => {
    let count = 0;
    const url = await listen(({ method }, response, body) => {
      count += 1;
      if (count > 1) response.writeHead(429, { 'retry-after': '60' }).end('slow down');
      else
        response.end(method === 'POST' && body === 'login=me&pass=a%26b%3Dc' ? '{"saldo":"1.250,75"}' : '{}');
    });
    const config: WrittenDescription = {
      request: {
        method: 'POST',
        url,
        form: { login: '{{credentials.login}}', pass: '{{credentials.pass}}' },
      },
      balances: [{ id: 'saldo', amount: '$.saldo', decimal: ',', thousands: '.' }],
      currency,
    };
    const credentials = { login: 'me', pass: 'a&b=c' };
    expect((await readBy(config, credentials)).outcome).toMatchObject({
      answer: { balances: { saldo: 1_250_750_000 } },
    });
    expect((await readBy(config, credentials)).outcome).toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: 60_000,
    });
  });

  test('a JSON body, credit less usage, and one entry for each currency', async () => {
    const url = await listen((_request, response, body) => {
      const isRight = JSON.parse(body).auth.key === 'quote " and \\ and \n';
      response.end(
        isRight ? '{"accounts":[{"c":"USD","in":9,"out":1},{"c":"CNY","in":"20.5","out":0.25}]}' : '{}',
      );
    });
    const config: WrittenDescription = {
      request: { method: 'POST', url, json: { auth: { key: '{{credentials.key}}' } } },
      balances: [{ id: 'cny', amount: "$.accounts[?@.c=='CNY'].in", minus: "$.accounts[?@.c=='CNY'].out" }],
      currency: { fixed: 'CNY' },
    };
    expect((await readBy(config, { key: 'quote " and \\ and \n' })).outcome).toMatchObject({
      answer: { balances: { cny: 20_250_000 } },
    });
  });

  test('messages that are no money, of an account that may be postpaid', async () => {
    let plan = 'prepaid';
    const url = await listen((_request, response) => void response.end(`{"plan":"${plan}","left":[120,30]}`));
    const config: WrittenDescription = {
      request: { url, headers: { 'X-Key': '{{credentials.key}}' } },
      balances: [{ id: 'left', amount: '$.left[*]', sum: true }],
      currency: { unit: 'messages' },
      postpaid: [{ path: '$.plan', equals: 'postpaid' }],
    };
    expect((await readBy(config, { key: secret })).outcome).toMatchObject({
      answer: { balances: { left: 150_000_000 }, currency: 'messages' },
    });
    plan = 'postpaid';
    expect((await readBy(config, { key: secret })).outcome).toMatchObject({ kind: 'api_error' });
  });

  test('a number and nothing else, with what the request looks like for whoever writes it', async () => {
    const url = await listen((_request, response) => void response.end('18.25'));
    const config: WrittenDescription = {
      request: {
        url: `${url}/a b/{{credentials.key}}`.replace(' ', '%20'),
        basic: { user: '{{credentials.user}}', password: '{{credentials.key}}' },
      },
      balances: [{ id: 'main', amount: '$' }],
      currency,
    };
    const { outcome, exchanges } = await readBy(config, { user: 'me-myself', key: secret });
    expect(outcome).toMatchObject({ answer: { balances: { main: 18_250_000 } } });
    expect(exchanges).toEqual([
      {
        account: 'trial',
        request: [`GET ${url}/a%20b/[key]`, 'authorization: Basic [user]:[key]'],
        signed: [],
        answer: 'HTTP 200 18.25',
        read: [{ what: 'balance main', where: '$', found: '18.25', read: '18.25' }],
      },
    ]);
  });
});

describe('a described provider', () => {
  test('has its facts shown as usage headers are', async () => {
    const url = await listen(
      (_request, response) => void response.end('{"balance":1,"auto":false,"credit":"5","open":0.25}'),
    );
    const facts = {
      autoRecharge: { path: '$.auto', equals: true },
      creditLimit: { amount: '$.credit' },
      pending: { amount: '$.open' },
    };
    const { outcome } = await readBy({ request: { url }, balances, currency, facts }, {});
    expect(outcome.usage).toEqual({ 'automatic-recharge': 'off', 'credit-limit': '5.00', pending: '0.25' });
  });

  test('is not followed to another address', async () => {
    let visits = 0;
    const url = await listen(({ url: path }, response) => {
      visits += 1;
      if (path === '/') response.writeHead(302, { location: '/other' }).end();
      else response.end('{"balance":1}');
    });
    const { outcome } = await readBy(
      { request: { url, bearer: '{{credentials.key}}' }, balances, currency },
      { key: secret },
    );
    expect(outcome).toMatchObject({ kind: 'http_error', status: 302 });
    expect(visits).toBe(1);
  });

  test('gets no credential in the clear, wherever in the request it stands', async () => {
    const request = { url: 'http://sms.example.net/?key={{credentials.key}}' };
    expect((await readBy({ request, balances, currency }, { key: secret })).outcome).toMatchObject({
      kind: 'network_error',
      reason: expect.stringContaining('not sent over http:// to another machine'),
    });
  });

  test('is not asked with a credential that its request cannot hold', async () => {
    const url = await listen((_request, response) => void response.end('{"balance":1}'));
    const { outcome, exchanges } = await readBy(
      { request: { url, bearer: '{{credentials.key}}' }, balances, currency },
      { key: 'line\r\nhost: evil' },
    );
    expect(outcome).toMatchObject({
      kind: 'network_error',
      reason: expect.stringContaining('"key" must not hold line breaks'),
    });
    expect(exchanges).toEqual([]);
  });

  test('has of its answers shown what was read, and the rest by its names', async () => {
    const body =
      '{"data":{"balance":"12.5000","user_phone":"+61411111111","_subaccount":{"api_key":"E7A6B8C2"},"id":4321,"list":[{"x":1}]},"ok":true}';
    const url = await listen((_request, response) => void response.end(body));
    const { exchanges } = await readBy(
      { request: { url }, balances: [{ id: 'main', amount: '$.data.balance' }], currency },
      {},
    );
    expect(exchanges[0]?.answer).toBe(
      'HTTP 200 {"data":{"balance":"12.5000","user_phone":<text>,"_subaccount":{"api_key":<text>},"id":<number>,"list":[{"x":<number>}]},"ok":true}',
    );
  });

  test('echoes no secret into an outcome or an explanation', async () => {
    const token = Buffer.from(`me-myself:${secret}`).toString('base64');
    const echoes = [
      secret,
      token,
      encodeURIComponent(secret),
      [...secret].join('\u200b'),
      Buffer.from(secret).toString('hex'),
    ];
    for (const echo of echoes) {
      for (const body of [
        `{"balance":"${echo}"}`,
        `{"balance":1,"currency":"${echo}"}`,
        `{"message":"${echo}"}`,
        `<p>${echo}`,
      ]) {
        const url = await listen((_request, response) => {
          response.writeHead(200, { 'x-quota-note': echo.replaceAll('\u200b', '') }).end(body);
        });
        const seen = await readBy(
          {
            request: {
              url: `${url}/{{credentials.key}}`,
              basic: { user: '{{credentials.user}}', password: '{{credentials.key}}' },
            },
            balances,
            currency: { path: '$.currency' },
            message: '$.message',
          },
          { user: 'me-myself', key: secret },
        );
        const shown = JSON.stringify(seen).replaceAll('\u200b', '').toLowerCase();
        for (const form of [secret, token, Buffer.from(secret).toString('hex')])
          expect(shown).not.toContain(form.toLowerCase());
      }
    }
  });
});
