import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { tables } from '../../src/store/tables.ts';
import { noPostgres, sharedPostgres } from '../support/postgres.ts';
import { makeDatabase, open as openShared } from './postgres/fixtures.ts';
import { makePath, open } from './sqlite/fixtures.ts';

const expected = new Map(tables.map(({ name, columns }) => [name, Object.keys(columns).toSorted()]));

it('the tables that are copied are all that a file has, with all of their columns', () => {
  const path = makePath();
  open(path).close();
  const db = new Database(path);
  const rows = db
    .prepare<[], { name: string; column: string }>(
      `SELECT m.name, c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND m.name NOT IN ('migration', 'sqlite_sequence')`,
    )
    .all();
  db.close();
  expect(columnsOf(rows)).toEqual(expected);
});

it.skipIf(noPostgres !== null)(
  'PostgreSQL has the same, a slot besides, and what several daemons need',
  async () => {
    const url = await makeDatabase();
    await openShared(url);
    const rows = await (await sharedPostgres()).sql(
      url,
      `SELECT table_name AS name, column_name AS "column" FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name <> ALL('{migration,schema_step,member,member_status,slot,configuration,damaged_record,reading,balance,poll}') AND column_name <> 'slot'`,
    );
    const named = rows.map(({ name, column }) => ({ name: String(name), column: String(column) }));
    expect(columnsOf(named)).toEqual(expected);
  },
);

function columnsOf(
  rows: readonly { readonly name: string; readonly column: string }[],
): Map<string, string[]> {
  const names = [...new Set(rows.map(({ name }) => name))];
  return new Map(
    names.map((name) => [
      name,
      rows
        .filter((row) => row.name === name)
        .map(({ column }) => column)
        .toSorted(),
    ]),
  );
}
