import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withSqliteSource } from '../../../src/store/sqlite/copy.ts';
import { refuseUnsound } from '../../../src/store/sqlite/integrity.ts';
import { openSqlFile } from '../../../src/store/sqlite/query.ts';
import { openSqliteReader, readFrom } from '../../../src/store/sqlite/reader.ts';
import { always, batch, incident, makePollEveryHour, message, noon, pollsOf, told } from './batches.ts';
import { flip, makePath, open } from './fixtures.ts';

describe('a flipped bit in an index', () => {
  const makeClosed = (incidents = 40): string => {
    const path = makePath();
    const store = open(path);
    const over = { resolvedAt: noon + 5, resolution: { kind: 'recovered' } } as const;
    store.commit(
      batch({
        incidents: Array.from({ length: incidents }, (_, nth) =>
          incident(`incident-${nth}`, nth === 7 ? {} : over),
        ),
        messages: Array.from({ length: 40 }, (_, nth) => message(`message-${nth}`)),
      }),
    );
    store.close();
    return path;
  };

  /** The page in which the index of the ids of incidents begins. */
  const rootOf = (path: string): number => {
    const db = new Database(path);
    const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_incident_1'";
    const page = Number(db.prepare(sql).pluck().get());
    db.close();
    return page;
  };

  /** Where the id of incident 7 stands in the index of ids, and not in the table. */
  const findInIndex = (path: string): number => {
    const page = rootOf(path);
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

  it('that was made again by a start that then failed, as on a full disk, is told by the next one', () => {
    const path = makeClosed();
    const run = (sql: string) => {
      const db = new Database(path);
      db.exec(sql);
      db.close();
    };
    run(
      `CREATE TRIGGER full BEFORE INSERT ON note WHEN NEW.name = 'damage-untold' BEGIN SELECT RAISE(FAIL, 'full'); END`,
    );
    flip(path, findInIndex(path) + 9);
    expect(() => open(path)).toThrow('full');
    run('DROP TRIGGER full');
    expect(open(path).load().damagedRecords).toEqual([expect.objectContaining({ source: 'index' })]);
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
        expect(() => openSqliteReader({ path: damaged })).toThrow(
          /damaged, .*: start lowwater again, which .* makes a damaged index again/,
        );
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

  it('that leads to a page of the table costs the table nothing', () => {
    const path = makeClosed(1000);
    const bytes = readFileSync(path);
    const root = (rootOf(path) - 1) * 4096;
    // A page of an index that leads to others says in four bytes at each of its cells to which (https://sqlite.org/fileformat2.html, 1.6).
    const cell = root + bytes.readUInt16BE(root + 12);
    const tableLeaf = 13;
    const bit = Array.from({ length: 8 }, (_, nth) => 1 << nth).find(
      (flipped) => bytes[((bytes.readUInt32BE(cell) ^ flipped) - 1) * 4096] === tableLeaf,
    );
    bytes.writeUInt32BE(bytes.readUInt32BE(cell) ^ (bit ?? 0), cell);
    writeFileSync(path, bytes);
    const store = open(path);
    expect(store.load().damagedRecords).toMatchObject([{ source: 'index' }]);
    expect(store.incidents({})).toHaveLength(1000);
    expect(store.incidents({ account: 'otp' })).toHaveLength(1000);
  });

  it.each(['account', 'message', 'segment', 'silence'])(
    'that leads to a page of the table "%s", whichever SQLite blames, costs that table nothing',
    (table) => {
      const path = makeClosed(1000);
      const db = new Database(path);
      const found = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck();
      const page = found.get(table) ?? 0;
      db.close();
      const bytes = readFileSync(path);
      const root = (rootOf(path) - 1) * 4096;
      bytes.writeUInt32BE(page, root + bytes.readUInt16BE(root + 12));
      writeFileSync(path, bytes);
      const store = open(path);
      expect(store.incidents({})).toHaveLength(1000);
      expect(store.load().messages).toHaveLength(40);
    },
  );

  it('beside a damaged table, behind more findings than are read, is no cause to change anything', () => {
    const path = makeClosed(200);
    const db = new Database(path);
    db.unsafeMode().pragma('writable_schema = ON');
    const say = db.prepare('UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?');
    say.run('body TEXT NOT NULL', 'body TEXT', 'message');
    db.pragma('writable_schema = RESET');
    db.exec('UPDATE message SET body = NULL WHERE no = 9');
    db.pragma('writable_schema = ON');
    say.run('body TEXT', 'body TEXT NOT NULL', 'message');
    say.run('IS NULL', 'IS NOT NULL', 'incident_open');
    db.close();
    const damaged = new Database(path);
    expect(JSON.stringify(damaged.pragma('integrity_check(100)'))).not.toContain('message');
    damaged.close();
    const bytes = readFileSync(path);
    expect(() => open(path)).toThrow(/it was left as it is: .*NULL value in message\.body/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
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

  it('is no part of a backup, where pages of nobody, which a mended index of a large database leaves, may be', async () => {
    const path = makeClosed();
    const db = new Database(path);
    db.exec("CREATE TABLE large (a TEXT); INSERT INTO large VALUES (printf('%.900000c', 'x'))");
    db.unsafeMode().pragma('writable_schema = ON');
    db.exec("DELETE FROM sqlite_schema WHERE name = 'large'");
    db.close();
    const reader = openSqliteReader({ path });
    await reader.backup(`${path}.copy`);
    reader.close();
    const restored = open(`${path}.copy`);
    expect(restored.incidents({})).toHaveLength(40);
    restored.close();
    flip(path, findInIndex(path) + 9);
    expect(() => openSqliteReader({ path })).toThrow(/row \d+ missing from index/);
    // As a daemon that runs, which looks at all of it at its start alone.
    const damaged = new Database(path);
    const daemon = readFrom({ db: damaged, path, now: () => noon, ownsWrites: true, damaged: () => {} });
    await expect(daemon.backup(`${path}.second`)).rejects.toThrow(/is damaged \(row \d+ missing from index/);
    damaged.close();
  });
});

it('a page of a table that lies over another one of it is no damage of the index, which knows the rows that are lost: the start is refused, and the file left as it is', () => {
  const path = makePath();
  const store = open(path);
  store.commit(batch({ incidents: Array.from({ length: 200 }, (_, nth) => incident(`incident-${nth}`)) }));
  store.close();
  const db = new Database(path);
  const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'incident'").pluck().get();
  db.close();
  const bytes = readFileSync(path);
  const top = (Number(root) - 1) * 4096;
  // The last of the pages that the first one leads to, https://sqlite.org/fileformat2.html, 1.6.
  const last = (bytes.readUInt32BE(top + 8) - 1) * 4096;
  bytes.copy(bytes, top, last, last + 4096);
  writeFileSync(path, bytes);
  expect(() => open(path)).toThrow(
    /is damaged; it was left as it is: .*restore a backup.*the table incident has \d+ rows, its index 200/,
  );
  expect(readFileSync(path)).toEqual(bytes);
});

describe('a page that the disk gives as it was before it was last written', () => {
  /** The database whose root page of this name is as it was before the last two incidents. */
  const makeStale = (name: string): string => {
    const path = makePath();
    const store = open(path);
    store.commit(batch({ incidents: [incident('incident-0')] }));
    store.close();
    const before = readFileSync(path);
    const next = open(path);
    next.commit(batch({ incidents: [incident('incident-1'), incident('incident-2')] }));
    next.close();
    const db = new Database(path);
    const root = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name));
    db.close();
    const bytes = readFileSync(path);
    const stale = before.subarray((root - 1) * 4096, root * 4096);
    expect(stale.equals(bytes.subarray((root - 1) * 4096, root * 4096))).toBe(false);
    stale.copy(bytes, (root - 1) * 4096);
    writeFileSync(path, bytes);
    return path;
  };

  it('of a table, has lost rows that its indexes name: the start is refused, and the file left as it is', () => {
    const path = makeStale('incident');
    const bytes = readFileSync(path);
    expect(() => open(path)).toThrow(/the table incident has 1 rows, its index 3/);
    expect(readFileSync(path)).toEqual(bytes);
  });

  it.each(['incident_by_time', 'incident_by_account', 'incident_open'])(
    'of the index %s, lacks rows that its table has: a command refuses to show the rest as all, and a start makes it again',
    async (name) => {
      const path = makeStale(name);
      expect(() => openSqliteReader({ path })).toThrow(
        /start lowwater again, which .* makes a damaged index/,
      );
      expect(() => openSqlFile(path)).toThrow(/start lowwater again, which .* makes a damaged index/);
      await expect(withSqliteSource(path, async () => {})).rejects.toThrow(/damaged/);
      const store = open(path);
      expect(store.load().damagedRecords).toMatchObject([{ source: 'index' }]);
      expect(store.incidents({})).toHaveLength(3);
    },
  );

  it('of an index that grows with the history, is left to the start in a large database; what fires is looked at', () => {
    const path = makeStale('incident_by_time');
    const look = (bytes?: number) => {
      const db = new Database(path);
      try {
        refuseUnsound(db, path, bytes);
      } finally {
        db.close();
      }
    };
    expect(() => look()).toThrow(/damaged/);
    expect(() => look(0)).not.toThrow();
    const db = new Database(path);
    const find = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'alert'");
    const root = Number(find.pluck().get());
    db.close();
    flip(path, (root - 1) * 4096);
    expect(() => look(0)).toThrow(/damaged/);
  });
});

it('a stored run that its index names and the table has lost is no less of history, also for a daemon that runs: the reading fails', () => {
  const path = makePath();
  const store = open(path);
  store.commit(batch({ polls: pollsOf('otp', makePollEveryHour(noon, 60)) }));
  const db = new Database(path);
  const say = (from: string, to: string) => {
    db.unsafeMode().pragma('writable_schema = ON');
    db.prepare("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'segment_by_time'").run(
      from,
      to,
    );
    db.pragma('writable_schema = RESET');
  };
  say('earliest_at)', 'earliest_at) WHERE 0');
  db.exec('DELETE FROM segment WHERE seq = 2');
  say(' WHERE 0', '');
  db.close();
  expect(() => [...store.polls({ account: 'otp', ...always })]).toThrow(/damaged/);
});

it('a page of an index that lies over another one of it leads to rows twice, and the index is made again: the table has lost none', () => {
  const path = makePath();
  const store = open(path);
  store.commit(batch({ incidents: [incident('incident-0')] }));
  store.close();
  const db = new Database(path);
  db.pragma('journal_mode = DELETE');
  db.pragma('page_size = 512');
  db.exec(`VACUUM; WITH RECURSIVE later (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM later WHERE n < 4000)
    INSERT INTO incident (id, account, rule, fired_at, ended_at, settled, body)
    SELECT 'incident-' || n, account, rule, fired_at + n, 1, 1, body FROM incident, later`);
  const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'incident_by_time'").pluck().get();
  db.close();
  const bytes = readFileSync(path);
  const placeOf = (pointer: number): number => (bytes.readUInt32BE(pointer) - 1) * 512;
  const top = (Number(root) - 1) * 512;
  const [first, last] = [placeOf(top + bytes.readUInt16BE(top + 12)), placeOf(top + 8)];
  expect([bytes[first], bytes[last]], 'inner pages').toEqual([2, 2]);
  expect(bytes.readUInt16BE(first + 3)).toBeGreaterThan(bytes.readUInt16BE(last + 3));
  bytes.copy(bytes, last, first, first + 512);
  writeFileSync(path, bytes);
  const mended = open(path);
  expect(mended.load().damagedRecords).toEqual([expect.objectContaining({ source: 'index' })]);
});

it.each([
  ['of a table or an index', 'Tree 5 page 7: unable to get the page. error code=8458'],
  ['of nobody', 'Freelist: failed to get page 7'],
])(
  'a page %s that the disk does not give now is no damage: nothing is made again, and nobody is told to restore a backup',
  (_, finding) => {
    const path = makePath();
    open(path).close();
    const bytes = readFileSync(path);
    const prepare = Database.prototype.prepare;
    const failing = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
      this: Database.Database,
      sql: string,
    ) {
      const text = `SELECT '*** in database main ***\n${finding}'`;
      return prepare.call(this, /^PRAGMA (?:integrity|quick)_check/.test(sql) ? text : sql);
    });
    onTestFinished(() => void failing.mockRestore());
    const start = () => open(path);
    expect(start).toThrow(/it cannot be read now: .*page/);
    expect(start).not.toThrow(/backup/);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    failing.mockRestore();
    expect(open(path).load().damagedRecords).toBeUndefined();
  },
);

it('a page that the disk does not give once, in the midst of the check, is no damage', () => {
  const path = makePath();
  open(path).close();
  const prepare = Database.prototype.prepare;
  let failures = 0;
  // SQLite makes SQLITE_CORRUPT of EIO (SQLITE_IOERR_CORRUPTFS) wherever a statement comes upon it.
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql: string) {
    if (!sql.startsWith('PRAGMA integrity_check') || failures > 0) return prepare.call(this, sql);
    failures += 1;
    throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT');
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(open(path).load().damagedRecords).toBeUndefined();
  expect(failures).toBe(1);
});
