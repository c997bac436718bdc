import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import type { Batch } from '../../../src/ports/store.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { connectForWriting } from '../../../src/store/sqlite/connection.ts';
import { leaveDaemonNote } from '../../../src/store/sqlite/daemon-note.ts';
import { identifyFile, identifyOpen } from '../../../src/store/sqlite/file-system.ts';
import { migrate } from '../../../src/store/sqlite/migrate.ts';
import { readDatabaseId } from '../../../src/store/sqlite/owner.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { createSelfHealingStore } from '../../../src/store/sqlite/self-healing-store.ts';
import { leaveOrder, openSqlFile } from '../../../src/store/store.ts';
import { always, batch, incident, noon, ok, pollsOf } from './batches.ts';
import { startChild } from './child.ts';
import { makePath, open } from './fixtures.ts';

const first = batch({ incidents: [incident('incident-1')] });
const second = batch({ incidents: [incident('incident-2')] });

it.each<[string, (path: string) => void]>([
  ['removed', (path) => rmSync(path)],
  ['moved away', (path) => renameSync(path, `${path}.old`)],
  [
    'replaced by a copy',
    (path) => {
      cpSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
])('a database that is %s under a running daemon stores nothing, and says so', (_name, move) => {
  const path = makePath();
  const store = open(path);
  store.commit(first);
  move(path);
  expect(() => store.commit(second)).toThrow(StorageError);
  expect(() => store.commit(second)).toThrow(/was removed or replaced.*restart lowwater/);
});

describe('a command beside a daemon whose file was', () => {
  it.each<[string, (path: string) => void]>([
    ['removed', (path) => rmSync(path)],
    ['replaced by another database', replaceByOther],
    ['replaced by its own backup', (path) => renameSync(`${path}.backup`, path)],
  ])('%s refuses, and changes nothing', async (_name, replace) => {
    const path = makePath();
    const store = open(path);
    store.commit(first);
    await store.backup(`${path}.backup`);
    leaveDaemonNote({ path }, { ...note, file: identifyFile(path) });
    replace(path);
    const before = [path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file) : null));
    const uses = [
      () => openSqliteReader({ path }),
      () => openSqlFile(path),
      () => leaveOrder(path, { kind: 'expire', id: 'silence-1', at: noon }),
    ];
    for (const use of uses)
      expect(use).toThrow(/was removed or replaced while lowwater has it open: put the file back/);
    expect([path, `${path}-wal`].map((file) => (existsSync(file) ? readFileSync(file) : null))).toEqual(
      before,
    );
  });

  it('replaced works again once that daemon is gone, whatever it left', () => {
    const path = makePath();
    const store = open(path);
    leaveDaemonNote({ path }, { ...note, file: identifyFile(path) });
    store.close();
    replaceByOther(path);
    const reader = openSqliteReader({ path, now: () => noon });
    expect(reader.incidents({})).toHaveLength(1);
    reader.close();
  });

  it('replaced works, and its id is read, once another daemon has opened it, whatever a killed one left', () => {
    const path = makePath();
    const store = open(path);
    leaveDaemonNote({ path }, { ...note, file: identifyFile(path) });
    const left = readFileSync(`${path}-daemon`);
    store.close();
    writeFileSync(`${path}-daemon`, left);
    replaceByOther(path);
    open(path);
    expect(readDatabaseId(path)).toMatch(/^[0-9a-f]{16}$/);
    openSqliteReader({ path, now: () => noon }).close();
  });

  it('left in its place works, by a symbolic link too', () => {
    const path = makePath();
    open(path).commit(first);
    leaveDaemonNote({ path }, { ...note, file: identifyFile(path) });
    symlinkSync(path, `${path}-link`);
    const reader = openSqliteReader({ path: `${path}-link`, now: () => noon });
    expect(reader.incidents({})).toHaveLength(1);
    reader.close();
  });
});

describe('a file that was put in the place of the one that a killed daemon had open', () => {
  /** As the daemon left it: what it committed lies in the log of the file before. */
  const replaceUnderKilled = async (): Promise<string> => {
    const path = makePath();
    const child = startChild(path, 'commit');
    for (let said = 0; said <= 3; said += 1) await child.line();
    leaveDaemonNote({ path }, { ...note, ...identifyOpen({ path }) });
    renameSync(path, `${path}.before`);
    replaceByOther(path);
    await child.kill();
    return path;
  };
  const uses: readonly ((path: string) => unknown)[] = [
    open,
    (path) => openSqliteReader({ path }),
    (path) => openSqlFile(path),
    (path) => leaveOrder(path, { kind: 'expire', id: 'silence-1', at: noon }),
  ];

  it('is not mixed with the log of that one: start and commands refuse, and change nothing', async () => {
    const path = await replaceUnderKilled();
    const before = [path, `${path}-wal`].map((file) => readFileSync(file));
    for (const use of uses)
      expect(() => use(path)).toThrow(/-wal belongs to the file before: put that one back, or remove/);
    expect([path, `${path}-wal`].map((file) => readFileSync(file))).toEqual(before);
  });

  it('opens without that log, and the file before opens with it', async () => {
    const path = await replaceUnderKilled();
    renameSync(path, `${path}.other`);
    renameSync(`${path}.before`, path);
    const before = open(path);
    expect([...before.polls({ account: 'otp', ...always })].flat().length).toBeGreaterThan(2);
    before.close();
    const other = await replaceUnderKilled();
    for (const end of ['-wal', '-shm']) rmSync(`${other}${end}`);
    expect(
      open(other)
        .incidents({})
        .map(({ id }) => id),
    ).toEqual(['incident-2']);
  });

  it('has another log than the daemon where one was made later under the number of that one', () => {
    const path = makePath();
    const logs = [1, 2, 3, 4, 5].map(() => {
      writeFileSync(`${path}-wal`, 'a log');
      const { log } = identifyOpen({ path });
      rmSync(`${path}-wal`);
      return log;
    });
    expect(new Set(logs).size).toBe(5);
  });

  it('opens with its log where both were copied with the note of the daemon', async () => {
    const path = await replaceUnderKilled();
    const copy = makePath();
    cpSync(`${path}.before`, copy);
    for (const end of ['-wal', '-shm', '-daemon']) cpSync(`${path}${end}`, `${copy}${end}`);
    expect([...open(copy).polls({ account: 'otp', ...always })].flat().length).toBeGreaterThan(2);
  });
});

it.each([0, 3 * 4096])(
  'a database that is cut to %i bytes under a running daemon stores nothing, and says so',
  (bytes) => {
    const path = makePath();
    const store = open(path);
    store.commit(first);
    const whole = readFileSync(path);
    truncateSync(path, bytes);
    expect(() => store.takeOrders()).toThrow(/was cut while lowwater has it open/);
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(() => store.commit(second)).toThrow(/was cut while lowwater has it open.*restore a backup/);
    writeFileSync(path, whole);
    store.commit(second);
  },
);

it('a database that somebody makes shorter by VACUUM is whole, and stores on', () => {
  const path = makePath();
  const store = open(path);
  store.commit(batch({ notes: { large: 'x'.repeat(200_000) } }));
  store.commit(batch({ notes: { large: null } }));
  store.close();
  const again = open(path);
  again.commit(first);
  const before = statSync(path).size;
  const other = new Database(path);
  other.exec('VACUUM');
  other.pragma('wal_checkpoint(PASSIVE)');
  other.close();
  expect(statSync(path).size).toBeLessThan(before);
  again.commit(second);
  again.commit(batch({ notes: { large: 'x'.repeat(200_000) } }));
  expect(again.takeOrders()).toEqual([]);
});

it('one that is put back goes on where it was', () => {
  const path = makePath();
  const store = open(path);
  store.commit(first);
  renameSync(path, `${path}.away`);
  expect(() => store.commit(second)).toThrow(StorageError);
  renameSync(`${path}.away`, path);
  store.commit(second);
  store.close();
  const reader = openSqliteReader({ path, now: () => noon });
  const ids = reader.incidents({}).map(({ id }) => id);
  reader.close();
  expect(ids.toSorted()).toEqual(['incident-1', 'incident-2']);
});

it('a folder that cannot be looked into is a failure of storing, whatever is asked, and over when it is back', () => {
  const path = makePath();
  const store = open(path);
  store.commit(first);
  const folder = dirname(path);
  renameSync(folder, `${folder}-away`);
  // A loop of links: EACCES would not stop root.
  symlinkSync(folder, folder);
  const all = { account: 'otp', since: 0, until: noon };
  const asked: readonly (() => unknown)[] = [
    () => store.commit(second),
    () => store.takeOrders(),
    () => store.prune(noon),
    () => store.load(),
    () => [...store.polls(all)],
    () => [...store.readings(all)],
    () => store.readingBefore('otp', noon),
    () => store.incidents({}),
    () => store.silences(noon),
    () => store.messages(5),
    () => store.leftOrders(),
    () => store.takeDamaged(),
  ];
  const failures = asked.flatMap((ask) => {
    try {
      ask();
      return [];
    } catch (error) {
      return [error];
    }
  });
  expect(failures.length).toBeGreaterThanOrEqual(3);
  for (const failure of failures) expect(failure).toBeInstanceOf(StorageError);
  unlinkSync(folder);
  renameSync(`${folder}-away`, folder);
  store.commit(second);
  expect(store.incidents({})).toHaveLength(2);
});

it('a folder that cannot be looked into from the middle of a commit on doubles nothing that was stored', () => {
  const path = makePath();
  const folder = dirname(path);
  const db = connectForWriting(path);
  migrate({ db, path, migrations: readMigrations(), program: 'lowwater 1.0.0', now: noon });
  let leave = (): void => undefined;
  const store = createSelfHealingStore({ db, path, now: () => noon, verifier: () => () => leave() });
  onTestFinished(() => store.close());
  const poll = batch({ polls: pollsOf('otp', [ok(noon, 5)]) });
  leave = () => {
    renameSync(folder, `${folder}-away`);
    symlinkSync(folder, folder);
  };
  const stored = isStored(store, poll);
  leave = () => undefined;
  expect(() => store.commit(second)).toThrow(StorageError);
  unlinkSync(folder);
  renameSync(`${folder}-away`, folder);
  if (!stored) store.commit(poll);
  expect([...store.polls({ account: 'otp', ...always })].flat()).toHaveLength(1);
});

const note = { address: null, database: null, checked: null, log: null, version: '1.0.0' };

function replaceByOther(path: string): void {
  const other = makePath();
  const store = open(other);
  store.commit(second);
  store.close();
  cpSync(other, `${path}.other`);
  renameSync(`${path}.other`, path);
}

function isStored(store: SqliteStore, given: Batch): boolean {
  try {
    store.commit(given);
    return true;
  } catch {
    return false;
  }
}
