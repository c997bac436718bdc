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

/** Asks a connection one statement, whose values `$1`, `$2` … stand for; each is prepared once. */
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
 * The wait of a start and the command line for the other writer: a daemon's transactions and the command line's orders take milliseconds.
 */
const patienceMs = 5000;

/** Creates the file when there is none. `inspectFile` comes first. Throws `StorageError` where it cannot be written, or another process writes for `timeout` ms. */
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
        // Every commit waits for the disk, so that a message survives a power cut; SQLite forgets this at each opening.
        db.pragma('synchronous = FULL');
        db.pragma('foreign_keys = ON');
        // Only the daemon folds the log in, when it means to, because it has to know what the database itself holds.
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
 * The size to which the write-ahead log may grow before the daemon folds it into the database: SQLite's own 1000 pages (4
 * MB, each with a header of 24 bytes), less on a disk so small that a log of that size could fill it and leave no room to fold it.
 */
export function maxLogBytes(path: string): number {
  const pages = Math.floor(sizeOfFileSystem(dirname(path)) / 16 / 4096);
  return Math.max(50, Math.min(1000, pages)) * (4096 + 24);
}

/** Connections of this process to databases that a daemon may write; some are closed. */
const readers = new Set<Connection>();

/** A connection to use next to a daemon, after `check`: one that changes nothing, or one that leaves an order. */
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
    // A look into the index of the log drops the locks that this process has on it (https://sqlite.org/howtocorrupt.html, 2.2).
    if (![...readers].some(({ name, open }) => name === path && open)) refuseDamagedLog(path);
  });
  // Not opened read-only: that would leave empty -wal and -shm files behind where no daemon runs.
  const opened = connect(path, { timeout: patienceMs, fileMustExist: true }, (db) => {
    check(db, path);
    if (queryOnly) db.pragma('query_only = ON');
  });
  for (const reader of readers) if (!reader.open) readers.delete(reader);
  readers.add(opened);
  return opened;
}

/** The log next to it belongs to the file that the daemon has open: SQLite would show a mixture, and write it. An order would reach nobody. */
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

/** SQLite would begin anew, and remove the log in which all may lie: a file is looked at before it is opened. Throws `StorageError`. */
function sizeUnlessCut(path: string): number {
  const bytes = sizeOfFile(path);
  // A daemon that was killed left a note beside its database. A few bytes are less than the header of one.
  if (bytes < headerBytes && (bytes > 0 || existsSync(`${path}-daemon`)))
    throw new StorageError(
      'corrupt',
      `database ${path} was ${bytes === 0 ? 'deleted, or ' : ''}cut to ${plural(bytes, 'byte')}; it was left as it is: ` +
        `${recovery}${bytes === 0 ? `, or remove ${path}-daemon as well to begin anew` : ''}`,
    );
  return bytes;
}

/**
 * Looks at a file before it is used and leaves it as it is; gives its size in bytes, 0 for none, and what is damaged but can be made again
 * from what is sound. Throws `StorageError` for a file that is no database, another program's, or damaged otherwise. `refuse` sees one of
 * lowwater with its schema's number, and may throw.
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

/** Throws unless the database is one of lowwater; gives its schema's number. */
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

/** Throws `StorageError` where no file can be: in a directory that is not there, or in place of one. */
export function refuseMisplaced(path: string): void {
  const problem = guardStorage(path, () => findMisplacement(path));
  if (problem !== null) throw new StorageError('other', `database ${path}${problem}`);
}

/** A file that cannot even say whose it is, as it was cut off, copied in half or is of another kind, has no index to make again. */
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

/** True for a database in which nothing was ever made, such as one whose first migration was cut short. */
function isBlank(db: Connection): boolean {
  const row = db.prepare<[], { tables: number }>('SELECT count(*) AS tables FROM sqlite_schema').get();
  return row?.tables === 0 && db.pragma('application_id', { simple: true }) === 0;
}

function refuseReadOnly(db: Connection): void {
  // SQLite opens a file that it may not write for reading, without a word. A change that is taken back brings
  // it to light.
  db.exec('BEGIN IMMEDIATE');
  try {
    const schema = Number(db.pragma('user_version', { simple: true }));
    db.pragma(`user_version = ${schema}`);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}
