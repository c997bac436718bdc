import { renameSync, rmSync } from 'node:fs';
import { StorageError } from '../../domain/ports.ts';
import type { Migration } from '../migrations.ts';
import type { Connection } from './connection.ts';
import { applicationId } from './peek-schema.ts';

interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly program: string;
}

/**
 * Refuses, by `StorageError`, a schema that this program's migrations cannot have made: newer, or made from
 * migrations that were edited or taken away since. Reads only.
 */
export function refuseUnknownSchema(options: {
  readonly db: Connection;
  readonly path: string;
  readonly schema: number;
  readonly migrations: readonly Migration[];
  readonly program: string;
}): void {
  const { db, path, schema, migrations, program } = options;
  const applied = db
    .prepare<[], AppliedMigration>('SELECT number, name, checksum, program FROM migration ORDER BY number')
    .all();
  if (schema > migrations.length) {
    const writer = applied.at(-1)?.program ?? 'a newer program';
    throw new StorageError(
      'other',
      `database ${path} has schema ${schema} (made by ${writer}), newer than schema ${migrations.length} of ${program}; ` +
        'it was left as it is: install the newer program, or restore a backup from before the upgrade',
    );
  }
  for (let number = 1; number <= schema; number += 1) {
    const made = applied[number - 1];
    if (made?.number === number && made.checksum === migrations[number - 1]?.checksum) continue;
    throw new StorageError(
      'other',
      `database ${path}: migration ${number} (${made?.name ?? 'not recorded'}) is not the one that ${program} ships; ` +
        'it was left as it is: install the program that made it, or restore a backup',
    );
  }
}

/**
 * Brings the schema up to the newest migration, each in one transaction: a crash leaves the schema before or
 * after it. A database that already holds something is copied to `<path>.before-<number>` first.
 */
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
  if (schema > 0) copyBefore(db, `${path}.before-${first.number}`);
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

function prepareBlank(db: Connection): void {
  db.pragma(`application_id = ${applicationId}`);
  db.exec(`CREATE TABLE migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, program TEXT NOT NULL, applied_at INTEGER NOT NULL
  ) STRICT`);
}

/** A copy that an earlier, interrupted try left is replaced: the database has not changed since. */
function copyBefore(db: Connection, file: string): void {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  db.prepare('VACUUM INTO ?').run(partial);
  renameSync(partial, file);
}
