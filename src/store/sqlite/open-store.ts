import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../ports/log.ts';
import type { DamagedRecord } from '../../ports/store.ts';
import { type Migration, readMigrations } from '../migrations.ts';
import { type Connection, connectForWriting, inspectFile, refuseMisplaced } from './connection.ts';
import { removeDaemonNote } from './daemon-note.ts';
import { guardStorage } from './failure.ts';
import { describeFileSystem, openPrivately } from './file-system.ts';
import { mend } from './integrity.ts';
import { keepDamagedLog, keptLog } from './left-log.ts';
import { migrate, refuseUnknown } from './migrate.ts';
import { claim, findDamagedNames, inUse, readOwnerOf, refuseOwned } from './owner.ts';
import type { SqliteStore } from './port.ts';
import { createSelfHealingStore } from './self-healing-store.ts';
import { type SideLock, takeSideLock } from './side-lock.ts';
import { createStore, foldLog, setRecordsAside } from './store.ts';

/**
 * Opens the database of a daemon for this daemon alone: creates it, or checks and migrates it.
 *
 * - `now` is the wall clock in milliseconds; `program` is the name and version that others see, `lowwater 1.2.0`.
 * - `migrations` are those of this program, if the caller has read them already.
 * - Throws `StorageError`, whose message says what to do, if another daemon holds the file, if the file is damaged, another program's or
 *   a newer lowwater's (it is left as it is then), or if it cannot be written.
 * - If another daemon takes the database over all the same, every later change throws `TakenOverError`.
 */
export function openSqliteStore(options: {
  readonly path: string;
  readonly log: Log;
  readonly now: () => number;
  readonly program: string;
  readonly migrations?: readonly Migration[];
}): SqliteStore {
  return guardStorage(options.path, () => openGuarded(options));
}

function openGuarded(options: Parameters<typeof openSqliteStore>[0]): SqliteStore {
  const { log, now, program, migrations = readMigrations() } = options;
  refuseMisplaced(options.path);
  // Resolves symbolic links: behind them it is the same database, with the same log and the same lock.
  const path = openPrivately(options.path);
  const lock = takeSideLock(path);
  if (lock === null) throw inUse(path, readOwnerOf(path));
  let db: Connection | null = null;
  try {
    const lost = keepDamagedLog(path);
    const { bytes, mendable } = inspectFile(path, (found, schema) => {
      refuseUnknown(found, path, schema, migrations, program);
      refuseOwned(found, path);
      // Prepares every statement that is ever written: a missing table shows before anything is changed.
      if (schema === migrations.length) createStore({ db: found, path, now });
    });
    // A note that a killed daemon left names the file that it had open.
    removeDaemonNote({ path });
    const concern = describeFileSystem(dirname(path));
    if (concern !== null) log.warn({ path, fileSystem: concern.name }, concern.warning);
    const kept = `${path}-wal.damaged-${now()}`;
    const reason = `${lost}; it is kept as ${kept}`;
    const found = lost === null ? [] : [{ ...named('write-ahead log', `${path}-wal`, reason), at: 0 }];
    const opened = connectForWriting(path);
    db = opened;
    if (mendable.length > 0) {
      const made = named('index', mendable[0] ?? '', 'it was made again from its table, which is sound');
      mend(opened, path, bytes, mendable, () => setRecordsAside(opened, [made], now()));
    }
    const applied = migrate({ db: opened, path, migrations, program, now: now() });
    for (const { name } of applied) log.info({ path, migration: name }, 'database migrated');
    const store = openClaimed(opened, lock, { path, now, program, found });
    if (lost !== null) renameSync(keptLog(path), kept);
    log.info({ path, schema: migrations.length, bytes }, 'database open');
    return store;
  } catch (error) {
    db?.close();
    lock.release();
    throw error;
  }
}

function named(source: string, key: string, reason: string): DamagedRecord {
  return { source, key, second: null, body: null, reason };
}

function openClaimed(
  db: Connection,
  lock: SideLock,
  given: Pick<Parameters<typeof openSqliteStore>[0], 'path' | 'now' | 'program'> & {
    readonly found: readonly DamagedRecord[];
  },
): SqliteStore {
  const { path, now, program, found } = given;
  const damaged = [...found, ...findDamagedNames(db)];
  if (damaged.length > 0) db.transaction(() => setRecordsAside(db, damaged, now())).immediate();
  const ownership = claim(db, { path, startedAt: now(), program });
  // Folds in the rest of a killed daemon's log, the new schema and the claim: the file itself is never behind for long.
  foldLog(db);
  const verifier = (current: Connection): (() => void) => {
    const verify = ownership.verifier(current);
    return () => {
      verify();
      lock.renew();
    };
  };
  const store = createSelfHealingStore({ db, path, now, verifier });
  return {
    ...store,
    close() {
      ownership.end(store.connection());
      store.close();
      lock.release();
    },
  };
}
