import { existsSync, realpathSync, renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { inParts } from '../../domain/parts.ts';
import type { Row } from '../asking.ts';
import { readMigrations } from '../migrations.ts';
import { readStatement, type TablePort } from '../tables.ts';
import { type Connection, connectForReading, openAsk, refuseMisplaced } from './connection.ts';
import { asStorageError, guardStorage } from './failure.ts';
import { removePartial } from './file-system.ts';
import { refuseUnsound } from './integrity.ts';
import { migrate, requireSchema } from './migrate.ts';
import { inUse, readOwnerOf, refuseOwned } from './owner.ts';
import { takeSideLock } from './side-lock.ts';

const portionRows = 2000;

/** Keeps every daemon from opening the database meanwhile. Throws `StorageError` if one has it open. */
export async function withSqliteSource<T>(path: string, use: (source: TablePort) => Promise<T>): Promise<T> {
  const db = connectForReading(path, requireSchema);
  try {
    const real = realpathSync(path);
    const lock = takeSideLock(real);
    if (lock === null) throw inUse(path, readOwnerOf(path));
    try {
      refuseOwned(db, real);
      refuseUnsound(db, path, Number.MAX_SAFE_INTEGER);
      guardStorage(path, () => db.exec('BEGIN'));
      return await use(portOf(db, path));
    } finally {
      lock.release();
    }
  } finally {
    db.close();
  }
}

/** The file gets its name only once it is complete. Throws `StorageError` if a file of that name exists. */
export async function fillSqlite<T>(
  path: string,
  program: string,
  now: number,
  fill: (target: TablePort) => Promise<T>,
): Promise<T> {
  refuseMisplaced(path);
  refuseExisting(path);
  const partial = `${path}.partial`;
  removePartial(partial);
  const db = guardStorage(path, () => new Database(partial));
  try {
    guardStorage(path, () => {
      migrate({ db, path: partial, migrations: readMigrations(), program, now });
      db.exec('BEGIN IMMEDIATE');
    });
    const result = await fill(portOf(db, path));
    guardStorage(path, () => db.exec('COMMIT'));
    db.close();
    refuseExisting(path);
    renameSync(partial, path);
    return result;
  } catch (error) {
    db.close();
    removePartial(partial);
    throw asStorageError(path, error);
  }
}

function portOf(db: Connection, path: string): TablePort {
  const guard = <T>(work: () => T): T => guardStorage(path, work);
  const ask = openAsk(db);
  return {
    ask: async (statement) => guard(() => ask(statement)),
    async *read(table) {
      const rows = guard(() => db.prepare<[], Row>(readStatement(table)).raw().iterate());
      yield* inParts(rows, portionRows);
    },
    async write({ name, columns }, rows) {
      const names = Object.keys(columns);
      const places = names.map(() => '?').join(', ');
      guard(() => {
        const insert = db.prepare<[Row]>(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${places})`);
        for (const row of rows) insert.run(row);
      });
    },
  };
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new StorageError(
    'other',
    `${path} exists already: a copy goes only into a file that is not there yet`,
  );
}
