import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { minuteMs } from '../../../src/domain/time.ts';
import { WarmClients } from '../../../src/providers/transport/connections.ts';
import { Exchange, type ExchangeEnd } from '../../../src/providers/transport/exchange.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('kept connections', () => {
  test('requests one after the other share one', async () => {
    const server = await listen((_request, response) => response.end('{}'));
    for (let count = 0; count < 5; count++) expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    expect(server.connections()).toBe(1);
  });

  test('requests at once have one each, and the next ones take those', async () => {
    const server = await listen((_request, response) => setImmediate(() => response.end('{}')));
    const askTen = () => Promise.all(Array.from({ length: 10 }, () => server.ask('/')));
    await askTen();
    const first = server.connections();
    await askTen();
    expect([first, server.connections()]).toEqual([10, 10]);
  });

  test('no request waits behind one that hangs, and one that was given up leaves its place', async () => {
    const server = await listen(({ url }, response) => {
      if (url !== '/hang') response.end('{}');
    });
    const hanging = server.begin('/hang');
    expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    hanging.exchange.giveUp('timeout');
    expect(await hanging.end).toEqual({ kind: 'timeout' });
    for (let count = 0; count < 3; count++) expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    expect(server.connections()).toBeLessThanOrEqual(3);
  });

  test('a closed connection is opened again', async () => {
    const server = await listen((_request, response) => {
      response.setHeader('connection', 'close');
      response.end('{}');
    });
    for (let count = 0; count < 3; count++) expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    expect(server.connections()).toBe(3);
  });

  test('an origin where nobody listens fails each time', async () => {
    const server = await listen(() => {});
    await server.close();
    for (let count = 0; count < 3; count++) expect(await server.ask('/')).toMatchObject({ kind: 'failed' });
  });

  test('one that is ten minutes old is replaced: its name may have moved while the old server still answers', async () => {
    const server = await listen((_request, response) => response.end('{}'));
    for (const minutes of [0, 9.9]) {
      await server.clock.pass(minutes * minuteMs);
      expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    }
    expect(server.connections()).toBe(1);
    for (const minutes of [0.2, 9]) {
      await server.clock.pass(minutes * minuteMs);
      expect(await server.ask('/')).toMatchObject({ kind: 'answered' });
    }
    expect(server.connections()).toBe(2);
  });

  test('nothing is sent once they are ended', async () => {
    const server = await listen((_request, response) => response.end('{}'));
    await server.clients.destroy();
    expect(await server.ask('/')).toMatchObject({ kind: 'failed' });
    expect(server.connections()).toBe(0);
  });
});

async function listen(answer: RequestListener) {
  const server = createServer(answer);
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A cast is safe: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  const clock = new FakeClock(0);
  const clients = new WarmClients(clock, {});
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(async () => {
    await clients.destroy();
    await close();
  });
  const begin = (path: string): { exchange: Exchange; end: Promise<ExchangeEnd> } => {
    const { promise, resolve } = Promise.withResolvers<ExchangeEnd>();
    // A connection is free when undici has put the answer away, a moment after it gave it.
    const settle = (end: ExchangeEnd): void => void setImmediate(() => setImmediate(resolve, end));
    const exchange = new Exchange({ settle, guard: () => 0, holdBack: () => undefined });
    clients.dispatch({ origin: `http://127.0.0.1:${port}`, path, method: 'POST', body: '{}' }, exchange);
    return { exchange, end: promise };
  };
  return {
    clock,
    clients,
    close,
    begin,
    ask: (path: string) => begin(path).end,
    connections: () => connections,
  };
}
