import { DatabaseError, type PoolClient } from 'pg';

/**
 * Lets no connection in that leads to another server than the living ones, as where a name has moved and both servers live: what is
 * appended on one by what another has would stand twice. A server that keeps to itself when it was started is taken for the same one.
 */
export function onlyOneServer(limitMs: number): (client: PoolClient, done: (error?: Error) => void) => void {
  let living = 0;
  let first: string | null = null;
  let isMoved = false;
  const letIn = async (client: PoolClient): Promise<void> => {
    const server = await startOf(client, limitMs);
    if (living === 0) first = server;
    // All are given up when one leads elsewhere: those to the first may have ended before what still waits is let in.
    isMoved ||= server !== first;
    if (isMoved) throw new Error('the connection leads to another server');
    living += 1;
    client.once('end', () => {
      living -= 1;
    });
  };
  return (client, done) => void letIn(client).then(() => done(), done);
}

async function startOf(client: PoolClient, limitMs: number): Promise<string | null> {
  const text = 'SELECT extract(epoch FROM pg_postmaster_start_time())::text AS started';
  const query = { text, query_timeout: limitMs };
  try {
    const { rows } = await client.query<{ readonly started: string }>(query);
    return rows[0]?.started ?? null;
  } catch (error) {
    if (error instanceof DatabaseError && error.code?.startsWith('42') === true) return null;
    throw error;
  }
}
