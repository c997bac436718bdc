import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Secret } from '../../../src/domain/secret.ts';
import { openDatabase } from '../../../src/store/postgres/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { batch } from '../sqlite/batches.ts';
import { card, makeTables, open, own } from './fixtures.ts';

/** All leases are over, as if so much time had passed. */
async function endLeases(url: Secret): Promise<void> {
  await (await sharedPostgres()).sql(url, 'UPDATE member SET expires_at = clock_timestamp()');
}

describe.skipIf(noPostgres !== null)('the accounts', () => {
  it('are taken by one of many who try at once, and the epoch grows by one', async () => {
    const url = await makeTables();
    const clusters = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    const cards = clusters.map((_, index) => card({ node: `n${index}` }));
    await Promise.all(clusters.map((cluster, index) => cluster.join(cards[index] ?? card())));
    const epochs = await Promise.all(
      clusters.map((cluster, index) => cluster.claim(cards[index]?.incarnation ?? '')),
    );
    expect(epochs.filter((epoch) => epoch !== null)).toEqual([1]);
    const { owner, epoch, members } = (await clusters[0]?.look()) ?? { owner: '', epoch: 0, members: [] };
    expect(epoch).toBe(1);
    expect(owner).toBe(cards[epochs.indexOf(1)]?.incarnation);
    expect(members.map(({ node }) => node)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
  });

  it('stay with an owner whose lease is not over', async () => {
    const cluster = await open(await makeTables());
    const { incarnation } = await own(cluster);
    const other = card();
    await cluster.join(other);
    expect(await cluster.claim(other.incarnation)).toBeNull();
    expect((await cluster.look()).owner).toBe(incarnation);
  });

  it.each(['no JSON', '7', '{"process":5}'])(
    'are seen by all next to a member whose status is %s',
    async (status) => {
      const url = await makeTables();
      const cluster = await open(url);
      const { incarnation } = await own(cluster);
      const { sql } = await sharedPostgres();
      await sql(url, `INSERT INTO member SELECT 'x', 'two', NULL, 'y', 'z', expires_at, 0 FROM member`);
      await sql(url, `INSERT INTO member_status VALUES ('x', '${status}')`);
      const { owner, members } = await cluster.look();
      expect(owner).toBe(incarnation);
      expect(members.map(({ node, status: read }) => [node, read])).toEqual([
        ['one', null],
        ['two', null],
      ]);
    },
  );

  it('are a database that does not fit where the row that says whose they are is missing, as in a copy of its tables alone', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    await own(cluster);
    await (await sharedPostgres()).sql(url, 'DELETE FROM slot');
    await expect(cluster.look()).rejects.toMatchObject({
      kind: 'unfit',
      message: expect.stringMatching(/table slot .* restore a backup/),
    });
  });

  it('are free once the lease of their owner is over, and the owner cannot bring it back', async () => {
    const url = await makeTables();
    const short = await open(url);
    const mine = card();
    await short.join(mine);
    expect(await short.claim(mine.incarnation)).toBe(1);
    expect((await short.renew(mine)).renewed).toBe(true);
    await endLeases(url);
    const seen = await short.renew(mine);
    expect(seen).toMatchObject({ renewed: false, owner: null, epoch: 1 });
    expect(await short.claim(mine.incarnation)).toBeNull();
    const heir = card();
    await short.join(heir);
    expect(await short.claim(heir.incarnation)).toBe(2);
    expect((await short.renew(mine)).renewed).toBe(false);
  });

  it('are free at once when their owner leaves', async () => {
    const cluster = await open(await makeTables());
    const first = await own(cluster);
    await cluster.leave(first.incarnation);
    await cluster.leave(first.incarnation);
    expect(await cluster.look()).toMatchObject({ owner: null, members: [] });
    expect((await own(cluster)).epoch).toBe(2);
  });

  it('are taken with a condition only where nobody had them since', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const first = await own(cluster);
    await endLeases(url);
    const again = card();
    await cluster.join(again);
    expect(await cluster.claim(again.incarnation, { after: first.epoch - 1 })).toBeNull();
    expect(await cluster.claim(again.incarnation, { after: first.epoch + 1 })).toBeNull();
    expect(await cluster.claim(again.incarnation, { after: first.epoch })).toBe(first.epoch + 1);
  });

  it('are taken though the lease of their owner goes on, where that has not grown since it was seen', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const owner = card();
    await cluster.join(owner);
    await cluster.claim(owner.incarnation);
    const other = card();
    await cluster.join(other);
    const [seen] = (await cluster.look()).members.filter(
      (member) => member.incarnation === owner.incarnation,
    );
    await cluster.renew(owner);
    const overdue = seen?.expiresAt;
    expect(await cluster.claim(other.incarnation, { overdue })).toBeNull();
    const [now] = (await cluster.look()).members.filter((member) => member.incarnation === owner.incarnation);
    expect(await cluster.claim(other.incarnation, { overdue: now?.expiresAt })).toBe(2);
  });

  it('are given away together with the orders to do so, and no other order', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const { incarnation } = await own(cluster);
    for (const at of [1, 2]) await cluster.leaveOrder({ kind: 'hand-over', at, epoch: 1 });
    await cluster.leaveOrder({ kind: 'expire', id: 'one', at: 3 });
    await cluster.leave(incarnation);
    expect(await cluster.reader.leftOrders()).toEqual([{ kind: 'expire', id: 'one', at: 3 }]);
  });

  it('are free once what died with a lock on them is ended, after a lease and not before', async () => {
    const url = await makeTables();
    const cluster = await open(url, { leaseMs: 1500 });
    const member = card();
    await cluster.join(member);
    const dead = new Client({ connectionString: url.reveal(), application_name: 'lowwater' });
    dead.on('error', () => undefined);
    onTestFinished(() => dead.end());
    await dead.connect();
    await dead.query('BEGIN');
    await dead.query('SELECT no FROM slot FOR SHARE');
    await cluster.endStuck();
    expect(await cluster.claim(member.incarnation)).toBeNull();
    await eventually('the dead one is ended', async () => {
      await cluster.renew(member);
      await cluster.endStuck();
      return (await cluster.claim(member.incarnation)) !== null;
    });
  });

  it('are not waited for while their owner writes', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    await own(cluster);
    await endLeases(url);
    const heir = card();
    await cluster.join(heir);
    const writer = openDatabase({ url });
    await writer.transaction(async (ask) => {
      await ask('SELECT FROM slot FOR SHARE');
      expect(await cluster.claim(heir.incarnation)).toBeNull();
    });
    await writer.close();
    expect(await cluster.claim(heir.incarnation)).toBe(2);
  });

  it('can still be written by an owner whose lease is over, as long as nobody took them', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const { store } = await own(cluster);
    await endLeases(url);
    await store.commit(batch({ notes: { a: '1' } }));
    expect((await store.load()).notes).toEqual({ a: '1' });
  });
});

describe.skipIf(noPostgres !== null)('a member', () => {
  it('says what it is, and again with each renewal', async () => {
    const cluster = await open(await makeTables());
    const mine = card({ node: 'north', advertise: 'http://10.0.0.1:8080' });
    await cluster.join(mine);
    const { members, databaseNow } = await cluster.renew({ ...mine, configHash: 'other' });
    expect(members).toEqual([
      { ...mine, configHash: 'other', program: 'lowwater 1.0.0', expiresAt: expect.any(Number) },
    ]);
    expect((members[0]?.expiresAt ?? 0) - databaseNow).toBeGreaterThan(50_000);
    expect(Math.abs(databaseNow - Date.now())).toBeLessThan(5000);
  });

  it('whose lease is over is nobody', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    await cluster.join(card());
    await endLeases(url);
    expect((await cluster.look()).members).toEqual([]);
  });
});
