import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import type { PoolClient } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { giveUp } from '../../../src/store/postgres/give-up.ts';

it('what is given up is cancelled at the address of its connection, whatever the name of the host leads to by now', async () => {
  const heard: Buffer[] = [];
  const server = createServer((socket) => socket.on('data', (bytes) => heard.push(bytes)));
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const stream = new Socket().connect(port, '127.0.0.1');
  await once(stream, 'connect');
  const client = { host: 'moved.invalid', port, processID: 7, secretKey: 9, connection: { stream } };
  const ended = giveUp(Object.assign(client, { once: () => client }) as unknown as PoolClient);
  await expect.poll(() => heard.length).toBe(1);
  expect(heard[0]?.readInt32BE(8)).toBe(7);
  stream.destroy();
  await ended;
});
