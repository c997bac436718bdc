import type { Item } from './asking.ts';

export type ColumnKind = 'integer' | 'text' | 'bytes';

/** A table of lowwater's data; both databases have the same ones. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** The column that the database numbers by itself. */
  readonly numbered?: string;
  /** Which rows belong to the data, where not all do. */
  readonly where?: string;
  /** PostgreSQL's rows of it say whose account they are about. */
  readonly slotted?: true;
}

export type Row = readonly Item[];

/** How much a table holds: rows, and bytes in its columns of text and bytes. */
export interface Tally {
  readonly rows: number;
  readonly bytes: number;
}

/** The note with the id of the database: made by the first daemon that opens it, never copied into another database. */
export const databaseIdNote = '@database';

const [integer, text, bytes] = ['integer', 'text', 'bytes'] as const;

/** All of them, each after those that it refers to. */
export const tables: readonly Table[] = [
  {
    name: 'account',
    columns: { no: integer, id: text, body: text, tail: bytes, tail_polls: integer, tail_latest_at: integer },
    numbered: 'no',
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
  },
  { name: 'spending', columns: { account_no: integer, state: bytes } },
  { name: 'backoff', columns: { group_key: text, until: integer, body: text }, slotted: true },
  { name: 'alert', columns: { account: text, rule: text, body: text }, slotted: true },
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
    slotted: true,
  },
  {
    name: 'message',
    columns: { no: integer, id: text, state: text, created_at: integer, body: text },
    numbered: 'no',
    slotted: true,
  },
  { name: 'silence', columns: { id: text, ends_at: integer, body: text }, slotted: true },
  // Who holds a SQLite file and the id of a database stand among its notes: another database has its own.
  { name: 'note', columns: { name: text, value: text }, where: "name NOT LIKE '@%'", slotted: true },
  { name: 'operator_order', columns: { no: integer, body: text }, numbered: 'no', slotted: true },
];

/** Rows that are deleted some time after `$at`, in either database: which, and by which key. Runs and accounts go by themselves. */
export const outdated: readonly (readonly [table: string, key: string, condition: string])[] = [
  // Settled is also what has its end in a message that waits, for months if a channel refuses. A body may be damaged: none is parsed.
  [
    'incident',
    'no',
    `fired_at < $at AND ended_at < $at AND settled = 1 AND NOT EXISTS (
      SELECT 1 FROM message WHERE message.state = 'pending' AND message.body LIKE '%' || incident.id || '%')`,
  ],
  ['message', 'no', "created_at < $at AND state <> 'pending'"],
  ['silence', 'id', 'ends_at < $at'],
  ['backoff', 'group_key', 'until < $at'],
  ['damaged_run', 'no', 'coalesce(latest_at, found_at) < $at'],
];

/** A database that is copied, of one moment, or an empty one that a copy goes into: nothing of it stands before all of it does. */
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

/** The statement that reads a table in the order of its first column, in either database. */
export function readStatement(table: Table): string {
  const columns = Object.keys(table.columns);
  return `SELECT ${columns.join(', ')} FROM ${fromClause(table)} ORDER BY ${columns[0]}`;
}

function fromClause({ name, where }: Table): string {
  return where === undefined ? name : `${name} WHERE ${where}`;
}
