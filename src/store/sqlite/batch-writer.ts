import type { Batch } from '../../ports/store.ts';
import { changes, replacing } from '../changes.ts';
import type { AccountTails, TailRow } from '../runs/account-tails.ts';
import type { FoundRun } from '../runs/damaged-runs.ts';
import type { Row } from '../tables.ts';
import type { Connection } from './connection.ts';

/** Writes batches, inside a transaction of the caller's. Gives what was damaged and set aside. */
export function openBatchWriter(db: Connection, tails: AccountTails): (batch: Batch) => readonly FoundRun[] {
  const find = db.prepare<[string], TailRow>(
    'SELECT no, id, tail, tail_polls AS polls, tail_latest_at AS latestAt FROM account WHERE id = ?',
  );
  const create = db.prepare<[string]>('INSERT INTO account (id) VALUES (?)');
  const update = db.prepare<[Row]>(
    `UPDATE account SET body = nullif(coalesce(?, body), ''), tail = coalesce(?, tail), tail_polls = coalesce(?, tail_polls),
       tail_latest_at = coalesce(?, tail_latest_at) WHERE no = ?`,
  );
  const statements = changes.map((change) => {
    const { table, columns, key, written, removed } = change;
    const names = Object.keys(columns);
    const put = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ${replacing(change)}`;
    const where = Object.keys(key).map((column) => `${column} = ?`);
    return {
      written,
      put: db.prepare<[Row]>(put),
      removed,
      remove:
        removed === null ? null : db.prepare<[Row]>(`DELETE FROM ${table.name} WHERE ${where.join(' AND ')}`),
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
      // Removed first: what was removed and came back within one turn stays.
      if (removed !== null) for (const row of removed(batch, rows)) remove?.run(row);
      for (const row of written(batch, rows)) put.run(row);
    }
    return rows.damaged;
  };
}
