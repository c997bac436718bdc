import { dirname } from 'node:path';
import type { Store } from '../../daemon/ports.ts';
import type { Log } from '../../domain/ports.ts';
import { type Connection, connectForWriting, inspectFile, refuseMisplaced } from './connection.ts';
import { guardStorage } from './failure.ts';
import { describeFileSystem } from './file-system.ts';
import { type Migration, migrate, readMigrations, refuseUnknownSchema } from './migrate.ts';
import { takeSideLock } from './side-lock.ts';
import { createStore, foldLog } from './store.ts';

/**
 * Opens the database of a daemon, alone: creates it, or checks and migrates it.
 *
 * - `now` is the wall clock in milliseconds; `program` is the name and version that others are told, `lowwater 1.2.0`.
 * - `migrations` are those of this program, where somebody has read them already.
 * - Throws `StorageError`, whose message says what to do, when another daemon holds it, when the file is
 *   damaged, of another program or of a newer lowwater (it is left as it is then), or when it cannot be
 *   written.
 */
export function openStore(options: {
  readonly path: string;
  readonly log: Log;
  readonly now: () => number;
  readonly program: string;
  readonly migrations?: readonly Migration[];
}): Store {
  const { path, log, now, program, migrations = readMigrations() } = options;
  refuseMisplaced(path);
  const lock = takeSideLock(path, { startedAt: now(), program });
  let db: Connection | null = null;
  try {
    const bytes = inspectFile(path, (found, schema) =>
      refuseUnknownSchema({ db: found, path, schema, migrations, program }),
    );
    warnOfFileSystem(path, log);
    db = connectForWriting(path);
    applyMigrations({ db, path, migrations, program, now: now(), log });
    // What a killed daemon left in the log, and the new schema: so that the file itself is never behind for long.
    foldLog(db);
    const store = createStore({ db, path, now });
    log.info({ path, schema: migrations.length, bytes }, 'database open');
    return {
      ...store,
      close() {
        store.close();
        lock.release();
      },
    };
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}

function applyMigrations(options: {
  readonly db: Connection;
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly program: string;
  readonly now: number;
  readonly log: Log;
}): void {
  const applied = guardStorage(options.path, () => migrate(options));
  for (const { name } of applied)
    options.log.info({ path: options.path, migration: name }, 'database migrated');
}

function warnOfFileSystem(path: string, log: Log): void {
  const concern = describeFileSystem(dirname(path));
  if (concern !== null) log.warn({ path, fileSystem: concern.name }, concern.warning);
}
