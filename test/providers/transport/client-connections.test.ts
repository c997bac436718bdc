import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { findTarget } from '../../../src/providers/transport/posting.ts';
import {
  accountAt,
  createTestClient,
  listenHttp,
  listenSockets,
  okBody,
  readOnce,
  send,
} from '../../support/loopback-provider.ts';

const never = new AbortController().signal;
const wholeAnswer = `HTTP/1.1 200 OK\r\ncontent-length: ${okBody.length}\r\n\r\n${okBody}`;

describe('kept connections', () => {
  test('of twelve entries carry no more listeners than those of one', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    const server = await listenHttp((_request, response) => send(response, {}));
    const clients = Array.from({ length: 12 }, () => createTestClient());
    for (const client of clients)
      expect(await client.readBalance(accountAt(server.url), never)).toMatchObject({ kind: 'ok' });
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    // Node emits its warnings a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).not.toContain('MaxListenersExceededWarning');
  });

  test('a thousand requests that hang delay no other', async () => {
    const server = await listenHttp((request, response) => {
      if (request.url?.startsWith('/hang') === true) return;
      send(response, {});
    });
    const client = createTestClient({ timeoutMs: 20_000 });
    const stop = new AbortController();
    const hanging = Array.from({ length: 1000 }, () =>
      client.readBalance(accountAt(`${server.url}/hang`), stop.signal),
    );
    // The thousand connections are made first; then the others must find their own.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => client.readBalance(accountAt(server.url), never)),
    );
    expect(outcomes.every(({ kind }) => kind === 'ok')).toBe(true);
    expect(Math.max(...outcomes.map(({ durationMs }) => durationMs))).toBeLessThan(15_000);
    stop.abort();
    expect((await Promise.all(hanging)).every(({ kind }) => kind === 'network_error')).toBe(true);
    await client.close();
    await server.close();
  });

  test.each<[name: string, end: (socket: Socket) => void]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])(
    'one that the server has %s as the next request comes is replaced without a failure',
    async (_name, end) => {
      let connections = 0;
      const server = await listenSockets((socket) => {
        connections += 1;
        let requests = 0;
        socket.on('data', () => {
          requests += 1;
          if (requests === 1) socket.write(wholeAnswer);
          else end(socket);
        });
      });
      const client = createTestClient({ timeoutMs: 60_000 });
      expect(await client.readBalance(accountAt(server.url), never)).toMatchObject({ kind: 'ok' });
      expect(await client.readBalance(accountAt(server.url), never)).toMatchObject({ kind: 'ok' });
      expect(connections).toBe(2);
      await client.close();
      await server.close();
    },
  );

  test.each<[name: string, answer: string]>([
    ['that is no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['that breaks off in its head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['whose head is too large', `HTTP/1.1 200 OK\r\nx-flood: ${'y'.repeat(300_000)}\r\n\r\n`],
    ['that changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\n\r\n'],
  ])('an answer %s is not asked for again, on a new connection or a kept one', async (_name, answer) => {
    let requests = 0;
    const server = await listenSockets((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        requests += 1;
        if (requests === 2) socket.write(wholeAnswer);
        else socket.end(answer);
      });
    });
    const client = createTestClient();
    expect((await client.readBalance(accountAt(server.url), never)).kind).not.toBe('ok');
    expect(requests).toBe(1);
    expect(await client.readBalance(accountAt(server.url), never)).toMatchObject({ kind: 'ok' });
    expect((await client.readBalance(accountAt(server.url), never)).kind).not.toBe('ok');
    expect(requests).toBe(3);
    await client.close();
    await server.close();
  });

  test('the hint of a server that keeps them briefly is honoured', async () => {
    const ports = new Set<number | undefined>();
    const server = await listenHttp((request, response) => {
      ports.add(request.socket.remotePort);
      // Two seconds before the server's own end is the client's: at once.
      send(response, { headers: { connection: 'keep-alive', 'keep-alive': 'timeout=2' } });
    });
    const client = createTestClient();
    await client.readBalance(accountAt(server.url), never);
    await client.readBalance(accountAt(server.url), never);
    expect(ports.size).toBe(2);
    await client.close();
    await server.close();
  });
});

describe('proxy variables', () => {
  test('HTTPS_PROXY leads through a tunnel, with its password and none of it in the outcome', async () => {
    const { proxy, seen } = await listenProxy(403);
    const environment = { HTTPS_PROXY: `http://user:proxy-password@127.0.0.1:${proxy.port}` };
    const outcome = await readOnce('https://provider.example', { environment });
    expect(seen).toEqual([
      ['provider.example:443', `Basic ${Buffer.from('user:proxy-password').toString('base64')}`],
    ]);
    expect(outcome).toMatchObject({
      kind: 'network_error',
      reason: 'the proxy refused the connection: HTTP 403',
    });
    expect(JSON.stringify(outcome)).not.toContain('proxy-password');
    await proxy.close();
  });

  test('an answer comes through the tunnel', async () => {
    const server = await listenHttp((_request, response) => send(response, {}));
    const { proxy } = await listenProxy(200, server.port);
    const environment = { http_proxy: `127.0.0.1:${proxy.port}` };
    const outcome = await readOnce(`http://provider.example`, { environment, allowInsecureHttp: true });
    expect(outcome).toMatchObject({ kind: 'ok' });
    await proxy.close();
    await server.close();
  });

  test('HTTP_PROXY may speak SOCKS where HTTPS_PROXY does not, and gets its password as it is', async () => {
    const server = await listenHttp((_request, response) => send(response, {}));
    const said: string[] = [];
    // RFC 1928 and 1929: it wants a password, takes it, and has made the connection.
    const answers = ['\x05\x02', '\x01\x00', `\x05\x00\x00\x01${'\x00'.repeat(6)}`];
    const proxy = await listenSockets((socket) => {
      const hear = (text: Buffer): void => {
        said.push(text.toString('latin1'));
        socket.write(answers[said.length - 1] ?? '');
        if (said.length < answers.length) return;
        socket.off('data', hear);
        socket.pipe(connect(server.port, '127.0.0.1')).pipe(socket);
      };
      socket.on('data', hear);
    });
    const HTTP_PROXY = `socks5://user:p%40ss@127.0.0.1:${proxy.port}`;
    const environment = { HTTP_PROXY, HTTPS_PROXY: 'http://127.0.0.1:1' };
    const outcome = await readOnce('http://provider.example', { environment, allowInsecureHttp: true });
    expect(outcome).toMatchObject({ kind: 'ok' });
    expect(said[1]).toBe('\x01\x04user\x04p@ss');
    await proxy.close();
    await server.close();
  });

  test('a tunnel that the proxy never opens is given up soon after the request', async () => {
    const closed = Promise.withResolvers<void>();
    const proxy = await listenSockets((socket) => socket.resume().on('close', closed.resolve));
    const client = createTestClient({ timeoutMs: 200, environment: { HTTPS_PROXY: proxy.url } });
    expect(await client.readBalance(accountAt('https://provider.example'), never)).toMatchObject({
      kind: 'timeout',
    });
    await closed.promise;
    await client.close();
    await proxy.close();
  });

  test('what a proxy says that is no HTTP is no answer of the provider', async () => {
    const proxy = await listenSockets((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')));
    const environment = { HTTPS_PROXY: proxy.url };
    expect(await readOnce('https://provider.example', { environment })).toMatchObject({
      kind: 'network_error',
      reason: 'the proxy made no connection',
    });
    await proxy.close();
  });

  test('NO_PROXY and this machine go past it', async () => {
    const { proxy, seen } = await listenProxy(403);
    const server = await listenHttp((_request, response) => send(response, {}));
    const environment = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: '.invalid' };
    expect(await readOnce(server.url, { environment })).toMatchObject({ kind: 'ok' });
    expect(await readOnce('https://host.invalid', { environment })).toMatchObject({
      reason: expect.stringContaining('(DNS)'),
    });
    expect(seen).toEqual([]);
    await proxy.close();
    await server.close();
  });

  test.each(['ftp://proxy-password@host', 'http://[proxy-password', 'http://user:proxy%password@host'])(
    'one that holds no address is refused by its name alone',
    (value) => {
      expect(() => createTestClient({ environment: { HTTPS_PROXY: value } })).toThrow(
        'the environment variable HTTPS_PROXY does not hold the address of a proxy',
      );
    },
  );
});

/** A proxy that answers tunnels with a status, and requests for `http://` by passing them on to `port`. */
async function listenProxy(status: number, port?: number) {
  const seen: [target: string | undefined, authorization: string | undefined][] = [];
  const server = createServer((request, response) => {
    const upstream = connect(port ?? 0, '127.0.0.1', () =>
      upstream.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    );
    upstream.once('data', () => {
      upstream.destroy();
      send(response, { headers: { 'x-limit-target': request.url ?? '' } });
    });
  });
  server.on('connect', (request, socket) => {
    seen.push([request.url, request.headers['proxy-authorization']]);
    socket.end(`HTTP/1.1 ${status} Status\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { proxy: { port: address.port, url: `http://127.0.0.1:${address.port}`, close }, seen };
}

describe('where the secret may go', () => {
  test.each([
    ['https://api.example.com', 'allowed'],
    ['https://api.example.com/', 'allowed'],
    ['http://localhost:9080', 'allowed'],
    ['http://127.0.0.1:9080', 'allowed'],
    ['http://[::1]:9080', 'allowed'],
    ['http://api.example.com', 'refused'],
    ['http://127.0.0.1.example.com', 'refused'],
    ['http://10.0.0.1', 'refused'],
    ['ftp://api.example.com', 'refused'],
    ['api.example.com', 'refused'],
  ])('%s: %s', (address, kind) => {
    expect('reason' in findTarget(address, false)).toBe(kind === 'refused');
  });

  test('path and query of the address are kept', () => {
    const target = findTarget('https://api.example.com/eu/user/account/balance?a=%2F', false);
    expect(target).toMatchObject({
      origin: 'https://api.example.com',
      path: '/eu/user/account/balance?a=%2F',
    });
    expect(findTarget('http://10.0.0.1', true)).toMatchObject({ origin: 'http://10.0.0.1' });
  });
});
