import type { Secret } from '../../domain/secret.ts';
import { databaseIdNote } from '../tables.ts';
import type { Database } from './connection.ts';
import { onlySlot } from './lease.ts';
import { withSchema } from './reader.ts';

/** Gives the database an id where it has none. Any daemon may: the first one wins. */
export async function nameDatabase({ ask, change }: Pick<Database, 'ask' | 'change'>): Promise<void> {
  const named = await ask('SELECT FROM note WHERE name = $1', [databaseIdNote]);
  if (named.length > 0) return;
  await change(
    `INSERT INTO note (name, slot, value) VALUES ($1, $2, replace(gen_random_uuid()::text, '-', ''))
       ON CONFLICT DO NOTHING`,
    [databaseIdNote, onlySlot],
  );
}

/** The id of the database; null where no daemon of this version has opened it. Rejects as `openPostgresReader` does. */
export function readPostgresId(options: {
  readonly url: Secret;
  readonly program: string;
}): Promise<string | null> {
  return withSchema(options.url, options.program, async (database) => {
    const [row] = await database.ask<{ value: string }>('SELECT value FROM note WHERE name = $1', [
      databaseIdNote,
    ]);
    return row?.value ?? null;
  });
}
