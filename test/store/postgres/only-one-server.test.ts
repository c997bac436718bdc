import { EventEmitter } from 'node:events';
import type { PoolClient } from 'pg';
import { expect, it } from 'vitest';
import { onlyOneServer } from '../../../src/store/postgres/only-one-server.ts';

/** A connection to a server that was started at an instant. */
function connectionTo(started: string): PoolClient {
  const query = async () => ({ rows: [{ started }] });
  return Object.assign(new EventEmitter(), { query }) as unknown as PoolClient;
}

function letIn(verify: ReturnType<typeof onlyOneServer>, client: PoolClient): Promise<Error | undefined> {
  return new Promise((resolve) => verify(client, resolve));
}

it('connections go to the server that was started again, once those to it have ended', async () => {
  const verify = onlyOneServer(1000);
  const before = connectionTo('100');
  expect(await letIn(verify, before)).toBeUndefined();
  before.emit('end');
  expect(await letIn(verify, connectionTo('200'))).toBeUndefined();
});

it('a connection that waits where one led to another server is let in by neither, though those to the first have ended meanwhile', async () => {
  const verify = onlyOneServer(1000);
  const former = connectionTo('100');
  expect(await letIn(verify, former)).toBeUndefined();
  const refused = { message: 'the connection leads to another server' };
  expect(await letIn(verify, connectionTo('200'))).toMatchObject(refused);
  former.emit('end');
  expect(await letIn(verify, connectionTo('200'))).toMatchObject(refused);
  expect(await letIn(verify, connectionTo('100'))).toMatchObject(refused);
});
