import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { inactiveAlert } from '../../../src/engine/transition.ts';
import { readDatabaseId } from '../../../src/store/sqlite/owner.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { accountState, batch, incident, message, noon, told } from './batches.ts';
import { makePath, open } from './fixtures.ts';

function makeDamaged(): string {
  const path = makePath();
  const store = open(path);
  const alert = inactiveAlert({ account: 'otp', rule: 'low', type: 'below', balance: 'sms' });
  store.commit(
    batch({
      polls: [{ account: 'otp', poll: { at: noon, outcome: 'timeout', reading: null } }],
      accounts: [accountState('otp'), accountState('voice')],
      alerts: [alert, { ...alert, account: 'voice' }],
      incidents: [incident('one'), incident('two')],
      messages: [message('first'), message('second')],
    }),
  );
  store.close();
  const db = new Database(path);
  for (const [table, key] of [
    ['account', "id = 'otp'"],
    ['alert', "account = 'otp'"],
    ['incident', "id = 'one'"],
  ] as const)
    db.exec(`UPDATE ${table} SET body = substr(body, 1, 20) WHERE ${key}`);
  db.exec("UPDATE message SET body = '{}' WHERE id = 'first'");
  db.close();
  return path;
}

describe('a record that cannot be read', () => {
  it('is set aside by the daemon as a note, named, and all others are loaded', () => {
    const path = makeDamaged();
    const store = open(path);
    const loaded = store.load();
    expect(loaded.accounts.map(({ account }) => account)).toEqual(['voice']);
    expect(loaded.alerts.map(({ account }) => account)).toEqual(['voice']);
    expect(loaded.incidents.map(({ id }) => id)).toEqual(['two']);
    expect(loaded.messages.map(({ id }) => id)).toEqual(['second']);
    expect(
      loaded.damagedRecords?.map(({ source, key, second, reason }) => [source, key, second, reason]),
    ).toEqual([
      ['account', 'otp', null, 'it is not JSON'],
      ['alert', 'otp', 'low', 'it is not JSON'],
      ['message', 'first', null, 'it is not whole'],
      ['incident', 'one', null, 'it is not JSON'],
    ]);
    store.commit(batch({ notes: told }));
    const again = store.load();
    expect(again).toEqual({ ...loaded, damagedRecords: undefined });
    // Its history stays, and it can come again.
    expect([...store.polls({ account: 'otp', since: 0, until: noon + 1 })].flat()).toHaveLength(1);
    store.commit(batch({ accounts: [accountState('otp')] }));
    expect(store.load().accounts).toHaveLength(2);
    store.close();
    const db = new Database(path);
    const notes = db.prepare("SELECT name, value FROM note WHERE name LIKE '@damaged%' ORDER BY name").all();
    db.close();
    expect(notes).toHaveLength(4);
    expect(notes[3]).toEqual({
      name: `@damaged:message:first:${noon}`,
      value: JSON.stringify({ reason: 'it is not whole', body: '{}' }),
    });
  });

  it.each([
    ['account', "body = replace(body, 'voice', 'voicf') WHERE id = 'voice'"],
    ['alert', `body = replace(body, '"account":"voice"', '"account":"otp"') WHERE account = 'voice'`],
    ['alert', `body = replace(body, '"rule":"low"', '"rule":"lov"') WHERE account = 'voice'`],
    ['alert', "account = 'voicf' WHERE account = 'voice'"],
    ['incident', `body = replace(body, '"account":"', '"account":"a') WHERE id = 'two'`],
    ['incident', `body = replace(body, '"id":"two"', '"id":"twp"') WHERE id = 'two'`],
    ['message', "id = 'secone' WHERE id = 'second'"],
  ])('is also one whose %s is of another name than its row: %s', (table, change) => {
    const path = makeDamaged();
    const before = open(path);
    const { damagedRecords: known = [] } = before.load();
    before.commit(batch({ notes: told }));
    before.close();
    expect(known).toHaveLength(4);
    const db = new Database(path);
    expect(db.prepare(`UPDATE ${table} SET ${change}`).run().changes).toBe(1);
    db.close();
    const store = open(path);
    const { damagedRecords } = store.load();
    store.close();
    expect(damagedRecords).toMatchObject([
      { source: table, reason: expect.stringContaining('another than its row') },
    ]);
  });

  it('is named to the next daemon again where the one that found it died before anybody could be told', () => {
    const path = makeDamaged();
    const names = (): readonly unknown[] | undefined => {
      const store = open(path);
      const { damagedRecords } = store.load();
      store.close();
      return damagedRecords?.map(({ source, key, reason, at }) => [source, key, reason, at]);
    };
    const found = names();
    expect(found).toHaveLength(4);
    expect(names()?.toSorted()).toEqual(found?.toSorted());
    const store = open(path);
    store.load();
    store.commit(batch({ notes: told }));
    store.close();
    expect(names()).toBeUndefined();
  });

  it('brings with a message that is lost the incidents that were over since it was put out', () => {
    const path = makePath();
    const store = open(path);
    const over = (id: string, at: number) =>
      incident(id, { firedAt: at - 5, resolvedAt: at, resolution: { kind: 'recovered' }, notified: {} });
    store.commit(
      batch({
        incidents: [over('long-ago', noon - 9_000_000), over('lately', noon + 5)],
        messages: [message('first'), message('second')],
      }),
    );
    expect(store.load().incidents).toEqual([]);
    store.close();
    const db = new Database(path);
    db.exec("UPDATE message SET body = '{}' WHERE id = 'first'");
    db.close();
    expect(
      open(path)
        .load()
        .incidents.map(({ id }) => id),
    ).toEqual(['lately']);
  });

  it('is refused by who only reads, until a daemon has set it aside', () => {
    const path = makeDamaged();
    const reader = openSqliteReader({ path });
    expect(() => reader.load()).toThrow('the account otp cannot be read (it is not JSON): start the daemon');
    open(path).load();
    expect(reader.load().accounts).toHaveLength(1);
    reader.close();
  });
});

describe('the note that names the database', () => {
  it('is made anew where a bit flipped in it: no answer of the daemon could name it', () => {
    const path = makePath();
    open(path).close();
    const whole = readDatabaseId(path);
    const db = new Database(path);
    db.prepare("UPDATE note SET value = '\u0012' || substr(value, 2) WHERE name = '@database'").run();
    db.close();
    const store = open(path);
    expect(store.load().damagedRecords).toEqual([
      { source: 'note', key: '@database', second: null, body: null, reason: 'it is not whole' },
    ]);
    store.close();
    expect(readDatabaseId(path)).toMatch(/^[0-9a-f]{16}$/);
    expect(readDatabaseId(path)).not.toBe(whole);
  });
});

describe('the note that names the daemon', () => {
  const damage = (path: string, value: string): void => {
    const db = new Database(path);
    db.prepare("INSERT OR REPLACE INTO note (name, value) VALUES ('@owner', ?)").run(value);
    db.close();
  };

  it.each(['{"pid":', 'null', '{"pid":"one","host":5}'])(
    'where it is %s refuses no start: it is set aside and named',
    (value) => {
      const path = makePath();
      open(path).close();
      damage(path, value);
      const store = open(path);
      expect(store.load().damagedRecords).toEqual([
        { source: 'note', key: '@owner', second: null, body: null, reason: 'it is not whole' },
      ]);
      store.close();
      const next = open(path);
      expect(next.load().damagedRecords).toMatchObject([{ source: 'note', key: '@owner', body: null }]);
      next.commit(batch({ incidents: [incident('one')], notes: told }));
      next.close();
      expect(open(path).load().damagedRecords).toBeUndefined();
    },
  );

  it('is written again by the daemon that runs, and only another whole one ends it', () => {
    const path = makePath();
    const store = open(path);
    damage(path, '{"pid":');
    store.commit(batch({ incidents: [incident('one')] }));
    damage(
      path,
      JSON.stringify({ pid: 1, host: 'h', startedAt: 1, program: 'p', path, file: null, life: null }),
    );
    expect(() => store.commit(batch({ incidents: [incident('two')] }))).toThrow(
      'was taken over by p, process 1',
    );
  });
});
