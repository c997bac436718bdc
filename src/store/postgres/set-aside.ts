import type { DamagedRecord } from '../../ports/store.ts';
import { textArray } from './binary-array.ts';
import { type Fence, fenceValues, whileHeld } from './commit.ts';
import type { Database } from './connection.ts';
import { fencedError } from './failure.ts';

/** Which rows of a table go. Of an account only the state goes: its history hangs on the row. */
const removals: Readonly<Record<string, string>> = {
  account:
    'UPDATE account SET body = NULL FROM held, its WHERE account.id = its.key AND account.body = its.body',
  backoff: 'DELETE FROM backoff USING held, its WHERE group_key = its.key AND backoff.body = its.body',
  alert:
    'DELETE FROM alert USING held, its WHERE account = its.key AND rule = its.second AND alert.body = its.body',
  incident: 'DELETE FROM incident USING held, its WHERE incident.id = its.key AND incident.body = its.body',
  message: 'DELETE FROM message USING held, its WHERE message.id = its.key AND message.body = its.body',
  silence: 'DELETE FROM silence USING held, its WHERE silence.id = its.key AND silence.body = its.body',
};

/** Moves records that could not be read to the table `damaged_record`, unless another owns the accounts: `StorageError`, kind `fenced`. */
export async function setAside(
  { change }: Database,
  fence: Fence,
  records: readonly DamagedRecord[],
): Promise<void> {
  for (const [source, removal] of Object.entries(removals)) {
    const damaged = records.filter((record) => record.source === source && record.body !== null);
    if (damaged.length === 0) continue;
    const [answer] = await change<{ held: number }>(
      `${whileHeld}, its AS (
        SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) AS its(key, second, body, reason)
      ), gone AS (${removal} RETURNING its.*), kept AS (
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
