import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { hasNoInodes } from './file-system.ts';

/** With SQLite it is always known whether something was stored, and which process may store. */
type Kind = Exclude<StorageError['kind'], 'unknown' | 'fenced' | 'refused'>;

const readAgainAdvice =
  'it cannot be read now: see the system log for errors of the disk or file system; what is stored may be whole';

/** The meaning, for an operator, of result codes of SQLite (https://sqlite.org/rescode.html; extended codes begin with these) and of the system. */
const kinds: readonly (readonly [prefix: string, kind: Kind, advice?: string])[] = [
  ['SQLITE_FULL', 'full'],
  // There is no room for the index of the write-ahead log.
  ['SQLITE_IOERR_SHMSIZE', 'full'],
  ['SQLITE_IOERR_READ', 'other', readAgainAdvice],
  ['SQLITE_IOERR_CORRUPTFS', 'other', readAgainAdvice],
  ['SQLITE_READONLY', 'read-only'],
  ['SQLITE_CANTOPEN', 'read-only'],
  ['SQLITE_PERM', 'read-only'],
  ['SQLITE_AUTH', 'read-only'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  // One of the program's own statements names something that does not exist: a table, a column, a unique constraint.
  ['SQLITE_ERROR', 'unfit'],
  [
    'SQLITE_CONSTRAINT_TRIGGER',
    'unfit',
    'a trigger that lowwater did not make refuses it: drop that trigger',
  ],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_PROTOCOL', 'busy'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EACCES', 'read-only'],
  ['EPERM', 'read-only'],
  ['EROFS', 'read-only'],
];

const advice: Readonly<Record<Kind, (uid: number | undefined) => string>> = {
  full: () => 'the disk is full: free some space',
  'read-only': (uid) =>
    `it cannot be written by uid ${uid ?? 'unknown'}: check the owner and mode of the file and its ` +
    'directory, and that the file system is mounted writable',
  corrupt: () =>
    'it is damaged, or the disk does not give a page of it: start lowwater again, which says which, and makes a damaged index again from its ' +
    'table; if that is not enough, move the file aside and restore a backup (made by `lowwater backup`)',
  unfit: () =>
    'it is damaged: its tables are not those of lowwater; move the file aside and restore a backup (made by `lowwater backup`)',
  busy: () => 'another process keeps it locked: close what else has it open',
  other: () =>
    'it cannot be used: a quota may be used up; else see the system log for errors of the disk or file system',
};

/** Turns errors of SQLite and of files into `StorageError`, with what to do. Any other error is a bug and stays. */
export function guardStorage<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStorageError(path, error);
  }
}

/** Closes a connection after the work with it, even if the work fails. */
export function closing<T>(db: Database.Database, work: (db: Database.Database) => T): T {
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** The error to throw in place of `error`. */
export function asStorageError(path: string, error: unknown): unknown {
  if (error instanceof Database.SqliteError) {
    // A value that the schema forbids is a bug of the caller, not a fault of the disk.
    const isBug = error.code.startsWith('SQLITE_CONSTRAINT') && kindOf(error.code) === undefined;
    return isBug ? error : storageError(error.code, path, error);
  }
  // The connection to a lost log is closed, and the next one is not open yet.
  if (error instanceof TypeError && /connection is not open/.test(error.message))
    return storageError('', path, error);
  // Node's file system errors name the system call.
  if (error instanceof Error && 'code' in error && 'syscall' in error)
    return storageError(String(error.code), path, error);
  return error;
}

function storageError(found: string, path: string, cause: unknown): StorageError {
  const [, kind, own] = kindOf(found) ?? [found, 'other'];
  const detail = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Database.SqliteError ? `${cause.code}: ` : '';
  const isWritable = kind === 'full' || kind === 'read-only';
  const words =
    isWritable && hasNoInodes(dirname(path))
      ? 'the file system has no inodes left: remove files (`df -i` counts them)'
      : (own ?? advice[kind](process.getuid?.()));
  return new StorageError(kind, `database ${path}: ${words} (${code}${detail})`, { cause });
}

export function isSqliteError(error: unknown, prefix: string): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith(prefix);
}

function kindOf(code: string): (typeof kinds)[number] | undefined {
  return kinds.find(([prefix]) => code.startsWith(prefix));
}
