import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { asStorageError, guardStorage, isSqliteError } from './failure.ts';
import { sizeOfFile } from './file-system.ts';

export const recovery = 'move it aside and restore a backup, or set storage.path to another file';

/** In files larger than these, a full check takes too long for a start or a command. A start leaves out history, a command all that grows with it. */
const fullCheckBytes = 256 * 1024 * 1024;
const fullLookBytes = 4 * 1024 * 1024;
const growing = ['segment', 'incident', 'message'];

/** The number of findings that are read: a damaged page of an index causes one for each row. */
const maxFindings = 100;

/** The low eight bits of every SQLite code for a failed read or write of the system: https://sqlite.org/rescode.html#ioerr. */
const ioError = 10;

/** Damaged indexes and free pages, which `mend` makes again. Throws `StorageError` if anything else is surely damaged. */
export function findMendable(db: Database.Database, path: string, bytes: number): readonly string[] {
  // Of two references to one page, SQLite blames the second, even if that one is sound. Making the indexes again shows which it was.
  const found = refuseDamage(db, path, bytes, (each) => isMendable(db, each) || /2nd reference/.test(each));
  if (found.length > 0) refuseLostRows(db, path);
  return found;
}

/**
 * If all indexes of a table name more rows than it has, rows were lost. Indexes made again from the table would
 * forget them. If only some of the indexes do, they may be what is damaged.
 */
function refuseLostRows(db: Database.Database, path: string): void {
  const find = db.prepare<[], { name: string; tbl_name: string }>(
    "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'",
  );
  for (const [table, indexes] of Map.groupBy(find.all(), (index) => index.tbl_name)) {
    const rows = countRows(db, `${table} NOT INDEXED`) ?? 0;
    const counts = indexes.flatMap(({ name }) => countRows(db, `${table} INDEXED BY "${name}"`) ?? []);
    const named = Math.min(...counts);
    if (counts.length > 0 && named > rows)
      throw new StorageError(
        'corrupt',
        `database ${path} is damaged; it was left as it is: ${recovery} (the table ${table} has ${rows} rows, its index ${named})`,
      );
  }
}

/** Null if a damaged page prevents counting, or if the index does not hold all rows. A plain count(*) would use whichever index is shortest. */
function countRows(db: Database.Database, from: string): number | null {
  try {
    return db.prepare<[], number>(`SELECT count(DISTINCT rowid) FROM ${from}`).pluck().get() ?? 0;
  } catch (error) {
    if (!isSqliteError(error, 'SQLITE_CORRUPT') && !isSqliteError(error, 'SQLITE_ERROR')) throw error;
    return null;
  }
}

function refuseDamage(
  db: Database.Database,
  path: string,
  bytes: number,
  isHarmless: (finding: string) => boolean,
): readonly string[] {
  const findings = check(db, bytes);
  const worst = findings.find((finding) => !isHarmless(finding));
  if (worst === undefined) return findings;
  throw new StorageError(
    'corrupt',
    `database ${path} is damaged; it was left as it is: ${recovery} (integrity_check: ${worst})`,
  );
}

/** Makes again what `findMendable` found. Throws if that is not enough. `note` is called in the same commit, so that a crash loses no report. */
export function mend(
  db: Database.Database,
  path: string,
  bytes: number,
  found: readonly string[],
  note: () => void,
): void {
  const isOfIndex = !found.every(isOfFreePages);
  if (!isOfIndex) note();
  const left = isOfIndex ? makeIndexes(db, path, bytes, note) : found;
  if (left.length > 0) db.exec('VACUUM');
  const [worst] = check(db, bytes);
  if (worst !== undefined)
    throw new StorageError('corrupt', `database ${path} is damaged: ${recovery} (integrity_check: ${worst})`);
}

/**
 * Each index begins in a new, empty page of a temporary table: the pages of a damaged index may lead to those of a table, which would be
 * emptied with them. The old pages are then unused, and are returned as findings. Throws if a table is damaged, and changes nothing then.
 */
function makeIndexes(
  db: Database.Database,
  path: string,
  bytes: number,
  note: () => void,
): readonly string[] {
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'index'").pluck().all();
  db.unsafeMode(true);
  db.pragma('writable_schema = ON');
  const make = db.transaction(() => {
    db.exec(`CREATE TABLE planted (${names.map((_, nth) => `n${nth} UNIQUE`).join(', ')})`);
    const plant = db.prepare<[string, string]>(
      'UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = ?) WHERE name = ?',
    );
    for (const [nth, name] of names.entries()) plant.run(`sqlite_autoindex_planted_${nth + 1}`, name);
    db.exec("DELETE FROM sqlite_schema WHERE tbl_name = 'planted'");
    db.pragma('writable_schema = RESET');
    // Needed once more: it allows rows to be deleted that an empty index lacks.
    db.pragma('writable_schema = ON');
    for (const table of ['account', 'incident', 'message']) dropDoubles(db, table);
    db.exec('REINDEX');
    note();
    return refuseDamage(db, path, bytes, isOfFreePages);
  });
  const left = make.immediate();
  db.pragma('writable_schema = RESET');
  db.unsafeMode(false);
  return left;
}

/** With a damaged index, existing rows were written again as new ones: the last row is the valid one. An account's history keeps its row. */
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
  const run = () =>
    checksFor(db, bytes).flatMap((what) =>
      db
        .prepare<[], string>(`PRAGMA ${kind}(${what})`)
        .pluck()
        .all()
        .flatMap(linesOf)
        .filter((line) => line !== 'ok'),
    );
  try {
    return run();
  } catch (error) {
    if (!isSqliteError(error, 'SQLITE_CORRUPT')) throw error;
    // Bad damage makes the full check itself fail. The quick one names the damaged pages, including those of indexes.
    const named = kind === 'quick_check' ? [] : check(db, bytes, 'quick_check');
    if (named.length > 0) return named;
  }
  // A page that the disk failed to give once looks like damage too.
  try {
    return run();
  } catch (error) {
    if (!isSqliteError(error, 'SQLITE_CORRUPT')) throw error;
    return [error instanceof Error ? error.message : 'it cannot be read'];
  }
}

function isMendable(db: Database.Database, finding: string): boolean {
  const root = /^Tree (\d+) /.exec(finding)?.[1];
  if (root === undefined) return isOfFreePages(finding) || /(?:from|in) index /.test(finding);
  const find = db.prepare<[string], string>('SELECT type FROM sqlite_schema WHERE rootpage = ?').pluck();
  return find.get(root) === 'index';
}

function isOfFreePages(finding: string): boolean {
  return finding.startsWith('Freelist:') || isOfUnusedPage(finding);
}

function isOfUnusedPage(finding: string): boolean {
  return finding.endsWith(': never used');
}

/** The first damage, in all tables and indexes. Unused pages do not count: `mend` leaves them in a large database. */
export function findDamage(
  db: Database.Database,
  checks: readonly string[] = [String(2 ** 31 - 1)],
): string | undefined {
  for (const what of checks)
    for (const found of db.prepare<[], string>(`PRAGMA integrity_check(${what})`).pluck().iterate()) {
      const finding = linesOf(found).find((line) => line !== 'ok' && !isOfUnusedPage(line));
      if (finding !== undefined) return finding;
    }
  return undefined;
}

/** Throws the error of SQLite for damage. SQLite trusts an index that lacks rows, and would show a part as if it were everything. */
export function refuseUnsound(db: Database.Database, path: string, fullBytes = fullLookBytes): void {
  const finding = guardStorage(path, () =>
    findDamage(db, sizeOfFile(path) <= fullBytes ? undefined : checksOfTables(db, growing)),
  );
  if (finding !== undefined) throw asStorageError(path, new Database.SqliteError(finding, 'SQLITE_CORRUPT'));
}

/** The lines after one that only names the database. Throws if a page could not be read: a disk error may pass, and is no damage. */
function linesOf(finding: string): readonly string[] {
  const lines = finding.replace(/^\*\*\* in database .*\n/, '').split('\n');
  const failed = lines.find((line) => {
    const code = Number(/error code=(\d+)$/.exec(line)?.[1]);
    return (code & 0xff) === ioError || /failed to get page \d+$/.test(line);
  });
  if (failed !== undefined) throw new Database.SqliteError(failed, 'SQLITE_IOERR_READ');
  return lines;
}

/** The arguments of the check pragma, one for each call. */
function checksFor(db: Database.Database, bytes: number): readonly string[] {
  return bytes <= fullCheckBytes ? [String(maxFindings)] : checksOfTables(db, ['segment']);
}

function checksOfTables(db: Database.Database, but: readonly string[]): readonly string[] {
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'")
    .pluck()
    .all();
  return tables.filter((name) => !but.includes(name)).map((name) => `'${name}'`);
}
