import { type Batch, type DamagedRecord, untoldDamageNote } from '../../ports/store.ts';
import { askAtOnce, type Row } from '../asking.ts';
import { readUntold, writeUntold } from '../records.ts';
import { AccountTails, type TailRow } from '../runs/account-tails.ts';
import { createDamagedRuns, type FoundRun } from '../runs/stored-run.ts';
import { changes, tables } from '../tables.ts';
import { findUnstored } from '../unstored.ts';
import { type Connection, openAsk } from './connection.ts';
import { guardStorage, isSqliteError } from './failure.ts';
import { openInbox } from './orders.ts';
import type { SqliteStore } from './port.ts';
import { readFrom } from './reader.ts';

export function createStore(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  /** Throws when this process may not write; called in each transaction before anything is written. */
  readonly verify?: () => void;
  readonly fold?: () => boolean;
  /** The orders that this process was given already. */
  readonly given?: Set<string>;
}): SqliteStore {
  const { db, path, now, verify = () => {}, fold = () => foldLog(db), given = new Set() } = options;
  // SQLite would block the whole process while it waits for another writer. The committer tries again instead.
  db.pragma('busy_timeout = 0');
  const damaged = createDamagedRuns(now);
  const tails = new AccountTails(damaged);
  const write = openBatchWriter(db, tails);
  const inbox = openInbox(db, given);
  const ask = openAsk(db);
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
    setRecordsAside(db, records, now());
  });

  /** Uses an immediate transaction, so that the write lock is there before anything is read. All of the work happens, or none. */
  function change<T>(work: () => T): T {
    return guardStorage(path, () => {
      try {
        return work();
      } catch (error) {
        tails.forget();
        // The write-ahead log may take up the missing room. Folding it into the database frees most of that.
        if (!isSqliteError(error, 'SQLITE_FULL') || !fold()) throw error;
      }
      try {
        return work();
      } catch (error) {
        tails.forget();
        throw error;
      }
    });
  }

  const reader = readFrom({ db, path, now, ownsWrites: true, damaged: damaged.note });
  return {
    ...reader,
    load() {
      const stored = reader.load();
      const inPlace = stored.damagedRecords?.filter(({ body }) => body !== null) ?? [];
      if (inPlace.length > 0) change(() => setAside.immediate(inPlace));
      return stored;
    },
    commit(batch) {
      damaged.stored(change(() => writeBatch.immediate(batch)));
      inbox.settled();
    },
    takeDamaged: damaged.take,
    takeOrders: () =>
      guardStorage(path, () => {
        verify();
        return inbox.take();
      }),
    takeUnstored: () =>
      guardStorage(path, () => askAtOnce(findUnstored(), ({ text, values }) => ask(text, values))),
    prune: (olderThan) => change(() => deleteStep.immediate(olderThan)),
    close() {
      if (!db.open) return;
      foldLog(db);
      db.close();
    },
  };
}

/** Moves each record that is still stored to its own note, which nobody else reads, and names all in the note of damage that nobody was told of. */
export function setRecordsAside(db: Connection, records: readonly DamagedRecord[], now: number): void {
  for (const record of records) if (record.body !== null) setRecordAside(db, record, now);
  const known = db.prepare<[string], string>('SELECT value FROM note WHERE name = ?').pluck();
  const untold = writeUntold([...readUntold(known.get(untoldDamageNote)), ...records]);
  db.prepare('INSERT OR REPLACE INTO note (name, value) VALUES (?, ?)').run(untoldDamageNote, untold);
}

/** Of an account, only the state is removed: its history depends on the row. */
function setRecordAside(db: Connection, record: DamagedRecord, now: number): void {
  const { source, key, second, body, reason } = record;
  const found = tables.find(({ name }) => name === source)?.key?.map((column) => `${column} = ?`) ?? [];
  const keys = second === null ? [key] : [key, second];
  const removal = source === 'account' ? 'UPDATE account SET body = NULL' : `DELETE FROM ${source}`;
  db.prepare(`${removal} WHERE ${found.join(' AND ')}`).run(...keys);
  db.prepare('INSERT INTO note (name, value) VALUES (?, ?)').run(
    `@damaged:${source}:${keys.join('/')}:${now}`,
    JSON.stringify({ reason, body }),
  );
}

/** Returns false if the disk or a reader prevents it: it is tried again later. */
export function foldLog(db: Connection): boolean {
  try {
    return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } catch {
    // The log still holds everything that was committed. The next checkpoint or start folds it in.
    return false;
  }
}

/** Returns a function that writes a batch, inside the caller's transaction, and returns the damaged runs that it set aside. */
function openBatchWriter(db: Connection, tails: AccountTails): (batch: Batch) => readonly FoundRun[] {
  const find = db.prepare<[string], TailRow>(
    'SELECT no, id, tail, tail_polls AS polls, tail_latest_at AS latestAt FROM account WHERE id = ?',
  );
  const create = db.prepare<[string]>('INSERT INTO account (id) VALUES (?)');
  const update = db.prepare<[Row]>(
    `UPDATE account SET body = nullif(coalesce(?, body), ''), tail = coalesce(?, tail), tail_polls = coalesce(?, tail_polls),
       tail_latest_at = coalesce(?, tail_latest_at) WHERE no = ?`,
  );
  const statements = changes.map(({ table, columns, key, written, removed, replacing }) => {
    const names = Object.keys(columns);
    const put = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${replacing}`;
    const where = Object.keys(key).map((column) => `${column} = ?`);
    return {
      written,
      put: db.prepare<[Row]>(put),
      removed: removed ?? (() => []),
      remove: removed && db.prepare<[Row]>(`DELETE FROM ${table.name} WHERE ${where.join(' AND ')}`),
    };
  });

  return (batch) => {
    for (const id of tails.unknownOf(batch)) {
      if (find.get(id) === undefined) create.run(id);
      tails.add(find.all(id));
    }
    const rows = tails.rowsOf(batch);
    for (const row of rows.accounts) update.run(row);
    for (const { written, put, removed, remove } of statements) {
      // Removal comes first: a row that was removed and came back within one turn stays.
      for (const row of removed(batch, rows)) remove?.run(row);
      for (const row of written(batch, rows)) put.run(row);
    }
    return rows.damaged;
  };
}

/** Rows deleted in one step: a few milliseconds, so that no poll waits. */
const stepRows = 500;

/**
 * Deletes what ended before an instant, in steps; returns true if there may be more. Open incidents, pending messages and rows that
 * lie in the future (from a wrong clock) stay. `changed` is called when tails of accounts were touched.
 */
export function openRetention(db: Connection): (olderThan: number, changed: () => void) => boolean {
  const limited = (sql: string) => db.prepare<{ olderThan: number }>(sql.replace('$step', String(stepRows)));
  const deletions = [
    // Goes by account, to use the index on segments: the table itself is nearly all of the file.
    limited(`DELETE FROM segment WHERE seq IN (
      SELECT segment.seq FROM account CROSS JOIN segment ON segment.account_no = account.no
      WHERE segment.latest_at < $olderThan LIMIT $step)`),
    ...tables.flatMap(({ name, outdated }) =>
      outdated === undefined
        ? []
        : limited(`DELETE FROM ${name} WHERE ${outdated.replaceAll('$at', '$olderThan')} LIMIT $step`),
    ),
  ];
  const emptyTails = limited(
    'UPDATE account SET tail = NULL, tail_polls = 0, tail_latest_at = NULL WHERE tail_latest_at < $olderThan LIMIT $step',
  );
  const forgetAccounts = db.prepare(
    `DELETE FROM account WHERE body IS NULL AND tail_latest_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM segment WHERE account_no = account.no) LIMIT ${stepRows}`,
  );

  return (olderThan, changed) => {
    if (deletions.some((deletion) => deletion.run({ olderThan }).changes === stepRows)) return true;
    const emptied = emptyTails.run({ olderThan }).changes;
    const forgotten = forgetAccounts.run().changes;
    if (emptied + forgotten > 0) changed();
    return emptied === stepRows || forgotten === stepRows;
  };
}
