import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { plural } from '../../domain/plain-text.ts';
import type { Value } from '../asking.ts';
import { readDaemonNote, realPathOf } from './daemon-note.ts';
import { closing, guardStorage, isSqliteError } from './failure.ts';
import { findMisplacement, identifyFile, sizeOfFile, sizeOfFileSystem } from './file-system.ts';
import { findMendable, recovery } from './integrity.ts';
import { refuseDamagedLog } from './left-log.ts';
import { applicationId, headerBytes } from './peek-schema.ts';
import { isLocked } from './side-lock.ts';

export type Connection = Database.Database;

/** Returns a function that runs one statement on a connection, with the values of `$1`, `$2` …; each statement is prepared once. */
export function openAsk(db: Connection): <Row>(text: string, values?: readonly Value[]) => readonly Row[] {
  const prepared = new Map<string, Database.Statement>();
  return <Row>(text: string, values: readonly Value[] = []) => {
    const statement = prepared.get(text) ?? db.prepare(text);
    prepared.set(text, statement);
    const bound = Object.fromEntries(values.map((value, index) => [index + 1, value]));
    return (values.length === 0 ? statement.all() : statement.all(bound)) as readonly Row[];
  };
}

/**
 * The time that a start or the command line waits for another writer: a daemon's transactions and the command line's orders take milliseconds.
 */
const patienceMs = 5000;

/** Creates a missing file. Call `inspectFile` first. Throws `StorageError` if it cannot be written, or another process writes for `timeout` ms. */
export function connectForWriting(path: string, timeout = patienceMs): Connection {
  return connect(path, { timeout }, (db) => {
    db.pragma('journal_mode = WAL');
    db.pragma('journal_size_limit = 16777216');
    db.pragma('cache_size = -4000');
    refuseReadOnly(db);
  });
}

function connect(path: string, options: Database.Options, prepare: (db: Connection) => void): Connection {
  return guardStorage(path, () => {
    const db = new Database(path, options);
    try {
      namingDamage(path, () => {
        // Every commit waits for the disk, so that a message survives a power cut. SQLite resets this at each opening.
        db.pragma('synchronous = FULL');
        db.pragma('foreign_keys = ON');
        // Only the daemon folds the log in, and only deliberately: it has to know what the database file itself holds.
        db.pragma('wal_autocheckpoint = 0');
        prepare(db);
      });
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/**
 * The size to which the write-ahead log may grow before the daemon folds it into the database. It is SQLite's own 1000 pages (4
 * MB, each with a header of 24 bytes). It is less on a disk so small that such a log could leave no room for folding.
 */
export function maxLogBytes(path: string): number {
  const pages = Math.floor(sizeOfFileSystem(dirname(path)) / 16 / 4096);
  return Math.max(50, Math.min(1000, pages)) * (4096 + 24);
}

/** Connections of this process to databases that a daemon may write; some are closed. */
const readers = new Set<Connection>();

/** A connection to use next to a running daemon, after `check`. It changes nothing, or leaves an order. */
export function connectForReading(
  path: string,
  check: (db: Connection, path: string) => void,
  queryOnly = true,
): Connection {
  refuseMisplaced(path);
  refuseReplaced(path);
  if (!existsSync(path))
    throw new StorageError(
      'other',
      `database ${path} does not exist yet: \`lowwater run\` creates it, or set storage.path`,
    );
  guardStorage(path, () => {
    sizeUnlessCut(realpathSync(path));
    // Reading the index of the log drops this process's locks on it (https://sqlite.org/howtocorrupt.html, 2.2).
    if (![...readers].some(({ name, open }) => name === path && open)) refuseDamagedLog(path);
  });
  // Not opened read-only: that would leave empty -wal and -shm files behind if no daemon runs.
  const opened = connect(path, { timeout: patienceMs, fileMustExist: true }, (db) => {
    check(db, path);
    if (queryOnly) db.pragma('query_only = ON');
  });
  for (const reader of readers) if (!reader.open) readers.delete(reader);
  readers.add(opened);
  return opened;
}

/** Throws if the daemon has another file open, to which the log belongs: SQLite would show and write a mixture, and nobody would read an order. */
function refuseReplaced(path: string): void {
  guardStorage(path, () => {
    const open = readDaemonNote(path)?.file ?? null;
    const isReplaced = open !== null && open !== identifyFile(path);
    if (isReplaced && isLocked(realPathOf(path))) throw movedError(path);
  });
}

export function movedError(path: string): StorageError {
  return new StorageError(
    'other',
    `database ${path} was removed or replaced while lowwater has it open: put the file back, or restart lowwater`,
  );
}

/** The size of a file before it is opened: SQLite would treat a cut file as new, and remove the log that may hold all data. Throws `StorageError`. */
function sizeUnlessCut(path: string): number {
  const bytes = sizeOfFile(path);
  // A note beside the database shows that a killed daemon used it. A file of a few bytes is shorter than a database's header.
  if (bytes < headerBytes && (bytes > 0 || existsSync(`${path}-daemon`)))
    throw new StorageError(
      'corrupt',
      `database ${path} was ${bytes === 0 ? 'deleted, or ' : ''}cut to ${plural(bytes, 'byte')}; it was left as it is: ` +
        `${recovery}${bytes === 0 ? `, or remove ${path}-daemon as well to begin anew` : ''}`,
    );
  return bytes;
}

/**
 * Inspects a file before it is used, without changing it. Returns its size in bytes, 0 for none, and damage that can be made again from
 * what is sound. Throws `StorageError` if the file is not a database, is another program's, or is damaged in another way. `refuse`
 * is called with a database of lowwater and its schema number, and may throw.
 */
export function inspectFile(
  path: string,
  refuse: (db: Connection, schema: number) => void,
): { readonly bytes: number; readonly mendable: readonly string[] } {
  const bytes = sizeUnlessCut(path);
  if (bytes === 0) return { bytes, mendable: [] };
  // Closing a writable connection would fold the write-ahead log of a killed process into the file.
  const open = () =>
    new Database(path, { readonly: existsSync(`${path}-wal`), fileMustExist: true, timeout: patienceMs });
  const inspect = (db: Connection): readonly string[] => {
    const schema = namingDamage(path, () => (isBlank(db) ? null : readSchema(db, path)));
    if (schema === null) return [];
    const mendable = findMendable(db, path, bytes);
    refuse(db, schema);
    return mendable;
  };
  return { bytes, mendable: guardStorage(path, () => closing(open(), inspect)) };
}

/** The schema number of a database. Throws if it is not one of lowwater. */
export function readSchema(db: Connection, path: string): number {
  if (db.pragma('application_id', { simple: true }) !== applicationId) {
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'operator_order'").get() !== undefined)
      throw new StorageError(
        'corrupt',
        `database ${path} is damaged: its first page does not say any more that it is lowwater’s; it was left as it is: ${recovery}`,
      );
    if (isBlank(db))
      throw new StorageError(
        'other',
        `database ${path} holds nothing yet: \`lowwater run\` fills it, or set storage.path`,
      );
    throw new StorageError(
      'other',
      `${path} is the database of another program; it was left as it is: set storage.path to another file`,
    );
  }
  return Number(db.pragma('user_version', { simple: true }));
}

/** Throws `StorageError` where no file can be: in a directory that does not exist, or in place of one. */
export function refuseMisplaced(path: string): void {
  const problem = guardStorage(path, () => findMisplacement(path));
  if (problem !== null) throw new StorageError('other', `database ${path}${problem}`);
}

/** For a file whose first page cannot be read, because it was cut, half copied or is of another kind: no index can be made again. */
function namingDamage<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isDamaged = isSqliteError(error, 'SQLITE_CORRUPT');
    if (!isDamaged && !isSqliteError(error, 'SQLITE_NOTADB')) throw error;
    const what = isDamaged ? 'is damaged or was cut' : 'is no database, or its first page is damaged';
    throw new StorageError('corrupt', `${path} ${what}; it was left as it is: ${recovery}`, { cause: error });
  }
}

/** True for a database in which nothing was ever made, for example because its first migration was interrupted. */
function isBlank(db: Connection): boolean {
  const row = db.prepare<[], { tables: number }>('SELECT count(*) AS tables FROM sqlite_schema').get();
  return row?.tables === 0 && db.pragma('application_id', { simple: true }) === 0;
}

function refuseReadOnly(db: Connection): void {
  // SQLite silently opens a file that it may not write for reading only. A change that is rolled back reveals this.
  db.exec('BEGIN IMMEDIATE');
  try {
    const schema = Number(db.pragma('user_version', { simple: true }));
    db.pragma(`user_version = ${schema}`);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}
