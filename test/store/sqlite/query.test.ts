import { statSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlFile } from '../../../src/store/store.ts';
import { batch, dayMs, failed, makePollEveryHour, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { makePath, open } from './fixtures.ts';

describe('a query', () => {
  it('finds the readings of all accounts, as the numbers they are', async () => {
    const ask = await askAbout({
      otp: [ok(noon, 12_500_000), ok(noon + minuteMs, -18_383_000)],
      b: [ok(noon, 1)],
    });
    expect(ask('SELECT * FROM reading ORDER BY account, at')).toEqual([
      ['account', 'at', 'sms', 'voip', 'currency'],
      ['b', '2026-11-20 12:00:00.000', 0.000001, -0.000001, 'CNY'],
      ['otp', '2026-11-20 12:00:00.000', 12.5, -12.5, 'CNY'],
      ['otp', '2026-11-20 12:01:00.000', -18.383, 18.383, 'CNY'],
    ]);
  });

  it('finds polls that failed among all polls, and never among readings', async () => {
    const ask = await askAbout({ otp: [ok(noon, 1), failed(noon + minuteMs, 'auth_failed')] });
    expect(ask('SELECT account, outcome FROM poll ORDER BY at').slice(1)).toEqual([
      ['otp', 'ok'],
      ['otp', 'auth_failed'],
    ]);
    expect(ask('SELECT count(*) FROM reading')[1]).toEqual([1]);
  });

  it('finds polls in the runs that are full and in the newest alike, each once', async () => {
    const ask = await askAbout({ otp: makePollEveryHour(noon, 100), b: makePollEveryHour(noon, 30) });
    expect(ask('SELECT count(*) > 1 FROM segment')[1]).toEqual([1]);
    expect(
      ask('SELECT account, count(*), count(DISTINCT at) FROM reading GROUP BY account').slice(1),
    ).toEqual([
      ['b', 720, 720],
      ['otp', 2400, 2400],
    ]);
  });

  it.each([
    ["reading_of('otp')", 2400],
    ["reading_of('otp', '2026-11-21')", 2388],
    ["reading_of('otp', '2026-11-21 00:00:00', '2026-11-21T06:00:00Z')", 6],
    [`reading_of('otp', ${noon + dayMs}, ${noon + 2 * dayMs})`, 24],
    ["reading_of('otp', datetime('2026-11-21', '-1 hours'))", 2389],
    ["poll_of('otp', '2026-11-21', '2026-11-22')", 24],
    ["reading_of('nobody')", 0],
    ["reading WHERE account = 'otp' AND at >= datetime('2026-11-21')", 2388],
  ])('counts what is in FROM %s', async (from, count) => {
    const ask = await askAbout({ otp: makePollEveryHour(noon, 100), b: makePollEveryHour(noon, 2) });
    expect(ask(`SELECT count(*) FROM ${from}`)[1]).toEqual([count]);
  });

  it('decodes the one account that a condition names', async () => {
    const ask = await askAbout({ otp: [ok(noon, 1)], b: [ok(noon, 1)] });
    const plan = ask("EXPLAIN QUERY PLAN SELECT * FROM reading WHERE account = 'otp'").flat().join('\n');
    expect(plan).toMatch(/SEARCH a USING .*\(id=\?\)/);
  });

  it('says which instant it cannot read, and that a span needs an account', async () => {
    const ask = await askAbout({ otp: [ok(noon, 1)] });
    expect(() => ask("SELECT * FROM reading_of('otp', 'yesterday')")).toThrow(
      /yesterday is not a valid timestamp/,
    );
    expect(() => ask('SELECT * FROM reading_of')).toThrow(/need an account/);
  });

  it.each([
    ['DELETE FROM account', /only read-only statements/],
    ['WITH gone AS (SELECT 1) DELETE FROM account RETURNING id', /only read-only statements/],
    ['INSERT INTO note VALUES (1, 2) RETURNING name', /only read-only statements/],
    ['PRAGMA wal_checkpoint(TRUNCATE)', /only read-only statements/],
    ['/* look */ PRAGMA journal_mode = DELETE', /only read-only statements/],
    ['-- look\nPRAGMA user_version = 9', /only read-only statements/],
    ['EXPLAIN PRAGMA user_version = 9', /only read-only statements/],
    ["ATTACH 'other.db' AS other", /only read-only statements/],
    ["VACUUM INTO 'copy.db'", /only read-only statements/],
    ['BEGIN', /only read-only statements/],
    ['CREATE TEMP TABLE mine (a)', /only read-only statements/],
    ['SELECT 1; DELETE FROM account', /one statement/],
    ['', /only read-only statements/],
    ['SELECT missing', /no such column: missing/],
    ['SELECT * FROM nowhere', /no such table: nowhere/],
    ['SELECT FROM', /syntax error/],
  ])('that is %j is refused, and nothing changes', async (sql, reason) => {
    const { file } = await openWith({ otp: [ok(noon, 1)] });
    expect(file.ask(sql)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
    expect(rowsOf(file.ask('SELECT count(*) FROM account'))[1]).toEqual([1]);
  });

  it('shows the notes, but none of the keys among them, by no name of their table', async () => {
    const notes = {
      'link-keys': '1:very-secret',
      'calendar-key': 'very-secret',
      '@damaged:note:digest-key': 'very-secret',
      'alive-at': '1',
    };
    const { store, file } = await openWith({ otp: [ok(noon, 1)] });
    await store.commit(batch({ notes }));
    const { ask } = file;
    const all = ['note', 'temp.note', '(SELECT * FROM note)'].map((table) => ask(`SELECT * FROM ${table}`));
    for (const answer of all) {
      const rows = 'rows' in answer ? [...answer.rows] : [];
      expect(rows).toContainEqual(['alive-at', '1']);
      expect(rows).toContainEqual(['link-keys', '[secret]']);
      expect(JSON.stringify(rows)).not.toContain('very-secret');
    }
    for (const table of [
      'main.note',
      '"main".note',
      "'MAIN' . note",
      '[main]/* */.note',
      '`main`--\n.note',
      'main."note"',
      `main${'/* * **/'.repeat(100)}.note`,
    ])
      expect(ask(`SELECT * FROM ${table}`)).toMatchObject({ kind: 'refused' });
    expect(ask('SELECT * FROM main.account, temp.note')).toHaveProperty('rows');
    expect(ask(`SELECT 1 AS main${'/**/'.repeat(100)}`)).toHaveProperty('rows');
  });

  it('cannot load code into the process, and says what is wrong with a value', async () => {
    const ask = await askAbout({ otp: [ok(noon, 1)] });
    expect(() => ask("SELECT load_extension('/tmp/evil.so')")).toThrow(/not authorized/);
    expect(() => ask("SELECT json('{')")).toThrow(/malformed JSON/);
    expect(() => ask('SELECT zeroblob(999999999)')).toThrow(/^string or blob too big$/);
  });

  it('holds up no commit of the daemon while it runs, and the log is folded in after it', async () => {
    const { path, store, file } = await openWith({ otp: makePollEveryHour(noon, 100) });
    const rows = rowsBeingTaken(file.ask('SELECT * FROM account a, segment s'));
    rows.next();
    for (let count = 0; count < 300; count += 1) {
      const polls = makePollEveryHour(noon + (200 + count) * dayMs, 1);
      await store.commit(
        batch({ polls: pollsOf('otp', polls), notes: { large: `${count}`.repeat(20_000) } }),
      );
    }
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(6_000_000);
    rows.return?.();
    for (let count = 0; count < 200; count += 1) {
      await store.commit(batch({ notes: { large: `${count}`.repeat(20_000) } }));
    }
    expect(statSync(`${path}-wal`).size).toBeLessThan(6_000_000);
    expect(rowsOf(file.ask('SELECT count(*) FROM reading'))[1]).toEqual([2400 + 300 * 24]);
  });

  it('is answered by a database of this version alone', () => {
    expect(() => openSqlFile(makePath())).toThrow(/does not exist yet/);
  });
});

type Polls = Readonly<Record<string, Parameters<typeof pollsOf>[1]>>;

async function openWith(polls: Polls) {
  const path = makePath();
  const store = open(path);
  for (const [account, its] of Object.entries(polls))
    await store.commit(batch({ polls: pollsOf(account, its) }));
  const file = openSqlFile(path);
  onTestFinished(() => file.close());
  return { path, store, file };
}

/** Asks for columns and rows; throws what the query throws. */
async function askAbout(polls: Polls): Promise<(sql: string) => unknown[][]> {
  const { file } = await openWith(polls);
  return (sql) => rowsOf(file.ask(sql));
}

type Answer = ReturnType<ReturnType<typeof openSqlFile>['ask']>;

function rowsOf(answer: Answer): unknown[][] {
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return [[...answer.columns], ...[...answer.rows].map((row) => [...row])];
}

function rowsBeingTaken(answer: Answer): Iterator<unknown> {
  if (answer.kind === 'refused') throw new Error(answer.reason);
  return answer.rows[Symbol.iterator]();
}

it('a query with a parameter is refused with a sentence when it is asked', () => {
  const path = makePath();
  open(path).close();
  const file = openSqlFile(path);
  const answer = file.ask('SELECT ? AS a');
  const read = () => (answer.kind === 'answer' ? [...answer.rows] : []);
  expect(read).toThrow('a parameter has no value here');
  file.close();
});
