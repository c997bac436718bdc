import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { giveUp } from '../../../src/store/postgres/give-up.ts';

/** A server, and a client whose statement it holds. */
async function connected(hear: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, hear);
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const stream = new Socket().connect(port, '127.0.0.1');
  await once(stream, 'connect');
  const client = { host: 'moved.invalid', port, processID: 7, secretKey: 9, connection: { stream } };
  return { stream, client: Object.assign(client, { once: () => client }) as unknown as PoolClient };
}

it('what is given up is cancelled at the address of its connection, whatever the name of the host leads to by now', async () => {
  const heard: Buffer[] = [];
  const { stream, client } = await connected((socket) => {
    socket.on('data', (bytes) => {
      heard.push(bytes);
      socket.end();
    });
  });
  const ended = giveUp(client);
  await expect.poll(() => heard.length).toBe(1);
  expect(heard[0]?.readInt32BE(8)).toBe(7);
  stream.destroy();
  await ended;
});

it('who cancels waits until the other side has passed it on, which PgBouncer does before it closes', async () => {
  let [passedOn, closedBefore] = [false, false];
  const { stream, client } = await connected((socket) => {
    socket.on('end', () => {
      if (socket.bytesRead > 0) closedBefore = !passedOn;
      socket.end();
    });
    socket.on('data', () =>
      setTimeout(() => {
        passedOn = true;
        socket.end();
      }, 200),
    );
  });
  const ended = giveUp(client);
  await expect.poll(() => passedOn).toBe(true);
  stream.destroy();
  await ended;
  expect(closedBefore).toBe(false);
});

it('who cancels leaves no PgBouncer that waits for its server to pass it on, and waits no longer itself', async () => {
  let closedBefore = false;
  const { stream, client } = await connected((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.on('data', () => undefined);
    socket.on('end', () => {
      closedBefore ||= socket.bytesRead > 0;
    });
  });
  const ended = giveUp(client);
  stream.destroy();
  await ended;
  await pause(200);
  expect(closedBefore).toBe(false);
});
