import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { SendingGuard } from '../../../src/ports/provider.ts';
import {
  accountAt,
  createTestClient,
  listenHttp,
  listenSockets,
  okBody,
  send,
} from '../../support/loopback-provider.ts';

const never = new AbortController().signal;
const wholeAnswer = `HTTP/1.1 200 OK\r\ncontent-length: ${okBody.length}\r\n\r\n${okBody}`;

/** Lets a request go every so many milliseconds, and notes when it did. */
function guardEvery(spacingMs: number): { readonly guard: SendingGuard; readonly sentAt: number[] } {
  const sentAt: number[] = [];
  const guard = (): number => {
    const now = performance.now();
    const waitMs = (sentAt.at(-1) ?? Number.NEGATIVE_INFINITY) + spacingMs - now;
    if (waitMs > 0) return waitMs;
    sentAt.push(now);
    return 0;
  };
  return { guard, sentAt };
}

function pauses(instants: readonly number[]): number[] {
  return instants.slice(1).map((at, index) => at - (instants[index] ?? at));
}

/** A connection is free for the next request a moment after the answer. */
function putAway(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

test('a request that is held back keeps its connection for its turn', async () => {
  const connections = new Set<unknown>();
  const server = await listenHttp((request, response) => {
    connections.add(request.socket);
    send(response, {});
  });
  const client = createTestClient();
  const { guard } = guardEvery(50);
  for (let poll = 0; poll < 4; poll += 1) {
    expect(await client.readBalance(accountAt(server.url), never, guard)).toMatchObject({ kind: 'ok' });
    await putAway();
  }
  expect(connections.size).toBe(1);
  await client.close();
  await server.close();
});

test('requests that are begun together are sent apart, over new connections and kept ones', async () => {
  let arrived = 0;
  const server = await listenHttp((_request, response) => {
    arrived += 1;
    send(response, {});
  });
  const client = createTestClient();
  const { guard, sentAt } = guardEvery(60);
  const read = () => client.readBalance(accountAt(server.url), never, guard);
  const outcomes = await Promise.all([read(), read(), read()]);
  outcomes.push(...(await Promise.all([read(), read(), read()])));
  expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 6 }, () => 'ok'));
  expect(arrived).toBe(6);
  expect(sentAt).toHaveLength(6);
  expect(Math.min(...pauses(sentAt))).toBeGreaterThanOrEqual(60);
  await client.close();
  await server.close();
});

test('the second try on a dead connection asks the guard again', async () => {
  const server = await listenSockets((socket: Socket) => {
    let requests = 0;
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write(wholeAnswer);
      else socket.end();
    });
  });
  const client = createTestClient();
  const { guard, sentAt } = guardEvery(80);
  for (let poll = 0; poll < 2; poll += 1) {
    expect(await client.readBalance(accountAt(server.url), never, guard)).toMatchObject({ kind: 'ok' });
    await putAway();
  }
  expect(sentAt).toHaveLength(3);
  expect(Math.min(...pauses(sentAt))).toBeGreaterThanOrEqual(80);
  await client.close();
  await server.close();
});

test('what the guard lets go at no time is given up at once, and its connection serves the next', async () => {
  const connections = new Set<unknown>();
  let arrived = 0;
  const server = await listenHttp((request, response) => {
    connections.add(request.socket);
    arrived += 1;
    send(response, {});
  });
  const client = createTestClient();
  const read = (guard: SendingGuard) => client.readBalance(accountAt(server.url), never, guard);
  expect(await read(() => Number.POSITIVE_INFINITY)).toMatchObject({ kind: 'network_error' });
  expect(arrived).toBe(0);
  expect(await read(() => 0)).toMatchObject({ kind: 'ok' });
  expect(connections.size).toBe(1);
  await client.close();
  await server.close();
});

test('what the guard holds back has its time from then on, and can be given up', async () => {
  const server = await listenHttp((_request, response) => send(response, {}));
  const client = createTestClient({ timeoutMs: 150 });
  let asked = 0;
  const late: SendingGuard = () => (asked++ === 0 ? 300 : 0);
  expect(await client.readBalance(accountAt(server.url), never, late)).toMatchObject({ kind: 'ok' });
  const stop = new AbortController();
  const held = client.readBalance(accountAt(server.url), stop.signal, () => 60_000);
  setTimeout(() => stop.abort(), 50);
  expect(await held).toMatchObject({ kind: 'network_error' });
  await client.close();
  await server.close();
});
