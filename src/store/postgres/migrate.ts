import { DatabaseError } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import {
  type AppliedMigration,
  type Migration,
  postgresMigrations,
  readMigrations,
  refuseOtherSchema,
  refuseUnknownSchema,
} from '../migrations.ts';
import { textArray } from './binary-array.ts';
import type { Ask, Database } from './connection.ts';

const named = { database: 'the PostgreSQL database', kind: 'unfit' } as const;

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
    refuseUnknownSchema({ ...named, schema: schema.length, applied: schema, migrations, program });
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
export async function requireSchema(ask: Ask, program: string): Promise<void> {
  const migrations = readMigrations(postgresMigrations);
  const applied = await readSchema(ask);
  if (applied === null)
    throw new StorageError(
      'unfit',
      'the PostgreSQL database holds nothing yet: `lowwater run` makes its tables, or set storage.postgres.url',
    );
  refuseUnknownSchema({ ...named, schema: applied.length, applied, migrations, program });
  refuseOtherSchema({ ...named, schema: applied.length, known: migrations.length });
}

/** The migrations that were applied; null where there is none of lowwater's tables. */
async function readSchema(ask: Ask): Promise<readonly AppliedMigration[] | null> {
  const [found] = await ask<{ mark: string | null; encoding: string; taken: boolean }>(
    `SELECT obj_description(to_regclass('migration'), 'pg_class') AS mark, current_setting('server_encoding') AS encoding,
       EXISTS (SELECT FROM unnest($1::text[]) AS its(name) WHERE to_regclass(name) IS NOT NULL) AS taken`,
    [textArray(['migration', 'account', 'segment', 'alert', 'incident', 'message', 'member', 'slot'])],
  );
  if (found?.mark === mark)
    return ask<AppliedMigration>('SELECT number, name, checksum, program FROM migration ORDER BY number');
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

async function prepareBlank(ask: Ask): Promise<void> {
  await ask(`CREATE TABLE IF NOT EXISTS migration (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, program text NOT NULL, applied_at bigint NOT NULL
  )`);
  await ask(`COMMENT ON TABLE migration IS '${mark}'`);
}
