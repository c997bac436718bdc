import { StorageError } from '../domain/operator-error.ts';
import type { Secret } from '../domain/secret.ts';
import { fillSqlite, withSqliteSource } from './sqlite/copy.ts';
import { type TablePort, type Tally, tables, tallyOf } from './tables.ts';

export type StorePlace = { readonly path: string } | { readonly url: Secret };

export interface CopiedTable extends Tally {
  readonly name: string;
}

/**
 * Copies everything from one database into another, empty one, and then compares their contents. The source
 * stays as it is. Rejects with `StorageError`, and leaves nothing behind in the target, if a daemon uses the source, if the target
 * holds anything, or if the contents differ.
 */
export async function migrateStore(it: {
  readonly from: StorePlace;
  readonly to: StorePlace;
  readonly program: string;
  readonly now: number;
}): Promise<readonly CopiedTable[]> {
  const { from, to, program, now } = it;
  const copy = (source: TablePort): Promise<readonly CopiedTable[]> => {
    const fill = (target: TablePort) => copyTables(source, target);
    return 'path' in to
      ? fillSqlite(to.path, program, now, fill)
      : import('./postgres/copy.ts')
          .then(({ fillPostgres }) => fillPostgres(to.url, program, now, fill))
          .catch(nameOption);
  };
  if ('path' in from) return withSqliteSource(from.path, copy);
  const { withPostgresSource } = await import('./postgres/copy.ts');
  return withPostgresSource(from.url, program, copy);
}

/** Names the option in an error: messages about PostgreSQL name the key of the configuration, where the target's address is not. */
function nameOption(error: unknown): never {
  if (!(error instanceof StorageError)) throw error;
  throw new StorageError(error.kind, error.message.replaceAll('storage.postgres.url', '--to'), {
    cause: error,
  });
}

async function copyTables(source: TablePort, target: TablePort): Promise<readonly CopiedTable[]> {
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    for await (const rows of source.read(table)) await target.write(table, rows);
    const [before, after] = [await tallyOf(source, table), await tallyOf(target, table)];
    if (before.rows !== after.rows || before.bytes !== after.bytes)
      throw new StorageError(
        'other',
        `of ${table.name}, ${after.rows} rows of ${after.bytes} bytes arrived where ${before.rows} rows of ${before.bytes} bytes were read: ` +
          'nothing was kept of the copy',
      );
    copied.push({ name: table.name, ...after });
  }
  return copied;
}
