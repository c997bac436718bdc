import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { maxBodyBytes } from '../../../src/providers/transport/exchange.ts';
import {
  accountAt,
  createTestClient,
  listenHttp,
  okBody,
  readFrom,
  readFromSockets,
  readOnce,
  readText,
  secretText,
  send,
} from '../../support/loopback-provider.ts';

const never = new AbortController().signal;

describe('a balance request', () => {
  test('is the documented one, and its answer is a reading', async () => {
    const seen: unknown[] = [];
    const outcome = await readFrom(async (request, response) => {
      const { method, url, headers } = request;
      seen.push(method, url, headers['content-type'], headers.authorization, await readText(request));
      send(response, {});
    });
    expect(seen).toEqual([
      'POST',
      '/user/account/balance',
      'application/json',
      undefined,
      `{"authSecret":"${secretText}"}`,
    ]);
    expect(outcome).toMatchObject({
      kind: 'ok',
      answer: { balances: { sms: -18_383_000, voip: 0 }, currency: 'CNY' },
      usage: {},
    });
    expect(outcome.durationMs).toBeGreaterThan(0);
  });

  test('goes below the path of the base address', async () => {
    const server = await listenHttp((request, response) =>
      send(response, { body: okBody, headers: { 'x-limit-url': request.url ?? '' } }),
    );
    const outcome = await readOnce(`${server.url}/gateway/v1/`);
    expect(outcome.usage).toEqual({ 'x-limit-url': '/gateway/v1/user/account/balance' });
    await server.close();
  });

  test('carries any secret as JSON', async () => {
    const secret = 'quote " backslash \\ umlaut ü \u0001';
    let sent = '';
    const server = await listenHttp(async (request, response) => {
      sent = await readText(request);
      send(response, {});
    });
    const client = createTestClient();
    await client.readBalance(accountAt(server.url, secret), never);
    await client.close();
    await server.close();
    expect(JSON.parse(sent)).toEqual({ authSecret: secret });
  });

  test('is not sent in the clear to another machine', async () => {
    const outcome = await readOnce('http://provider.example');
    expect(outcome).toMatchObject({
      kind: 'network_error',
      reason: expect.stringContaining('allowInsecureHttp'),
    });
  });
});

describe('usage headers', () => {
  test('are kept by the words in their names', async () => {
    const headers = {
      'X-RateLimit-Limit': '200',
      'X-Remaining-Calls': '199',
      'Api-Usage': '1/200',
      'X-Quota': 'a  b',
      'X-Reset-At': '5',
      'X-Other': 'no',
    };
    const outcome = await readFrom((_request, response) => send(response, { headers }));
    expect(outcome.usage).toEqual({
      'x-ratelimit-limit': '200',
      'x-remaining-calls': '199',
      'api-usage': '1/200',
      'x-quota': 'a b',
      'x-reset-at': '5',
    });
  });

  test('speak of what was used and counted, too', async () => {
    const headers = { 'X-Requests-Used': '7', 'X-Call-Count': '9', 'X-Trace': 'abc' };
    const { usage } = await readFrom((_request, response) => send(response, { headers }));
    expect(usage).toEqual({ 'x-requests-used': '7', 'x-call-count': '9' });
  });

  test('come with failures too', async () => {
    const outcome = await readFrom((_request, response) =>
      send(response, { status: 429, headers: { 'x-limit': '1' } }),
    );
    expect(outcome).toMatchObject({ kind: 'rate_limited', usage: { 'x-limit': '1' } });
  });

  test('cannot flood or smuggle: few, short, clean, without the secret', async () => {
    const headers: Record<string, string> = {
      'x-limit-echo': `key=${secretText}`,
      'x-limit-long': 'v'.repeat(5000),
    };
    for (let index = 0; index < 40; index += 1) headers[`x-limit-${index}`] = '1';
    headers[`x-limit-${'n'.repeat(200)}`] = '1';
    const { usage } = await readFrom((_request, response) => send(response, { headers }));
    expect(Object.keys(usage)).toHaveLength(16);
    expect(usage['x-limit-echo']).toBe('key=[secret]');
    for (const [name, value] of Object.entries(usage)) {
      expect(name.length).toBeLessThanOrEqual(64);
      expect(value.length).toBeLessThanOrEqual(100);
    }
  });
});

describe('Retry-After of a rate limit', () => {
  test.each([
    ['seconds are obeyed', '120', 120_000],
    ['ten years are a day', '315360000', 24 * 3_600_000],
    ['garbage is ignored', 'later', undefined],
    ['a negative one is ignored', '-1', undefined],
  ])('%s', async (_name, value, retryAfterMs) => {
    const outcome = await readFrom((_request, response) =>
      send(response, { status: 429, body: '', headers: { 'retry-after': value } }),
    );
    expect(outcome.kind).toBe('rate_limited');
    expect(Reflect.get(outcome, 'retryAfterMs')).toBe(retryAfterMs);
  });

  test.each<[name: string, serve: (socket: Socket) => void, timeoutMs: number]>([
    ['never comes to its end', () => {}, 1000],
    ['is cut', (socket) => socket.end(), 20_000],
    // A reset takes along what was not read before it.
    ['is reset', (socket) => setTimeout(() => socket.resetAndDestroy(), 300), 20_000],
  ])('counts also when the body %s', async (_name, go, timeoutMs) => {
    const head = 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 120\r\ncontent-length: 100\r\n\r\n{"m';
    const serve = (socket: Socket): void => {
      socket.once('data', () => socket.write(head, () => go(socket)));
    };
    const outcome = await readFromSockets(serve, { timeoutMs });
    expect(outcome).toMatchObject({ kind: 'rate_limited', status: 429, retryAfterMs: 120_000 });
  });

  test('counts with any failed answer, also one that is cut', async () => {
    const busy = { status: 503, body: '', headers: { 'retry-after': '600' } };
    const whole = await readFrom((_request, response) => send(response, busy));
    expect(whole).toMatchObject({ kind: 'http_error', status: 503, retryAfterMs: 600_000 });
    const head = 'HTTP/1.1 503 Busy\r\nretry-after: 600\r\ncontent-length: 100\r\n\r\n<h';
    const cut = await readFromSockets((socket) => socket.once('data', () => socket.end(head)), {});
    expect(cut).toMatchObject({ kind: 'http_error', status: 503, retryAfterMs: 600_000 });
  });

  test('a date counts from now', async () => {
    const at = new Date(Math.ceil(performance.timeOrigin + performance.now()) + 600_000).toUTCString();
    const outcome = await readFrom((_request, response) =>
      send(response, { status: 429, body: '', headers: { 'retry-after': at } }),
    );
    expect(Reflect.get(outcome, 'retryAfterMs')).toBeGreaterThan(590_000);
    expect(Reflect.get(outcome, 'retryAfterMs')).toBeLessThanOrEqual(600_000);
  });
});

describe('an answer that is not to be trusted', () => {
  test.each([500, 502, 503, 504])(
    'HTTP %i with a page of HTML is an HTTP error that quotes nothing of it',
    async (status) => {
      const outcome = await readFrom((_request, response) =>
        send(response, { status, body: '<html>PAGE</html>' }),
      );
      expect(outcome).toMatchObject({ kind: 'http_error', status });
      expect(JSON.stringify(outcome)).not.toContain('PAGE');
    },
  );

  test.each([301, 302, 303, 307, 308])(
    'HTTP %i is not followed: the secret goes nowhere else',
    async (status) => {
      let visits = 0;
      const elsewhere = await listenHttp((_request, response) => {
        visits += 1;
        send(response, {});
      });
      const outcome = await readFrom((_request, response) =>
        send(response, { status, body: '', headers: { location: elsewhere.url } }),
      );
      expect(outcome).toMatchObject({ kind: 'http_error', status });
      expect(visits).toBe(0);
      await elsewhere.close();
    },
  );

  test('a body that never ends is given up at the size limit, at once and without keeping it', async () => {
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    let written = 0;
    const outcome = await readFrom((_request, response) => {
      response.writeHead(200);
      const pour = (): void => {
        if (response.destroyed || written > 100 * 1024 * 1024) return;
        written += chunk.length;
        response.write(chunk, pour);
      };
      pour();
    });
    expect(outcome).toMatchObject({ kind: 'invalid_response', reason: 'the answer is too large' });
    expect(outcome.durationMs).toBeLessThan(4500);
    expect(written).toBeLessThan(50 * 1024 * 1024);
  });

  test('an announced length above the limit is not waited for', async () => {
    const outcome = await readFrom((_request, response) => {
      response.writeHead(200, { 'content-length': 100 * 1024 * 1024 });
      response.flushHeaders();
    });
    expect(outcome).toMatchObject({ kind: 'invalid_response', reason: 'the answer is too large' });
  });

  test('a body of exactly the limit is read', async () => {
    const body = okBody + ' '.repeat(maxBodyBytes - okBody.length);
    expect(await readFrom((_request, response) => send(response, { body }))).toMatchObject({ kind: 'ok' });
    expect(await readFrom((_request, response) => send(response, { body: `${body} ` }))).toMatchObject({
      kind: 'invalid_response',
    });
  });

  test('a compressed body, which nobody asked for, is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024));
    const outcome = await readFrom((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(bomb);
    });
    expect(outcome).toMatchObject({
      kind: 'invalid_response',
      reason: expect.stringContaining('compressed'),
    });
  });

  test.each(['identity', 'Identity', ''])(
    'a body that is called encoded as "%s" is read',
    async (encoding) => {
      const outcome = await readFrom((_request, response) =>
        send(response, { headers: { 'content-encoding': encoding } }),
      );
      expect(outcome.kind).toBe('ok');
    },
  );

  test('a body in many pieces, cut within a character, is put together', async () => {
    const bytes = Buffer.from(okBody.replace('CNY', '元元'));
    const outcome = await readFrom(async (_request, response) => {
      response.writeHead(200);
      for (const byte of bytes) {
        response.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    expect(outcome).toMatchObject({ kind: 'ok', answer: { currency: '元元' } });
  });

  test.each([
    ['application/json; charset=GBK', Buffer.from('c3dcc2ebb4edcef3', 'hex'), '密码错误'],
    ['application/json;charset="iso-8859-1"', Buffer.from('Clé refusée', 'latin1'), 'Clé refusée'],
    ['application/json; charset=iso-8859-1', Buffer.from('Clé refusée'), 'Clé refusée'],
    ['application/json; charset=nonsense', Buffer.from('Cl\xe9', 'latin1'), 'Cl\ufffd'],
  ])('a body is text by the charset that it names where it is no UTF-8: %s', async (type, words, said) => {
    const outcome = await readFrom((_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(Buffer.concat([Buffer.from('{"code":-7,"msg":"'), words, Buffer.from('"}')]));
    });
    expect(outcome).toMatchObject({ kind: 'api_error', reason: expect.stringContaining(`"${said}"`) });
  });

  test('UTF-16 is read by the charset that it names, with its mark and without', async () => {
    const bytes = Buffer.from(okBody, 'utf16le');
    for (const body of [bytes, Buffer.concat([Buffer.of(0xff, 0xfe), bytes])]) {
      const outcome = await readFrom((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-16' }).end(body);
      });
      expect(outcome).toMatchObject({ kind: 'ok', answer: { currency: 'CNY' } });
    }
  });

  test.each([
    'SSH-2.0-OpenSSH_9.9\r\n',
    `HTTP/1.1 000 OK\r\ncontent-length: ${okBody.length}\r\n\r\n${okBody}`,
  ])('what is no HTTP is an invalid response: %j', async (answer) => {
    const outcome = await readFromSockets((socket) => socket.once('data', () => socket.end(answer)));
    expect(outcome).toMatchObject({ kind: 'invalid_response', reason: 'the answer is not HTTP' });
  });

  test('a header flood is an invalid response', async () => {
    const outcome = await readFromSockets((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}\r\n`),
    );
    expect(outcome.kind).toBe('invalid_response');
  });

  test.each(['103 Early Hints', '100 Continue'])('an interim answer is passed over: %s', async (interim) => {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${okBody.length}\r\n\r\n${okBody}`;
    const outcome = await readFromSockets((socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 ${interim}\r\nx: y\r\n\r\n${answer}`)),
    );
    expect(outcome).toMatchObject({ kind: 'ok' });
  });
});

describe('an answer that contradicts HTTP is an invalid response, with a reason of its own', () => {
  const length = okBody.length;
  test.each([
    [
      'two lengths',
      `200 OK\r\ncontent-length: 5\r\ncontent-length: ${length}`,
      'contradicts its own Content-Length',
    ],
    ['another protocol', '101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade', 'HTTP 100 or 101'],
  ])('%s', async (_name, head, reason) => {
    const outcome = await readFromSockets((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 ${head}\r\n\r\n${okBody}`)),
    );
    expect(outcome).toMatchObject({ kind: 'invalid_response', reason: expect.stringContaining(reason) });
  });
});

describe('a broken connection is a network error, never part of an answer', () => {
  test.each([
    'content-length: 100',
    'connection: close\r\ncontent-length: 100',
    'connection: close\r\ntransfer-encoding: chunked',
  ])('closed in the middle of the body: %s', async (head) => {
    const outcome = await readFromSockets((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n3\r\n{"m`)),
    );
    expect(outcome).toMatchObject({
      kind: 'network_error',
      reason: 'the connection was closed before the answer was complete',
    });
  });

  test('a whole envelope in a body that was announced longer is no answer', async () => {
    const outcome = await readFromSockets((socket) =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${okBody}`)),
    );
    expect(outcome.kind).toBe('network_error');
  });

  test('closed without a word', async () => {
    let connections = 0;
    const outcome = await readFromSockets((socket) => {
      connections += 1;
      socket.once('data', () => socket.end());
    });
    expect(outcome.kind).toBe('network_error');
    // A fresh connection that fails is not tried again: only a kept one can have died unnoticed.
    expect(connections).toBe(1);
  });

  test('reset before the answer', async () => {
    const outcome = await readFromSockets((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(outcome).toMatchObject({ kind: 'network_error', reason: 'the connection was reset' });
  });

  test('refused', async () => {
    const server = await listenHttp(() => {});
    await server.close();
    expect(await readOnce(server.url)).toMatchObject({
      kind: 'network_error',
      reason: 'the connection was refused',
    });
  });

  test('a host name that does not exist', async () => {
    const outcome = await readOnce('https://no-such-host.invalid');
    expect(outcome).toMatchObject({ kind: 'network_error', reason: expect.stringContaining('(DNS)') });
    expect(JSON.stringify(outcome)).not.toContain('no-such-host');
  });
});

describe('the deadline covers the whole exchange', () => {
  test.each<[name: string, serve: Parameters<typeof readFromSockets>[0]]>([
    ['no answer at all', () => {}],
    ['half the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-')],
    ['half the body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"m')],
    [
      'a body that trickles',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n');
        const timer = setInterval(() => socket.write(' '), 10);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s', async (_name, serve) => {
    const outcome = await readFromSockets(serve, { timeoutMs: 150 });
    expect(outcome).toMatchObject({ kind: 'timeout', reason: 'no complete answer within 150ms' });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(149);
    expect(outcome.durationMs).toBeLessThan(4500);
  });

  test('a TLS handshake that nobody answers', async () => {
    const { listenSockets } = await import('../../support/loopback-provider.ts');
    const server = await listenSockets(() => {});
    const outcome = await readOnce(server.url.replace('http:', 'https:'), { timeoutMs: 150 });
    expect(outcome.kind).toBe('timeout');
    expect(outcome.durationMs).toBeLessThan(4500);
    await server.close();
  });
});

describe('giving up', () => {
  test('ends a request that runs, at once', async () => {
    const server = await listenHttp(() => {});
    const client = createTestClient();
    const stop = new AbortController();
    const reading = client.readBalance(accountAt(server.url), stop.signal);
    setTimeout(() => stop.abort(), 20);
    expect(await reading).toMatchObject({ kind: 'network_error', reason: 'the request was given up' });
    await client.close();
    await server.close();
  });

  test('before it began sends nothing', async () => {
    let requests = 0;
    const server = await listenHttp(() => {
      requests += 1;
    });
    const client = createTestClient();
    expect((await client.readBalance(accountAt(server.url), AbortSignal.abort())).kind).toBe('network_error');
    await client.close();
    await server.close();
    expect(requests).toBe(0);
  });

  test('closing the client ends what hangs', async () => {
    const server = await listenHttp(() => {});
    const client = createTestClient();
    const reading = client.readBalance(accountAt(server.url), never);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await client.close();
    expect(await reading).toMatchObject({ kind: 'network_error', reason: 'lowwater is stopping' });
    expect(await client.readBalance(accountAt(server.url), never)).toMatchObject({ kind: 'network_error' });
    await server.close();
  });
});

test('no outcome ever holds the secret', async () => {
  const echo = `{"msg":"${secretText}","code":-22,"${secretText}":1}`;
  for (const status of [200, 400, 429, 500]) {
    const outcome = await readFrom((_request, response) =>
      send(response, { status, body: echo, headers: { 'x-limit': secretText } }),
    );
    expect(JSON.stringify(outcome)).not.toContain(secretText);
  }
});
