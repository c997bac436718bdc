import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueCertificate, type Order } from '../../support/certificates.ts';
import {
  accountAt,
  createTestClient,
  type Listening,
  listenHttp,
  listenSockets,
  listenTls,
  readOnce,
  send,
} from '../../support/loopback-provider.ts';

const authority = issueCertificate({ name: 'Trusted test CA', authority: true });
const stranger = issueCertificate({ name: 'Unknown test CA', authority: true });
const weak = issueCertificate({ name: 'Weak test CA', authority: true, curve: 'prime192v1' });
const usualAuthorities = getCACertificates('default');

// As `NODE_EXTRA_CA_CERTS` does for a process.
beforeAll(() => setDefaultCACertificates([...usualAuthorities, authority.cert, weak.cert]));
afterAll(() => setDefaultCACertificates(usualAuthorities));

const hosts = ['127.0.0.1'];

test.each<[name: string, order: Order, reason: string]>([
  [
    'an expired certificate',
    { name: 'a', hosts, issuer: authority, notAfter: new Date('2021-01-01') },
    'has expired',
  ],
  [
    'one that is not valid yet',
    { name: 'a', hosts, issuer: authority, notBefore: new Date('2100-01-01') },
    'not valid yet',
  ],
  [
    'one for another host',
    { name: 'a', hosts: ['other.example'], issuer: authority },
    'for another host name',
  ],
  ['a self-signed one', { name: 'self', hosts }, 'is self-signed'],
  [
    'one of a CA whose key is too weak',
    { name: 'a', hosts, issuer: weak },
    'its key or its signature is too weak',
  ],
  ['one of an unknown CA', { name: 'a', hosts, issuer: stranger }, 'unknown CA'],
])('%s is refused in words of its own, and the secret is never sent', async (_name, order, reason) => {
  let requests = 0;
  // A server that is careful would not show a weak certificate.
  const careless = { ...issueCertificate(order), ciphers: 'DEFAULT@SECLEVEL=0' };
  const server = await listenTls(careless, (_request, response) => {
    requests += 1;
    send(response, {});
  });
  const outcome = await readOnce(server.url);
  expect(outcome).toMatchObject({ kind: 'network_error', reason: expect.stringContaining(reason) });
  expect(requests).toBe(0);
  await server.close();
});

test('a certificate that expires meanwhile is refused, though the server would take up the session again', async () => {
  const notAfter = new Date(Date.now() + 4000);
  const leaf = issueCertificate({ name: 'a', hosts, issuer: authority, notAfter });
  let requests = 0;
  const server = await listenTls(leaf, (_request, response) => {
    requests += 1;
    send(response, { headers: { connection: 'close' } });
  });
  const client = createTestClient();
  const read = () => client.readBalance(accountAt(server.url), new AbortController().signal);
  expect(await read()).toMatchObject({ kind: 'ok' });
  await new Promise((resolve) => setTimeout(resolve, notAfter.getTime() + 1000 - Date.now()));
  expect(await read()).toMatchObject({
    kind: 'network_error',
    reason: expect.stringContaining('has expired'),
  });
  expect(requests).toBe(1);
  await client.close();
  await server.close();
});

test('a private CA in the chain says how to trust one', async () => {
  const leaf = issueCertificate({ name: 'leaf', hosts, issuer: stranger });
  const server = await listenTls({ key: leaf.key, cert: leaf.cert + stranger.cert }, (_request, response) =>
    send(response, {}),
  );
  expect(await readOnce(server.url)).toMatchObject({
    kind: 'network_error',
    reason: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
  await server.close();
});

test('a server that speaks no TLS is distinguished from one that is down', async () => {
  const server = await listenHttp((_request, response) => send(response, {}));
  const outcome = await readOnce(server.url.replace('http:', 'https:'));
  expect(outcome).toMatchObject({
    kind: 'network_error',
    reason: 'TLS: the server does not speak TLS at this address',
  });
  await server.close();
});

test('a server that wants a certificate of the client is said to end the handshake', async () => {
  const certificate = issueCertificate({ name: 'a', hosts, issuer: authority });
  const wanting = { ...certificate, requestCert: true, maxVersion: 'TLSv1.2' } as const;
  const server = await listenTls(wanting, (_request, response) => send(response, {}));
  expect(await readOnce(server.url)).toMatchObject({
    kind: 'network_error',
    reason: expect.stringMatching(/^TLS: the handshake failed \(ERR_SSL_.*HANDSHAKE_FAILURE\)$/),
  });
  await server.close();
});

test('readings in a row share one connection: one handshake', async () => {
  const ports = new Set<number | undefined>();
  const server = await listenTls(
    issueCertificate({ name: 'good', hosts, issuer: authority }),
    (request, response) => {
      ports.add(request.socket.remotePort);
      send(response, {});
    },
  );
  const client = createTestClient();
  for (let count = 0; count < 5; count += 1) {
    expect(await client.readBalance(accountAt(server.url), new AbortController().signal)).toMatchObject({
      kind: 'ok',
    });
    // A connection is free again one turn of the event loop after its answer.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await client.close();
  await server.close();
  expect(ports.size).toBe(1);
});

test('an environment that switches verification off is not obeyed', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const server = await listenTls(issueCertificate({ name: 'self', hosts }), (_request, response) =>
    send(response, {}),
  );
  expect(await readOnce(server.url)).toMatchObject({
    kind: 'network_error',
    reason: expect.stringContaining('self-signed'),
  });
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  await server.close();
});

test.each([
  ['http', '', 'HTTP/1.1 200 Connection established\r\n\r\n'],
  // RFC 1928: no authentication is needed; the connection is there.
  ['socks5', '\x05\x00', '\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00'],
])(
  'through a tunnel of a proxy (%s) the certificate of the provider is verified all the same',
  async (scheme, greeting, opened) => {
    const answer = (_request: unknown, response: ServerResponse) => send(response, {});
    const good = await listenTls(
      issueCertificate({ name: 'good', hosts: ['provider.example'], issuer: authority }),
      answer,
    );
    const bad = await listenTls(issueCertificate({ name: 'bad', hosts: ['provider.example'] }), answer);
    for (const [server, expected] of [
      [good, { kind: 'ok' }],
      [bad, { kind: 'network_error', reason: expect.stringContaining('self-signed') }],
    ] as const) {
      const proxy = await listenTunnel(server.port, { greeting, opened });
      const environment = { HTTPS_PROXY: proxy.url.replace('http', scheme) };
      expect(await readOnce('https://provider.example', { environment })).toMatchObject(expected);
      await proxy.close();
      await server.close();
    }
  },
);

/** A proxy whose tunnels all lead to one port of this machine. It says `greeting`, where there is one, before it is asked for the tunnel. */
function listenTunnel(
  port: number,
  { greeting, opened }: { readonly greeting: string; readonly opened: string },
): Promise<Listening> {
  return listenSockets((socket) => {
    const open = (): void => {
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write(opened);
        socket.pipe(upstream).pipe(socket);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    };
    socket.once('data', () => {
      if (greeting === '') open();
      else socket.once('data', open).write(greeting);
    });
  });
}
