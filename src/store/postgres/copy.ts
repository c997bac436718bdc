import { StorageError } from '../../domain/operator-error.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Row } from '../asking.ts';
import { readStatement, type Table, type TablePort, tables, tallyOf } from '../tables.ts';
import { arrayTypes, columnArrays, onlySlot } from './commit.ts';
import { type Ask, openDatabase } from './connection.ts';
import { lookAround } from './lease.ts';
import { migrate } from './migrate.ts';
import { withSchema } from './reader.ts';

const portionRows = 2000;

/** Runs `use` on one moment of a database that no daemon uses. Rejects with `StorageError` if a daemon uses it. */
export async function withPostgresSource<T>(
  url: Secret,
  program: string,
  use: (source: TablePort) => Promise<T>,
): Promise<T> {
  return withSchema(url, program, async (database) => {
    const { members } = await lookAround(database);
    const nodes = members.map(({ node }) => node);
    if (nodes.length > 0)
      throw new StorageError(
        'busy',
        `the PostgreSQL database is in use by lowwater on ${nodes.join(', ')}: stop it first, or wait until its lease is over`,
      );
    return database.snapshot((ask) => use(portOf(ask)));
  });
}

function portOf(ask: Ask): TablePort {
  return {
    ask,
    async *read(table) {
      await ask(`DECLARE portions NO SCROLL CURSOR FOR ${readStatement(table)}`);
      for (;;) {
        const rows = await ask<Record<string, Row[number]>>(`FETCH ${portionRows} FROM portions`);
        if (rows.length === 0) break;
        yield rows.map((row) => Object.keys(table.columns).map((column) => row[column] ?? null));
      }
      await ask('CLOSE portions');
    },
    async write({ name, columns, slotted }, rows) {
      const kinds = Object.values(columns);
      const names = Object.keys(columns).join(', ');
      const arrays = kinds.map((kind, index) => `$${index + 1}::${arrayTypes[kind]}`).join(', ');
      await ask(
        `INSERT INTO ${name} (${names}${slotted ? ', slot' : ''}) OVERRIDING SYSTEM VALUE
         SELECT its.*${slotted ? `, ${onlySlot}` : ''} FROM unnest(${arrays}) AS its`,
        columnArrays(kinds.length, rows),
      );
    },
  };
}

/** Fills the database in one transaction, and makes missing tables. Rejects with `StorageError` if it holds data already. */
export async function fillPostgres<T>(
  url: Secret,
  program: string,
  now: number,
  fill: (target: TablePort) => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url });
  try {
    await migrate({ database, program, now });
    return await database.transaction(async (ask) => {
      await ask('LOCK TABLE slot, account IN ACCESS EXCLUSIVE MODE');
      await refuseFilled(ask);
      const result = await fill(portOf(ask));
      for (const table of tables) await goOnNumbering(ask, table);
      return result;
    });
  } finally {
    await database.close();
  }
}

async function refuseFilled(ask: Ask): Promise<void> {
  const found = [];
  for (const table of tables) if ((await tallyOf({ ask }, table)).rows > 0) found.push(table.name);
  const [slot] = await ask<{ epoch: number }>('SELECT epoch FROM slot WHERE no = $1', [onlySlot]);
  if (found.length === 0 && slot?.epoch === 0) return;
  throw new StorageError(
    'other',
    'the PostgreSQL database holds data of lowwater already: a copy goes only into an empty one',
  );
}

async function goOnNumbering(ask: Ask, { name, numbered }: Table): Promise<void> {
  if (numbered === undefined) return;
  await ask(
    `SELECT setval(pg_get_serial_sequence('${name}', '${numbered}'), coalesce(max(${numbered}), 0) + 1, false) FROM ${name}`,
  );
}
