import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StorageError } from '../../domain/operator-error.ts';
import { inParts } from '../../domain/parts.ts';
import { readMigrations } from '../migrations.ts';
import {
  type Row,
  readStatement,
  type TableSource,
  type TableTarget,
  type Tally,
  tallyStatement,
} from '../tables.ts';
import { type Connection, connectForReading, refuseMisplaced } from './connection.ts';
import { asStorageError, guardStorage } from './failure.ts';
import { migrate, requireSchema } from './migrate.ts';
import { describeHolder, inUse } from './owner.ts';
import { takeSideLock } from './side-lock.ts';

/** Rows of a portion: some megabytes at most. */
const portionRows = 2000;

/**
 * Lets `use` read one moment of a database, and keeps every daemon from opening it meanwhile. Throws `StorageError` where one has it
 * open, and as `openSqliteReader` does.
 */
export async function withSqliteSource<T>(
  path: string,
  use: (source: TableSource) => Promise<T>,
): Promise<T> {
  const db = connectForReading(path);
  try {
    guardStorage(path, () => requireSchema(db, path));
    const lock = takeSideLock(realpathSync(path));
    if (lock === null) throw inUse(path, describeHolder(path));
    try {
      guardStorage(path, () => db.exec('BEGIN'));
      return await use(sourceOf(db, path));
    } finally {
      lock.release();
    }
  } finally {
    db.close();
  }
}

function sourceOf(db: Connection, path: string): TableSource {
  return {
    async *read(table) {
      const rows = guardStorage(path, () => db.prepare<[], Row>(readStatement(table)).raw().iterate());
      yield* inParts(rows, portionRows);
    },
    tally: async (table) => guardStorage(path, () => tallyOf(db, tallyStatement(table))),
  };
}

/**
 * Makes a new database and lets `fill` write it; the file has its name only once all of it is there. Throws `StorageError` where
 * there is a file already.
 */
export async function fillSqlite<T>(
  path: string,
  it: {
    readonly program: string;
    readonly now: number;
    readonly fill: (target: TableTarget) => Promise<T>;
  },
): Promise<T> {
  refuseMisplaced(path);
  refuseExisting(path);
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const db = guardStorage(path, () => new Database(partial));
  try {
    guardStorage(path, () => {
      migrate({ db, path: partial, migrations: readMigrations(), program: it.program, now: it.now });
      db.exec('BEGIN IMMEDIATE');
    });
    const result = await it.fill(targetOf(db, path));
    guardStorage(path, () => db.exec('COMMIT'));
    db.close();
    refuseExisting(path);
    renameSync(partial, path);
    return result;
  } catch (error) {
    db.close();
    rmSync(partial, { force: true });
    throw asStorageError(path, error);
  }
}

function targetOf(db: Connection, path: string): TableTarget {
  return {
    async write({ name, columns }, rows) {
      const names = Object.keys(columns);
      guardStorage(path, () => {
        const insert = db.prepare<[...Row]>(
          `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        );
        for (const row of rows) insert.run(...row);
      });
    },
    tally: async (table) => guardStorage(path, () => tallyOf(db, tallyStatement(table))),
  };
}

function tallyOf(db: Connection, statement: string): Tally {
  const tally = db.prepare<[], Tally>(statement).get();
  if (tally === undefined) throw new Error('a count without a row');
  return tally;
}

function refuseExisting(path: string): void {
  if (!existsSync(path)) return;
  throw new StorageError(
    'other',
    `${path} exists already: a copy goes only into a file that is not there yet`,
  );
}
