import type { Owner } from '../../ports/cluster.ts';
import type { Batch } from '../../ports/store.ts';
import type { Row, Value } from '../asking.ts';
import type { AccountRows } from '../runs/account-tails.ts';
import { type Change, type ColumnKind, changes } from '../tables.ts';

export const onlySlot = 0;

/**
 * The beginning of every statement with which an owner writes; its first three parameters are `fenceValues`. FOR SHARE waits for
 * a process that is just taking the slot, and then checks the epoch again. A plain SELECT would see the slot as it was when the statement
 * began, and write after the new owner.
 */
export const whileOwned = `WITH held AS (
  SELECT no FROM slot WHERE no = $1 AND incarnation = $2 AND epoch = $3 FOR SHARE
)`;

export function fenceValues({ incarnation, epoch }: Owner): readonly Value[] {
  return [onlySlot, incarnation, epoch];
}

/** The cast of a parameter that holds a column of rows. */
export const arrayTypes: Readonly<Record<ColumnKind, string>> = {
  integer: 'bigint[]',
  text: 'text[]',
  bytes: 'bytea[]',
};

/** Parameters that hold rows: one array for each column. Bytes are copied, because their owner may change them. */
export function columnArrays(columns: number, rows: readonly Row[]): readonly Value[] {
  return Array.from({ length: columns }, (_, column) =>
    rows.map((row) => {
      const item = row[column] ?? null;
      return item instanceof Uint8Array ? Buffer.from(item) : item;
    }),
  );
}

const accountKinds = ['text', 'bytes', 'integer', 'integer', 'integer'] as const;

/**
 * A whole batch in one statement, so that all of it is done or nothing. `turn` increases the number of the owner's batches. If this
 * batch was stored before, or another owns the slot, `turn` has no row, and so nothing is written.
 */
export const commitStatement = makeStatement();

function makeStatement(): string {
  let parameters = 4;
  const arrays = (kinds: readonly ColumnKind[]): string =>
    kinds.map((kind) => `$${++parameters}::${arrayTypes[kind]}`).join(', ');
  const parts = changes.flatMap(({ table, columns, key, removed, replacing }) => {
    const [slot, its, keys] = [table.slotted, Object.keys(columns).join(', '), Object.keys(key)];
    const put = `put_${table.name} AS (
  INSERT INTO ${table.name} (${slot ? 'slot, ' : ''}${its}) SELECT ${slot ? '$1, ' : ''}${its}
  FROM turn, unnest(${arrays(Object.values(columns))}) WITH ORDINALITY AS its(${its}, place) ORDER BY place ${replacing}
)`;
    if (removed === null) return [put];
    const remove = `remove_${table.name} AS (
  DELETE FROM ${table.name} USING turn, unnest(${arrays(Object.values(key))}) AS its(${keys.join(', ')})
  WHERE ${keys.map((column) => `${table.name}.${column} = its.${column}`).join(' AND ')}
)`;
    return [put, remove];
  });
  return `${whileOwned}, turn AS (
  UPDATE member SET batch = $4 WHERE incarnation = $2 AND batch = $4 - 1 AND EXISTS (SELECT FROM held) RETURNING batch
), ${parts.join(', ')}, change_account AS (
  UPDATE account SET
    body = nullif(coalesce(its.body, account.body), ''),
    tail = coalesce(its.tail, account.tail),
    tail_polls = coalesce(its.tail_polls, account.tail_polls),
    tail_latest_at = coalesce(its.tail_latest_at, account.tail_latest_at)
  FROM turn, unnest(${arrays(accountKinds)}) AS its(body, tail, tail_polls, tail_latest_at, no)
  WHERE account.no = its.no
), carried_out AS (
  DELETE FROM operator_order USING turn WHERE no = ANY(${arrays(['integer'])})
)
SELECT (SELECT count(*) FROM held) AS held, (SELECT count(*) FROM turn) AS turned`;
}

export function commitValues(
  fence: Owner,
  number: number,
  batch: Batch,
  rows: AccountRows,
  orders: readonly number[],
): readonly Value[] {
  return [
    ...fenceValues(fence),
    number,
    ...changes.flatMap((change) => arraysOf(change, batch, rows)),
    ...columnArrays(accountKinds.length, rows.accounts),
    orders,
  ];
}

/** Each written row appears once: PostgreSQL refuses to write a row twice in one statement. A row both removed and written stays. */
function arraysOf(
  { columns, key, written, removed }: Change,
  batch: Batch,
  rows: AccountRows,
): readonly Value[] {
  const keyed = Object.keys(columns).filter((column) => column in key).length;
  const keyOf = (row: Row): string => JSON.stringify(row.slice(0, keyed));
  const all = written(batch, rows);
  const last = new Map(all.map((row) => [keyOf(row), row]));
  const puts = columnArrays(Object.keys(columns).length, keyed === 0 ? all : [...last.values()]);
  if (removed === null) return puts;
  const gone = removed(batch, rows).filter((row) => keyed === 0 || !last.has(keyOf(row)));
  return [...puts, ...columnArrays(Object.keys(key).length, gone)];
}
