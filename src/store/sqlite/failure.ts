import Database from 'better-sqlite3';
import { StorageError } from '../../app/ports.ts';
import { PollCodecError } from '../../core/poll-codec.ts';

/** A row that nothing but damage can have made. */
export class DamagedRecordError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DamagedRecordError';
  }
}

type Kind = StorageError['kind'];

/** What SQLite's result codes mean to an operator (https://sqlite.org/rescode.html); extended codes begin with these. */
const kinds: readonly (readonly [prefix: string, kind: Kind])[] = [
  ['SQLITE_FULL', 'full'],
  ['SQLITE_READONLY', 'read-only'],
  ['SQLITE_CANTOPEN', 'read-only'],
  ['SQLITE_PERM', 'read-only'],
  ['SQLITE_AUTH', 'read-only'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_PROTOCOL', 'busy'],
];

const advice: Readonly<Record<Kind, string>> = {
  full: 'the disk is full: free some space',
  'read-only': `it cannot be written by uid ${process.getuid?.() ?? 'unknown'}: check the owner and mode of the file and its directory, and that the file system is mounted writable`,
  corrupt:
    'it is damaged: stop lowwater, move the file aside and restore a backup (made by `lowwater backup`)',
  busy: 'another process keeps it locked: close whatever else has it open',
  other: 'the disk or file system fails: see the system log',
};

/**
 * Runs what touches the database. An error of SQLite and damaged rows come out as `StorageError`, whose message
 * names the file and what to do; any other error is a bug and comes out as it is.
 */
export function guardStorage<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asStorageError(path, error);
  }
}

/** The error to throw in place of `error`. */
export function asStorageError(path: string, error: unknown): unknown {
  if (error instanceof PollCodecError || error instanceof DamagedRecordError) {
    return new StorageError('corrupt', `database ${path}: ${advice.corrupt} (${error.message})`, { cause: error });
  }
  // A value that the schema forbids is a bug of the caller's, not the disk's.
  if (!(error instanceof Database.SqliteError) || isSqliteError(error, 'SQLITE_CONSTRAINT')) return error;
  const kind = kindOf(error.code);
  return new StorageError(kind, `database ${path}: ${advice[kind]} (${error.code}: ${error.message})`, {
    cause: error,
  });
}

export function isSqliteError(error: unknown, prefix: string): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith(prefix);
}

function kindOf(code: string): Kind {
  return kinds.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'other';
}
