import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrationsDirectory, readMigrations } from '../../../src/store/migrations.ts';
import { type Connection, connectForWriting } from '../../../src/store/sqlite/connection.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { batch, noon } from './batches.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

const nextNumber = readMigrations().length + 1;
const shipped = readMigrations().length;

describe('a migration', () => {
  it('runs once, in the order of the numbers, and is recorded with who ran it', () => {
    const path = makePath();
    open(path).close();
    open(path).close();
    const rows = query(path, 'SELECT number, name, program FROM migration');
    expect(rows).toEqual(
      readMigrations().map(({ number, name }) => ({ number, name, program: 'lowwater 1.0.0' })),
    );
  });

  it('of a database in use keeps what is stored, and a copy from before it', () => {
    const path = makePath();
    fillAndClose(path);
    run(path, { [`000${nextNumber}-add.sql`]: 'CREATE TABLE added (a TEXT) STRICT' });
    expect(query(path, "SELECT value FROM note WHERE name = 'alive'")).toEqual([{ value: '1' }]);
    expect(query(path, 'PRAGMA user_version')).toEqual([{ user_version: nextNumber }]);
    const copy = `${path}.before-${nextNumber}`;
    expect(query(copy, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const reader = openSqliteReader({ path: copy });
    expect(reader.load().notes).toEqual({ alive: '1' });
    reader.close();
  });

  it('of a fresh database makes no copy', () => {
    const path = makePath();
    open(path).close();
    expect(existsSync(`${path}.before-1`)).toBe(false);
  });

  it('that fails half-way leaves nothing of itself, and the next start completes it', () => {
    const path = makePath();
    fillAndClose(path);
    const name = `000${nextNumber}-add.sql`;
    expect(() =>
      run(path, { [name]: 'CREATE TABLE added (a TEXT) STRICT; INSERT INTO missing VALUES (1)' }),
    ).toThrow(/no such table/);
    expect(query(path, 'PRAGMA user_version')).toEqual([{ user_version: shipped }]);
    expect(query(path, "SELECT name FROM sqlite_schema WHERE name = 'added'")).toEqual([]);
    run(path, { [name]: 'CREATE TABLE added (a TEXT) STRICT' });
    expect(query(path, 'SELECT * FROM added')).toEqual([]);
  });

  it('goes on where a crash between two of them stopped', () => {
    const path = makePath();
    fillAndClose(path);
    const first = { [`000${nextNumber}-one.sql`]: 'CREATE TABLE one (a TEXT) STRICT' };
    run(path, first);
    run(path, { ...first, [`000${nextNumber + 1}-two.sql`]: 'CREATE TABLE two (a TEXT) STRICT' });
    expect(query(path, 'SELECT number FROM migration')).toHaveLength(shipped + 2);
    expect(existsSync(`${path}.before-${nextNumber + 1}`)).toBe(true);
  });

  it('that finds no room for the copy takes none', (context) => {
    const disk = mountSmallDisk(join(makeDirectory(), 'disk'), 'size=2m');
    if (disk === null) return context.skip('only root can mount a small file system');
    onTestFinished(() => disk.unmount());
    const path = join(disk.path, 'lowwater.db');
    fillAndClose(path);
    disk.leave(24 * 4096);
    const name = `000${nextNumber}-add.sql`;
    expect(() => run(path, { [name]: 'CREATE TABLE added (a TEXT) STRICT' })).toThrow(/full/);
    expect(readdirSync(disk.path).filter((file) => file.includes('before'))).toEqual([]);
  });

  it('replaces the copy of an earlier try that was cut short', () => {
    const path = makePath();
    fillAndClose(path);
    writeFileSync(`${path}.before-${nextNumber}.partial`, 'half of it');
    run(path, { [`000${nextNumber}-add.sql`]: 'CREATE TABLE added (a TEXT) STRICT' });
    expect(query(`${path}.before-${nextNumber}`, "SELECT value FROM note WHERE name = 'alive'")).toEqual([
      { value: '1' },
    ]);
    expect(existsSync(`${path}.before-${nextNumber}.partial`)).toBe(false);
  });
});

describe('the shipped migrations', () => {
  it('are numbered without a gap', () => {
    const directory = pathToFileURL(`${makeDirectory()}/`);
    writeFileSync(new URL('0002-late.sql', directory), 'SELECT 1');
    expect(() => readMigrations(directory)).toThrow('migration 1 is missing before 0002-late.sql');
  });

  it('are the same regardless of the line ends of the checkout', () => {
    const directory = pathToFileURL(`${makeDirectory()}/`);
    for (const { name } of readMigrations()) {
      const text = readFileSync(new URL(name, migrationsDirectory), 'utf8');
      writeFileSync(new URL(name, directory), text.replaceAll('\n', '\r\n'));
    }
    expect(readMigrations(directory)).toEqual(readMigrations());
  });
});

function fillAndClose(path: string): void {
  const store = open(path);
  store.commit(batch({ notes: { alive: '1' } }));
  store.close();
}

/** Migrates with the shipped migrations and more. */
function run(path: string, more: Readonly<Record<string, string>>): void {
  const directory = join(makeDirectory(), 'migrations');
  mkdirSync(directory);
  cpSync(fileURLToPath(migrationsDirectory), directory, { recursive: true });
  for (const [name, sql] of Object.entries(more)) writeFileSync(join(directory, name), sql);
  const db: Connection = connectForWriting(path);
  onTestFinished(() => void db.close());
  migrate({
    db,
    path,
    migrations: readMigrations(pathToFileURL(`${directory}/`)),
    program: 'lowwater 2.0.0',
    now: noon,
  });
  db.close();
}

function query(path: string, sql: string): unknown[] {
  const db = new Database(path);
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}
