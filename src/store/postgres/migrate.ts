import { DatabaseError } from 'pg';
import { StorageError } from '../../domain/operator-error.ts';
import type { Value } from '../asking.ts';
import {
  type AppliedMigration,
  type Migration,
  postgresMigrations,
  readMigrations,
  refuseOtherSchema,
  refuseUnknownSchema,
} from '../migrations.ts';
import type { Ask, Database } from './connection.ts';

const named = { database: 'the PostgreSQL database', kind: 'unfit' } as const;

/** Tells lowwater's tables from those of another program with the same names. */
const mark = 'lowwater';

/** The longest wait of a migration for a lock, so that nobody has to wait behind it for long: polls go on, and it is tried again. */
const lockTimeout = '300ms';

/**
 * Brings the schema up to the newest migration, all in one transaction: a crash leaves it before or after. When several daemons
 * start at once, one migrates and the others wait. Rejects with `StorageError`: of kind `busy` if another process keeps a table locked,
 * else if the database is another program's, in another encoding, or has a schema that this program may not use.
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
    refuseForeign(schema, migrations, program);
    if (schema.length >= migrations.length) return [];
  }
  const make = (): Promise<readonly Migration[]> =>
    database.transaction(async (ask) => {
      if (schema === null) await prepareBlank(ask);
      return applyMissing(ask, migrations, program, now);
    });
  return make().catch((error: unknown) => {
    // If two daemons make the first table at once, the second one fails. It then tries again and finds the table.
    const cause = error instanceof StorageError ? error.cause : null;
    if (cause instanceof DatabaseError && /^(23505|42P07|42710)$/.test(cause.code ?? '')) return make();
    throw error;
  });
}

async function applyMissing(
  ask: Ask,
  migrations: readonly Migration[],
  program: string,
  now: number,
): Promise<readonly Migration[]> {
  // A second daemon waits here, and finds the migration done. A process that only reads the table, as pg_dump does, does not block this.
  await ask('LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE');
  await ask(`SET LOCAL lock_timeout = '${lockTimeout}'`);
  const applied = (await readSchema(ask)) ?? [];
  const missing = migrations.slice(applied.length);
  for (const migration of missing) await apply(ask, migration, program, now);
  // 0.2 could not read the runs of a database that it did not make. A second row in `migration`, whose rows it counts, makes it refuse.
  const [, second] = missing;
  if (applied.length === 0 && second !== undefined && !writesFirstRuns.test(program))
    await ask(recordMigration, rowOf(second, program, now));
  return missing;
}

/**
 * The first migration is recorded in `migration`, which every program counts: 0.2.0 refuses a database with more rows there. Later ones
 * are recorded in `schema_step`, with the oldest program that may still use the schema after them.
 */
async function apply(ask: Ask, migration: Migration, program: string, now: number): Promise<void> {
  await ask(migration.sql);
  const row = rowOf(migration, program, now);
  if (migration.number === 1) {
    await ask(recordMigration, row);
    return;
  }
  await ask(`CREATE TABLE IF NOT EXISTS schema_step (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, program text NOT NULL, applied_at bigint NOT NULL,
    oldest_program text
  )`);
  await ask(
    'INSERT INTO schema_step (number, name, checksum, program, applied_at, oldest_program) VALUES ($1, $2, $3, $4, $5, $6)',
    [...row, /^-- oldest program: (\d+\.\d+)$/m.exec(migration.sql)?.[1] ?? null],
  );
}

const recordMigration =
  'INSERT INTO migration (number, name, checksum, program, applied_at) VALUES ($1, $2, $3, $4, $5)';

function rowOf({ number, name, checksum }: Migration, program: string, now: number): readonly Value[] {
  return [number, name, checksum, program, now];
}

/** Programs of 0.2: in a database that one of them made, runs of polls are written so that it can read them. */
const writesFirstRuns = /^lowwater 0\.2\./;

/** Rejects with `StorageError` if this program may not use the schema of the database. Changes nothing. */
export async function requireSchema(ask: Ask, program: string): Promise<void> {
  const migrations = readMigrations(postgresMigrations);
  const applied = await readSchema(ask);
  if (applied === null)
    throw new StorageError(
      'unfit',
      'the PostgreSQL database holds nothing yet: `lowwater run` makes its tables, or set storage.postgres.url',
    );
  refuseForeign(applied, migrations, program);
  const known = migrations.length;
  refuseOtherSchema(named, Math.min(applied.length, known), known);
}

/** Accepts newer migrations if the oldest program that may use the schema after them is not newer than this one. */
function refuseForeign(
  applied: readonly AppliedStep[],
  migrations: readonly Migration[],
  program: string,
): void {
  const newer = applied.slice(migrations.length);
  const isUsable = newer.every(({ oldest }) => oldest !== null && isAtLeast(program, oldest));
  const counted = isUsable ? Math.min(applied.length, migrations.length) : applied.length;
  refuseUnknownSchema(named, counted, applied, migrations, program);
}

/** Compares major and minor version: `lowwater 0.3.1` is at least `0.3`. */
function isAtLeast(program: string, oldest: string): boolean {
  const [version = ''] = /\d+\.\d+/.exec(program) ?? [];
  return version.localeCompare(oldest, 'en', { numeric: true }) >= 0;
}

interface AppliedStep extends AppliedMigration {
  /** The oldest program that may use the schema after it; null: only programs that know it. */
  readonly oldest: string | null;
}

interface Found {
  readonly mark: string | null;
  readonly stepped: boolean;
  readonly encoding: string;
  /** The schema with lowwater's tables, even if it is not in the search path. */
  readonly elsewhere: string | null;
  /** Whether tables of these names exist in the search path. */
  readonly taken: boolean;
}

/** The migrations that were applied; null if none of lowwater's tables exists. */
async function readSchema(ask: Ask): Promise<readonly AppliedStep[] | null> {
  const [found] = await ask<Found>(
    `SELECT obj_description(to_regclass('migration'), 'pg_class') AS mark, to_regclass('schema_step') IS NOT NULL AS stepped,
       current_setting('server_encoding') AS encoding, (
         SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         WHERE relname = 'migration' AND obj_description(pg_class.oid, 'pg_class') = '${mark}' LIMIT 1
       ) AS elsewhere,
       EXISTS (SELECT FROM unnest($1::text[]) AS its(name) WHERE to_regclass(name) IS NOT NULL) AS taken`,
    [['migration', 'account', 'segment', 'alert', 'incident', 'message', 'member', 'slot']],
  );
  if (found?.mark === mark) {
    // Row 2 only keeps 0.2.0 out. The migration itself is recorded in `schema_step`.
    const migrations =
      'SELECT number, name, checksum, program, NULL::text AS oldest FROM migration WHERE number <> 2';
    const steps = 'SELECT number, name, checksum, program, oldest_program AS oldest FROM schema_step';
    return ask<AppliedStep>(
      `${found.stepped ? `${migrations} UNION ALL ${steps}` : migrations} ORDER BY number`,
    );
  }
  if (found?.taken !== false)
    throw new StorageError(
      'unfit',
      'the PostgreSQL database holds tables of another program; it was left as it is: give lowwater a database of its own',
    );
  if (found.elsewhere !== null)
    throw new StorageError(
      'unfit',
      `the PostgreSQL database: its tables are in the schema ${found.elsewhere}, which is not in the search_path of the user of storage.postgres.url: ALTER ROLE … RESET search_path`,
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
