import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import { flat } from '../beds.ts';
import { accountState, always, batch, noon, ok, pollsOf, silence } from '../sqlite/batches.ts';
import { holdOpen, makeTables, open, own, storeOf, throughProxy } from './fixtures.ts';

const otp = { account: 'otp', ...always };

describe.skipIf(noPostgres !== null)('a commit', () => {
  it('whose answer was lost is stored once, however often it is sent again', async () => {
    const { proxy, url } = await throughProxy(await makeTables());
    const { store } = await own(await open(url));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    // So many that some are sealed: a tail that is written twice is the same.
    const many = Array.from({ length: 1500 }, (_, nth) => ok(noon + 1 + nth, 2 + nth));
    const lost = batch({ polls: pollsOf('otp', many), accounts: [accountState('otp')] });
    proxy.mode = 'mute';
    expect(await failureWhenBroken(store.commit(lost), proxy)).toMatchObject({ kind: 'unknown' });
    expect(await failureWhenBroken(store.commit(lost), proxy)).toMatchObject({ kind: 'unknown' });
    proxy.mode = 'cut';
    await expect(store.commit(lost)).rejects.toMatchObject({ kind: 'unknown' });
    proxy.mode = 'pass';
    await expect(store.commit(batch({ notes: { a: '1' } }))).rejects.toThrow('the end of one is unknown');
    await store.commit(lost);
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 2000, -1)]) }));
    const values = (await flat(store.readings(otp))).map(({ balances }) => balances.sms);
    expect(values).toEqual([1, ...many.map((_, nth) => 2 + nth), -1]);
  });

  it('whose end was found out is not stored again under the next incarnation', async () => {
    const { proxy, url } = await throughProxy(await makeTables());
    const cluster = await open(url);
    const first = await own(cluster);
    await first.store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    const lost = batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]) });
    proxy.mode = 'mute';
    expect(await failureWhenBroken(first.store.commit(lost), proxy)).toMatchObject({ kind: 'unknown' });
    expect(await failureWhenBroken(first.store.settle(), proxy)).toMatchObject({ kind: 'unknown' });
    proxy.mode = 'pass';
    await first.store.settle();
    await cluster.leave(first.incarnation);
    const { store } = await own(cluster);
    await store.settle();
    await store.commit(lost);
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 2, 3)]) }));
    expect((await flat(store.readings(otp))).map(({ balances }) => balances.sms)).toEqual([1, 2, 3]);
  });

  it('goes on from a number that a person set by hand', async () => {
    const url = await makeTables();
    const { store } = await own(await open(url));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    await (await sharedPostgres()).sql(url, 'UPDATE member SET batch = batch + 7');
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]) }));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 2, 3)]) }));
    expect((await flat(store.readings(otp))).map(({ balances }) => balances.sms)).toEqual([1, 2, 3]);
    expect(store.stored).toBe(10);
  });

  it('that never arrived is stored when it is sent again', async () => {
    const { proxy, url } = await throughProxy(await makeTables());
    const { store } = await own(await open(url));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    const lost = batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]) });
    proxy.mode = 'hang';
    expect(await failureWhenBroken(store.commit(lost), proxy)).toMatchObject({ kind: 'unknown' });
    proxy.mode = 'pass';
    await store.commit(lost);
    expect((await flat(store.readings(otp))).map(({ balances }) => balances.sms)).toEqual([1, 2]);
  });

  it('to a server that says nothing is given up after seconds', async () => {
    const { proxy, url } = await throughProxy(await makeTables());
    const { store } = await own(await open(url));
    proxy.mode = 'hang';
    await expect(store.commit(batch())).rejects.toMatchObject({ kind: 'unknown' });
  });

  it('for which there was no connection was not stored, and says so', async () => {
    const direct = await makeTables();
    const { incarnation, epoch } = await own(await open(direct));
    const { proxy, url } = await throughProxy(direct);
    const store = storeOf(await open(url), { incarnation, epoch });
    proxy.mode = 'cut';
    await expect(store.commit(batch({ notes: { a: '1' } }))).rejects.toMatchObject({ kind: 'other' });
    proxy.mode = 'pass';
    await store.commit(batch({ notes: { a: '2' } }));
    expect((await store.load()).notes).toEqual({ a: '2' });
  });

  it('of an owner that was overtaken is refused, and so is what it deletes', async () => {
    const url = await makeTables();
    const cluster = await open(url);
    const first = await own(cluster);
    await first.store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    await cluster.leave(first.incarnation);
    const second = await own(cluster);
    expect(second.epoch).toBe(first.epoch + 1);
    const late = batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]), notes: { a: '1' } });
    await expect(first.store.commit(late)).rejects.toMatchObject({ kind: 'fenced' });
    await expect(first.store.commit(batch({ polls: pollsOf('new', [ok(noon, 1)]) }))).rejects.toMatchObject({
      kind: 'fenced',
    });
    await expect(first.store.prune(noon + 5)).rejects.toMatchObject({ kind: 'fenced' });
    expect(await flat(second.store.polls(otp))).toHaveLength(1);
    expect((await second.store.load()).notes).toEqual({});
  });

  it('waits for who takes the accounts just then, and is refused', async () => {
    const url = await makeTables();
    const { incarnation, store } = await own(await open(url));
    await store.commit(batch());
    const server = await sharedPostgres();
    const taking = await holdOpen(url, 'BEGIN; UPDATE slot SET epoch = epoch + 1');
    const refused = expect(store.commit(batch({ notes: { a: '1' } }))).rejects.toMatchObject({
      kind: 'fenced',
    });
    await eventually('the commit waits', async () => {
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      return (await server.look(url, waiting)).length > 0;
    });
    await taking.query('COMMIT');
    await refused;
    await taking.end();
    expect((await store.load()).notes).toEqual({});
    expect(await server.sql(url, `SELECT batch FROM member WHERE incarnation = '${incarnation}'`)).toEqual([
      { batch: '1' },
    ]);
  });

  it('that the server did not get to within its limit was not stored', async () => {
    const url = await makeTables();
    const { store } = await own(await open(url));
    await store.commit(batch());
    const locked = await holdOpen(url, 'BEGIN; UPDATE slot SET no = no');
    await expect(store.commit(batch({ notes: { a: '1' } }))).rejects.toMatchObject({ kind: 'busy' });
    await locked.end();
    await store.commit(batch({ notes: { a: '2' } }));
    expect((await store.load()).notes).toEqual({ a: '2' });
  });

  it('of a record that the database refuses stores the others, each once, and sets that one aside', async () => {
    const url = await makeTables();
    const { store } = await own(await open(url));
    const server = await sharedPostgres();
    await server.sql(url, "ALTER TABLE silence ADD CHECK (id <> 'bad')");
    const silences = ['one', 'bad', 'two'].map((id) => silence(id, noon + 1));
    const polls = pollsOf('otp', [ok(noon, 1), ok(noon + 1, 2), ok(noon + 2, 3)]);
    await store.commit(batch({ polls, silences, notes: { a: '1' } }));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 3, 4)]), notes: { b: '\u0000' } }));
    const { notes } = await store.load();
    expect(notes).toEqual({ a: '1' });
    expect((await store.silences(noon)).map(({ id }) => id)).toEqual(['one', 'two']);
    expect((await flat(store.readings(otp))).map(({ balances }) => balances.sms)).toEqual([1, 2, 3, 4]);
    const aside = await server.sql(url, 'SELECT source, body, reason FROM damaged_record ORDER BY no');
    expect(aside).toEqual([
      {
        source: 'silences',
        body: expect.stringContaining('bad'),
        reason: expect.stringContaining('silence_id_check'),
      },
      { source: 'notes', body: '"\\u0000"', reason: expect.stringContaining('22021') },
    ]);
  });

  it('of a record at which a trigger of somebody raises an error stores the others', async () => {
    const url = await makeTables();
    const { store } = await own(await open(url));
    const server = await sharedPostgres();
    await server.sql(
      url,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN IF NEW.id = 'bad' THEN RAISE EXCEPTION 'not here'; END IF; RETURN NEW; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON silence FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await store.commit(batch({ silences: ['one', 'bad'].map((id) => silence(id, noon + 1)) }));
    expect((await store.silences(noon)).map(({ id }) => id)).toEqual(['one']);
    expect(await server.sql(url, 'SELECT source, reason FROM damaged_record')).toEqual([
      { source: 'silences', reason: expect.stringContaining('not here') },
    ]);
  });

  it('that is refused as a whole is a storage failure: nothing of it is given up, and it is stored once it can be', async () => {
    const url = await makeTables();
    const { store } = await own(await open(url));
    const server = await sharedPostgres();
    const polls = pollsOf('otp', [ok(noon, 1)]);
    await store.commit(batch({ polls }));
    await server.sql(url, 'ALTER TABLE member ADD CHECK (batch < 2)');
    const next = batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]), notes: { a: '1' } });
    await expect(store.commit(next)).rejects.toMatchObject({ kind: 'refused' });
    await server.sql(url, 'ALTER TABLE member DROP CONSTRAINT member_batch_check');
    await store.commit(next);
    expect((await flat(store.readings(otp))).map(({ balances }) => balances.sms)).toEqual([1, 2]);
    expect(await server.sql(url, 'SELECT FROM damaged_record')).toEqual([]);
  });

  it('to a server that only reads says so', async () => {
    const url = await makeTables();
    const { incarnation, epoch } = await own(await open(url));
    const server = await sharedPostgres();
    await server.sql(
      url,
      `ALTER DATABASE ${new URL(url.reveal()).pathname.slice(1)} SET default_transaction_read_only = on`,
    );
    const store = storeOf(await open(url), { incarnation, epoch });
    await expect(store.commit(batch())).rejects.toMatchObject({ kind: 'read-only' });
  });
});

/** Breaks the connections once what was sent has surely arrived, if it arrives at all. */
async function failureWhenBroken(sent: Promise<void>, proxy: TcpProxy): Promise<unknown> {
  const failure = sent.catch((error: unknown) => error);
  await pause(100);
  proxy.breakAll();
  return failure;
}

/** Until another session holds the slot. */
