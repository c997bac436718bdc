import type { OperatorOrder } from '../../domain/operator.ts';
import { parseOrders } from '../records.ts';
import { type Connection, connectForReading } from './connection.ts';
import { guardStorage } from './failure.ts';
import { requireSchema } from './migrate.ts';

interface OrderRow {
  readonly no: number;
  readonly body: string;
}

/**
 * Leaves an order in the database, where the daemon finds it. Throws `StorageError` when there is no
 * database, when it is of another version of lowwater, or cannot be written.
 */
export function leaveOrder(path: string, order: OperatorOrder): void {
  const db = connectForReading(path, false);
  try {
    guardStorage(path, () => {
      requireSchema(db, path);
      const leave = db.prepare<[string]>('INSERT INTO operator_order (body) VALUES (?)');
      db.transaction(() => leave.run(JSON.stringify(order))).immediate();
    });
  } finally {
    db.close();
  }
}

export function listOrders(db: Connection): readonly OperatorOrder[] {
  return parseOrders(db.prepare<[], OrderRow>('SELECT no, body FROM operator_order ORDER BY no').all());
}

export function openInbox(db: Connection) {
  const find = db.prepare<[number], OrderRow>('SELECT no, body FROM operator_order WHERE no > ? ORDER BY no');
  const remove = db.prepare<[number]>('DELETE FROM operator_order WHERE no <= ?');
  // Changes only when another connection wrote, and that is how orders come.
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let seenVersion: number | undefined;
  let lastTaken = 0;
  let unsettled = false;
  return {
    /** Orders not taken before, oldest first. Reads one number when no other process wrote since the last call. */
    take(): readonly OperatorOrder[] {
      const version = dataVersion.get();
      if (version === seenVersion) return [];
      const rows = find.all(lastTaken);
      seenVersion = version;
      lastTaken = rows.at(-1)?.no ?? lastTaken;
      unsettled ||= rows.length > 0;
      return parseOrders(rows);
    },
    /** To be called in the transaction that stores what taken orders did: a crash before it lets them be taken again. */
    settle(): void {
      if (!unsettled) return;
      remove.run(lastTaken);
      unsettled = false;
    },
    unsettle(): void {
      unsettled = lastTaken > 0;
    },
  };
}
