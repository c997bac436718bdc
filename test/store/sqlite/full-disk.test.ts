import { appendFileSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { type Connection, connectForWriting } from '../../../src/store/sqlite/connection.ts';
import { readLog } from '../../../src/store/sqlite/left-log.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
import { createSelfHealingStore } from '../../../src/store/sqlite/self-healing-store.ts';
import { createStore, foldLog } from '../../../src/store/sqlite/store.ts';
import { leaveOrder } from '../../../src/store/store.ts';
import { accountState, always, batch, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { makePath, open } from './fixtures.ts';

/** What stops a database from being written, and what ends that. */
const hindrances: readonly [
  string,
  StorageError['kind'],
  (db: Connection) => void,
  (db: Connection) => void,
][] = [
  [
    'full',
    'full',
    (db) => db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`),
    (db) => db.pragma('max_page_count = 1000000'),
  ],
  ['read-only', 'read-only', (db) => db.pragma('query_only = ON'), (db) => db.pragma('query_only = OFF')],
];

describe.each(hindrances)('while the disk is %s', (_name, kind, hinder, end) => {
  it('a batch fails whole, and the same batch goes in whole when it can', () => {
    const { db, store } = openBare();
    const polls = Array.from({ length: 5000 }, (_, count) => ok(noon + count * minuteMs, count * 977));
    store.commit(batch({ polls: pollsOf('otp', polls.slice(0, 100)), accounts: [accountState('otp')] }));
    hinder(db);
    const large = batch({
      polls: [...pollsOf('otp', polls.slice(100)), ...pollsOf('fresh', polls)],
      accounts: [accountState('otp', { consecutiveFailures: 1 })],
      notes: { alive: '1' },
    });
    for (let attempt = 0; attempt < 3; attempt += 1) expect(kindOf(() => store.commit(large))).toBe(kind);
    expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual(polls.slice(0, 100));
    expect(store.load()).toMatchObject({ accounts: [{ consecutiveFailures: 0 }], notes: {} });
    end(db);
    store.commit(large);
    expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual(polls);
    expect([...store.polls({ account: 'fresh', ...always })].flat()).toEqual(polls);
    expect(store.load()).toMatchObject({ accounts: [{ consecutiveFailures: 1 }], notes: { alive: '1' } });
  });

  it('taken orders stay in the database until what they did is stored', () => {
    const { db, path, store } = openBare();
    const order = { kind: 'expire', id: 'silence-1', at: noon } as const;
    store.takeOrders();
    leaveOrder(path, order);
    expect(store.takeOrders()).toEqual([order]);
    hinder(db);
    const blob = 'x'.repeat(100_000);
    expect(kindOf(() => store.commit(batch({ notes: { blob } })))).toBe(kind);
    expect(store.takeOrders()).toEqual([]);
    expect(createStore({ db, path, now: () => noon }).takeOrders()).toEqual([order]);
    end(db);
    store.commit(batch({ notes: { blob } }));
    expect(createStore({ db, path, now: () => noon }).takeOrders()).toEqual([]);
  });
});

describe('every connection of a daemon', () => {
  it('waits for the disk at each commit, also when it opens what was there', () => {
    const path = makePath();
    for (let opening = 0; opening < 2; opening += 1) {
      const db = connectForWriting(path);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      // 2 is FULL.
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      db.close();
    }
  });

  it('keeps its write-ahead log short however much it commits', () => {
    const path = makePath();
    const store = open(path);
    for (let count = 0; count < 800; count += 1) {
      store.commit(
        batch({ polls: pollsOf('otp', [ok(noon + count, count * 977)]), notes: { large: 'x'.repeat(9000) } }),
      );
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(1100 * 4120);
  });

  it('keeps it short after a night on a full disk, in which it could not be folded in either', () => {
    const { path, store, fail } = openFailing();
    const large = (text = 'x') => store.commit(batch({ notes: { large: text.repeat(900_000) } }));
    large();
    const reader = new Database(path);
    reader.exec('BEGIN; SELECT * FROM note');
    large('y');
    fail('SQLITE_FULL');
    for (let count = 0; count < 50; count += 1) expect(kindOf(() => large())).toBe('full');
    fail(null);
    reader.close();
    for (let count = 0; count < 20; count += 1) large(String.fromCharCode(65 + count));
    expect(statSync(`${path}-wal`).size).toBeLessThan(1500 * 4120);
  });

  it('leaves nothing of a change that the disk did not take behind later ones, where it would pass for damage after a kill, also while the log cannot be folded in', () => {
    const { path, store, fail } = openFailing();
    store.commit(batch({ notes: { one: '1' } }));
    const lastFrame = readFileSync(`${path}-wal`).subarray(-4120);
    const reader = new Database(path);
    onTestFinished(() => void reader.close());
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM note').get();
    // All is written by the time at which it is not certain that it is on the disk.
    const writeAll = () =>
      appendFileSync(`${path}-wal`, Buffer.concat(Array.from({ length: 20 }, () => lastFrame)));
    fail('SQLITE_IOERR_FSYNC', writeAll);
    expect(kindOf(() => store.commit(batch({ notes: { two: '2' } })))).toBe('other');
    fail(null);
    store.commit(batch({ notes: { two: '2' } }));
    expect(readLog(`${path}-wal`)).toMatchObject({ isDamaged: false });
    expect(store.load().notes).toMatchObject({ one: '1', two: '2' });
  });

  it('leaves nothing behind either of a batch that it writes again after its log was cut', () => {
    const { path, store, fail } = openFailing();
    const log = `${path}-wal`;
    store.commit(batch({ notes: { one: '1' } }));
    store.commit(batch({ notes: { two: '2' } }));
    truncateSync(log, statSync(log).size - 4120);
    expect(kindOf(() => store.commit(batch()))).toBe('other');
    fail('SQLITE_IOERR_FSYNC', () => {
      const lastFrame = readFileSync(log).subarray(-4120);
      // The first of both is written again, and the second one fails once all of it is written.
      if (lastFrame.length === 0) return 'pass';
      appendFileSync(log, Buffer.concat(Array.from({ length: 20 }, () => lastFrame)));
      return 'fail';
    });
    expect(kindOf(() => store.commit(batch()))).toBe('other');
    fail(null);
    store.commit(batch());
    expect(readLog(log)).toMatchObject({ isDamaged: false });
    expect(store.load().notes).toMatchObject({ one: '1', two: '2' });
  });
});

it('a log that was put in the place of the own one while a change failed is not cut: it is not known what was committed to it', () => {
  const { path, store, fail } = openFailing();
  store.commit(batch({ notes: { one: '1' } }));
  const bytes = Buffer.concat([readFileSync(`${path}-wal`), Buffer.alloc(9 * 4120, 1)]);
  fail('SQLITE_IOERR_FSYNC', () => {
    renameSync(`${path}-wal`, `${path}-moved`);
    writeFileSync(`${path}-wal`, bytes);
  });
  expect(kindOf(() => store.commit(batch({ notes: { two: '2' } })))).toBe('other');
  expect(readFileSync(`${path}-wal`).equals(bytes)).toBe(true);
});

it('a lock that the system refuses, for which SQLite asks for ten seconds while the process stands still, is asked for once in a minute, however much is asked, until it is given', () => {
  const { store, fail, asked, pass } = openFailing();
  const note = () => kindOf(() => store.commit(batch({ notes: { one: '1' } })));
  fail('SQLITE_PROTOCOL');
  for (let count = 0; count < 500; count += 1) expect(note()).toBe('busy');
  expect(asked()).toBe(1);
  pass(minuteMs);
  expect(note()).toBe('busy');
  expect(asked()).toBe(2);
  fail(null);
  pass(minuteMs - 1);
  expect(kindOf(() => store.takeOrders())).toBe('busy');
  pass(1);
  expect(note()).toBe('none');
  fail('SQLITE_PROTOCOL');
  expect(note()).toBe('busy');
  fail(null);
  pass(-60 * minuteMs);
  expect(note(), 'a clock that is set back holds nothing up').toBe('none');
});

/** Called before a change fails; one for which it gives 'pass' does not. */
type Before = () => unknown;

/** The store over a connection that is watched; `fail` says by which code of SQLite each change fails from now on. */
function openFailing() {
  const { db, path } = openBare();
  let code: string | null = null;
  let beforeFailure: Before = () => 'fail';
  let asked = 0;
  let now = noon;
  const verify = (): void => {
    asked += 1;
    if (code === null) return;
    if (beforeFailure() === 'pass') return;
    throw new Database.SqliteError('it failed', code);
  };
  const store = createSelfHealingStore({ db, path, now: () => now, verifier: () => verify });
  return {
    path,
    pass(ms: number) {
      now += ms;
    },
    store,
    asked: () => asked,
    fail(next: string | null, before: Before = () => 'fail') {
      code = next;
      beforeFailure = before;
    },
  };
}

/** The daemon's store over a connection that the test can hinder. */
function openBare(): { readonly db: Connection; readonly path: string; readonly store: SqliteStore } {
  const path = makePath();
  const db = connectForWriting(path);
  onTestFinished(() => void db.close());
  migrate({ db, path, migrations: readMigrations(), program: 'lowwater 1.0.0', now: noon });
  foldLog(db);
  return { db, path, store: createStore({ db, path, now: () => noon }) };
}

function kindOf(work: () => void): StorageError['kind'] | 'none' {
  try {
    work();
  } catch (error) {
    if (error instanceof StorageError) return error.kind;
    throw error;
  }
  return 'none';
}
