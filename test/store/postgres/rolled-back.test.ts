import { describe, expect, it, test } from 'vitest';
import { dayMs } from '../../../src/domain/time.ts';
import { findConfigurations, withSchema } from '../../../src/store/postgres/reader.ts';
import { RecentBatches } from '../../../src/store/postgres/recent-batches.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { batch, incident, noon } from '../sqlite/batches.ts';
import { makeTables, open, own, program } from './fixtures.ts';

/** What a database knows that was taken back to an earlier moment, as by a fail-over to a replica that was behind. */
const takeBack = `UPDATE member SET batch = batch - 2;
  DELETE FROM note WHERE name IN ('second', 'third');
  DELETE FROM incident WHERE id = 'acknowledged'`;

describe.skipIf(noPostgres !== null)('a database that lost the last commits of an owner', () => {
  it('gets them again, acknowledgements included, each once', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    const cluster = await open(url);
    const { incarnation, epoch, store } = await own(cluster);
    const acknowledgement = { at: 1, by: 'ana', comment: '', rises: 0, severity: 'warning' } as const;
    await store.commit(batch({ notes: { first: '1' } }));
    await store.commit(batch({ notes: { second: '2' } }));
    const third = batch({
      notes: { third: '3' },
      incidents: [incident('acknowledged', { acknowledgement })],
    });
    await store.commit(third);
    await server.sql(url, takeBack);
    expect((await cluster.look()).batch).toBe(1);
    await expect(store.commit(batch({ notes: { fourth: '4' } }))).rejects.toMatchObject({ kind: 'fenced' });
    const lost = await cluster.takeLost();
    expect(lost.map(({ notes }) => notes)).toEqual([{ second: '2' }, { third: '3' }]);
    const again = cluster.store({ incarnation, epoch }, 1);
    for (const one of lost) await again.commit(one);
    await again.commit(third);
    expect((await cluster.look()).batch).toBe(3);
    expect((await cluster.reader.load()).notes).toMatchObject({ first: '1', second: '2', third: '3' });
    const [acknowledged] = await cluster.reader.incidents({});
    expect(acknowledged?.acknowledgement).toEqual(acknowledgement);
    expect(await cluster.takeLost()).toEqual([]);
  });

  it('says that this daemon does not own the accounts there, and not that another does', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    const { store } = await own(await open(url));
    await store.commit(batch({ notes: { first: '1' } }));
    await server.sql(url, 'UPDATE slot SET epoch = epoch - 1');
    await expect(store.commit(batch({ notes: { second: '2' } }))).rejects.toThrow(
      'this daemon does not own the accounts there; nothing was written',
    );
  });

  it('gets what it lost of more than a day again, as where an older backup was restored', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    let at = noon;
    const cluster = await open(url, { now: () => at });
    const { store } = await own(cluster);
    for (const name of ['first', 'second', 'third']) {
      await store.commit(batch({ notes: { [name]: '1' } }));
      at += dayMs;
    }
    await server.sql(url, takeBack);
    expect((await cluster.takeLost()).map(({ notes }) => notes)).toEqual([{ second: '1' }, { third: '1' }]);
  });

  it('gets nothing again of an incarnation that it forgot with time, since what that stored is there', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    let at = noon;
    const cluster = await open(url, { now: () => at });
    const { incarnation, store } = await own(cluster);
    await store.commit(batch({ notes: { first: '1' } }));
    await server.sql(url, `DELETE FROM member WHERE incarnation = '${incarnation}'`);
    at += 2 * dayMs;
    expect(await cluster.takeLost()).toEqual([]);
  });

  it('gets nothing again of an incarnation that gave the accounts away, and whose process then went on with them', async () => {
    const cluster = await open(await makeTables());
    const { incarnation, store } = await own(cluster);
    await store.commit(batch({ notes: { first: '1' } }));
    await cluster.leave(incarnation);
    expect(await cluster.takeLost()).toEqual([]);
  });

  it('brings no order back that was carried out', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    const cluster = await open(url);
    const { incarnation, epoch, store } = await own(cluster);
    const order = { kind: 'hand-over', at: 1 } as const;
    await cluster.leaveOrder(order);
    expect(await store.takeOrders()).toEqual([order]);
    await store.commit(batch({ notes: { first: '1' } }));
    await server.sql(
      url,
      `INSERT INTO operator_order (no, slot, body) OVERRIDING SYSTEM VALUE VALUES (1, 0, '${JSON.stringify(order)}')`,
    );
    const again = cluster.store({ incarnation, epoch }, 1);
    expect(await again.takeOrders()).toEqual([]);
    await again.commit(batch({ notes: { second: '2' } }));
    expect(await cluster.reader.leftOrders()).toEqual([]);
  });

  it('is claimed again above every epoch that its owner had', async () => {
    const url = await makeTables();
    const server = await sharedPostgres();
    const cluster = await open(url);
    const first = await own(cluster);
    await server.sql(url, 'UPDATE slot SET epoch = 0, incarnation = NULL');
    expect(await cluster.claim(first.incarnation, { above: 7 })).toBe(8);
  });

  it('knows what configurations consist of, once each', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    await cluster.publishConfiguration('one', '{"rules":{}}');
    await cluster.publishConfiguration('one', '{"rules":{}}');
    expect(
      await withSchema(url, program, (database) => findConfigurations(database, ['one', 'two'])),
    ).toEqual(new Map([['one', '{"rules":{}}']]));
  });

  it('says which server it is and which of its histories it goes by', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const { incarnation } = await own(cluster);
    const { origin } = await cluster.renew({
      incarnation,
      node: 'one',
      advertise: null,
      configHash: '',
      status: null,
    });
    expect(origin).toEqual({ system: expect.stringMatching(/^\d+$/), timeline: 1 });
  });
});

test('what was stored again elsewhere is not stored twice on the server that an owner comes back to', () => {
  const recent = new RecentBatches(() => noon);
  const [first, second, third] = ['first', 'second', 'third'].map((name) =>
    batch({ notes: { [name]: '1' } }),
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error('no batches');
  recent.keep({ incarnation: 'here', number: 1, batch: first });
  recent.keep({ incarnation: 'here', number: 2, batch: second });
  // Another server takes over that knows of neither.
  expect(recent.takeLost(new Map([['here', 0]]))).toEqual([first, second]);
  for (const [index, one] of [first, second, third].entries())
    recent.keep({ incarnation: 'there', number: index + 1, batch: one });
  expect(recent.incarnations).toEqual(['there', 'here']);
  expect(recent.takeLost(new Map([['here', 2]]))).toEqual([third]);
});
