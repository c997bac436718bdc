import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import type { LeftOrder } from '../../../src/ports/store.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { leaveOrder } from '../../../src/store/store.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { accountState, always, batch, incident, message, noon, ok, pollsOf } from './batches.ts';
import { startChild } from './child.ts';
import { makeDirectory, makePath, open } from './fixtures.ts';

const order: LeftOrder = { kind: 'expire', id: 'silence-1', at: noon };

describe('a file that cannot be the database', () => {
  it.each<[string, (path: string) => void, StorageError['kind'], RegExp]>([
    [
      'text',
      (path) => writeFileSync(path, 'once upon a time '.repeat(500)),
      'corrupt',
      /is no database.*restore a backup/,
    ],
    [
      'a few bytes, beside which nothing lies that could be removed as well',
      (path) => writeFileSync(path, 'hi'),
      'corrupt',
      /was cut to 2 bytes(?!.*-daemon).*restore a backup/,
    ],
    [
      'one whose first page does not say whose it is',
      (path) => alter(path, 'PRAGMA application_id = 7'),
      'corrupt',
      /is damaged: its first page.*restore a backup/,
    ],
    ['the database of another program', makeForeign, 'other', /database of another program.*storage\.path/],
    [
      'a database with a damaged first page',
      damageHeader,
      'corrupt',
      /is no database, or its first page is damaged/,
    ],
    [
      'a database of which a copy holds half',
      (path) => {
        writeFileSync(path, halfOf(path));
      },
      'corrupt',
      /is damaged or was cut; it was left as it is: move it aside and restore a backup/,
    ],
    [
      'a database with damaged pages',
      damagePages,
      'corrupt',
      /is damaged.*restore a backup.*integrity_check: (?!\*)/,
    ],
    [
      'a database of a newer lowwater',
      (path) => alter(path, "PRAGMA user_version = 99; UPDATE migration SET program = 'lowwater 9.9.9'"),
      'other',
      /has schema 99 \(made by lowwater 9\.9\.9\), newer than schema \d+ of lowwater 1\.0\.0/,
    ],
    [
      'a database of a newer lowwater that made a copy before it',
      (path) => {
        alter(path, 'PRAGMA user_version = 99');
        writeFileSync(`${path}.before-${readMigrations().length + 1}`, 'the copy');
      },
      'other',
      /install the newer program, or put back .*\.before-\d+, the copy from before the upgrade/,
    ],
    [
      'a database whose migration is not the one that we ship',
      (path) => alter(path, "UPDATE migration SET checksum = 'edited'"),
      'other',
      /migration 1 \(0001-first\.sql\) is not the one that lowwater 1\.0\.0 ships/,
    ],
    [
      'a database that does not say how it was made',
      (path) => alter(path, 'DELETE FROM migration'),
      'other',
      /migration 1 \(not recorded\) is not the one/,
    ],
  ])('is refused and left as it is: %s', (_name, make, kind, expected) => {
    const path = makePath();
    make(path);
    const before = readFileSync(path);
    const files = new Set([...readdirSync(dirname(path)), 'lowwater.db-lock']);
    const refusal = refusalOf(() => open(path));
    expect(refusal.kind).toBe(kind);
    expect(refusal.message).toMatch(expected);
    expect(refusal.message).toContain(path);
    expect(refusal.message).not.toContain('\n');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(new Set(readdirSync(dirname(path)))).toEqual(files);
  });

  it.each([
    ['one of whose tables is missing', 'DROP TABLE backoff'],
    ['one whose history is missing', 'DROP TABLE segment'],
    ['one that lacks a column', 'ALTER TABLE operator_order RENAME COLUMN body TO text'],
    [
      'one with a view in place of a table',
      'ALTER TABLE alert RENAME TO other; CREATE VIEW alert AS SELECT * FROM other',
    ],
    [
      'one whose rows may come twice',
      'CREATE TABLE other AS SELECT * FROM note; DROP TABLE note; ALTER TABLE other RENAME TO note',
    ],
    ['one that does not say which migrations made it', 'DROP TABLE migration'],
  ])('is told with what helps, and left as it is: %s', (_name, sql) => {
    const path = makePath();
    alter(path, sql);
    const before = readFileSync(path);
    const refusal = refusalOf(() => open(path));
    expect(refusal.kind).toBe('unfit');
    expect(refusal.message).toMatch(
      /it is damaged: its tables are not those of lowwater; move the file aside and restore a backup/,
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('with a trigger of somebody else that refuses what is written is told so, and left as it is', () => {
    const path = makePath();
    alter(path, "CREATE TRIGGER mine BEFORE INSERT ON note BEGIN SELECT RAISE(ABORT, 'not here'); END");
    const before = readFileSync(path);
    const refusal = refusalOf(() => open(path));
    expect(refusal.kind).toBe('unfit');
    expect(refusal.message).toMatch(/a trigger that lowwater did not make refuses it: drop .*not here/);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('whose trigger refuses something later fails to store it, and goes on when the trigger is gone', () => {
    const path = makePath();
    alter(path, "CREATE TRIGGER mine BEFORE INSERT ON incident BEGIN SELECT RAISE(FAIL, 'not here'); END");
    const store = open(path);
    const first = batch({ incidents: [incident('incident-1')], notes: { alive: '1' } });
    expect(refusalOf(() => store.commit(first)).kind).toBe('unfit');
    expect(store.load().notes).toEqual({});
    const other = new Database(path);
    other.exec('DROP TRIGGER mine');
    other.close();
    store.commit(first);
    expect(store.incidents({})).toHaveLength(1);
  });

  it.each([
    ['into a directory that is missing', '/nowhere/else/x.db'],
    ['to itself', 'lowwater.db'],
  ])('is no symbolic link that leads %s', (_name, target) => {
    const path = makePath();
    symlinkSync(target, path);
    for (const use of [() => open(path), () => openSqliteReader({ path })])
      expect(refusalOf(use).message).toMatch(
        /lowwater\.db is a symbolic link to .*, which leads nowhere: correct/,
      );
    expect(readdirSync(dirname(path))).toEqual(['lowwater.db']);
  });

  it('may be a symbolic link to a file that is not there yet', () => {
    const path = makePath();
    symlinkSync('other.db', path);
    open(path).close();
    expect(readdirSync(dirname(path))).toContain('other.db');
  });

  it('that is newer and was not closed keeps its write-ahead log', async () => {
    const path = makePath();
    const child = startChild(path, 'commit');
    for (let said = 0; said < 20; said += 1) await child.line();
    await child.kill();
    const copy = join(makeDirectory(), 'copy');
    cpSync(dirname(path), copy, { recursive: true });
    const copied = join(copy, 'lowwater.db');
    alterWithoutClosing(copied);
    const before = [readFileSync(copied), readFileSync(`${copied}-wal`)];
    expect(refusalOf(() => open(copied)).message).toContain('schema 99');
    expect([readFileSync(copied), readFileSync(`${copied}-wal`)]).toEqual(before);
  });
});

describe('a place where no database can be', () => {
  it('is refused when its directory is missing, which is named', () => {
    const path = join(makeDirectory(), 'missing', 'lowwater.db');
    expect(refusalOf(() => open(path)).message).toBe(
      `database ${path}: the directory ${dirname(path)} does not exist: create it or set storage.path`,
    );
  });

  it('is refused when it is a directory', () => {
    const path = makePath();
    mkdirSync(path);
    expect(refusalOf(() => open(path)).message).toContain(`database ${path} is a directory`);
  });

  it.each([
    ['its directory cannot be written', 0o555],
    ['the file cannot be written', 0o777],
  ])('is refused with the user id when %s', async (_name, directoryMode) => {
    const path = makePath();
    open(path).close();
    const before = readFileSync(path);
    chmodSync(path, 0o444);
    chmodSync(`${path}-lock`, 0o666);
    chmodSync(dirname(path), directoryMode);
    onTestFinished(() => chmodSync(dirname(path), 0o755));
    // Modes do not bind root, so that another user tries in its place.
    const uid = process.getuid?.() || 65534;
    const said = await startChild(path, 'wait', String(uid)).line();
    expect(said).toMatch(
      /^refused: read-only: database .*cannot be written by uid \d+: check the owner and mode/,
    );
    expect(said).toContain(`by uid ${uid}`);
    expect(said).toContain(path);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('a command on a database that no daemon runs on', () => {
  it.each([
    ['reads', (path: string) => openSqliteReader({ path })],
    ['leaves an order', (path: string) => leaveOrder(path, order)],
  ])('is refused when there is none, and makes none: it %s', (_name, use) => {
    const path = makePath();
    expect(refusalOf(() => use(path)).message).toMatch(/does not exist yet: `lowwater run` creates it/);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it.each<[string, RegExp, (path: string) => void]>([
    ['is text', /is no database, or its first page/, (path) => writeFileSync(path, 'once '.repeat(500))],
    ['holds half of one', /is damaged or was cut/, (path) => writeFileSync(path, halfOf(path))],
  ])('is told to restore a backup, not to start the daemon, where the file %s', (_name, said, make) => {
    const path = makePath();
    make(path);
    for (const use of [() => openSqliteReader({ path }), () => leaveOrder(path, order)]) {
      const { message } = refusalOf(use);
      expect(message).toMatch(said);
      expect(message).toMatch(/restore a backup/);
      expect(message).not.toMatch(/start lowwater/);
    }
  });

  it('is told that it holds nothing where a start was cut short, as on a full disk, and changes nothing', () => {
    const path = makePath();
    writeFileSync(path, '');
    expect(refusalOf(() => openSqliteReader({ path })).message).toMatch(
      /holds nothing yet: `lowwater run` fills it/,
    );
    expect(readFileSync(path)).toHaveLength(0);
    open(path).close();
  });

  it.each([
    ['is newer', 99, 'use the newer program'],
    ['was not brought up to date', 0, 'start the daemon of this version once'],
  ])('is refused when it %s', (_name, schema, remedy) => {
    const path = makePath();
    alter(path, `PRAGMA user_version = ${schema}`);
    expect(refusalOf(() => openSqliteReader({ path })).message).toContain(remedy);
    expect(refusalOf(() => leaveOrder(path, order)).message).toContain(remedy);
  });

  it('reads it and leaves the directory as it was', () => {
    const path = makePath();
    const store = open(path);
    store.commit(batch({ notes: { alive: '1' } }));
    store.close();
    const before = readFileSync(path);
    const reader = openSqliteReader({ path });
    expect(reader.load().notes).toEqual({ alive: '1' });
    reader.close();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['lowwater.db', 'lowwater.db-lock']);
  });
});

describe('a bit that flips anywhere in the file', () => {
  it('is survived or refused as damage, and never anything else', () => {
    const path = makePath();
    fill(path);
    const sound = readFileSync(path);
    let refused = 0;
    for (let round = 0; round < 60; round += 1) {
      const position = (round * 7919 * 31) % sound.length;
      const flipped = Buffer.from(sound);
      flipped.writeUInt8(flipped.readUInt8(position) ^ (1 << (round % 8)), position);
      const copy = makePath();
      writeFileSync(copy, flipped);
      if (!worksOrIsDamaged(copy)) refused += 1;
    }
    expect(refused).toBeGreaterThan(0);
  });
});

function worksOrIsDamaged(path: string): boolean {
  try {
    const store = open(path);
    try {
      store.load();
      Array.from(store.polls({ account: 'otp', ...always }));
      store.incidents({});
      store.messages(100);
      store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]), accounts: [accountState('otp')] }));
    } finally {
      store.close();
    }
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(StorageError);
    return false;
  }
}

function fill(path: string): void {
  const store = open(path);
  const polls = Array.from({ length: 3000 }, (_, count) => ok(noon + count * 60_000, count * 977));
  store.commit(
    batch({
      polls: pollsOf('otp', polls),
      accounts: [accountState('otp')],
      incidents: Array.from({ length: 30 }, (_, count) => incident(`i${count}`)),
      messages: Array.from({ length: 30 }, (_, count) => message(`m${count}`)),
    }),
  );
  store.close();
}

/** The first half of a database that lies at the path. */
function halfOf(path: string): Uint8Array {
  fill(path);
  const bytes = readFileSync(path);
  return bytes.subarray(0, bytes.length / 2);
}

function makeForeign(path: string): void {
  const db = new Database(path);
  db.exec('CREATE TABLE bookmarks (url TEXT)');
  db.close();
}

function damageHeader(path: string): void {
  fill(path);
  const bytes = readFileSync(path);
  bytes.fill(0xff, 0, 100);
  writeFileSync(path, bytes);
}

function damagePages(path: string): void {
  fill(path);
  const bytes = readFileSync(path);
  for (let page = 2; page * 4096 < bytes.length; page += 1) bytes.fill(0xa5, page * 4096, page * 4096 + 200);
  writeFileSync(path, bytes);
}

function alter(path: string, sql: string): void {
  open(path).close();
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** Commits to the log of a copy, so that a crash seems to have left it there. */
function alterWithoutClosing(path: string): void {
  const db = new Database(path);
  db.pragma('user_version = 99');
  const copies = ['', '-wal'].map((suffix) => [path + suffix, readFileSync(path + suffix)] as const);
  db.close();
  for (const [file, bytes] of copies) writeFileSync(file, bytes);
}

function refusalOf(use: () => unknown): StorageError {
  try {
    use();
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

it('one that was cut to nothing under a daemon that was killed is refused, and a file that was never one is begun', () => {
  const path = makePath();
  open(path).close();
  writeFileSync(path, '');
  writeFileSync(`${path}-daemon`, '{}');
  expect(refusalOf(() => open(path)).message).toMatch(/deleted, or cut to 0 bytes.*backup.*remove .*-daemon/);
  const fresh = makePath();
  writeFileSync(fresh, '');
  expect(open(fresh).load().accounts).toEqual([]);
});

it('of a database that was cut to nothing under a daemon that was killed, no command removes the log', () => {
  const path = makePath();
  open(path).close();
  alterWithoutClosing(path);
  const log = readFileSync(`${path}-wal`);
  writeFileSync(path, '');
  writeFileSync(`${path}-daemon`, '{}');
  for (const use of [() => openSqliteReader({ path }), () => leaveOrder(path, order)])
    expect(refusalOf(use).message).toMatch(/was deleted, or cut to 0 bytes.*restore a backup/);
  expect(readFileSync(`${path}-wal`)).toEqual(log);
});

it('a lock file that holds something else is named, with what to do about it', () => {
  const path = makePath();
  writeFileSync(`${path}-lock`, 'once upon a time '.repeat(500));
  expect(refusalOf(() => open(path)).message).toMatch(
    /-lock is damaged, and holds nothing of the database: remove it/,
  );
});

it('a file system without inodes is not taken for one without space or rights', () => {
  const disk = mountSmallDisk(`${makeDirectory()}/small`, 'size=4m,nr_inodes=3');
  if (disk === null) return;
  onTestFinished(() => disk.unmount());
  const path = `${disk.path}/lowwater.db`;
  for (const name of ['a', 'b']) writeFileSync(`${disk.path}/${name}`, '');
  expect(refusalOf(() => open(path)).message).toContain('has no inodes left');
});
