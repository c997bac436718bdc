import type Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { isSqliteError } from './failure.ts';

export const recovery = 'move it aside and restore a backup, or set storage.path to another file';

/** Above this a full check takes longer than a start may: live tables are checked with their indexes, history is not. */
const fullCheckBytes = 256 * 1024 * 1024;

/** Findings that are read; a damaged page of an index makes one for each row. */
const maxFindings = 100;

/** Indexes and free pages, which `mend` makes again. Throws `StorageError` where anything else is damaged. */
export function findMendable(db: Database.Database, path: string, bytes: number): readonly string[] {
  const findings = check(db, bytes);
  const [worst] = findings.filter((finding) => !isMendable(db, finding));
  if (worst === undefined) return findings;
  throw new StorageError(
    'corrupt',
    `database ${path} is damaged; it was left as it is: ${recovery} (integrity_check: ${worst})`,
  );
}

/** Makes indexes and the list of free pages again. Throws where that is not enough. */
export function mend(db: Database.Database, path: string, bytes: number): void {
  try {
    reindex(db);
  } catch (error) {
    // What is in a page that does not say any more that it is one of an index cannot be removed.
    if (!isSqliteError(error, 'SQLITE_CORRUPT')) throw error;
    db.unsafeMode(true);
    db.transaction(() => {
      plantIndexes(db);
      reindex(db);
    }).immediate();
    db.unsafeMode(false);
  }
  if (check(db, bytes).length > 0) db.exec('VACUUM');
  const [left] = check(db, bytes);
  if (left !== undefined)
    throw new StorageError('corrupt', `database ${path} is damaged: ${recovery} (integrity_check: ${left})`);
}

function reindex(db: Database.Database): void {
  try {
    db.exec('REINDEX');
  } catch (error) {
    if (!isSqliteError(error, 'SQLITE_CONSTRAINT')) throw error;
    db.transaction(() => {
      for (const table of ['account', 'incident', 'message']) dropDoubles(db, table);
      db.exec('REINDEX');
    }).immediate();
  }
}

/** Every index begins in a new, empty page: that of an index of a table which is no more. The old pages belong to nobody then. */
function plantIndexes(db: Database.Database): void {
  db.pragma('writable_schema = ON');
  for (const name of db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'index'")
    .pluck()
    .all()) {
    db.exec('CREATE TABLE planted (n UNIQUE)');
    db.prepare(
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_planted_1')
       WHERE name = ?`,
    ).run(name);
    db.exec("DELETE FROM sqlite_schema WHERE tbl_name = 'planted'");
    db.pragma('writable_schema = RESET');
    db.pragma('writable_schema = ON');
  }
}

/** While its index was damaged, what was there already was written as if it were new: the last row is as it is now. History keeps its row. */
function dropDoubles(db: Database.Database, table: string): void {
  const older = `no NOT IN (SELECT max(no) FROM ${table} NOT INDEXED GROUP BY id)`;
  if (table === 'account') db.exec(`UPDATE account SET body = NULL, id = id || '@' || no WHERE ${older}`);
  else db.exec(`DELETE FROM ${table} WHERE ${older}`);
}

function check(
  db: Database.Database,
  bytes: number,
  kind: 'integrity_check' | 'quick_check' = 'integrity_check',
): readonly string[] {
  try {
    return checksFor(db, bytes).flatMap((what) =>
      db
        .prepare<[], string>(`PRAGMA ${kind}(${what})`)
        .pluck()
        .all()
        .flatMap(linesOf)
        .filter((line) => line !== 'ok'),
    );
  } catch (error) {
    if (!isSqliteError(error, 'SQLITE_CORRUPT')) throw error;
    // Bad damage makes the full check itself fail; the quick one names the pages, those of indexes too.
    const named = kind === 'quick_check' ? [] : check(db, bytes, 'quick_check');
    return named.length > 0 ? named : [error instanceof Error ? error.message : 'it cannot be read'];
  }
}

function isMendable(db: Database.Database, finding: string): boolean {
  const root = /^Tree (\d+) /.exec(finding)?.[1];
  if (root === undefined) return /(?:from|in) index |^Freelist:|: never used$/.test(finding);
  const find = db.prepare<[string], string>('SELECT type FROM sqlite_schema WHERE rootpage = ?').pluck();
  return find.get(root) === 'index';
}

/** The first thing that a check of SQLite found. */
export function wordFinding(finding: string): string {
  return linesOf(finding)[0] ?? finding;
}

/** Below a line that only names the database. */
function linesOf(finding: string): readonly string[] {
  return finding.replace(/^\*\*\* in database .*\n/, '').split('\n');
}

/** What is checked, each by itself. */
function checksFor(db: Database.Database, bytes: number): readonly string[] {
  if (bytes <= fullCheckBytes) return [String(maxFindings)];
  const tables = db
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('segment', 'sqlite_sequence')",
    )
    .all();
  return tables.map(({ name }) => `'${name}'`);
}
