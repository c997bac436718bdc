import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { readLog } from '../../../src/store/sqlite/left-log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { batch, incident, noon, silence, silent, told } from './batches.ts';
import { startChild } from './child.ts';
import { flip, makePath, open } from './fixtures.ts';

/** The files of a daemon that was killed after five commits: incidents, an acknowledgement, a silence. */
function makeKilled(): string {
  const path = makePath();
  const store = open(path);
  for (let nth = 1; nth <= 5; nth += 1) {
    const silences = [silence(`silence-${nth}`, noon + nth)];
    store.commit(batch({ incidents: [incident(`incident-${nth}`)], silences }));
  }
  const killed = makePath();
  for (const end of ['', '-wal']) cpSync(path + end, killed + end);
  store.close();
  return killed;
}

/** A start that opens the database and ends before it says anything, as on a full disk. */
function failToStart(path: string): void {
  const wrong = { number: 99, name: 'wrong', sql: 'INSERT INTO missing VALUES (1)', checksum: '' };
  const migrations = [...readMigrations(), wrong];
  expect(() =>
    openSqliteStore({ path, log: silent, now: () => noon, program: 'lowwater 1.0.0', migrations }),
  ).toThrow(/no such table/);
}

const frame = 4096 + 24;
const frameAt = (nth: number): number => 32 + nth * frame;

describe('a flipped bit in the write-ahead log of a killed daemon', () => {
  it.each([
    ['in the page of a frame', frameAt(4) + 600],
    ['in the checksum of a frame', frameAt(4) + 17],
    ['in the salt of a frame', frameAt(4) + 9],
    ['in the page of the last frame', -5],
    ['in its own header', 13],
  ])(
    '%s is found before anything is written: a command refuses it, and at the start the log is kept, the damage named, the rest loaded',
    (_, place) => {
      const path = makeKilled();
      const log = readFileSync(`${path}-wal`);
      flip(`${path}-wal`, place < 0 ? log.length + place : place);
      const damagedLog = readFileSync(`${path}-wal`);
      expect(() => openSqliteReader({ path })).toThrow(/write-ahead log .* is damaged.*start the daemon/);
      const store = open(path);
      const [record] = store.load().damagedRecords ?? [];
      expect(record).toMatchObject({ source: 'write-ahead log', key: `${path}-wal`, at: 0 });
      const kept = globSync(`${path}-wal.damaged-*`);
      expect(kept).toHaveLength(1);
      expect(record?.reason).toContain(kept[0]);
      expect(readFileSync(kept[0] ?? '')).toEqual(damagedLog);
      store.commit(batch({ incidents: [incident('incident-6')], notes: told }));
      store.close();
      expect(open(path).load().damagedRecords).toBeUndefined();
    },
  );

  it('is found where its header is zeros before frames, and is none where all of it is', () => {
    const path = makeKilled();
    const log = readFileSync(`${path}-wal`).fill(0, 0, 32);
    writeFileSync(`${path}-wal`, log);
    const [record] = open(path).load().damagedRecords ?? [];
    expect(record).toMatchObject({ source: 'write-ahead log', key: `${path}-wal` });
    expect(readFileSync(globSync(`${path}-wal.damaged-*`)[0] ?? '')).toEqual(log);
    const grown = makeKilled();
    writeFileSync(`${grown}-wal`, log.fill(0));
    expect(readLog(`${grown}-wal`)).toEqual({ soundFrames: 0, isDamaged: false });
  });

  it('that cannot be kept, as on a full disk, is left for a later start, which finds it again', () => {
    const path = makeKilled();
    flip(`${path}-wal`, frameAt(4) + 600);
    const damagedLog = readFileSync(`${path}-wal`);
    const kept = `${path}-wal.damaged`;
    mkdirSync(kept);
    expect(() => open(path)).toThrow(StorageError);
    expect(readFileSync(`${path}-wal`)).toEqual(damagedLog);
    rmSync(kept, { recursive: true });
    expect(open(path).load().damagedRecords).toMatchObject([{ source: 'write-ahead log' }]);
  });

  it('is named by the next start where one fails after it was found, and a command that comes first refuses', () => {
    const path = makeKilled();
    flip(`${path}-wal`, frameAt(4) + 600);
    const damagedLog = readFileSync(`${path}-wal`);
    failToStart(path);
    failToStart(path);
    expect(() => openSqliteReader({ path })).toThrow(/start the daemon/);
    const [record] = open(path).load().damagedRecords ?? [];
    expect(record).toMatchObject({
      source: 'write-ahead log',
      reason: expect.stringMatching(/after its first/),
    });
    expect(globSync(`${path}-wal.damaged*`)).toEqual([`${path}-wal.damaged-${noon}`]);
    expect(readFileSync(`${path}-wal.damaged-${noon}`)).toEqual(damagedLog);
  });

  it('is none where the last write was cut short, in any byte, or nothing is wrong', () => {
    const path = makeKilled();
    const log = readFileSync(`${path}-wal`);
    const frames = (log.length - 32) / frame;
    for (const length of [0, 31, 32, 40, 32 + frame - 1, 32 + 3 * frame + 24, log.length - 1, log.length]) {
      writeFileSync(`${path}-wal`, log.subarray(0, length));
      const soundFrames = Math.max(0, Math.floor((length - 32) / frame));
      expect(readLog(`${path}-wal`), String(length)).toEqual({ soundFrames, isDamaged: false });
    }
    expect(frames).toBeGreaterThan(5);
    expect(open(path).load().damagedRecords).toBeUndefined();
    expect(existsSync(`${path}-wal.damaged-${noon}`)).toBe(false);
  });

  it.each(['cut', 'removed'])(
    'and a log that was %s behind a commit is named, also after a command and a start that failed',
    async (what) => {
      const path = makePath();
      open(path).close();
      const child = startChild(path, 'commit');
      for (let said = 0; said < 14; said += 1) await child.line();
      await child.kill();
      const log = readFileSync(`${path}-wal`);
      if (what === 'removed') rmSync(`${path}-wal`);
      else writeFileSync(`${path}-wal`, log.subarray(0, frameAt(2)));
      expect(() => openSqliteReader({ path })).toThrow(/write-ahead log .* missing.*start the daemon/);
      failToStart(path);
      const [record] = open(path).load().damagedRecords ?? [];
      expect(record).toMatchObject({
        source: 'write-ahead log',
        reason: expect.stringMatching(/pages? of it are missing/),
      });
    },
  );

  it('is none in what a change that failed half-way left behind a shorter commit', () => {
    const path = makePath();
    const store = open(path);
    store.commit(batch({ incidents: [incident('incident-1')] }));
    const failing = new Database(path);
    failing.pragma('cache_size = 5');
    failing.exec('BEGIN IMMEDIATE');
    const put = failing.prepare('INSERT INTO note VALUES (?, ?)');
    for (let nth = 0; nth < 50; nth += 1) put.run(`note-${nth}`, 'x'.repeat(3000));
    failing.exec('ROLLBACK');
    store.commit(batch({ incidents: [incident('incident-2')] }));
    const killed = makePath();
    for (const end of ['', '-wal', '-shm']) cpSync(path + end, killed + end);
    failing.close();
    store.close();
    openSqliteReader({ path: killed }).close();
    const next = open(killed);
    expect(next.load().damagedRecords).toBeUndefined();
    expect(next.incidents({})).toHaveLength(2);
  });

  it('is none in what a killed process leaves', async () => {
    for (let commits = 1; commits <= 3; commits += 1) {
      const path = makePath();
      open(path).close();
      const child = startChild(path, 'commit');
      for (let said = 0; said < 7 * commits; said += 1) await child.line();
      await child.kill();
      expect(readLog(`${path}-wal`).isDamaged).toBe(false);
      expect(open(path).load().damagedRecords).toBeUndefined();
    }
  });
});

describe('a flipped bit in the schema', () => {
  it.each([
    ['tail_polls', 'no such column: tail_polls'],
    ['earliest_at', 'table segment has no column named earliest_at'],
  ])(
    '(%s) is refused as damage, with what to do, and not taken for an error of the disk',
    (name, missing) => {
      const path = makePath();
      open(path).close();
      const file = new Database(path);
      file.unsafeMode().pragma('writable_schema = ON');
      file.exec(`UPDATE sqlite_schema SET sql = replace(sql, '${name}', 'flipped')`);
      file.close();
      expect(() => open(path)).toThrow(new RegExp(`it is damaged: .* restore a backup .*${missing}`));
    },
  );
});
