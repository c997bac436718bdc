import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../src/net/connector.ts';
import { NameLookup } from '../../src/net/name-lookup.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { systemClock } from '../../src/system/clock.ts';
import { leadNowhere } from '../support/deaf-listener.ts';
import { listenSockets } from '../support/loopback-provider.ts';
import { type NameAnswer, type NameServer, startNameServer } from '../support/name-server.ts';

const servers: NameServer[] = [];
let elapsedMs = 0;
const clock: Clock = { ...systemClock, monotonic: () => elapsedMs };

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  elapsedMs = 0;
});

async function openLookup(answers: Readonly<Record<string, NameAnswer>>, ttlSeconds?: number) {
  const server = await startNameServer(answers, ttlSeconds);
  servers.push(server);
  const lookup = new NameLookup({ clock, servers: [server.address], hostsFile: '/nowhere' });
  return { server, lookup };
}

const found = (...addresses: readonly string[]) => addresses.map((address) => ({ address, family: 4 }));

describe('a lookup of a name', () => {
  it('connects to the address that the name server gives', async () => {
    const { lookup } = await openLookup({ 'receiver.example': ['127.0.0.1'] });
    const receiver = await listenSockets((socket) => socket.end('hello'));
    const socket = connect({
      host: 'receiver.example',
      port: receiver.port,
      lookup: lookup.lookup.bind(lookup),
    });
    expect(String(await new Promise((resolve) => socket.once('data', resolve)))).toBe('hello');
    await receiver.close();
  });

  it('is one for all who ask at once, and its answer is kept as long as the name server says', async () => {
    const { server, lookup } = await openLookup({ 'receiver.example': ['192.0.2.1', '192.0.2.2'] }, 60);
    const answers = await Promise.all([lookup.find('receiver.example'), lookup.find('receiver.example')]);
    expect(answers).toEqual([found('192.0.2.1', '192.0.2.2'), found('192.0.2.1', '192.0.2.2')]);
    elapsedMs = 59_000;
    await lookup.find('receiver.example');
    expect(server.questions).toHaveLength(2);
    server.answers = { 'receiver.example': ['192.0.2.3'] };
    elapsedMs = 61_000;
    expect(await lookup.find('receiver.example')).toEqual(found('192.0.2.3'));
  });

  it('goes on with the last answer while the name servers are silent or fail, for a day', async () => {
    const { server, lookup } = await openLookup({ 'receiver.example': ['192.0.2.1'] });
    await lookup.find('receiver.example');
    server.answers = { 'receiver.example': 'server-failure' };
    elapsedMs = 3_600_000;
    expect(await lookup.find('receiver.example')).toEqual(found('192.0.2.1'));
    elapsedMs = 2 * 86_400_000;
    await expect(lookup.find('receiver.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  it('asks soon again for addresses of version 4 where that question alone was lost', async () => {
    const { server, lookup } = await openLookup(
      { 'A receiver.example': 'silence', 'AAAA receiver.example': ['::1'] },
      300,
    );
    expect(await lookup.find('receiver.example')).toEqual([{ address: '::1', family: 6 }]);
    server.answers = { 'receiver.example': ['127.0.0.1', '::1'] };
    elapsedMs = 1001;
    expect(await lookup.find('receiver.example')).toEqual([
      ...found('127.0.0.1'),
      { address: '::1', family: 6 },
    ]);
    const asked = server.questions.length;
    elapsedMs = 200_000;
    await lookup.find('receiver.example');
    expect(server.questions).toHaveLength(asked);
  });

  it('keeps the last addresses of version 4 where that question alone is lost: those of version 6 may lead nowhere', async () => {
    const { server, lookup } = await openLookup({ 'receiver.example': ['127.0.0.1', '::1'] }, 1);
    const both = [...found('127.0.0.1'), { address: '::1', family: 6 }];
    expect(await lookup.find('receiver.example')).toEqual(both);
    server.answers = { 'A receiver.example': 'silence', 'AAAA receiver.example': ['::1'] };
    elapsedMs = 1001;
    expect(await lookup.find('receiver.example')).toEqual(both);
    // Not for ever: the host may have moved.
    elapsedMs = 86_400_000;
    expect(await lookup.find('receiver.example')).toEqual(both);
    elapsedMs = 86_402_000;
    expect(await lookup.find('receiver.example')).toEqual([{ address: '::1', family: 6 }]);
  });

  // On a busy machine the receiver may wake too late for the system's second try, which is the last within the time.
  const again = { retry: 4 };
  it(
    'gives an address that takes a second to connect the time for it, though others follow',
    again,
    async () => {
      // It takes no connection while it is busy, and its queue holds two: the system asks a second later again.
      const busy = `
      const server = require('node:net').createServer((socket) => socket.end('hello'));
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        process.send(server.address().port);
        process.once('message', () => { const end = Date.now() + 700; while (Date.now() < end); });
      });`;
      const receiver = spawn(process.execPath, ['-e', busy], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const [port] = await once(receiver, 'message');
      receiver.send('be busy');
      await setTimeout(100);
      const waiting = Array.from({ length: 4 }, () =>
        connect(port, '127.0.0.1').on('error', () => undefined),
      );
      await setTimeout(50);
      const { lookup } = await openLookup({ 'receiver.example': ['127.0.0.1', '::1'] });
      const socket = connect({ host: 'receiver.example', port, lookup: lookup.lookup });
      await once(socket, 'connect');
      for (const each of [socket, ...waiting]) each.destroy();
      receiver.kill();
    },
  );

  it('leaves time for the other addresses of a name where a connection must be there soon', async () => {
    const server = createServer().listen(0, '::1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await leadNowhere(port);
    const target = { hostname: 'receiver.localhost', protocol: 'http:', port: String(port) };
    const began = performance.now();
    const socket = await new Promise<Socket>((resolve, reject) => {
      createConnector(systemClock, 4000)(target, (error, opened) =>
        opened ? resolve(opened) : reject(error),
      );
    });
    socket.destroy();
    expect(performance.now() - began).toBeLessThan(3500);
  });

  it('that stays without an answer ends by itself and holds up no other, however many there are', async () => {
    const { lookup } = await openLookup({ 'receiver.example': ['192.0.2.1'] });
    const started = performance.now();
    let ended = 0;
    const silent = Array.from({ length: 40 }, (_, index) =>
      lookup
        .find(`silent-${index}.example`)
        .catch((error: NodeJS.ErrnoException) => error.code)
        .finally(() => ended++),
    );
    expect(await lookup.find('receiver.example')).toEqual(found('192.0.2.1'));
    expect(ended).toBe(0);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['EAI_AGAIN']));
    expect(performance.now() - started).toBeLessThan(9000);
  });

  it('believes the hosts file before any name server, and asks nobody for this machine', async () => {
    const hostsFile = join(await mkdtemp(join(tmpdir(), 'lowwater-')), 'hosts');
    await writeFile(
      hostsFile,
      '# comment\n::1 other\n192.0.2.9\tmail MAIL.example # trailing\n2001:db8::1 mail\n',
    );
    const { server } = await openLookup({});
    const lookup = new NameLookup({ clock, servers: [server.address], hostsFile });
    expect(await lookup.find('mail.example')).toEqual(found('192.0.2.9'));
    expect(await lookup.find('mail')).toEqual([...found('192.0.2.9'), { address: '2001:db8::1', family: 6 }]);
    expect(await lookup.find('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
    expect(server.questions).toEqual([]);
  });

  it('asks no name server for a name under .invalid, which nobody can own', async () => {
    const { server, lookup } = await openLookup({});
    await expect(lookup.find('provider.INVALID')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(server.questions).toEqual([]);
  });

  it('asks the system where the name servers do not know the name', async () => {
    const { server, lookup } = await openLookup({ '127.1': 'no-such-name' });
    // The short form of an address, which getaddrinfo reads and no name server knows.
    expect(await lookup.find('127.1')).toEqual(found('127.0.0.1'));
    expect(server.questions).not.toEqual([]);
  });

  it('begins elsewhere among many addresses each time: the first ones may all lead nowhere', async () => {
    const many = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`);
    const { lookup } = await openLookup({ 'many.example': many, 'few.example': many.slice(0, 4) });
    const firstOf = (name: string) =>
      new Promise<unknown>((resolve) =>
        lookup.lookup(name, { all: true }, (_, answer) => resolve([answer].flat()[0])),
      );
    for (const first of ['192.0.2.0', '192.0.2.4', '192.0.2.8', '192.0.2.2'])
      expect(await firstOf('many.example')).toEqual({ address: first, family: 4 });
    expect(await firstOf('few.example')).toEqual({ address: '192.0.2.0', family: 4 });
  });

  it('gives the family that is asked for, one address or all of them', async () => {
    const { lookup } = await openLookup({ 'receiver.example': ['192.0.2.1', '192.0.2.2'] });
    const ask = (options: object) =>
      new Promise((resolve) => lookup.lookup('receiver.example', options, (...answer) => resolve(answer)));
    expect(await ask({})).toEqual([null, '192.0.2.1', 4]);
    expect(await ask({ all: true })).toEqual([null, found('192.0.2.1', '192.0.2.2')]);
    expect(await ask({ family: 6 })).toMatchObject([{ code: 'ENOTFOUND' }, '', 0]);
  });
});
