import { existsSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { StoreReader } from '../../src/ports/store.ts';
import { migrateStore, type StorePlace } from '../../src/store/migrate-store.ts';
import { openPostgresReader } from '../../src/store/postgres/reader.ts';
import { leaveOrder, openReader, openStore } from '../../src/store/store.ts';
import { noPostgres, sharedPostgres } from '../support/postgres.ts';
import { flat } from './beds.ts';
import { card, makeDatabase, open as openShared, own, program } from './postgres/fixtures.ts';
import {
  accountState,
  always,
  batch,
  incident,
  makePollEveryHour,
  message,
  noon,
  ok,
  pollsOf,
  silence,
  silent,
} from './sqlite/batches.ts';
import { makePath } from './sqlite/fixtures.ts';

const polls = makePollEveryHour(noon, 100);

/** A database with something in each of its tables; no daemon holds it any more. */
async function fillSqlite(): Promise<string> {
  const path = makePath();
  const store = openStore({ path, log: silent, now: () => noon, program });
  await store.commit(
    batch({
      polls: [...pollsOf('otp', polls), ...pollsOf('gone', polls.slice(0, 5))],
      accounts: [accountState('otp'), accountState('gone')],
      spending: [{ account: 'otp', bytes: Buffer.from([0, 255, 39, 92]) }],
      backoffs: [{ group: 'otp', strikes: 1, until: noon + 5 }],
      incidents: [incident('i', { accountName: 'Ünïcode \\ "quoted" \u0000 {},' })],
      messages: [message('m'), message('n', { state: 'delivered' })],
      silences: [silence('s', noon + 5)],
      notes: { alive: '1', empty: '' },
    }),
  );
  await store.commit(batch({ removedAccounts: ['gone'] }));
  await store.close();
  leaveOrder(path, { kind: 'expire', id: 's', at: noon });
  const db = new Database(path);
  db.exec("INSERT INTO damaged_run VALUES (1, 'otp', NULL, 5, 2, x'0102', 7, 'altered')");
  db.close();
  return path;
}

async function everythingIn(reader: StoreReader): Promise<object> {
  return {
    state: await reader.load(),
    otp: await flat(reader.polls({ account: 'otp', ...always, asStored: true })),
    gone: await flat(reader.polls({ account: 'gone', ...always })),
    incidents: await reader.incidents({}),
    messages: await reader.messages(10),
  };
}

const migrate = (from: StorePlace, to: StorePlace) => migrateStore({ from, to, program, now: noon });

describe.skipIf(noPostgres !== null)('a copy of everything', () => {
  it('to PostgreSQL and back is what it was, and leaves what it is made from', async () => {
    const path = await fillSqlite();
    const source = openReader({ path, now: () => noon });
    const before = await everythingIn(source);
    await source.close();
    const url = await makeDatabase();
    const copied = await migrate({ path }, { url });
    expect(Object.fromEntries(copied.map(({ name, rows }) => [name, rows]))).toEqual({
      account: 2,
      damaged_run: 1,
      segment: expect.any(Number),
      spending: 1,
      backoff: 1,
      alert: 0,
      incident: 1,
      message: 2,
      silence: 1,
      note: 2,
      operator_order: 1,
    });
    const there = await openPostgresReader({ url, program, now: () => noon });
    expect(await everythingIn(there)).toEqual(before);
    await there.close();

    const back = makePath();
    expect(await migrate({ url }, { path: back })).toEqual(copied);
    const again = openReader({ path: back, now: () => noon });
    expect(await everythingIn(again)).toEqual(before);
    await again.close();
    expect(existsSync(`${back}.partial`)).toBe(false);
  });

  it('can be gone on with: what is stored then is numbered after it', async () => {
    const path = await fillSqlite();
    const url = await makeDatabase();
    await migrate({ path }, { url });
    const { store } = await own(await openShared(url));
    expect(await store.takeOrders()).toHaveLength(1);
    const later = makePollEveryHour(noon + 200 * 24 * 3_600_000, 60);
    await store.commit(
      batch({
        polls: [...pollsOf('otp', later), ...pollsOf('new', [ok(noon, 1)])],
        messages: [message('later')],
      }),
    );
    expect(await flat(store.polls({ account: 'otp', ...always, asStored: true }))).toEqual([
      ...polls,
      ...later,
    ]);
    expect((await store.messages(1)).map(({ id }) => id)).toEqual(['later']);
  });

  it('to SQLite has what a daemon that was cut off left for the next owner, which takes it in', async () => {
    const url = await makeDatabase();
    const cluster = await openShared(url);
    const left = { at: noon, polls: [], incidents: [incident('told')], orders: [{ kind: 'acknowledge' }] };
    await cluster.leaveUnstored('one', left);
    const path = makePath();
    await migrate({ url }, { path });
    const store = openStore({ path, log: silent, now: () => noon, program });
    const [[name = '', found] = []] = await store.takeUnstored();
    expect(found).toMatchObject(left);
    await store.commit(batch({ notes: { [name]: null } }));
    expect(await store.takeUnstored()).toEqual(new Map());
    await store.close();
  });

  it('is refused while a daemon uses what it would be made from', async () => {
    const path = await fillSqlite();
    const url = await makeDatabase();
    const store = openStore({ path, log: silent, now: () => noon, program });
    const inUse = /in use by lowwater 1\.0\.0, process \d+/;
    await expect(migrate({ path }, { url })).rejects.toThrow(inUse);
    rmSync(`${path}-lock`);
    await expect(migrate({ path }, { url })).rejects.toThrow(inUse);
    await store.close();
    await migrate({ path }, { url });
    const cluster = await openShared(url);
    const standby = card({ node: 'north' });
    await cluster.join(standby);
    await expect(migrate({ url }, { path: makePath() })).rejects.toThrow('in use by lowwater on north');
    await cluster.leave(standby.incarnation);
    await migrate({ url }, { path: makePath() });
  });

  it('goes only into an empty database or a file that is not there', async () => {
    const path = await fillSqlite();
    const url = await makeDatabase();
    await own(await openShared(url));
    await expect(migrate({ path }, { url })).rejects.toThrow('only into an empty one');
    const other = await fillSqlite();
    await expect(migrate({ path }, { path: other })).rejects.toThrow('exists already');
  });

  it('leaves nothing behind where it ends early', async () => {
    const path = await fillSqlite();
    const url = await makeDatabase();
    await openShared(url);
    const server = await sharedPostgres();
    await server.sql(url, "ALTER TABLE note ADD CHECK (name <> 'alive')");
    await expect(migrate({ path }, { url })).rejects.toThrow();
    expect(await server.sql(url, 'SELECT count(*)::int AS n FROM account')).toEqual([{ n: 0 }]);
  });
});
