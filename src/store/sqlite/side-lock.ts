import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { asStorageError, closing, isSqliteError } from './failure.ts';
import { identifyFile } from './file-system.ts';

export interface SideLock {
  /** Takes the lock again if its file was removed. If another process was first, the next call tries again: that one will read who holds the database. */
  renew(): void;
  release(): void;
}

/** Longer than a killed process needs to vanish, and shorter than the second after which a second daemon gives up. */
const patienceMs = 250;

/**
 * Holds an SQLite lock on `<path>-lock`, which the system drops however the process ends; null if another process
 * holds it. The database's own locks cannot serve, because they must let the command line in. `path` is the real path, so that no
 * symbolic link bypasses the lock.
 *
 * The lock alone does not keep a second daemon out: its file may be removed, and another name of the database has
 * another lock. So the daemon that holds the database is also noted inside it (`owner.ts`).
 */
export function takeSideLock(path: string): SideLock | null {
  let held = lockFile(lockPath(path), patienceMs);
  if (held === null) return null;
  let file = identifyFile(lockPath(path));
  return {
    renew() {
      if (identifyFile(lockPath(path)) === file) return;
      const again = renewLock(lockPath(path));
      if (again === null) return;
      held?.close();
      held = again;
      file = identifyFile(lockPath(path));
    },
    release: () => held?.close(),
  };
}

/** Whether a process holds the database with this real path. Changes nothing. */
export function isLocked(path: string): boolean {
  try {
    const lock = new Database(lockPath(path), { readonly: true, fileMustExist: true, timeout: 0 });
    closing(lock, () => lock.pragma('user_version'));
    return false;
  } catch (error) {
    return isSqliteError(error, 'SQLITE_BUSY');
  }
}

function lockFile(file: string, timeout: number): Database.Database | null {
  let lock: Database.Database | null = null;
  try {
    lock = new Database(file, { timeout });
    // No journal file: nothing of this transaction ever reaches the disk.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    // A file that cannot be written would silently be locked for reading only. A change reveals this.
    lock.pragma('user_version = 1');
    return lock;
  } catch (error) {
    lock?.close();
    if (isSqliteError(error, 'SQLITE_BUSY')) return null;
    if (isSqliteError(error, 'SQLITE_NOTADB') || isSqliteError(error, 'SQLITE_CORRUPT'))
      throw new StorageError(
        'other',
        `${file} is damaged, and holds nothing of the database: remove it and start again`,
        { cause: error },
      );
    throw asStorageError(file, error);
  }
}

/** Null if no lock is possible now, as on a full disk: then no other process can get one either. */
function renewLock(file: string): Database.Database | null {
  try {
    return lockFile(file, 0);
  } catch {
    return null;
  }
}

function lockPath(path: string): string {
  return `${path}-lock`;
}
