import { DatabaseError } from 'pg';
import { StorageError } from '../../domain/ports.ts';
import { type Migration, postgresMigrations, readMigrations } from '../migrations.ts';
import { textArray } from './binary-array.ts';
import type { Ask, Database } from './connection.ts';

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly program: string;
}

/** Tells lowwater's tables from another program's of the same names. */
const mark = 'lowwater';

/**
 * Brings the schema up to the newest migration, all in one transaction: a crash leaves it before or after. Of several daemons that
 * start at once one does it and the others wait. Refuses, by `StorageError`, a database of another program, one in another encoding, and
 * a schema that this program's migrations cannot have made.
 */
export async function migrate(options: {
  readonly database: Database;
  readonly program: string;
  readonly now: number;
  readonly migrations?: readonly Migration[];
}): Promise<readonly Migration[]> {
  const { database, program, now, migrations = readMigrations(postgresMigrations) } = options;
  const schema = await readSchema(database.ask);
  if (schema !== null) {
    refuseUnknown({ applied: schema, migrations, program });
    if (schema.length === migrations.length) return [];
  }
  const make = (): Promise<readonly Migration[]> =>
    database.transaction(async (ask) => {
      if (schema === null) await prepareBlank(ask);
      // Whoever comes second waits here, and finds it done.
      await ask('LOCK TABLE migration IN ACCESS EXCLUSIVE MODE');
      const applied = (await readSchema(ask)) ?? [];
      const missing = migrations.slice(applied.length);
      for (const { number, name, sql, checksum } of missing) {
        await ask(sql);
        await ask(
          'INSERT INTO migration (number, name, checksum, program, applied_at) VALUES ($1, $2, $3, $4, $5)',
          [number, name, checksum, program, now],
        );
      }
      return missing;
    });
  return make().catch((error: unknown) => {
    // Two that make the first table at once: the second is told that there is one of that name, and finds it.
    if (error instanceof DatabaseError && error.code === '23505') return make();
    throw error;
  });
}

/** Refuses, by `StorageError`, a database whose schema is not the one that this program works with. Changes nothing. */
export async function refuseOtherSchema(ask: Ask, program: string): Promise<void> {
  const migrations = readMigrations(postgresMigrations);
  const applied = await readSchema(ask);
  if (applied === null)
    throw new StorageError(
      'unfit',
      'the PostgreSQL database holds nothing yet: `lowwater run` makes its tables, or set storage.postgres.url',
    );
  refuseUnknown({ applied, migrations, program });
  if (applied.length === migrations.length) return;
  throw new StorageError(
    'unfit',
    `the PostgreSQL database has schema ${applied.length}, this program works with schema ${migrations.length}: ` +
      'start the daemon of this version once: it brings the database up to date',
  );
}

/** The migrations that were applied; null where there is none of lowwater's tables. */
async function readSchema(ask: Ask): Promise<readonly Applied[] | null> {
  const [found] = await ask<{ mark: string | null; encoding: string; taken: boolean }>(
    `SELECT obj_description(to_regclass('migration'), 'pg_class') AS mark, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM unnest($1::text[]) AS its(name) WHERE to_regclass(name) IS NOT NULL) AS taken`,
    [textArray(['migration', 'account', 'segment', 'alert', 'incident', 'message', 'member', 'slot'])],
  );
  if (found?.mark === mark)
    return ask<Applied>('SELECT number, name, checksum, program FROM migration ORDER BY number');
  if (found?.taken !== false)
    throw new StorageError(
      'unfit',
      'the PostgreSQL database holds tables of another program; it was left as it is: give lowwater a database of its own',
    );
  if (found.encoding !== 'UTF8')
    throw new StorageError(
      'unfit',
      `the PostgreSQL database has the encoding ${found.encoding}: create it with ENCODING 'UTF8'`,
    );
  return null;
}

function refuseUnknown(it: {
  readonly applied: readonly Applied[];
  readonly migrations: readonly Migration[];
  readonly program: string;
}): void {
  const { applied, migrations, program } = it;
  if (applied.length > migrations.length) {
    throw new StorageError(
      'unfit',
      `the PostgreSQL database has schema ${applied.length} (made by ${applied.at(-1)?.program ?? 'a newer program'}), newer than ` +
        `schema ${migrations.length} of ${program}; it was left as it is: install the newer program, or restore a backup from before ` +
        'the upgrade',
    );
  }
  for (const [index, made] of applied.entries()) {
    if (made.number === index + 1 && made.checksum === migrations[index]?.checksum) continue;
    throw new StorageError(
      'unfit',
      `the PostgreSQL database: migration ${index + 1} (${made.name}) is not the one that ${program} ships; it was left as it is: ` +
        'install the program that made it, or restore a backup',
    );
  }
}

async function prepareBlank(ask: Ask): Promise<void> {
  await ask(`CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, program text NOT NULL, applied_at bigint NOT NULL
  )`);
  await ask(`COMMENT ON TABLE migration IS '${mark}'`);
}
