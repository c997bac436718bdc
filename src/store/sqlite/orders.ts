import type { LeftOrder } from '../../ports/store.ts';
import { type OrderRow, takeFresh } from '../records.ts';
import { type Connection, connectForReading } from './connection.ts';
import { closing, guardStorage } from './failure.ts';
import { requireSchema } from './migrate.ts';

export const findOrders = 'SELECT no, body FROM operator_order ORDER BY no';

/** Throws `StorageError` if there is no database, if it is of another version, or if it cannot be written. */
export function leaveOrder(path: string, order: LeftOrder): void {
  closing(connectForReading(path, requireSchema, false), (db) =>
    guardStorage(path, () => {
      const leave = db.prepare<[string]>('INSERT INTO operator_order (body) VALUES (?)');
      db.transaction(() => leave.run(JSON.stringify(order))).immediate();
    }),
  );
}

/** `given`: the orders that this process was given over any connection. */
export function openInbox(db: Connection, given: Set<string>) {
  const find = db.prepare<[], OrderRow>(findOrders);
  const remove = db.prepare<[number]>('DELETE FROM operator_order WHERE no = ?');
  // Changes only when another connection wrote to the database, which is how orders arrive.
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let seenVersion: number | undefined;
  /** Orders that were given and are not deleted yet. */
  let unsettled: readonly OrderRow[] = [];
  return {
    /** Orders not taken before, oldest first. Reads a single number if no other process wrote since the last call. */
    take(): readonly LeftOrder[] {
      const version = dataVersion.get();
      if (version === seenVersion) return [];
      const { orders, taken } = takeFresh(find.all(), given);
      unsettled = taken;
      seenVersion = version;
      return orders;
    },
    /** Call it in the transaction that stores what the taken orders did: after a crash before that, they are taken again. */
    settle(): void {
      for (const { no } of unsettled) remove.run(no);
    },
    /** Call it once that transaction is committed. */
    settled(): void {
      unsettled = [];
    },
  };
}
