import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One step of a schema: `0002-name.sql`. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** Those of SQLite. The same from `src/` and from `dist/`. */
export const migrationsDirectory = new URL('../../migrations/', import.meta.url);

/** Those of PostgreSQL. */
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
