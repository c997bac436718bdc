import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { inactiveAlert } from '../../../src/engine/transition.ts';
import { openDatabase } from '../../../src/store/postgres/connection.ts';
import { loadOwned } from '../../../src/store/postgres/reader.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { batch, incident, message, noon, accountState as state, told } from '../sqlite/batches.ts';
import { makeTables, open, own } from './fixtures.ts';

function alert(account: string, rule: string) {
  return inactiveAlert({ account, rule, type: 'below', balance: 'sms' });
}

const once = { goOn: async () => false, isLenient: false };

describe.skipIf(noPostgres !== null)('a record that cannot be read', () => {
  it('is left out and moved to a table of its own, and all others are loaded', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const owner = await own(cluster);
    await owner.store.commit(
      batch({
        accounts: [state('otp'), state('voice')],
        alerts: [alert('otp', 'low'), alert('voice', 'low')],
        incidents: [incident('one'), incident('two')],
        messages: [message('first'), message('second')],
      }),
    );
    const server = await sharedPostgres();
    for (const [table, key] of [
      ['account', "id = 'otp'"],
      ['alert', "account = 'otp'"],
      ['incident', "id = 'one'"],
    ] as const)
      await server.sql(url, `UPDATE ${table} SET body = left(body, 20) WHERE ${key}`);
    await server.sql(url, "UPDATE message SET body = '{}' WHERE id = 'first'");
    const loaded = await cluster.load(once);
    expect(loaded.accounts.map(({ account }) => account)).toEqual(['voice']);
    expect(loaded.alerts.map(({ account }) => account)).toEqual(['voice']);
    expect(loaded.incidents.map(({ id }) => id)).toEqual(['two']);
    expect(loaded.messages.map(({ id }) => id)).toEqual(['second']);
    const found = [
      ['account', 'otp', 'it is not JSON'],
      ['alert', 'otp/low', 'it is not JSON'],
      ['incident', 'one', 'it is not JSON'],
      ['message', 'first', 'it is not whole'],
    ];
    expect(
      loaded.damagedRecords
        ?.map(({ source, key, second, reason }) => [
          source,
          second === null ? key : `${key}/${second}`,
          reason,
        ])
        .toSorted(),
    ).toEqual(found);
    await cluster.setAside(owner, loaded.damagedRecords ?? []);
    const kept = await server.sql(url, 'SELECT source, key, reason FROM damaged_record ORDER BY source');
    expect(kept.map(({ source, key, reason }) => [source, key, reason])).toEqual(found);
    const names = (records: typeof loaded.damagedRecords) => records?.map(({ key }) => key).toSorted();
    const again = await cluster.load(once);
    expect(names(again.damagedRecords), 'whoever found them may have died').toEqual(
      names(loaded.damagedRecords),
    );
    expect(again.damagedRecords?.every(({ body }) => body === null)).toBe(true);
    await owner.store.commit(batch({ notes: told }));
    expect((await cluster.load(once)).damagedRecords).toBeUndefined();
    expect((await cluster.reader.incidents({})).map(({ id }) => id)).toEqual(['two']);
    // What was set aside can come again, and its history is still there.
    await owner.store.commit(batch({ accounts: [state('otp')], alerts: [alert('otp', 'low')] }));
    expect((await cluster.load(once)).accounts).toHaveLength(2);
    while (await owner.store.prune(noon)) expect(true).toBe(true);
  });

  it('is not moved by who owns the accounts no more', async () => {
    const cluster = await open(await makeTables());
    const owner = await own(cluster);
    const damaged = [{ source: 'alert', key: 'otp', second: 'low', body: '{', reason: 'it is not JSON' }];
    await expect(cluster.setAside({ ...owner, epoch: 0 }, damaged)).rejects.toMatchObject({ kind: 'fenced' });
  });

  it('is taken for nothing by who has no other way to own the accounts, where a whole table is like that, and not where a table may not be read', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const owner = await own(cluster);
    await owner.store.commit(batch({ accounts: [state('otp')], alerts: [alert('otp', 'low')] }));
    const server = await sharedPostgres();
    await server.sql(url, 'ALTER TABLE alert RENAME TO gone');
    const lenient = { ...once, isLenient: true };
    await expect(cluster.load(lenient)).rejects.toThrow('its tables are not those of lowwater');
    await server.sql(
      url,
      `CREATE FUNCTION damage() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'invalid page' USING ERRCODE = 'XX001'; END $$;
       CREATE VIEW alert AS SELECT * FROM gone WHERE damage()`,
    );
    await expect(cluster.load(once)).rejects.toThrow('it is damaged');
    const loaded = await cluster.load(lenient);
    expect(loaded.accounts).toHaveLength(1);
    expect(loaded.damagedRecords).toEqual([
      expect.objectContaining({ source: 'alert', key: '', body: null }),
    ]);
  });
});

describe.skipIf(noPostgres !== null)('a load that is interrupted', () => {
  it('asks for the page again that failed, and for smaller ones, and not for those before', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const owner = await own(cluster);
    const ids = Array.from({ length: 2500 }, (_, index) => `a${index}`);
    await owner.store.commit(batch({ accounts: ids.map((id) => state(id)) }));
    const database = openDatabase({ url });
    const asked: number[] = [];
    let failures = 2;
    const ask: typeof database.ask = async (text, values = []) => {
      if (!text.includes('FROM account WHERE body')) return database.ask(text, values);
      asked.push(Number(values.at(-1)));
      if (asked.length > 1 && failures-- > 0) throw new StorageError('busy', 'no answer in time');
      return database.ask(text, values);
    };
    const loaded = await loadOwned(ask, 0, { goOn: async () => true, isLenient: false });
    expect(loaded.accounts.map(({ account }) => account).toSorted()).toEqual(ids.toSorted());
    expect(asked.slice(0, 5)).toEqual([2000, 2000, 500, 125, 125]);
    await database.close();
  });
});
