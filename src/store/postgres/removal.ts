import type { Owner } from '../../ports/cluster.ts';
import { type DamagedRecord, untoldDamageNote } from '../../ports/store.ts';
import { writeUntold } from '../records.ts';
import { tables } from '../tables.ts';
import { fenceValues, whileOwned } from './commit.ts';
import type { Database } from './connection.ts';
import { fencedError } from './failure.ts';

/** Rows deleted in one step: a few milliseconds, so that no poll waits. */
const stepRows = 500;
const stepAccounts = 2000;

const count = 'SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM gone) AS gone';

const deletions = tables.flatMap(({ name, columns, outdated }) => {
  const [no] = Object.keys(columns);
  if (outdated === undefined) return [];
  return `${whileOwned}, gone AS (
    DELETE FROM ${name} USING held WHERE ${name}.${no} IN (
      SELECT ${no} FROM ${name} WHERE ${outdated.replaceAll('$at', '$4')} LIMIT ${stepRows}) RETURNING ${name}.${no}
  ) ${count}`;
});

/** Goes by account, to use the index on segments: accounts with a number above $5, up to $6. */
const deleteSegments = `${whileOwned}, gone AS (
  DELETE FROM segment USING held WHERE seq IN (
    SELECT old.seq FROM account CROSS JOIN LATERAL (
      SELECT seq FROM segment WHERE account_no = account.no AND latest_at < $4 LIMIT ${stepRows}
    ) AS old WHERE account.no > $5 AND account.no <= $6 LIMIT ${stepRows}) RETURNING seq
) ${count}`;
const emptyTails = `${whileOwned}, gone AS (
  UPDATE account SET tail = NULL, tail_polls = 0, tail_latest_at = NULL FROM held
  WHERE account.no > $5 AND account.no <= $6 AND tail_latest_at < $4 RETURNING account.no
) ${count}`;
const forgetAccounts = `${whileOwned}, gone AS (
  DELETE FROM account USING held
  WHERE account.no > $5 AND account.no <= $6 AND $4::bigint IS NOT NULL AND body IS NULL AND tail_latest_at IS NULL
    AND NOT EXISTS (SELECT FROM segment WHERE account_no = account.no) RETURNING account.no
) ${count}`;

/**
 * Deletes what ended before an instant, in steps. `more`: there may be more to delete. `touched`: rows of accounts changed. Open
 * incidents, pending messages and rows that lie in the future (from a wrong clock) stay.
 */
export function openRetention(
  { ask, change }: Database,
  fence: Owner,
): (olderThan: number) => Promise<{ readonly more: boolean; readonly touched: boolean }> {
  /** The highest number of an account that was already processed. */
  let lookedAt = 0;

  async function remove(text: string, olderThan: number, bounds: readonly number[] = []): Promise<number> {
    const values = [...fenceValues(fence), olderThan, ...bounds];
    const [answer] = await change<{ held: number; gone: number }>(text, values);
    if (answer?.held !== 1) throw fencedError();
    return answer.gone;
  }

  return async (olderThan) => {
    for (const text of deletions)
      if ((await remove(text, olderThan)) === stepRows) return { more: true, touched: false };
    const [last] = await ask<{ no: number | null; accounts: number }>(
      'SELECT max(no) AS no, count(*) AS accounts FROM (SELECT no FROM account WHERE no > $1 ORDER BY no LIMIT $2) AS next',
      [lookedAt, stepAccounts],
    );
    const until = last?.no ?? null;
    if (until === null) {
      lookedAt = 0;
      return { more: false, touched: false };
    }
    const bounds = [lookedAt, until];
    if ((await remove(deleteSegments, olderThan, bounds)) === stepRows) return { more: true, touched: false };
    const emptied = await remove(emptyTails, olderThan, bounds);
    const forgotten = await remove(forgetAccounts, olderThan, bounds);
    const more = last?.accounts === stepAccounts;
    lookedAt = more ? until : 0;
    return { more, touched: emptied + forgotten > 0 };
  };
}

/**
 * Moves records that could not be read to the table `damaged_record`, and notes that nobody was told of them. Rejects with `StorageError`
 * of kind `fenced` if another owns the accounts.
 */
export async function setAside(
  { change }: Database,
  fence: Owner,
  records: readonly DamagedRecord[],
): Promise<void> {
  const [noted] = await change<{ held: number }>(
    `${whileOwned}, noted AS (
      INSERT INTO note (name, slot, value) SELECT $4, no, $5 FROM held
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
    ) SELECT count(*) AS held FROM held`,
    [...fenceValues(fence), untoldDamageNote, writeUntold(records)],
  );
  if (noted?.held !== 1) throw fencedError();
  for (const { name: source, key = [] } of tables) {
    const damaged = records.filter((record) => record.source === source && record.body !== null);
    if (damaged.length === 0) continue;
    const found = key.map((column, nth) => `${source}.${column} = its.${nth === 0 ? 'key' : 'second'}`);
    // Of an account, only the state is removed: its history depends on the row.
    const removal =
      source === 'account' ? 'UPDATE account SET body = NULL FROM' : `DELETE FROM ${source} USING`;
    const body = source === 'note' ? 'value' : 'body';
    const [answer] = await change<{ held: number }>(
      `${whileOwned}, its AS (
        SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) AS its(key, second, body, reason)
      ), gone AS (
        ${removal} held, its WHERE ${found.join(' AND ')} AND ${source}.${body} = its.body RETURNING its.*
      ), kept AS (
        INSERT INTO damaged_record (source, key, body, reason)
        SELECT '${source}', concat_ws('/', key, second), body, reason FROM gone
      ) SELECT count(*) AS held FROM held`,
      [
        ...fenceValues(fence),
        damaged.map(({ key }) => key),
        damaged.map(({ second }) => second),
        damaged.map(({ body }) => body),
        damaged.map(({ reason }) => reason),
      ],
    );
    if (answer?.held !== 1) throw fencedError();
  }
}
