import { existsSync, renameSync } from 'node:fs';
import {
  type AppliedMigration,
  type Migration,
  type NamedDatabase,
  readMigrations,
  refuseOtherSchema,
  refuseUnknownSchema,
} from '../migrations.ts';
import { type Connection, readSchema } from './connection.ts';
import { removePartial } from './file-system.ts';
import { applicationId } from './peek-schema.ts';

/** Throws `StorageError` for a schema that this program's migrations cannot have made. Only reads. */
export function refuseUnknown(
  db: Connection,
  path: string,
  schema: number,
  migrations: readonly Migration[],
  program: string,
): void {
  const applied = db
    .prepare<[], AppliedMigration>('SELECT number, name, checksum, program FROM migration ORDER BY number')
    .all();
  // A copy was made before the first migration of an upgrade. An older copy than necessary will be migrated too.
  const copies = migrations.map(({ number }) => copyName(path, number + 1));
  const copy = copies.findLast((file) => existsSync(file));
  refuseUnknownSchema({ ...nameOf(path), copy }, schema, applied, migrations, program);
}

export function requireSchema(db: Connection, path: string): void {
  refuseOtherSchema(nameOf(path), readSchema(db, path), readMigrations().length);
}

/** Runs each migration in its own transaction. A database that already holds data is copied to `<path>.before-<number>` first. */
export function migrate(options: {
  readonly db: Connection;
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly program: string;
  readonly now: number;
}): readonly Migration[] {
  const { db, path, migrations, program, now } = options;
  const schema = Number(db.pragma('user_version', { simple: true }));
  const missing = migrations.slice(schema);
  const first = missing[0];
  if (first === undefined) return [];
  if (schema > 0) copyBefore(db, copyName(path, first.number));
  for (const migration of missing) {
    db.transaction(() => {
      if (migration.number === 1) prepareBlank(db);
      db.exec(migration.sql);
      db.prepare(
        'INSERT INTO migration (number, name, checksum, program, applied_at) VALUES (?, ?, ?, ?, ?)',
      ).run(migration.number, migration.name, migration.checksum, program, now);
      db.pragma(`user_version = ${migration.number}`);
    }).immediate();
  }
  return missing;
}

function copyName(path: string, migration: number): string {
  return `${path}.before-${migration}`;
}

function nameOf(path: string): NamedDatabase {
  return { database: `database ${path}`, kind: 'other' };
}

function prepareBlank(db: Connection): void {
  db.pragma(`application_id = ${applicationId}`);
  db.exec(`CREATE TABLE migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, program TEXT NOT NULL, applied_at INTEGER NOT NULL
  ) STRICT`);
}

/** Replaces a copy that an earlier, interrupted try left: the database has not changed since. */
function copyBefore(db: Connection, file: string): void {
  const partial = `${file}.partial`;
  removePartial(partial);
  try {
    db.prepare('VACUUM INTO ?').run(partial);
    renameSync(partial, file);
  } catch (error) {
    // A half copy takes up room that the disk lacks.
    removePartial(partial);
    throw error;
  }
}
