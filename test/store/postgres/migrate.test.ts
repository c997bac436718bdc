import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresMigrations, readMigrations } from '../../../src/store/migrations.ts';
import { openDatabase } from '../../../src/store/postgres/connection.ts';
import { migrate } from '../../../src/store/postgres/migrate.ts';
import { openCluster } from '../../../src/store/postgres/open-cluster.ts';
import { openPostgresReader } from '../../../src/store/postgres/reader.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { noon, silent } from '../sqlite/batches.ts';
import { holdOpen, makeDatabase, open, program } from './fixtures.ts';

const shipped = readMigrations(postgresMigrations);
const next = {
  number: shipped.length + 1,
  name: 'later.sql',
  sql: 'CREATE TABLE later (no integer)',
  checksum: 'x',
};

async function openWith(
  url: Awaited<ReturnType<typeof makeDatabase>>,
  migrations = shipped,
  by = program,
): Promise<void> {
  const cluster = openCluster({
    url,
    leaseMs: 1000,
    log: silent,
    now: () => noon,
    program: by,
    migrations,
  });
  await cluster.open().finally(() => cluster.close());
}

describe.skipIf(noPostgres !== null)('the schema', () => {
  it('is made once, whoever starts at the same time', async () => {
    const url = await makeDatabase();
    await Promise.all(Array.from({ length: 6 }, () => openWith(url)));
    const server = await sharedPostgres();
    const steps =
      'SELECT number, name, program FROM migration WHERE number = 1 UNION ALL SELECT number, name, program FROM schema_step ORDER BY number';
    expect(await server.sql(url, steps)).toEqual(
      shipped.map(({ number, name }) => ({ number, name, program })),
    );
    expect(await server.sql(url, 'SELECT no, epoch FROM slot')).toEqual([{ no: 0, epoch: '0' }]);
  });

  it('is made by a daemon that finds no table yet but the type of one that another daemon makes', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    const database = openDatabase({ url });
    onTestFinished(() => database.close());
    await server.sql(url, "CREATE TYPE migration AS ENUM ('half')");
    const transaction: typeof database.transaction = (work) =>
      database.transaction(work).catch(async (error: unknown) => {
        await server.sql(url, 'DROP TYPE migration');
        throw error;
      });
    await migrate({ database: { ...database, transaction }, program, now: noon });
    expect(await server.sql(url, 'SELECT no FROM slot')).toEqual([{ no: 0 }]);
  });

  it('is brought up to date, and then refused by an older program', async () => {
    const url = await makeDatabase();
    await openWith(url);
    await openWith(url, [...shipped, next]);
    await expect(openWith(url)).rejects.toThrow(
      `has schema ${next.number} (made by ${program}), newer than schema ${shipped.length} of ${program}`,
    );
  });

  it('is still used by the program of the minor version before, where a newer one only added to it', async () => {
    const url = await makeDatabase();
    await openWith(url);
    const added = { ...next, sql: `-- oldest program: 1.0\n${next.sql}` };
    await openWith(url, [...shipped, added]);
    await openWith(url);
    const reader = await openPostgresReader({ url, program });
    await reader.close();
    await expect(openPostgresReader({ url, program: 'lowwater 0.9.0' })).rejects.toThrow('newer than schema');
  });

  it('counts as it always did for 0.2.0 where 0.2.0 made it, and shuts it out where it could not read the runs', async () => {
    const server = await sharedPostgres();
    const upgraded = await makeDatabase();
    await openWith(upgraded, shipped.slice(0, 1), 'lowwater 0.2.0');
    await openWith(upgraded);
    expect(await server.sql(upgraded, 'SELECT number FROM migration')).toEqual([{ number: 1 }]);
    const fresh = await makeDatabase();
    await openWith(fresh);
    expect(await server.sql(fresh, 'SELECT number FROM migration ORDER BY number')).toEqual([
      { number: 1 },
      { number: 2 },
    ]);
    await openWith(fresh);
  });

  it('is added to while somebody reads every table, as pg_dump does', async () => {
    const url = await makeDatabase();
    await openWith(url, shipped.slice(0, 1));
    const reading = await holdOpen(
      url,
      'BEGIN; LOCK TABLE migration, slot, member, account IN ACCESS SHARE MODE',
    );
    await openWith(url);
    await reading.end();
  });

  it('waits for a lock so shortly that a statement behind it is not held up, and is tried again', async () => {
    const url = await makeDatabase();
    await openWith(url);
    const reading = await holdOpen(url, 'BEGIN; LOCK TABLE account IN ACCESS SHARE MODE');
    const altering = { ...next, sql: 'ALTER TABLE account ADD COLUMN later integer' };
    const refused = openWith(url, [...shipped, altering]).catch((error: unknown) => error);
    const server = await sharedPostgres();
    const startedAt = performance.now();
    await server.sql(url, 'SELECT count(*) FROM account');
    expect(performance.now() - startedAt).toBeLessThan(9000);
    expect(await refused).toMatchObject({ kind: 'busy' });
    await reading.end();
    await openWith(url, [...shipped, altering]);
  });

  it('is before or after a migration that fails', async () => {
    const url = await makeDatabase();
    await openWith(url);
    const broken = { ...next, sql: 'CREATE TABLE later (no integer); SELECT 1 / 0' };
    await expect(openWith(url, [...shipped, broken])).rejects.toThrow('division by zero');
    const server = await sharedPostgres();
    expect(await server.sql(url, "SELECT to_regclass('later') AS later")).toEqual([{ later: null }]);
    await openWith(url);
  });

  it('made from migrations that were edited since is refused', async () => {
    const url = await makeDatabase();
    await openWith(url);
    const edited = shipped.map((migration) => ({ ...migration, checksum: 'edited' }));
    await expect(openWith(url, edited)).rejects.toThrow('migration 1 (0001-first.sql) is not the one');
  });

  it('is not mixed with tables of another program', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    await server.sql(url, 'CREATE TABLE account (name text)');
    await expect(openWith(url)).rejects.toThrow('holds tables of another program');
    expect(await server.sql(url, "SELECT to_regclass('slot') AS slot")).toEqual([{ slot: null }]);
  });

  it('is asked for in a database that can hold every character', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    await server.sql(
      url,
      "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    const latin = new URL(url.reveal());
    latin.pathname = '/latin';
    const { Secret } = await import('../../../src/domain/secret.ts');
    await expect(openWith(new Secret(latin.href))).rejects.toThrow("create it with ENCODING 'UTF8'");
  });

  it('is asked for by who only reads', async () => {
    const url = await makeDatabase();
    await expect(openPostgresReader({ url, program })).rejects.toThrow(
      'holds nothing yet: `lowwater run` makes its tables',
    );
    await open(url);
    const reader = await openPostgresReader({ url, program });
    await reader.close();
  });
});
