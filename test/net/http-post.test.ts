import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createPing } from '../../src/channels/ping.ts';
import { Secret } from '../../src/domain/secret.ts';
import { minuteMs } from '../../src/domain/time.ts';
import { errorCodes, explainConnectError } from '../../src/net/connect-error.ts';
import { openProxied } from '../../src/net/connector.ts';
import { deliverWithin, openHttpConnections, postOnce } from '../../src/net/http-post.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/system/clock.ts';
import { issueCertificate } from '../support/certificates.ts';
import { type Listening, listenSockets, listenTls } from '../support/loopback-provider.ts';

async function listen(answer: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { seen, port, close: () => server.close() };
}

async function post(
  url: string,
  environment: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const dispatcher = openHttpConnections(new Secret(url), { clock: systemClock, environment });
  const { signal } = new AbortController();
  const answer = await postOnce({ url, headers, body: '{}', signal, dispatcher, clock: systemClock });
  await dispatcher.close();
  return answer.body;
}

/** The first message of a server that knows no newer version: TLS_RSA_WITH_AES_128_CBC_SHA. */
const helloOfTls10 = Buffer.from(`160301002a020000260301${'00'.repeat(32)}00002f00`, 'hex');

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('the way to a receiver', () => {
  it('goes past a proxy for this machine', async () => {
    const [proxy, receiver] = await Promise.all([listen('proxy'), listen('receiver')]);
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await post(`http://localhost:${receiver.port}/hook`, environment)).toBe('receiver');
    expect(proxy.seen).toEqual([]);
    proxy.close();
    receiver.close();
  });

  it('is made anew after ten minutes, however often messages come: its name may lead elsewhere by then', async () => {
    let connections = 0;
    const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    receiver.on('connection', () => connections++);
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    const dispatcher = openHttpConnections(new Secret(url), { clock: systemClock, environment: {} });
    const { signal } = new AbortController();
    const counts = [];
    for (const minutes of [1, 10, 12]) {
      vi.useFakeTimers({ toFake: ['Date'], now: minutes * minuteMs });
      await postOnce({ url, headers: {}, body: '{}', signal, dispatcher, clock: systemClock });
      counts.push(connections);
      // The connection is free a moment after its answer was read.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    vi.useRealTimers();
    expect(counts).toEqual([1, 1, 2]);
    await dispatcher.destroy();
    receiver.close();
  });

  it('shows the user and password of its address, as they are decoded', async () => {
    const shown: (string | undefined)[] = [];
    const receiver = createServer((request, response) => {
      shown.push(request.headers.authorization);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    for (const credentials of ['ops:p%40ss', 'ops:50%', ''])
      await post(`http://${credentials}@127.0.0.1:${port}/`, {});
    await post(`http://ops:word@127.0.0.1:${port}/`, {}, { Authorization: 'Bearer own' });
    expect(shown).toEqual([basic('ops:p@ss'), basic('ops:50%'), undefined, 'Bearer own']);
    await createPing(systemClock)(
      new Secret(`http://ops:word@127.0.0.1:${port}/`),
      new AbortController().signal,
    );
    expect(shown.at(-1)).toBe(basic('ops:word'));
    receiver.close();
  });

  it('leads through a proxy elsewhere, be its address with a scheme or without one', async () => {
    const proxy = await listen('proxy');
    for (const address of [`http://127.0.0.1:${proxy.port}`, `127.0.0.1:${proxy.port}`]) {
      expect(await post('http://receiver.example/hook', { http_proxy: address })).toBe('proxy');
    }
    proxy.close();
  });

  it.each([
    ['127.0.0.0/8', 'receiver'],
    ['::1/128, 127.0.0.1/32', 'receiver'],
    ['128.0.0.0/8', 'proxy'],
    ['127.0.0.0/33', 'proxy'],
  ])('leads past a proxy into a network that NO_PROXY names: %s', async (noProxy, expected) => {
    const [proxy, receiver] = await Promise.all([listen('proxy'), listen('receiver')]);
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy };
    const dispatcher = openProxied(systemClock, environment, { timeout: 1000 });
    const origin = `http://127.0.0.1:${receiver.port}`;
    const answer = await dispatcher?.request({ origin, path: '/', method: 'POST' });
    expect(await answer?.body.text()).toBe(expected);
    await dispatcher?.destroy();
    proxy.close();
    receiver.close();
  });

  it('names a variable that holds no address, and not what it holds', () => {
    const open = () =>
      openHttpConnections(new Secret('https://receiver.example'), {
        clock: systemClock,
        environment: { HTTPS_PROXY: 'pass:word@::' },
      });
    expect(open).toThrow('the environment variable HTTPS_PROXY does not hold the address of a proxy');
  });
});

async function deliverTo(
  url: string,
  environment: Readonly<Record<string, string>> = {},
  afterMs = 5000,
  headers: Readonly<Record<string, string>> = {},
) {
  const dispatcher = openHttpConnections(new Secret(url), { clock: systemClock, environment });
  const { signal: outer } = new AbortController();
  const delivery = await deliverWithin({ clock: systemClock, afterMs, outer }, async (signal) => {
    await postOnce({ url, headers, body: '{}', signal, dispatcher, clock: systemClock });
    return { kind: 'delivered', said: '' };
  });
  await dispatcher.destroy();
  return delivery;
}

it('a header that cannot hold what it is to hold is said, and not what that is', async () => {
  const headers = { authorization: 'Bearer 密码' };
  const delivery = await deliverTo('http://127.0.0.1:9', {}, 5000, headers);
  expect(delivery).toEqual({
    kind: 'dead',
    reason: 'the address is no URL, or a key holds what no header can',
  });
});

it('a heartbeat that is not received says why, and not where it goes', async () => {
  const statuses = [200, 301, 429];
  const service = createServer((_, response) => response.writeHead(statuses.shift() ?? 500).end());
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const expired = issueCertificate({ name: 'a', hosts: ['127.0.0.1'], notAfter: new Date('2021-01-01') });
  const overTls = await listenTls(expired, () => expect.unreachable('a request was sent'));
  const ping = createPing(systemClock);
  const { port } = service.address() as AddressInfo;
  const reach = (url: string) => ping(new Secret(url), new AbortController().signal);
  const reasons = [];
  for (const path of ['a', 'b', 'c']) reasons.push(await reach(`http://127.0.0.1:${port}/${path}`));
  service.close();
  expect(reasons).toEqual([null, 'HTTP 301', 'HTTP 429']);
  expect(await reach(`${overTls.url.replace('http:', 'https:')}/secret-uuid`)).toMatch(
    /^TLS: .* has expired/,
  );
  expect(await reach('http://127.0.0.1:1/secret-uuid')).toBe('the connection was refused');
  await overTls.close();
});

describe('a handshake that fails', () => {
  const overTls = async (listening: Promise<Listening>) => {
    const { url, close } = await listening;
    return { url: url.replace('http:', 'https:'), close };
  };
  const never = () => expect.unreachable('a request was sent');

  it.each<[name: string, listen: () => Promise<Listening>, reason: string]>([
    [
      'on an expired certificate',
      () =>
        listenTls(
          issueCertificate({ name: 'a', hosts: ['127.0.0.1'], notAfter: new Date('2021-01-01') }),
          never,
        ),
      'has expired',
    ],
    [
      'on a certificate that nobody vouches for',
      () => listenTls(issueCertificate({ name: 'self', hosts: ['127.0.0.1'] }), never),
      'is self-signed',
    ],
    [
      'because the server hangs up',
      () => listenSockets((socket) => socket.once('data', () => socket.end())),
      'ended the connection in the handshake',
    ],
    [
      'because the server takes none of these versions of TLS',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 70)))),
      'ALERT_PROTOCOL_VERSION',
    ],
    [
      'because the server wants something else',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 40)))),
      'ALERT_HANDSHAKE_FAILURE',
    ],
    [
      'because the server asks for a certificate',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 116)))),
      'asks for a client certificate',
    ],
    [
      'because the server answers in TLS 1.0',
      () => listenSockets((socket) => socket.once('data', () => socket.end(helloOfTls10))),
      'UNSUPPORTED_PROTOCOL',
    ],
    [
      'because the server has no such name',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 112)))),
      'UNRECOGNIZED_NAME',
    ],
    [
      'because the server speaks HTTP/2 alone',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 120)))),
      'does not speak HTTP/1.1',
    ],
    [
      'because the server speaks plain HTTP',
      () =>
        listenSockets((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
      'does not speak TLS',
    ],
  ])('%s has surely sent nothing, and says what it failed on', async (_name, listen, reason) => {
    const { url, close } = await overTls(listen());
    expect(await deliverTo(url)).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: expect.stringContaining(reason),
    });
    await close();
  });
});

describe('a proxy', () => {
  it.each([
    ['http', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'the proxy refused the connection: HTTP 403'],
    [
      'http',
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'the proxy refused the connection: HTTP 407',
    ],
    ['http', '', 'the proxy closed the connection'],
    ['http', 'SSH-2.0-OpenSSH_9.2\r\n', 'the proxy made no connection'],
    ['socks5', '\x05\xff', 'the SOCKS proxy made no connection (UND_ERR_SOCKS5_AUTH_REJECTED)'],
  ])('that answers (%s) %j has surely handed nothing on', async (scheme, answer, reason) => {
    const proxy = await listenSockets((socket) =>
      socket.once('data', () => socket.end(Buffer.from(answer, 'latin1'))),
    );
    const environment = { HTTPS_PROXY: proxy.url.replace('http', scheme) };
    const delivery = await deliverTo('https://receiver.example/hook', environment);
    expect(delivery).toEqual({ kind: 'retry', certainty: 'refused', reason });
    await proxy.close();
  });

  it('that resets the connection has surely handed nothing on', async () => {
    const proxy = await listenSockets((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const delivery = await deliverTo('https://receiver.example/hook', { HTTPS_PROXY: proxy.url });
    const reason = 'the proxy made no connection';
    expect(delivery).toEqual({ kind: 'retry', certainty: 'refused', reason });
    await proxy.close();
  });

  it('that says nothing holds a message up no longer than any other receiver', async () => {
    const proxy = await listenSockets(() => undefined);
    const started = performance.now();
    const delivery = await deliverTo('https://receiver.example/hook', { HTTPS_PROXY: proxy.url }, 200);
    expect(delivery).toMatchObject({ kind: 'retry', reason: 'no complete answer in time' });
    expect(performance.now() - started).toBeLessThan(4500);
    await proxy.close();
  });
});

it('a tunnel that a proxy does not open in time is said to be so, and has surely carried nothing', async () => {
  const proxy = await listenSockets(() => undefined);
  const dispatcher = openProxied(systemClock, { HTTPS_PROXY: proxy.url }, { timeout: 200 });
  const asked = dispatcher?.request({ origin: 'https://receiver.example', path: '/', method: 'POST' });
  const error = await asked?.catch((cause: unknown) => cause);
  expect(explainConnectError(errorCodes(error))).toBe('the proxy made no connection in time');
  await dispatcher?.destroy();
  await proxy.close();
});

describe('an answer whose status came', () => {
  const head = (status: string, ...headers: readonly string[]) =>
    [`HTTP/1.1 ${status}`, ...headers, '', ''].join('\r\n');
  const large = 'x'.repeat(100_000);
  const endless = { text: head('404 Not Found', 'Transfer-Encoding: chunked'), goesOn: true };

  it.each<[name: string, answer: { readonly text: string; readonly goesOn?: boolean }, status: number]>([
    ['that is empty', { text: head('204 No Content') }, 204],
    ['larger than is read', { text: `${head('200 OK', 'Content-Length: 100000')}${large}` }, 200],
    ['without an end', endless, 404],
    ['that stops halfway', { text: `${head('410 Gone', 'Content-Length: 100')}abc`, goesOn: true }, 410],
    ['that is cut', { text: `${head('401 Unauthorized', 'Content-Length: 100')}abc` }, 401],
    [
      'that is badly framed',
      { text: `${head('429 Too Many Requests', 'Retry-After: 7', 'Transfer-Encoding: chunked')}zz\r\nabc` },
      429,
    ],
  ])('is an answer with a body %s', async (_name, { text, goesOn = false }, status) => {
    const receiver = await listenSockets((socket) =>
      socket.once('data', () => {
        socket.write(text);
        if (!goesOn) socket.end();
      }),
    );
    const dispatcher = openHttpConnections(new Secret(receiver.url), {
      clock: impatientClock,
      environment: {},
    });
    const { signal } = new AbortController();
    const answer = await postOnce({
      url: receiver.url,
      headers: {},
      body: '{}',
      signal,
      dispatcher,
      clock: impatientClock,
    });
    expect(answer.status).toBe(status);
    expect(answer.body.length).toBeLessThanOrEqual(64 * 1024);
    if (status === 429) expect(answer.headers['retry-after']).toBe('7');
    await dispatcher.destroy();
    await receiver.close();
  });
});

/** What is waited for a body passes soon. */
const impatientClock: Clock = {
  ...systemClock,
  setTimer: (delayMs, fire) => systemClock.setTimer(Math.min(delayMs, 100), fire),
};

describe('an interim answer that nobody asked for', () => {
  const interim = 'HTTP/1.1 100 Continue\r\nX-Late: 1\r\n\r\n';
  const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

  it.each<[name: string, pieces: readonly string[]]>([
    ['in one piece with the answer', [interim + final]],
    ['in pieces of its own', ['HTT', 'P/1.1 100 Con', 'tinue\r\n', 'X-Late: 1\r\n\r', '\n', final]],
    ['twice', [interim + interim, final]],
    ['102 and 103', ['HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n', final]],
  ])('is ignored: %s', async (_name, pieces) => {
    const receiver = await listenSockets((socket) =>
      socket.on('data', async () => {
        for (const piece of pieces) {
          await new Promise((resolve) => socket.write(piece, resolve));
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }),
    );
    const dispatcher = openHttpConnections(new Secret(receiver.url), { clock: systemClock, environment: {} });
    const { signal } = new AbortController();
    const order = { url: receiver.url, headers: {}, body: '{}', signal, dispatcher, clock: systemClock };
    expect(await postOnce(order)).toMatchObject({ status: 200, body: 'ok' });
    // On the same connection again.
    expect(await postOnce(order)).toMatchObject({ status: 200, body: 'ok' });
    await dispatcher.destroy();
    await receiver.close();
  });
});
