import { isSettled } from '../../domain/incident.ts';
import type { Batch } from '../../ports/store.ts';
import { incidentToBody } from '../incident-body.ts';
import { bigintArray, bytesArray, textArray } from './binary-array.ts';
import type { Value } from './connection.ts';
import type { AccountRows } from './poll-writer.ts';

/** Which turn of owning a slot this is. */
export interface Fence {
  readonly slot: number;
  readonly incarnation: string;
  readonly epoch: number;
}

/**
 * The first words of every statement that an owner writes with; its first three parameters are `fenceValues`. FOR SHARE waits for
 * whoever is just taking the slot, and then looks at the epoch again: a plain SELECT would see the slot as it was when the statement
 * began, and write after the new owner.
 */
export const whileHeld = `WITH held AS (
  SELECT no FROM slot WHERE no = $1 AND incarnation = $2 AND epoch = $3 FOR SHARE
)`;

export function fenceValues({ slot, incarnation, epoch }: Fence): readonly Value[] {
  return [slot, incarnation, epoch];
}

/**
 * A whole batch in one statement, which is done all or not at all. `turn` moves the number of the owner's batches on by one: where it
 * cannot, since this one was stored before or another owns the slot, it has no row, and so nothing is written.
 */
export const commitStatement = `${whileHeld}, turn AS (
  UPDATE member SET batch = $4 WHERE incarnation = $2 AND batch = $4 - 1 AND EXISTS (SELECT FROM held) RETURNING batch
), changed_account AS (
  UPDATE account SET
    body = CASE its.body WHEN '' THEN NULL ELSE coalesce(its.body, account.body) END,
    tail = coalesce(its.tail, account.tail),
    tail_polls = coalesce(its.tail_polls, account.tail_polls),
    tail_latest_at = coalesce(its.tail_latest_at, account.tail_latest_at)
  FROM turn, unnest($5::bigint[], $6::text[], $7::bytea[], $8::bigint[], $9::bigint[])
    AS its(no, body, tail, tail_polls, tail_latest_at)
  WHERE account.no = its.no
), sealed AS (
  INSERT INTO segment (account_no, earliest_at, latest_at, polls, data)
  SELECT account_no, earliest_at, latest_at, polls, data
  FROM turn, unnest($10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bytea[])
    WITH ORDINALITY AS its(account_no, earliest_at, latest_at, polls, data, place)
  ORDER BY place
), learned AS (
  INSERT INTO spending (account_no, state)
  SELECT account_no, state FROM turn, unnest($15::bigint[], $16::bytea[]) AS its(account_no, state)
  ON CONFLICT (account_no) DO UPDATE SET state = excluded.state
), unlearned AS (
  DELETE FROM spending USING turn WHERE account_no = ANY($17::bigint[])
), waiting AS (
  INSERT INTO backoff (slot, group_key, until, body)
  SELECT $1, its.* FROM turn, unnest($18::text[], $19::bigint[], $20::text[]) AS its(group_key, until, body)
  ON CONFLICT (group_key) DO UPDATE SET until = excluded.until, body = excluded.body
), alerting AS (
  INSERT INTO alert (slot, account, rule, body)
  SELECT $1, its.* FROM turn, unnest($21::text[], $22::text[], $23::text[]) AS its(account, rule, body)
  ON CONFLICT (account, rule) DO UPDATE SET body = excluded.body
), calm AS (
  DELETE FROM alert USING turn, unnest($24::text[], $25::text[]) AS its(account, rule)
  WHERE alert.account = its.account AND alert.rule = its.rule
), happening AS (
  INSERT INTO incident (slot, id, account, rule, fired_at, ended_at, settled, body)
  SELECT $1, its.* FROM turn, unnest($26::text[], $27::text[], $28::text[], $29::bigint[], $30::bigint[], $31::bigint[], $32::text[])
    AS its(id, account, rule, fired_at, ended_at, settled, body)
  ON CONFLICT (id) DO UPDATE SET
    fired_at = excluded.fired_at, ended_at = excluded.ended_at, settled = excluded.settled, body = excluded.body
), said AS (
  INSERT INTO message (slot, id, state, created_at, body)
  SELECT $1, its.* FROM turn, unnest($33::text[], $34::text[], $35::bigint[], $36::text[]) AS its(id, state, created_at, body)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, created_at = excluded.created_at, body = excluded.body
), unsaid AS (
  DELETE FROM message USING turn WHERE id = ANY($37::text[])
), quiet AS (
  INSERT INTO silence (slot, id, ends_at, body)
  SELECT $1, its.* FROM turn, unnest($38::text[], $39::bigint[], $40::text[]) AS its(id, ends_at, body)
  ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at, body = excluded.body
), noted AS (
  INSERT INTO note (slot, name, value)
  SELECT $1, its.* FROM turn, unnest($41::text[], $42::text[]) AS its(name, value)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value
), unnoted AS (
  DELETE FROM note USING turn WHERE name = ANY($43::text[])
), damaged AS (
  INSERT INTO damaged_run (account, earliest_at, latest_at, polls, found_at, reason, data)
  SELECT its.* FROM turn, unnest($45::text[], $46::bigint[], $47::bigint[], $48::bigint[], $49::bigint[], $50::text[], $51::bytea[])
    AS its(account, earliest_at, latest_at, polls, found_at, reason, data)
), undamaged AS (
  DELETE FROM segment USING turn WHERE seq = ANY($52::bigint[])
), obeyed AS (
  DELETE FROM operator_order USING turn WHERE no = ANY($44::bigint[])
)
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM turn) AS turned`;

/** The parameters of `commitStatement` for the batch of this number. */
export function commitValues(it: {
  readonly fence: Fence;
  readonly number: number;
  readonly batch: Batch;
  readonly rows: AccountRows;
  readonly orders: readonly number[];
}): readonly Value[] {
  const { fence, number, batch, rows, orders } = it;
  return [
    ...fenceValues(fence),
    number,
    ...accountColumns(rows),
    ...recordColumns(batch),
    ...noteColumns(batch),
    bigintArray(orders),
    ...damagedColumns(rows.damaged),
  ];
}

function damagedColumns(damaged: AccountRows['damaged']): readonly Value[] {
  return [
    textArray(damaged.map(({ account }) => account)),
    bigintArray(damaged.map(({ earliestAt }) => earliestAt)),
    bigintArray(damaged.map(({ latestAt }) => latestAt)),
    bigintArray(damaged.map(({ polls }) => polls)),
    bigintArray(damaged.map(({ foundAt }) => foundAt)),
    textArray(damaged.map(({ reason }) => reason)),
    bytesArray(damaged.map(({ data }) => data)),
    bigintArray(damaged.flatMap(({ seq }) => seq ?? [])),
  ];
}

function accountColumns({ accounts, sealed, spending, forgottenSpending }: AccountRows): readonly Value[] {
  return [
    bigintArray(accounts.map(({ no }) => no)),
    textArray(accounts.map(({ body }) => body)),
    bytesArray(accounts.map(({ tail }) => tail?.bytes ?? null)),
    bigintArray(accounts.map(({ tail }) => tail?.polls ?? null)),
    bigintArray(accounts.map(({ tail }) => tail?.latestAt ?? null)),
    bigintArray(sealed.map(({ no }) => no)),
    bigintArray(sealed.map(({ earliestAt }) => earliestAt)),
    bigintArray(sealed.map(({ latestAt }) => latestAt)),
    bigintArray(sealed.map(({ polls }) => polls)),
    bytesArray(sealed.map(({ data }) => data)),
    bigintArray([...spending.keys()]),
    bytesArray([...spending.values()]),
    bigintArray(forgottenSpending),
  ];
}

/** What is written stands once: PostgreSQL refuses to write a row twice in one statement. What is removed and written stays. */
function recordColumns(batch: Batch): readonly Value[] {
  const backoffs = lastOf(batch.backoffs, ({ group }) => group);
  const alerts = lastOf(batch.alerts, nameAlert);
  const written = new Set(alerts.map(nameAlert));
  const calm = batch.removedAlerts.filter((removed) => !written.has(nameAlert(removed)));
  const incidents = lastOf(batch.incidents, ({ id }) => id);
  const messages = lastOf(batch.messages, ({ id }) => id);
  const kept = new Set(messages.map(({ id }) => id));
  const silences = lastOf(batch.silences, ({ id }) => id);
  return [
    textArray(backoffs.map(({ group }) => group)),
    bigintArray(backoffs.map(({ until }) => until)),
    bodies(backoffs),
    textArray(alerts.map(({ account }) => account)),
    textArray(alerts.map(({ rule }) => rule)),
    bodies(alerts),
    textArray(calm.map(({ account }) => account)),
    textArray(calm.map(({ rule }) => rule)),
    textArray(incidents.map(({ id }) => id)),
    textArray(incidents.map(({ account }) => account)),
    textArray(incidents.map(({ rule }) => rule)),
    bigintArray(incidents.map(({ firedAt }) => firedAt)),
    bigintArray(incidents.map(({ event, firedAt, resolvedAt }) => (event ? firedAt : resolvedAt))),
    bigintArray(incidents.map((incident) => (isSettled(incident) ? 1 : 0))),
    bodies(incidents.map(incidentToBody)),
    textArray(messages.map(({ id }) => id)),
    textArray(messages.map(({ state }) => state)),
    bigintArray(messages.map(({ createdAt }) => createdAt)),
    bodies(messages),
    textArray(batch.removedMessages.filter((id) => !kept.has(id))),
    textArray(silences.map(({ id }) => id)),
    bigintArray(silences.map(({ endsAt }) => endsAt)),
    bodies(silences),
  ];
}

function noteColumns({ notes }: Batch): readonly Value[] {
  const named = Object.entries(notes);
  const set = named.filter(([, value]) => value !== null);
  return [
    textArray(set.map(([name]) => name)),
    textArray(set.map(([, value]) => value)),
    textArray(named.filter(([, value]) => value === null).map(([name]) => name)),
  ];
}

function bodies(records: readonly object[]): Buffer {
  return textArray(records.map((record) => JSON.stringify(record)));
}

function nameAlert({ account, rule }: { readonly account: string; readonly rule: string }): string {
  return JSON.stringify([account, rule]);
}

function lastOf<T>(records: readonly T[], nameOf: (record: T) => string): readonly T[] {
  return [...new Map(records.map((record) => [nameOf(record), record])).values()];
}
