import { DatabaseError, type PoolClient } from 'pg';

/**
 * Refuses connections to a server other than that of the living ones. A name may have moved while both servers live, and runs of polls
 * appended on one by what was read from the other would be stored twice. A server that does not say when it was started counts as the same one.
 */
export function onlyOneServer(limitMs: number): (client: PoolClient, done: (error?: Error) => void) => void {
  let living = 0;
  let first: string | null = null;
  let isMoved = false;
  const letIn = async (client: PoolClient): Promise<void> => {
    const server = await startOf(client, limitMs);
    if (living === 0) first = server;
    // Once one leads elsewhere, all are refused: those to the first server may end before the waiting ones are let in.
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
