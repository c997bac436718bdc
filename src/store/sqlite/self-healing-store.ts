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

/** After the system refused a lock, SQLite is not called for this long: it tries for ten seconds, and the whole process stands still meanwhile. */
const unaskedAfterRefusalMs = minuteMs;

/**
 * The daemon's store over a connection that is replaced when the write-ahead log was removed or cut while it is open. SQLite
 * notices neither: it writes on into a file without a name, or after a hole, and the next process finds nothing of that.
 *
 * The commit that finds the log damaged fails, so that people hear of it; the next one mends it. A log that was removed is
 * still open here and is folded into the database. A cut log is given up, and every batch since the last fold is
 * committed again: those batches are kept until the next fold, a few megabytes at most.
 */
export function createSelfHealingStore(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  /** Returns, for a connection, a function that throws when another daemon holds the database. */
  readonly verifier: (db: Connection) => () => void;
}): SqliteStore & { readonly connection: () => Connection } {
  const { path, now, verifier } = options;
  const database = identifyFile(path);
  const maxBytes = maxLogBytes(path);
  const watched = [`${path}-wal`, `${path}-shm`];
  const given = new Set<string>();
  let { db } = options;
  let unfolded: Batch[] = [];
  /** Batches that a lost log held, until they are committed again. */
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
      // The log is shorter now because it was folded, not because somebody cut it.
      logBytes = 0;
      foldAt = maxBytes;
      return true;
    }
    foldAt = logBytes + maxBytes;
    // A part may have been folded in. Records can be written twice, but polls would be doubled: lose them rather.
    unfolded = unfolded.map((batch) => ({ ...batch, polls: [] }));
    return false;
  }

  /**
   * Throws if the file was deleted, replaced or cut: writes to it would succeed silently and be gone after the next start.
   */
  function refuseMoved(): void {
    if (identifyFile(path) !== database) throw movedError(path);
    const bytes = sizeOfFile(path);
    // A VACUUM by somebody also shortens the file, but then the database has fewer pages too.
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

  /** Opens the database again. Every error becomes a `StorageError`, so that the daemon goes on from memory and tries again. */
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

  /** Closes the connection. It is already closed if an earlier try closed it and could not open the next one. */
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

  /** Writes to a sound log, and keeps the log short. */
  function change<T>(work: () => T): T {
    return guardStorage(path, () => {
      refuseMoved();
      if (damage !== 'none') mend();
      damage = findDamage();
      refuseDamaged(damage);
      const result = workOrCut(() => {
        for (let first = lost[0]; first !== undefined; first = lost[0]) {
          commit(first);
          lost.shift();
        }
        return work();
      });
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
   * Cuts a failed change off the log. The disk may have taken it whole: after the shorter changes that follow, it would look like damage.
   * Does nothing if a command has left an order after the counted frames, or if the log was replaced meanwhile.
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

  /** Throws no `StorageError`, because the change is already stored: the next change reports that the log cannot be read. */
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
