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

/** Tells lowwater's tables from another program's of the same names. */
const mark = 'lowwater';

/** A migration waits no longer than this for a lock, so that nobody has to wait behind it: polls go on, and it is tried again. */
const lockTimeout = '300ms';

/**
 * Brings the schema up to the newest migration, all in one transaction: a crash leaves it before or after. Of several daemons that
 * start at once one does it and the others wait. Rejects with `StorageError`: of kind `busy` where another process keeps a table locked,
 * else where the database is of another program, in another encoding, or has a schema that this program may not use.
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
    // Two that make the first table at once: the second one's fails, and then it finds the first one's.
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
  // The second daemon waits here, and finds it done. A mere reader of the table, as pg_dump is, is not in the way.
  await ask('LOCK TABLE migration IN SHARE ROW EXCLUSIVE MODE');
  await ask(`SET LOCAL lock_timeout = '${lockTimeout}'`);
  const applied = (await readSchema(ask)) ?? [];
  const missing = migrations.slice(applied.length);
  for (const migration of missing) await apply(ask, migration, program, now);
  // In a database that no program of 0.2 made it could not read the runs: a second row in the table that it counts makes it refuse.
  const [, second] = missing;
  if (applied.length === 0 && second !== undefined && !writesFirstRuns.test(program))
    await ask(recordMigration, rowOf(second, program, now));
  return missing;
}

/**
 * The first one stands in `migration`, which every program counts: 0.2.0 refuses a database with more rows there. Later ones stand in
 * `schema_step`, with the oldest program that may still use the schema after them.
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

/** In a database that such a program made, runs of polls are written as it reads them. */
const writesFirstRuns = /^lowwater 0\.2\./;

/** Refuses, by `StorageError`, a database whose schema this program may not use. Changes nothing. */
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

/** Newer steps are no reason to refuse where they name a program that is not newer than this one as the oldest that may use them. */
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
  /** The oldest program that may use the schema after it; null: only one that knows it. */
  readonly oldest: string | null;
}

interface Found {
  readonly mark: string | null;
  readonly stepped: boolean;
  readonly encoding: string;
  /** The schema of lowwater's tables, also where the search path does not lead there. */
  readonly elsewhere: string | null;
  /** Whether there are tables of these names in the search path. */
  readonly taken: boolean;
}

/** The migrations that were applied; null where there is none of lowwater's tables. */
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
    // Row 2 only shuts 0.2.0 out; the step itself stands in `schema_step`.
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
