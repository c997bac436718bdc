import type { FoundDamage } from '../runs/damaged-runs.ts';
import { copyDatabase } from './backup.ts';
import { type Connection, connectForReading } from './connection.ts';
import { guardStorage } from './failure.ts';
import { openHistory } from './history.ts';
import { requireSchema } from './migrate.ts';
import { listOrders } from './orders.ts';
import type { SqliteReader } from './port.ts';
import { openRecordReader } from './record-reader.ts';

/**
 * Opens a database to read it, whether or not a daemon writes it meanwhile. Changes nothing.
 *
 * `now` is the wall clock; without it `load` also gives silences that are over. `damaged` hears of each run that is left out. Throws `StorageError` when there is no
 * database or when it is of another version of lowwater.
 */
export function openSqliteReader(options: {
  readonly path: string;
  readonly now?: () => number;
  readonly damaged?: (found: FoundDamage) => void;
}): SqliteReader {
  const { path, now = () => Number.MIN_SAFE_INTEGER, damaged = () => {} } = options;
  const db = connectForReading(path);
  try {
    return guardStorage(path, () => {
      requireSchema(db, path);
      return { ...readFrom({ db, path, now, ownsWrites: false, damaged }), close: () => db.close() };
    });
  } catch (error) {
    db.close();
    throw error;
  }
}

/** All questions that a connection can answer; shared by the reader and the daemon's store. */
export function readFrom(options: {
  readonly db: Connection;
  readonly path: string;
  readonly now: () => number;
  readonly ownsWrites: boolean;
  readonly damaged: (found: FoundDamage) => void;
}): Omit<SqliteReader, 'close'> {
  const { db, path, now, ownsWrites, damaged } = options;
  return {
    ...openHistory(db, path, damaged),
    ...openRecordReader(db, path, now),
    leftOrders: () => guardStorage(path, () => listOrders(db)),
    backup: (file) => copyDatabase(db, file, { inOneStep: !ownsWrites }),
  };
}
