import { existsSync, realpathSync } from 'node:fs';
import type { StorageSettings } from '../domain/settings.ts';
import type { LeftOrder, Store, StoreFile } from '../ports/store.ts';
import type { FoundDamage } from './runs/stored-run.ts';
import { openSqliteStore } from './sqlite/open-store.ts';
import { leaveOrder } from './sqlite/orders.ts';
import { readDatabaseId, readOwnerOf } from './sqlite/owner.ts';
import { asStore, asStoreFile } from './sqlite/port.ts';
import { openSqliteReader } from './sqlite/reader.ts';
import { isLocked } from './sqlite/side-lock.ts';

export type { FoundDamage } from './runs/stored-run.ts';
export { leaveOrder } from './sqlite/orders.ts';
export { openSqlFile } from './sqlite/query.ts';

export function openStore(options: Parameters<typeof openSqliteStore>[0]): Store {
  return asStore(openSqliteStore(options));
}

export function openReader(options: Parameters<typeof openSqliteReader>[0]): StoreFile {
  return asStoreFile(openSqliteReader(options));
}

/** Whether a process holds the SQLite database of this path. */
export function isInUse(path: string): boolean {
  return existsSync(path) && isLocked(realpathSync(path));
}

/** The program of the daemon that holds the SQLite database of this path, or was killed while it did; null if none is known. */
export function readOwnerProgram(path: string): string | null {
  return readOwnerOf(path)?.program ?? null;
}

/** Opens the database of a configuration, of either kind, for reading. `program`: this program with its version. Throws `StorageError`. */
export async function openConfigured(
  storage: StorageSettings,
  program: string,
  now: () => number,
  damaged: (found: FoundDamage) => void,
): Promise<StoreFile> {
  if (storage.postgres === undefined) return openReader({ path: storage.path, now, damaged });
  const { openPostgresReader } = await import('./postgres/reader.ts');
  return openPostgresReader({ url: storage.postgres.url, program, now });
}

/** The id by which a daemon and the command line know that they use the same database; null if there is none, or it cannot be read. */
export async function readIdOf(storage: StorageSettings, program: string): Promise<string | null> {
  if (storage.postgres === undefined) return readDatabaseId(storage.path);
  const { findDatabaseId, withSchema } = await import('./postgres/reader.ts');
  return withSchema(storage.postgres.url, program, findDatabaseId).catch(() => null);
}

/** Leaves an order in a configuration's database for the owner of the accounts. Throws `StorageError`. */
export async function orderIn(storage: StorageSettings, program: string, order: LeftOrder): Promise<void> {
  if (storage.postgres === undefined) return leaveOrder(storage.path, order);
  const { insertOrder, withSchema } = await import('./postgres/reader.ts');
  await withSchema(storage.postgres.url, program, (database) => insertOrder(database, order));
}
