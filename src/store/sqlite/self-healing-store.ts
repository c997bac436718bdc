import { truncateSync } from 'node:fs';
import { StorageError } from '../../domain/operator-error.ts';
import { minuteMs } from '../../domain/time.ts';
import type { Batch } from '../../ports/store.ts';
import { type Connection, connectForWriting, maxLogBytes, movedError } from './connection.ts';
import { asStorageError, guardStorage, isSqliteError } from './failure.ts';
import { identifyFile, sizeOfFile } from './file-system.ts';
import { frameHeaderBytes, headerBytes } from './left-log.ts';
import type { SqliteStore } from './port.ts';
import { createStore, foldLog } from './store.ts';

/** SQLite asks for ten seconds for a lock that the system refuses, and the whole process stands still: for so long after that polls and messages go on. */
const unaskedAfterRefusalMs = minuteMs;

/**
 * The daemon's store over a connection that is replaced when the write-ahead log was removed or cut under it. SQLite
 * notices neither: it writes on into a file without a name, or behind a hole, and the next process finds nothing of it.
 *
 * The commit that finds the log damaged fails, so that people hear of it; the next one mends it. A log that was removed is
 * still open here and is folded into the database. A cut one is given up, and what was committed since the database last
 * held everything is committed again: so long those batches are kept, a few megabytes at most.
 */
export function createSelfHealingStore(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  /** For a connection, what throws when another daemon holds the database. */
  readonly verifier: (db: Connection) => () => void;
}): SqliteStore & { readonly connection: () => Connection } {
  const { path, now, verifier } = options;
  const database = identifyFile(path);
  const maxBytes = maxLogBytes(path);
  const watched = [`${path}-wal`, `${path}-shm`];
  const given = new Set<string>();
  let { db } = options;
  let unfolded: Batch[] = [];
  /** Those that a lost log held, until they are committed again. */
  let lost: Batch[] = [];
  let store = build();
  let damage: 'none' | 'removed' | 'cut' = 'none';
  let files = watched.map(identifyFile);
  let logBytes = sizeOfFile(`${path}-wal`);
  let databaseBytes = sizeOfFile(path);
  let foldAt = maxBytes;
  let refused: { readonly error: unknown; readonly at: number } | null = null;

  function ask<T>(work: () => T): T {
    if (refused !== null && Math.abs(now() - refused.at) < unaskedAfterRefusalMs) throw refused.error;
    refused = null;
    try {
      return work();
    } catch (error) {
      if (error instanceof StorageError && isSqliteError(error.cause, 'SQLITE_PROTOCOL'))
        refused = { error, at: now() };
      throw error;
    }
  }

  function build(): SqliteStore {
    return createStore({ db, path, now, verify: verifier(db), fold, given });
  }

  function fold(): boolean {
    if (foldLog(db)) {
      unfolded = [];
      // It is shorter now, and nobody cut it.
      logBytes = 0;
      foldAt = maxBytes;
      return true;
    }
    foldAt = logBytes + maxBytes;
    // A part may have been folded in. Records can be written twice and readings cannot: better none than doubled.
    unfolded = unfolded.map((batch) => ({ ...batch, polls: [] }));
    return false;
  }

  /**
   * A file that was deleted, replaced or cut takes every write without a word, and none of it is there after the next start: that is no storing.
   */
  function refuseMoved(): void {
    if (identifyFile(path) !== database) throw movedError(path);
    const bytes = sizeOfFile(path);
    // Somebody's VACUUM makes it shorter too, and holds fewer pages then.
    if (bytes < databaseBytes && bytes < holds('page_count') * holds('page_size'))
      throw new StorageError(
        'corrupt',
        `database ${path} was cut while lowwater has it open: stop lowwater, move the file aside and restore a backup`,
      );
    databaseBytes = bytes;
  }

  function holds(pragma: string, column = pragma): number {
    const [row] = db.pragma(pragma) as readonly Record<string, number>[];
    return Number(row?.[column]);
  }

  function refuseDamaged(found: typeof damage): void {
    if (found === 'none') return;
    throw new StorageError(
      'other',
      `database ${path}: its write-ahead log ${path}-wal was ${found === 'cut' ? 'cut' : 'removed or replaced'} while ` +
        'lowwater has it open; lowwater continues from memory and writes it again',
    );
  }

  function findDamage(): typeof damage {
    if (watched.some((file, index) => identifyFile(file) !== files[index])) return 'removed';
    return sizeOfFile(`${path}-wal`) < logBytes ? 'cut' : 'none';
  }

  /** Opens the database again. All that goes wrong is a matter of storing: the daemon goes on from memory and tries again. */
  function mend(): void {
    try {
      if (db.open) giveUpConnection();
      db = connectForWriting(path, 0);
      store = build();
      lost = [...unfolded, ...lost];
      unfolded = [];
      damage = 'none';
      remember();
    } catch (error) {
      const failure = asStorageError(path, error);
      if (failure instanceof StorageError) throw failure;
      throw new StorageError('other', `database ${path} cannot be opened again: ${String(error)}`, {
        cause: error,
      });
    }
  }

  /** It is closed already where an earlier try could not open the next one. */
  function giveUpConnection(): void {
    // Nothing more of a cut log may reach the database: half of a change is worse than none.
    if (damage !== 'cut') {
      if (!fold()) refuseDamaged(damage);
    } else if (identifyFile(`${path}-wal`) !== null) truncateSync(`${path}-wal`, 0);
    store.close();
  }

  function remember(): void {
    files = watched.map(identifyFile);
    logBytes = sizeOfFile(`${path}-wal`);
  }

  function commit(batch: Batch): void {
    store.commit(batch);
    unfolded.push(batch);
  }

  /** Writes on a sound log, and keeps the log short. */
  function change<T>(work: () => T): T {
    return guardStorage(path, () => {
      refuseMoved();
      if (damage !== 'none') mend();
      damage = findDamage();
      refuseDamaged(damage);
      for (let first = lost[0]; first !== undefined; first = lost[0]) {
        commit(first);
        lost.shift();
      }
      const result = workOrCut(work);
      keepShort();
      return result;
    });
  }

  function workOrCut<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'other') cutUncommitted();
      throw error;
    }
  }

  /**
   * A change that the disk took without saying so lies whole in the log: behind the shorter changes that come next it would look like damage.
   * Not where a command has left an order behind the frames that were counted, nor in a log that was put in its place meanwhile.
   */
  function cutUncommitted(): void {
    try {
      const version = holds('data_version');
      const end =
        headerBytes + holds('wal_checkpoint(NOOP)', 'log') * (frameHeaderBytes + holds('page_size'));
      db.exec('BEGIN IMMEDIATE');
      const isSame = findDamage() === 'none' && holds('data_version') === version;
      if (isSame && end < sizeOfFile(`${path}-wal`)) {
        truncateSync(`${path}-wal`, end);
        logBytes = end;
      }
    } catch (error) {
      if (!(asStorageError(path, error) instanceof StorageError)) throw error;
    } finally {
      if (db.inTransaction) db.exec('ROLLBACK');
    }
  }

  /** Throws nothing of the storage, as the change is stored by then: the next one says that the log cannot be looked at. */
  function keepShort(): void {
    try {
      logBytes = sizeOfFile(`${path}-wal`);
      if (logBytes > foldAt) fold();
    } catch (error) {
      if (!(asStorageError(path, error) instanceof StorageError)) throw error;
    }
  }

  return {
    connection: () => db,
    commit: (batch) => ask(() => change(() => commit(batch))),
    prune: (olderThan) => ask(() => change(() => store.prune(olderThan))),
    takeDamaged: () => store.takeDamaged(),
    takeOrders: () =>
      ask(() =>
        guardStorage(path, () => {
          refuseMoved();
          refuseDamaged(findDamage());
          return store.takeOrders();
        }),
      ),
    takeUnstored: () => ask(() => store.takeUnstored()),
    load: () => ask(() => store.load()),
    readings: (query) => ask(() => store.readings(query)),
    polls: (query) => ask(() => store.polls(query)),
    readingBefore: (account, at) => ask(() => store.readingBefore(account, at)),
    incidents: (query) => ask(() => store.incidents(query)),
    silences: (notOverAt) => ask(() => store.silences(notOverAt)),
    messages: (limit, before) => ask(() => store.messages(limit, before)),
    backup: (file) => store.backup(file),
    leftOrders: () => ask(() => store.leftOrders()),
    close: () => store.close(),
  };
}
