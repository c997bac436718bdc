import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { readMigrations } from '../../../src/store/migrations.ts';
import { readLog } from '../../../src/store/sqlite/left-log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { batch, incident, message, noon, silence, silent, told } from './batches.ts';
import { startChild } from './child.ts';
import { makePath, open } from './fixtures.ts';

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

function flip(file: string, place: number): void {
  const bytes = readFileSync(file);
  bytes[place] = (bytes[place] ?? 0) ^ 4;
  writeFileSync(file, bytes);
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
      expect(record).toMatchObject({ source: 'write-ahead log', key: `${path}-wal` });
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

describe('a flipped bit in an index', () => {
  const makeClosed = (): string => {
    const path = makePath();
    const store = open(path);
    const over = { resolvedAt: noon + 5, resolution: { kind: 'recovered' } } as const;
    store.commit(
      batch({
        incidents: Array.from({ length: 40 }, (_, nth) => incident(`incident-${nth}`, nth === 7 ? {} : over)),
        messages: Array.from({ length: 40 }, (_, nth) => message(`message-${nth}`)),
      }),
    );
    store.close();
    return path;
  };

  /** Where the id of incident 7 stands in the index of ids, and not in the table. */
  const findInIndex = (path: string): number => {
    const db = new Database(path);
    const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_incident_1'";
    const page = Number(db.prepare(sql).pluck().get());
    db.close();
    const place = readFileSync(path).indexOf('incident-7', (page - 1) * 4096);
    expect(Math.floor(place / 4096)).toBe(page - 1);
    return place;
  };

  /** As a daemon does whose index does not name the incident any more. */
  const doubleIncident = (path: string): void => {
    flip(path, findInIndex(path) + 9);
    const db = new Database(path);
    db.exec(`INSERT INTO incident (id, account, rule, fired_at, ended_at, settled, body)
      SELECT id, account, rule, fired_at, 1, 1, json_set(body, '$.resolvedAt', 77) FROM incident NOT INDEXED WHERE id = 'incident-7'`);
    db.close();
  };

  it('is found at the start, and the index made again: nothing is doubled', () => {
    const path = makeClosed();
    flip(path, findInIndex(path) + 9);
    const store = open(path);
    expect(store.load().damagedRecords).toEqual([
      expect.objectContaining({ source: 'index', reason: expect.stringContaining('made again') }),
    ]);
    expect(store.load().damagedRecords, 'nobody was told yet').toHaveLength(1);
    store.commit(batch({ incidents: [incident('incident-7', { resolvedAt: noon + 9 })], notes: told }));
    expect(store.incidents({}).filter(({ id }) => id === 'incident-7')).toMatchObject([
      { resolvedAt: noon + 9 },
    ]);
    store.close();
    expect(open(path).load().damagedRecords).toBeUndefined();
  });

  it('that made a second row of an incident leaves the newer one', () => {
    const path = makeClosed();
    doubleIncident(path);
    const store = open(path);
    expect(store.incidents({}).filter(({ id }) => id === 'incident-7')).toMatchObject([{ resolvedAt: 77 }]);
  });

  it('is mended where the page does not say any more that it is one of an index, of whichever index, beside a doubled row too', () => {
    const path = makeClosed();
    const db = new Database(path);
    const indexes = db.prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'").all() as {
      readonly name: string;
      readonly rootpage: number;
    }[];
    db.close();
    for (const { name, rootpage } of indexes) {
      const damaged = makePath();
      cpSync(path, damaged);
      if (name !== 'sqlite_autoindex_incident_1') doubleIncident(damaged);
      flip(damaged, (rootpage - 1) * 4096);
      if (name === 'incident_unsettled') {
        const reader = openSqliteReader({ path: damaged });
        expect(() => reader.load()).toThrow(
          /damaged: start lowwater again, which makes a damaged index again/,
        );
        reader.close();
      }
      const store = open(damaged);
      expect(store.load().damagedRecords, name).toEqual([
        expect.objectContaining({ source: 'index', reason: expect.stringContaining('made again') }),
      ]);
      expect(store.incidents({}), name).toHaveLength(40);
      store.close();
      const mended = new Database(damaged);
      expect(mended.pragma('integrity_check'), name).toEqual([{ integrity_check: 'ok' }]);
      mended.close();
    }
  });

  it('in the list of free pages is mended', () => {
    const path = makeClosed();
    const db = new Database(path);
    db.exec(
      "CREATE TABLE large (a TEXT); INSERT INTO large VALUES (printf('%.200000c', 'x')); DROP TABLE large",
    );
    db.close();
    flip(path, (readFileSync(path).readUInt32BE(32) - 1) * 4096 + 9);
    const store = open(path);
    expect(store.incidents({})).toHaveLength(40);
    expect(store.load().damagedRecords).toHaveLength(1);
  });
});
