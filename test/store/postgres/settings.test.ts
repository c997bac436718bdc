import { describe, expect, it } from 'vitest';
import { inactiveAlert } from '../../../src/engine/transition.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { flat } from '../beds.ts';
import {
  accountState,
  always,
  batch,
  failed,
  incident,
  makePollEveryHour,
  noon,
  pollsOf,
} from '../sqlite/batches.ts';
import { makeDatabase, open, own } from './fixtures.ts';

const once = { goOn: async () => false, isLenient: false };

async function set(url: Awaited<ReturnType<typeof makeDatabase>>, setting: string): Promise<void> {
  const name = new URL(url.reveal()).pathname.slice(1);
  await (await sharedPostgres()).sql(url, `ALTER DATABASE ${name} SET ${setting}`);
}

describe.skipIf(noPostgres !== null)('settings of a database', () => {
  it.each([
    "bytea_output = 'escape'",
    "default_transaction_isolation = 'serializable'",
    "datestyle = 'German'",
    "timezone = 'Asia/Kathmandu'",
    'standard_conforming_strings = off',
    'extra_float_digits = -15',
    "lock_timeout = '1ms'",
    'array_nulls = off',
  ])('do not matter: with %s what is stored is read back and gone on from', async (setting) => {
    const url = await makeDatabase();
    await set(url, setting);
    const polls = makePollEveryHour(noon, 1);
    const before = await open(url);
    const owner = await own(before);
    await owner.store.commit(
      batch({ accounts: [accountState('otp')], polls: pollsOf('otp', polls.slice(0, 2)) }),
    );
    await before.leave(owner.incarnation);
    await before.close();
    const cluster = await open(url);
    const next = await own(cluster);
    expect((await cluster.load(once)).accounts.map(({ account }) => account)).toEqual(['otp']);
    await next.store.commit(batch({ polls: pollsOf('otp', polls.slice(2)) }));
    expect((await cluster.load(once)).accounts).toEqual([accountState('otp')]);
    expect(next.store.takeDamaged()).toEqual([]);
    expect(await flat(next.store.polls({ account: 'otp', ...always }))).toEqual(polls);
  });
});

describe.skipIf(noPostgres !== null)('a search_path that does not lead to the tables', () => {
  it.each(['nowhere', 'elsewhere'])(
    'is refused at the start by name, and no others are made: %s',
    async (path) => {
      const url = await makeDatabase();
      await (await open(url)).close();
      const server = await sharedPostgres();
      await server.sql(url, 'CREATE SCHEMA elsewhere');
      await set(url, `search_path = ${path}`);
      await expect(open(url)).rejects.toMatchObject({
        kind: 'unfit',
        message: expect.stringContaining('RESET search_path'),
      });
      expect(await server.sql(url, "SELECT FROM pg_tables WHERE schemaname = 'elsewhere'")).toEqual([]);
    },
  );
});

describe.skipIf(noPostgres !== null)('a search_path that is changed under a daemon', () => {
  it('is named as what may be wrong, before a backup is restored over tables that are there', async () => {
    const url = await makeDatabase();
    const cluster = await open(url);
    const server = await sharedPostgres();
    await server.sql(url, 'CREATE SCHEMA elsewhere');
    await set(url, 'search_path = elsewhere');
    const term = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()';
    await server.sql(url, `${term} AND pid <> pg_backend_pid()`);
    await cluster.look().catch(() => undefined);
    await expect(cluster.look()).rejects.toMatchObject({
      kind: 'unfit',
      message: expect.stringContaining('RESET search_path'),
    });
  });
});

describe.skipIf(noPostgres !== null)('what a daemon that lost the accounts leaves', () => {
  it('stands once, though it is sent again after an answer that was lost', async () => {
    const cluster = await open(await makeDatabase());
    const { store } = await own(cluster);
    const left = { at: noon, polls: pollsOf('otp', [failed(noon)]), incidents: [], orders: [] };
    await cluster.leaveUnstored('one', left);
    await cluster.leaveUnstored('one', left);
    await cluster.leaveUnstored('two', left);
    expect([...(await store.takeUnstored())].map(([name]) => name)).toEqual([
      expect.stringMatching(/one$/),
      expect.stringMatching(/two$/),
    ]);
  });

  it('stands with the rest alone once a commit has written that, and is gone once one has removed it', async () => {
    const cluster = await open(await makeDatabase());
    const { store } = await own(cluster);
    const orders = [{ kind: 'acknowledge' }];
    await cluster.leaveUnstored('one', {
      at: noon,
      polls: [],
      incidents: [incident('i-1'), incident('i-2')],
      orders,
    });
    const [[name = '', found] = []] = await store.takeUnstored();
    const rest = { at: noon, polls: [], incidents: [incident('i-2')], orders: [] };
    await store.commit(batch({ notes: { [name]: found?.write(rest) ?? null } }));
    expect([...(await store.takeUnstored())]).toMatchObject([[name, rest]]);
    await store.commit(batch({ notes: { [name]: null } }));
    expect([...(await store.takeUnstored())]).toEqual([]);
  });
});

describe.skipIf(noPostgres !== null)('where all of a kind cannot be read', () => {
  it('nothing is replaced: polls', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    const cluster = await open(url);
    const owner = await own(cluster);
    const polls = ['one', 'two', 'three'].flatMap((account) => pollsOf(account, [failed(noon)]));
    await owner.store.commit(batch({ polls }));
    await cluster.leave(owner.incarnation);
    await server.sql(url, "UPDATE account SET tail = 'garbage'::bytea || substr(tail, 3)");
    const tails = () => server.sql(url, 'SELECT id, tail::text FROM account ORDER BY id');
    const before = await tails();
    const next = await own(await open(url));
    const more = batch({ polls: pollsOf('one', [failed(noon + 1)]) });
    await expect(next.store.commit(more)).rejects.toThrow('nothing is stored over them');
    expect(await tails()).toEqual(before);
    expect(await server.sql(url, 'SELECT FROM damaged_run')).toEqual([]);
  });

  it('nothing is replaced: records of accounts and alerts', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    const cluster = await open(url);
    const owner = await own(cluster);
    const alerts = ['one', 'two'].map((account) =>
      inactiveAlert({ account, rule: 'low', type: 'below', balance: 'sms' }),
    );
    await owner.store.commit(batch({ accounts: [accountState('one'), accountState('two')], alerts }));
    await server.sql(url, 'UPDATE alert SET body = left(body, 9)');
    await expect(cluster.load(once)).rejects.toThrow('none of the stored alerts can be read');
    await server.sql(url, 'UPDATE account SET body = left(body, 9)');
    await expect(cluster.load(once)).rejects.toThrow('none of the stored accounts can be read');
  });
});
