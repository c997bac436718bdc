import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/ports.ts';
import { asStorageError, isSqliteError } from './failure.ts';

/** The daemon that holds a database. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: number;
  readonly program: string;
}

export interface SideLock {
  release(): void;
}

/**
 * Longer than a process that was just killed needs to vanish, shorter than the second in which a second
 * daemon gives up.
 */
const patienceMs = 250;

/**
 * Makes this process the one daemon of a database: holds an SQLite lock on `<path>-lock`, which the system
 * drops however the process ends, and writes who it is to `<path>-holder`. The database's own locks cannot
 * serve: they must let the command line in. Throws `StorageError` of kind `busy` that names the holder when
 * there is one already.
 */
export function takeSideLock(
  path: string,
  identity: { readonly startedAt: number; readonly program: string },
): SideLock {
  const lock = openLock(path);
  try {
    // No journal file: nothing of this transaction ever reaches the disk.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    // A file that cannot be written would be locked for reading only, and say nothing; a change brings that to light.
    lock.pragma('user_version = 1');
    writeHolder(path, { pid: process.pid, host: hostname(), ...identity });
  } catch (error) {
    lock.close();
    if (!isSqliteError(error, 'SQLITE_BUSY')) throw asStorageError(lockPath(path), error);
    const holder = readHolder(path);
    const who = holder === null ? 'another process' : nameHolder(holder);
    throw new StorageError(
      'busy',
      `database ${path} is in use by ${who}: stop it first, or give this one another storage.path`,
    );
  }
  return {
    release() {
      rmSync(holderPath(path), { force: true });
      lock.close();
    },
  };
}

/** Who holds the database now; null when nobody does. Only looks: creates and changes nothing. */
export function describeHolder(path: string): Holder | null {
  const holder = readHolder(path);
  return holder !== null && isLocked(path) ? holder : null;
}

export function nameHolder(holder: Holder): string {
  return `${holder.program}, process ${holder.pid} on ${holder.host}, running since ${new Date(holder.startedAt).toISOString()}`;
}

function openLock(path: string): Database.Database {
  try {
    return new Database(lockPath(path), { timeout: patienceMs });
  } catch (error) {
    throw asStorageError(lockPath(path), error);
  }
}

function isLocked(path: string): boolean {
  try {
    const lock = new Database(lockPath(path), { readonly: true, fileMustExist: true, timeout: 0 });
    try {
      lock.pragma('user_version');
      return false;
    } finally {
      lock.close();
    }
  } catch (error) {
    return isSqliteError(error, 'SQLITE_BUSY');
  }
}

function writeHolder(path: string, holder: Holder): void {
  try {
    // Renamed into place, so that nobody reads half of it.
    writeFileSync(`${holderPath(path)}.new`, JSON.stringify(holder));
    renameSync(`${holderPath(path)}.new`, holderPath(path));
  } catch {
    // A full disk must not keep the daemon from starting. The lock holds all the same; only nobody can be named.
    rmSync(holderPath(path), { force: true });
  }
}

function readHolder(path: string): Holder | null {
  try {
    const found: unknown = JSON.parse(readFileSync(holderPath(path), 'utf8'));
    return isHolder(found) ? found : null;
  } catch {
    return null;
  }
}

function isHolder(value: unknown): value is Holder {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'host' in value &&
    typeof value.host === 'string' &&
    'startedAt' in value &&
    typeof value.startedAt === 'number' &&
    'program' in value &&
    typeof value.program === 'string'
  );
}

function lockPath(path: string): string {
  return `${path}-lock`;
}

function holderPath(path: string): string {
  return `${path}-holder`;
}
