import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { StorageError } from '../domain/operator-error.ts';

/** One step of a schema: `0002-name.sql`. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** The directory of SQLite's migrations. The same path works from `src/` and from `dist/`. */
export const migrationsDirectory = new URL('../../migrations/', import.meta.url);

export const postgresMigrations = new URL('postgres/', migrationsDirectory);

/** The migrations of a directory in order. Throws when their numbers have a gap: that is a broken installation. */
export function readMigrations(directory: URL = migrationsDirectory): readonly Migration[] {
  const names = readdirSync(fileURLToPath(directory)).filter((name) => /^\d{4}-.+\.sql$/.test(name));
  return names.sort().map((name, index) => {
    const number = Number(name.slice(0, 4));
    if (number !== index + 1) throw new Error(`migration ${index + 1} is missing before ${name}`);
    // Line ends differ between checkouts; the statements do not.
    const sql = readFileSync(new URL(name, directory), 'utf8').replaceAll('\r\n', '\n');
    return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

export interface AppliedMigration extends Omit<Migration, 'sql'> {
  readonly program: string;
}

/** The name of a database in messages, and the kind of a refusal's error. */
export interface NamedDatabase {
  readonly database: string;
  readonly kind: StorageError['kind'];
  /** A copy from before an upgrade that this program can work with. */
  readonly copy?: string | undefined;
}

/**
 * Throws `StorageError` for a schema that this program's migrations cannot have made: a newer one, or one made from migrations that were
 * edited or removed since. `schema` is the number of applied migrations.
 */
export function refuseUnknownSchema(
  { database, kind, copy }: NamedDatabase,
  schema: number,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  program: string,
): void {
  if (schema > migrations.length) {
    const writer = applied.at(-1)?.program ?? 'a newer program';
    const older =
      copy === undefined
        ? 'restore a backup from before the upgrade'
        : `put back ${copy}, the copy from before the upgrade, which has nothing of what came since`;
    throw new StorageError(
      kind,
      `${database} has schema ${schema} (made by ${writer}), newer than schema ${migrations.length} of ${program}; ` +
        `it was left as it is: install the newer program, or ${older}`,
    );
  }
  for (let number = 1; number <= schema; number += 1) {
    const made = applied[number - 1];
    if (made?.number === number && made.checksum === migrations[number - 1]?.checksum) continue;
    throw new StorageError(
      kind,
      `${database}: migration ${number} (${made?.name ?? 'not recorded'}) is not the one that ${program} ships; ` +
        'it was left as it is: install the program that made it, or restore a backup',
    );
  }
}

/** Throws `StorageError` unless the schema is the one that this program knows: only the daemon migrates. */
export function refuseOtherSchema({ database, kind }: NamedDatabase, schema: number, known: number): void {
  if (schema === known) return;
  const remedy =
    schema < known
      ? 'start the daemon of this version once: it brings the database up to date'
      : 'use the newer program';
  throw new StorageError(
    kind,
    `${database} has schema ${schema}, this program works with schema ${known}: ${remedy}`,
  );
}
