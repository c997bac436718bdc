import type { Batch, DamagedRecord } from '../../ports/store.ts';
import { recordKinds } from '../records.ts';
import { AccountTails } from '../runs/account-tails.ts';
import { DamagedRuns, type FoundRun } from '../runs/damaged-runs.ts';
import { openBatchWriter } from './batch-writer.ts';
import type { Connection } from './connection.ts';
import { guardStorage, isSqliteError } from './failure.ts';
import { openInbox } from './orders.ts';
import type { SqliteStore } from './port.ts';
import { readFrom } from './reader.ts';
import { openRetention } from './retention.ts';

/** The store over an open, migrated connection, which it closes. */
export function createStore(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  /** Throws when this process may not write; called in each transaction before anything is written. */
  readonly verify?: () => void;
  /** Moves the log into the database; false when it cannot. */
  readonly fold?: () => boolean;
}): SqliteStore {
  const { db, path, now, verify = () => {}, fold = () => foldLog(db) } = options;
  // SQLite would wait for another writer with all of the process standing still. Who commits tries again.
  db.pragma('busy_timeout = 0');
  const damaged = new DamagedRuns(now);
  const tails = new AccountTails(damaged, now);
  const write = openBatchWriter(db, tails);
  const inbox = openInbox(db);
  const deleteOld = openRetention(db);

  const writeBatch = db.transaction((batch: Batch): readonly FoundRun[] => {
    verify();
    const setAside = write(batch);
    inbox.settle();
    return setAside;
  });
  const deleteStep = db.transaction((olderThan: number): boolean => {
    verify();
    return deleteOld(olderThan, () => tails.forget());
  });

  const setAside = db.transaction((records: readonly DamagedRecord[]) => {
    verify();
    for (const record of records) setRecordAside(db, record, now());
  });

  /** Immediate, so that the lock for writing is there before anything is read; all of it happens or nothing. */
  function change<T>(work: () => T): T {
    return guardStorage(path, () => {
      try {
        return work();
      } catch (error) {
        takeBack();
        // The write-ahead log may take the room that is missing: folded into the database it gives most of it back.
        if (!isSqliteError(error, 'SQLITE_FULL') || !fold()) throw error;
      }
      try {
        return work();
      } catch (error) {
        takeBack();
        throw error;
      }
    });
  }

  function takeBack(): void {
    tails.forget();
    inbox.unsettle();
  }

  const reader = readFrom({ db, path, now, ownsWrites: true, damaged: (found) => damaged.note(found) });
  return {
    ...reader,
    load() {
      const stored = reader.load();
      const { damagedRecords = [] } = stored;
      if (damagedRecords.length > 0) change(() => setAside.immediate(damagedRecords));
      return stored;
    },
    commit(batch) {
      damaged.stored(change(() => writeBatch.immediate(batch)));
    },
    takeDamaged: () => damaged.take(),
    takeOrders: () =>
      guardStorage(path, () => {
        verify();
        return inbox.take();
      }),
    prune: (olderThan) => change(() => deleteStep.immediate(olderThan)),
    close: () => closeConnection(db),
  };
}

/** It becomes a note, which nobody else reads. Of an account only the state goes: its history hangs on the row. */
function setRecordAside(db: Connection, record: DamagedRecord, now: number): void {
  const { source, key, second, body, reason } = record;
  const found = recordKinds.get(source)?.key.map((column) => `${column} = ?`) ?? [];
  const keys = second === null ? [key] : [key, second];
  const removal = source === 'account' ? 'UPDATE account SET body = NULL' : `DELETE FROM ${source}`;
  db.prepare(`${removal} WHERE ${found.join(' AND ')}`).run(...keys);
  db.prepare('INSERT INTO note (name, value) VALUES (?, ?)').run(
    `@damaged:${source}:${keys.join('/')}:${now}`,
    JSON.stringify({ reason, body }),
  );
}

function closeConnection(db: Connection): void {
  if (!db.open) return;
  foldLog(db);
  db.close();
}

/**
 * Moves all of the write-ahead log into the database and cuts it to nothing; false when the disk or a reader
 * does not let it: the next time will do.
 */
export function foldLog(db: Connection): boolean {
  try {
    return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } catch {
    // The log still holds all that was committed; the next checkpoint or start folds it in.
    return false;
  }
}
