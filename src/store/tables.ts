import { isSettled } from '../domain/alert.ts';
import type { Batch } from '../ports/store.ts';
import type { Row } from './asking.ts';
import { incidentToBody } from './bodies.ts';
import type { AccountRows } from './runs/account-tails.ts';

export type ColumnKind = 'integer' | 'text' | 'bytes';

type Columns = Readonly<Record<string, ColumnKind>>;
type RowsOf = (batch: Batch, rows: AccountRows) => readonly Row[];

/** A table of lowwater's data. Both databases have the same tables. */
export interface Table {
  readonly name: string;
  readonly columns: Columns;
  /** The column that the database numbers itself. */
  readonly numbered?: string;
  /** The columns that identify a row; absent if rows are never looked up. */
  readonly key?: readonly string[];
  /** The condition for rows that belong to the data; absent if all do. */
  readonly where?: string;
  /** In PostgreSQL, the rows name the slot to which they belong. */
  readonly slotted?: true;
  /** The rows that a batch writes, without the column that is numbered. */
  readonly written?: RowsOf;
  /** The keys of the rows that a batch removes. A row that it both removes and writes stays. */
  readonly removed?: RowsOf;
  /** The condition for rows that are deleted some time after `$at`. Runs and accounts are deleted in other ways. */
  readonly outdated?: string;
}

/** The size of a table: rows, and bytes in its columns of text and bytes. */
export interface Tally {
  readonly rows: number;
  readonly bytes: number;
}

/** The note with the id of the database. The first daemon that opens it makes the note, and it is never copied into another database. */
export const databaseIdNote = '@database';

/** The prefix of notes with the work of daemons that lost the accounts. No other program takes them for its own, and those before 0.4 ignore them. */
export const unstoredNote = '@unstored/0.4/';

const [integer, text, bytes] = ['integer', 'text', 'bytes'] as const;

/** All tables, each after those that it refers to. `AccountTails` changes single columns of the rows of `account`. */
export const tables: readonly Table[] = [
  {
    name: 'account',
    columns: { no: integer, id: text, body: text, tail: bytes, tail_polls: integer, tail_latest_at: integer },
    numbered: 'no',
    key: ['id'],
    slotted: true,
  },
  {
    name: 'segment',
    columns: {
      seq: integer,
      account_no: integer,
      earliest_at: integer,
      latest_at: integer,
      polls: integer,
      data: bytes,
    },
    numbered: 'seq',
    key: ['seq'],
    written: (_, { sealed }) => sealed,
    removed: (_, { damaged }) => damaged.flatMap(({ seq }) => (seq === null ? [] : [[seq]])),
  },
  {
    name: 'damaged_run',
    columns: {
      no: integer,
      account: text,
      earliest_at: integer,
      latest_at: integer,
      polls: integer,
      data: bytes,
      reason: text,
      found_at: integer,
    },
    numbered: 'no',
    written: (_, { damaged }) =>
      damaged.map((run) => [
        run.account,
        run.earliestAt,
        run.latestAt,
        run.polls,
        run.data,
        run.reason,
        run.foundAt,
      ]),
    outdated: 'coalesce(latest_at, found_at) < $at',
  },
  {
    name: 'spending',
    columns: { account_no: integer, state: bytes },
    key: ['account_no'],
    written: (_, { spending }) => spending,
    removed: (_, { forgottenSpending }) => forgottenSpending,
  },
  {
    name: 'backoff',
    columns: { group_key: text, until: integer, body: text },
    key: ['group_key'],
    slotted: true,
    written: ({ backoffs }) => backoffs.map((each) => [each.group, each.until, JSON.stringify(each)]),
    outdated: 'until < $at',
  },
  {
    name: 'alert',
    columns: { account: text, rule: text, body: text },
    key: ['account', 'rule'],
    slotted: true,
    written: ({ alerts }) => alerts.map((each) => [each.account, each.rule, JSON.stringify(each)]),
    removed: ({ removedAlerts }) => removedAlerts.map(({ account, rule }) => [account, rule]),
  },
  {
    name: 'incident',
    columns: {
      no: integer,
      id: text,
      account: text,
      rule: text,
      fired_at: integer,
      ended_at: integer,
      settled: integer,
      body: text,
    },
    numbered: 'no',
    key: ['id'],
    slotted: true,
    written: ({ incidents }) =>
      incidents.map((each) => [
        each.id,
        each.account,
        each.rule,
        each.firedAt,
        each.event ? each.firedAt : each.resolvedAt,
        isSettled(each) ? 1 : 0,
        JSON.stringify(incidentToBody(each)),
      ]),
    // A settled incident may still have a pending message about its end, for months if a channel refuses. No body is parsed: one may be damaged.
    outdated: `fired_at < $at AND ended_at < $at AND settled = 1 AND NOT EXISTS (
      SELECT 1 FROM message WHERE message.state = 'pending' AND message.body LIKE '%' || incident.id || '%')`,
  },
  {
    name: 'message',
    columns: { no: integer, id: text, state: text, created_at: integer, body: text },
    numbered: 'no',
    key: ['id'],
    slotted: true,
    written: ({ messages }) =>
      messages.map((each) => [each.id, each.state, each.createdAt, JSON.stringify(each)]),
    removed: ({ removedMessages }) => removedMessages.map((id) => [id]),
    outdated: "created_at < $at AND state <> 'pending'",
  },
  {
    name: 'silence',
    columns: { id: text, ends_at: integer, body: text },
    key: ['id'],
    slotted: true,
    written: ({ silences }) => silences.map((each) => [each.id, each.endsAt, JSON.stringify(each)]),
    outdated: 'ends_at < $at',
  },
  {
    name: 'note',
    columns: { name: text, value: text },
    key: ['name'],
    // The notes hold the owner of a SQLite file and the id of a database: another database has its own.
    where: `name NOT LIKE '@%' OR name LIKE '${unstoredNote}%'`,
    slotted: true,
    written: ({ notes }) => Object.entries(notes).filter(([, value]) => value !== null),
    removed: ({ notes }) =>
      Object.entries(notes).flatMap(([name, value]) => (value === null ? [[name]] : [])),
  },
  { name: 'operator_order', columns: { no: integer, body: text }, numbered: 'no', slotted: true },
];

/** The change that a batch makes to a table's rows. */
export interface Change {
  readonly table: Table;
  readonly columns: Columns;
  readonly key: Columns;
  readonly written: RowsOf;
  readonly removed: RowsOf | null;
  /** The end of a statement that writes: it replaces the row with the same key, if rows have a key when they are written. */
  readonly replacing: string;
}

export const changes: readonly Change[] = tables.flatMap((table) => {
  const { written, removed = null, numbered, key: keyColumns = [] } = table;
  if (written === undefined) return [];
  const kinds = Object.entries(table.columns);
  const columns = Object.fromEntries(kinds.filter(([column]) => column !== numbered));
  const key = Object.fromEntries(kinds.filter(([column]) => keyColumns.includes(column)));
  const others = Object.keys(columns).filter((column) => !keyColumns.includes(column));
  const replacing =
    keyColumns.length === 0 || keyColumns.some((column) => columns[column] === undefined)
      ? ''
      : `ON CONFLICT (${keyColumns.join(', ')}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  return [{ table, columns, key, written, removed, replacing }];
});

/** A database that is copied, seen at one moment, or an empty one that takes a copy: its data appears only once all of it is there. */
export interface TablePort {
  ask<Row>(statement: string): Promise<readonly Row[]>;
  read(table: Table): AsyncIterable<readonly Row[]>;
  write(table: Table, rows: readonly Row[]): Promise<void>;
}

export async function tallyOf({ ask }: Pick<TablePort, 'ask'>, table: Table): Promise<Tally> {
  const lengths = Object.entries(table.columns)
    .filter(([, kind]) => kind !== 'integer')
    .map(([column]) => `coalesce(octet_length(${column}), 0)`);
  const [tally] = await ask<Tally>(
    `SELECT count(*) AS "rows", coalesce(sum(${lengths.join(' + ')}), 0) AS bytes FROM ${fromClause(table)}`,
  );
  return { rows: Number(tally?.rows), bytes: Number(tally?.bytes) };
}

/** The statement that reads a table in the order of its first column. It works in both databases. */
export function readStatement(table: Table): string {
  const columns = Object.keys(table.columns);
  return `SELECT ${columns.join(', ')} FROM ${fromClause(table)} ORDER BY ${columns[0]}`;
}

function fromClause({ name, where }: Table): string {
  return where === undefined ? name : `${name} WHERE ${where}`;
}
