import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { openSqlFile } from '../../../src/store/store.ts';
import { always, batch, incident, makePollEveryHour, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { makePath, open } from './fixtures.ts';

const few = Array.from({ length: 5 }, (_, index) => ok(noon + index * minuteMs, 1_000_000 - index));
const later = noon + 3_600_000;

/** A stored database of the accounts `otp`, damaged by SQL afterwards, and `b`. */
function makeDamaged(polls: typeof few, sql: string, ...values: unknown[]): string {
  const path = makePath();
  const store = open(path);
  store.commit(batch({ polls: [...pollsOf('otp', polls), ...pollsOf('b', few)] }));
  store.close();
  const db = new Database(path);
  db.prepare(sql).run(...values);
  db.close();
  return path;
}

/** Changes runs as a flipped bit can: no type and no constraint of the table holds it up. */
function changeLoosely(path: string, sql: string): void {
  const db = new Database(path);
  db.unsafeMode(true);
  const strict =
    db.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'segment'").pluck().get() ?? '';
  for (const [schema, change] of [
    [strict.replaceAll(/ STRICT| NOT NULL/g, ''), sql],
    [strict, 'SELECT 1 WHERE false'],
  ] as const) {
    db.pragma('writable_schema = ON');
    db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'segment'").run(schema);
    db.pragma('writable_schema = RESET');
    db.prepare(change).run();
  }
  db.close();
}

const flipTail = `UPDATE account SET tail = CAST(substr(tail, 1, length(tail) - 1) || x'ff' AS BLOB) WHERE id = 'otp'`;
const flipOldest = `UPDATE segment SET data = CAST(substr(data, 1, 99) || x'ff' || substr(data, 101) AS BLOB)
  WHERE seq = (SELECT min(seq) FROM segment WHERE account_no = (SELECT no FROM account WHERE id = 'otp'))`;

function pollsIn(store: Pick<ReturnType<typeof openSqliteReader>, 'polls'>, account: string) {
  return [...store.polls({ account, ...always })].flat();
}

describe('a damaged tail', () => {
  it('is set aside and named, and the same commit stores the other accounts and what people did', () => {
    const store = open(makeDamaged(few, flipTail), { now: () => later });
    const fresh = ok(later, 7);
    const acknowledged = incident('incident-1');
    store.commit(
      batch({ polls: [...pollsOf('otp', [fresh]), ...pollsOf('b', [fresh])], incidents: [acknowledged] }),
    );
    expect(pollsIn(store, 'otp')).toEqual([fresh]);
    expect(pollsIn(store, 'b')).toEqual([...few, fresh]);
    expect(store.incidents({})).toEqual([acknowledged]);
    const damaged = { account: 'otp', earliestAt: null, latestAt: few.at(-1)?.at, polls: 5, foundAt: later };
    expect(store.takeDamaged()).toEqual([damaged]);
    expect(store.takeDamaged()).toEqual([]);
    expect(store.load().damaged).toEqual([damaged]);
  });

  it('keeps its bytes', () => {
    const path = makeDamaged(few, flipTail);
    const db = new Database(path);
    const tail = db.prepare("SELECT tail FROM account WHERE id = 'otp'").pluck().get();
    const store = open(path);
    store.commit(batch({ polls: pollsOf('otp', [ok(later, 7)]) }));
    expect(db.prepare('SELECT data FROM damaged_run').pluck().get()).toEqual(tail);
    db.close();
  });

  it('that was found in a commit that failed is found again in the next', () => {
    const store = open(makeDamaged(few, flipTail));
    const wrong = { ...ok(later, 1), reading: null };
    expect(() => store.commit(batch({ polls: pollsOf('otp', [ok(later, 7), wrong]) }))).toThrow(RangeError);
    expect(store.takeDamaged()).toEqual([]);
    store.commit(batch({ polls: pollsOf('otp', [ok(later, 7)]) }));
    expect(store.takeDamaged()).toHaveLength(1);
  });
});

describe('a damaged run among sound ones', () => {
  const many = makePollEveryHour(noon, 60);

  it('is left out by readers, who hear of it, and set aside by the next commit of the daemon', () => {
    const path = makeDamaged(many, flipOldest);
    const heard: unknown[] = [];
    const reader = openSqliteReader({ path, damaged: ({ account, polls }) => heard.push([account, polls]) });
    const left = pollsIn(reader, 'otp');
    reader.close();
    const gone = many.length - left.length;
    expect(left).toEqual(many.slice(gone));
    expect(heard).toEqual([['otp', gone]]);
    const store = open(path);
    expect(pollsIn(store, 'otp')).toEqual(left);
    expect(store.takeDamaged()).toEqual([]);
    store.commit(batch());
    expect(store.takeDamaged()).toMatchObject([
      { account: 'otp', earliestAt: noon, latestAt: many[gone - 1]?.at, polls: gone },
    ]);
    expect(pollsIn(store, 'otp')).toEqual(left);
    expect(pollsIn(store, 'b')).toEqual(few);
  });

  it('gives a query no rows, and names itself', () => {
    const heard: string[] = [];
    const file = openSqlFile(makeDamaged(many, flipOldest), ({ account }) => heard.push(account));
    const answer = file.ask("SELECT count(*) FROM reading WHERE account = 'otp'");
    const [row] = answer.kind === 'answer' ? [...answer.rows] : [];
    expect(row?.[0]).toBeLessThan(many.length);
    expect(heard).toEqual(['otp']);
    file.close();
  });

  it.each(['polls = polls + 1', 'earliest_at = earliest_at - 1', 'latest_at = latest_at + 1'])(
    'is one whose row says otherwise: %s',
    (change) => {
      const reader = openSqliteReader({ path: makeDamaged(many, `UPDATE segment SET ${change}`) });
      const [first] = pollsIn(reader, 'otp');
      expect(first?.at).toBeGreaterThan(noon);
      reader.close();
    },
  );
});

it.each([
  'data = NULL',
  'data = CAST(data AS TEXT)',
  'polls = NULL',
  "polls = 'x'",
  'latest_at = latest_at + 0.5',
])(
  'a run whose row changed the type of a value while the daemon runs (%s) is left out, named and set aside',
  (change) => {
    const many = makePollEveryHour(noon, 60);
    const path = makeDamaged(many, 'SELECT 1 WHERE false');
    const store = open(path);
    changeLoosely(path, `UPDATE segment SET ${change} WHERE seq = 1`);
    const left = pollsIn(store, 'otp');
    expect(left).toEqual(many.slice(-left.length));
    expect(left.length).toBeLessThan(many.length);
    store.commit(batch());
    expect(store.takeDamaged()).toMatchObject([{ account: 'otp', earliestAt: noon }]);
    expect(pollsIn(store, 'otp')).toEqual(left);
  },
);

it('whichever bit of stored polls flips, what is read is polls that were stored, or none of them', () => {
  const many = makePollEveryHour(noon, 40);
  const path = makeDamaged(many, 'SELECT 1 WHERE false');
  const db = new Database(path);
  const reader = openSqliteReader({ path });
  const known = new Set(many.map((poll) => JSON.stringify(poll)));
  const places = [
    { table: 'account', column: 'tail', where: "id = 'otp'" },
    { table: 'segment', column: 'data', where: 'seq = 1' },
  ];
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.nat(), fc.nat(7), ({ table, column, where }, place, bit) => {
      const sound = db.prepare<[], Buffer>(`SELECT ${column} FROM ${table} WHERE ${where}`).pluck().get();
      if (sound === undefined) throw new Error('nothing is stored');
      const flipped = Buffer.from(sound as unknown as Buffer);
      const index = place % flipped.length;
      flipped[index] = (flipped[index] ?? 0) ^ (1 << bit);
      const put = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`);
      put.run(flipped);
      const found = pollsIn(reader, 'otp');
      put.run(sound);
      expect(found.length).toBeLessThan(many.length);
      expect(found.every((poll) => known.has(JSON.stringify(poll)))).toBe(true);
    }),
    { numRuns: 60 },
  );
  reader.close();
  db.close();
});
