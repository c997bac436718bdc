import type { DamagedRecord } from '../../ports/store.ts';
import { recordKinds } from '../records.ts';
import { textArray } from './binary-array.ts';
import { type Fence, fenceValues, whileHeld } from './commit.ts';
import type { Database } from './connection.ts';
import { fencedError } from './failure.ts';

/** Moves records that could not be read to the table `damaged_record`, unless another owns the accounts: `StorageError`, kind `fenced`. */
export async function setAside(
  { change }: Database,
  fence: Fence,
  records: readonly DamagedRecord[],
): Promise<void> {
  for (const [source, { key }] of recordKinds) {
    const damaged = records.filter((record) => record.source === source && record.body !== null);
    if (damaged.length === 0) continue;
    const found = key.map((column, nth) => `${source}.${column} = its.${nth === 0 ? 'key' : 'second'}`);
    // Of an account only the state goes: its history hangs on the row.
    const removal =
      source === 'account' ? 'UPDATE account SET body = NULL FROM' : `DELETE FROM ${source} USING`;
    const [answer] = await change<{ held: number }>(
      `${whileHeld}, its AS (
        SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) AS its(key, second, body, reason)
      ), gone AS (
        ${removal} held, its WHERE ${found.join(' AND ')} AND ${source}.body = its.body RETURNING its.*
      ), kept AS (
        INSERT INTO damaged_record (source, key, body, reason)
        SELECT '${source}', concat_ws('/', key, second), body, reason FROM gone
      ) SELECT count(*) AS held FROM held`,
      [
        ...fenceValues(fence),
        textArray(damaged.map(({ key }) => key)),
        textArray(damaged.map(({ second }) => second)),
        textArray(damaged.map(({ body }) => body)),
        textArray(damaged.map(({ reason }) => reason)),
      ],
    );
    if (answer?.held !== 1) throw fencedError();
  }
}
