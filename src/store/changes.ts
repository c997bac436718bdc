import { isSettled } from '../domain/alert.ts';
import type { Batch } from '../ports/store.ts';
import { incidentToBody } from './bodies.ts';
import type { AccountRows } from './runs/account-tails.ts';
import { type ColumnKind, type Row, type Table, tables } from './tables.ts';

type Columns = Readonly<Record<string, ColumnKind>>;
type RowsOf = (batch: Batch, rows: AccountRows) => readonly Row[];

/** How the rows of a table change with a batch, in either database. What is both removed and written stays. */
export interface Change {
  readonly table: Table;
  /** Of a row that is written: all but the one that the database numbers by itself. */
  readonly columns: Columns;
  readonly key: Columns;
  readonly written: RowsOf;
  /** Keys of the rows that go; null where none ever does. */
  readonly removed: RowsOf | null;
}

/** All of them but those of `account`, whose rows change in part. */
export const changes: readonly Change[] = [
  changeOf('segment', ['seq'], {
    written: (_, { sealed }) => sealed,
    removed: (_, { damaged }) => damaged.flatMap(({ seq }) => (seq === null ? [] : [[seq]])),
  }),
  changeOf('damaged_run', [], {
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
  }),
  changeOf('spending', ['account_no'], {
    written: (_, { spending }) => spending,
    removed: (_, { forgottenSpending }) => forgottenSpending,
  }),
  changeOf('backoff', ['group_key'], {
    written: ({ backoffs }) => backoffs.map((each) => [each.group, each.until, JSON.stringify(each)]),
  }),
  changeOf('alert', ['account', 'rule'], {
    written: ({ alerts }) => alerts.map((each) => [each.account, each.rule, JSON.stringify(each)]),
    removed: ({ removedAlerts }) => removedAlerts.map(({ account, rule }) => [account, rule]),
  }),
  changeOf('incident', ['id'], {
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
  }),
  changeOf('message', ['id'], {
    written: ({ messages }) =>
      messages.map((each) => [each.id, each.state, each.createdAt, JSON.stringify(each)]),
    removed: ({ removedMessages }) => removedMessages.map((id) => [id]),
  }),
  changeOf('silence', ['id'], {
    written: ({ silences }) => silences.map((each) => [each.id, each.endsAt, JSON.stringify(each)]),
  }),
  changeOf('note', ['name'], {
    written: ({ notes }) => Object.entries(notes).filter(([, value]) => value !== null),
    removed: ({ notes }) =>
      Object.entries(notes).flatMap(([name, value]) => (value === null ? [[name]] : [])),
  }),
];

/** What replaces the row of the same key, in either database; nothing where a key is none of the columns that are written. */
export function replacing({ columns, key }: Change): string {
  const keys = Object.keys(key);
  const others = Object.keys(columns).filter((column) => !keys.includes(column));
  if (keys.length === 0 || keys.some((column) => columns[column] === undefined)) return '';
  return `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`;
}

function changeOf(
  name: string,
  key: readonly string[],
  { written, removed = null }: { readonly written: RowsOf; readonly removed?: RowsOf | null },
): Change {
  const table = tables.find((known) => known.name === name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  const kinds = Object.entries(table.columns);
  return {
    table,
    columns: Object.fromEntries(kinds.filter(([column]) => column !== table.numbered)),
    key: Object.fromEntries(kinds.filter(([column]) => key.includes(column))),
    written,
    removed,
  };
}
