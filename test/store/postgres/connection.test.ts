import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { openDatabase } from '../../../src/store/postgres/connection.ts';
import { issueCertificate } from '../../support/certificates.ts';
import { leadNowhere } from '../../support/deaf-listener.ts';
import { eventually } from '../../support/eventually.ts';
import { noPostgres, sharedPostgres, startPostgres } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { batch } from '../sqlite/batches.ts';
import { card, makeDatabase, open } from './fixtures.ts';

const backends = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'lowwater'";

describe.skipIf(noPostgres !== null)('connections', () => {
  it('are seven at most while a synchronous standby is dead, leases are renewed, and what is committed is stored once', {
    timeout: 300_000,
  }, async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const url = await server.createDatabase();
    const cluster = await open(url, { leaseMs: 8000 });
    const member = card();
    await cluster.join(member);
    const epoch = (await cluster.claim(member.incarnation)) ?? 0;
    const store = cluster.store({ incarnation: member.incarnation, epoch });
    await server.sql(url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await server.sql(url, 'SELECT pg_reload_conf()');
    const counts: number[] = [];
    const next = batch({ notes: { number: '1' } });
    const commit = () =>
      store.commit(next).then(
        () => null,
        (error: unknown) => error,
      );
    const look = async (): Promise<void> => {
      // The commit that waits holds the member's row as long as a renewal may take: where that ends first it asks again, as a membership does.
      const { renewed } = await cluster.renew(member).catch(() => cluster.renew(member));
      expect(renewed).toBe(true);
      counts.push(Number((await server.sql(url, backends))[0]?.count));
    };
    for (let time = 1; time <= 4; time += 1) {
      const [failure] = await Promise.all([commit(), look(), look()]);
      expect(failure).toMatchObject({ kind: 'unknown' });
    }
    await server.sql(url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await server.sql(url, 'SELECT pg_reload_conf()');
    expect(await commit()).toBe(null);
    expect(Math.max(...counts)).toBeLessThanOrEqual(7);
    expect((await cluster.look()).batch).toBe(1);
    await eventually(
      'what was given up is gone',
      async () =>
        (await server.sql(url, "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length === 0,
    );
    await cluster.close();
  });

  it('are made again whenever one of several who ask at once finds that its server takes no writes', async () => {
    const database = openDatabase({ url: await makeDatabase() });
    onTestFinished(() => database.close());
    for (let turns = 0; turns < 12; turns += 1) {
      const begun = Promise.withResolvers<void>();
      const refused = Promise.withResolvers<void>();
      const failing = database.snapshot(async () => {
        begun.resolve();
        await refused.promise;
        throw new StorageError('read-only', 'simulated: the server only reads');
      });
      const failed = expect(failing).rejects.toThrow('only reads');
      await begun.promise;
      refused.resolve();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await database.ask('SELECT 1').catch((error: unknown) => expect(error).toBeInstanceOf(StorageError));
      await failed;
    }
    expect(await database.ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('fail with the name of the certificate file that cannot be read for a moment, and are made again once it can', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lowwater-ca-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'authority.pem');
    writeFileSync(file, '');
    const url = new URL((await makeDatabase()).reveal());
    const { password } = url;
    // Read even where TLS is not used.
    url.search = `?sslmode=disable&sslrootcert=${file}`;
    const database = openDatabase({ url: new Secret(url.href) });
    onTestFinished(() => database.close());
    const ask = () => database.ask('SELECT 1 AS one').catch((error: unknown) => error);
    expect(await ask()).toEqual([{ one: 1 }]);
    rmSync(file);
    // The first has the open connection, the others need new ones; and then all do.
    const failures = (await Promise.all([ask(), ask(), ask()])).slice(1);
    failures.push(
      await openDatabase({ url: new Secret(url.href) })
        .ask('SELECT 1')
        .catch((error) => error),
    );
    for (const failure of failures) {
      expect(failure).toMatchObject({ name: 'StorageError', kind: 'unfit' });
      expect(String(failure)).toContain(`the file ${file} (sslrootcert, sslcert or sslkey)`);
      expect(inspect(failure, { depth: 9 })).not.toContain(password);
    }
    mkdirSync(file);
    expect(
      String(
        await openDatabase({ url: new Secret(url.href) })
          .ask('SELECT 1')
          .catch((error) => error),
      ),
    ).toContain('a directory in place of a file');
    rmSync(file, { recursive: true });
    writeFileSync(file, '');
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]]);
  });

  it('lead to one server, though the first lives on when the address leads to another, or when it is started again', async () => {
    const [former, next] = await Promise.all([startPostgres(), startPostgres()]);
    const proxy = await startTcpProxy(former.port);
    onTestFinished(async () => {
      await proxy.close();
      former.remove();
      next.remove();
    });
    const url = new URL((await former.createDatabase()).reveal());
    await next.createDatabase();
    url.port = String(proxy.port);
    const database = openDatabase({ url: new Secret(url.href) });
    onTestFinished(() => database.close());
    const text = "SELECT current_setting('port')::int AS port";
    const ports = async () => (await Promise.all([database.ask(text), database.change(text)])).flat();
    expect(await database.ask(text)).toEqual([{ port: former.port }]);
    proxy.target = next.port;
    await expect(database.change(text)).rejects.toThrow('leads to another server now');
    expect(await ports()).toEqual([{ port: next.port }, { port: next.port }]);
    next.stop('fast');
    next.start();
    await eventually('connections that broke are noticed', () =>
      ports().then(
        () => true,
        () => false,
      ),
    );
    expect(await ports()).toEqual([{ port: next.port }, { port: next.port }]);
  });

  it('are let in where the server keeps to itself when it was started', async () => {
    const server = await sharedPostgres();
    const url = await server.createDatabase();
    await server.sql(url, 'REVOKE EXECUTE ON FUNCTION pg_postmaster_start_time FROM public');
    await server.sql(url, "CREATE ROLE uninformed LOGIN PASSWORD 'word'");
    const address = Object.assign(new URL(url.reveal()), { username: 'uninformed', password: 'word' });
    const database = openDatabase({ url: new Secret(address.href) });
    onTestFinished(() => database.close());
    const asked = await Promise.all([database.ask('SELECT 1 AS one'), database.change('SELECT 1 AS one')]);
    expect(asked.flat()).toEqual([{ one: 1 }, { one: 1 }]);
  });

  it('are not counted twice when what was given up is cancelled', async () => {
    const url = await makeDatabase();
    const server = await sharedPostgres();
    const database = openDatabase({ url });
    onTestFinished(() => database.close());
    // A limit of the session's own would end it first.
    const asleep = Array.from({ length: 3 }, () =>
      database
        .change("SELECT set_config('statement_timeout', '0', false), pg_sleep(30)")
        .catch((error) => error),
    );
    for (const failure of await Promise.all(asleep)) expect(failure).toBeInstanceOf(StorageError);
    await eventually(
      'the server sleeps no more',
      async () =>
        (await server.sql(url, "SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).length === 0,
    );
    expect(await database.change('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('go to the first of several hosts that takes writes, whether the address asks for that or not, and to the next when it breaks', {
    timeout: 300_000,
  }, async () => {
    const reading = await startPostgres({ default_transaction_read_only: 'on' });
    onTestFinished(() => reading.remove());
    const writing = await sharedPostgres();
    const proxies = [await startTcpProxy(writing.port), await startTcpProxy(writing.port)];
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const user = `postgres://lowwater:${encodeURIComponent(writing.password)}@`;
    const hosts = [1, reading.port, ...proxies.map(({ port }) => port)]
      .map((port) => `127.0.0.1:${port}`)
      .join(',');
    const database = openDatabase({
      url: new Secret(`${user}${hosts}/postgres?target_session_attrs=read-write`),
    });
    onTestFinished(() => database.close());
    const where = "SELECT current_setting('port') AS port";
    expect(await database.change(where)).toEqual([{ port: String(writing.port) }]);
    if (proxies[0] !== undefined) proxies[0].mode = 'cut';
    await eventually('the next host is asked', () =>
      database.change(where).then(
        () => true,
        () => false,
      ),
    );
    const last = proxies[1]?.port;
    const unasked = openDatabase({
      url: new Secret(`${user}127.0.0.1:${reading.port},127.0.0.1:${last}/postgres`),
    });
    onTestFinished(() => unasked.close());
    expect(await unasked.change(where)).toEqual([{ port: String(writing.port) }]);
    const readable = openDatabase({
      url: new Secret(`${user}127.0.0.1:1,127.0.0.1:${reading.port}/postgres`),
    });
    onTestFinished(() => readable.close());
    expect(await readable.ask(where)).toEqual([{ port: String(reading.port) }]);
    const none = openDatabase({
      url: new Secret(`${user}127.0.0.1:${reading.port}/postgres?target_session_attrs=primary`),
    });
    onTestFinished(() => none.close());
    await expect(none.change(where)).rejects.toMatchObject({
      kind: 'read-only',
      message: expect.stringContaining('no host of storage.postgres.url takes writes'),
    });
  });
});

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const ready = message('Z', Buffer.from('I'));
const signedIn = Buffer.concat([message('R', Buffer.alloc(4)), ready]);
const done = Buffer.concat([message('C', Buffer.from('SELECT 0\0')), ready]);
const fatal = (code: string): Buffer => message('E', Buffer.from(`SFATAL\0C${code}\0Mit says no more\0\0`));

/** A server that signs in whoever comes and answers nothing; `end` says for the nth connection how that ends instead. Its port, and who came. */
async function startSilentServer(
  end: (nth: number) => Buffer | null,
  secure?: { readonly key: string; readonly cert: string },
): Promise<{ readonly port: number; readonly came: () => number }> {
  let connections = 0;
  const serve = (socket: Socket): void => {
    connections += 1;
    const ended = end(connections);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (ended !== null) return void socket.end(ended);
      socket.write(signedIn);
      socket.on('data', (bytes) => bytes[0] === 'Q'.charCodeAt(0) && socket.write(done));
    });
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (secure === undefined) serve(socket);
    else
      socket.once('data', () => {
        socket.write('S');
        serve(new TLSSocket(socket, { isServer: true, ...secure }));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, came: () => connections };
}

it('a server that ends a connection in the packet that ends the sign-in is an error like any other', async () => {
  const { port, came } = await startSilentServer((nth) =>
    nth === 1 ? null : Buffer.concat([signedIn, fatal('57P01')]),
  );
  const database = openDatabase({ url: new Secret(`postgres://u:p@127.0.0.1:${port}/db`) });
  onTestFinished(() => database.close());
  await expect(database.change('SELECT 1')).rejects.toBeInstanceOf(StorageError);
  expect(came()).toBe(2);
});

it('of several hosts the next one is asked where that in use is back and recovers from its crash', async () => {
  const crashed = await startSilentServer((nth) => (nth === 1 ? null : fatal('57P03')));
  const promoted = await startSilentServer(() => null);
  const hosts = [crashed, promoted].map(({ port }) => `127.0.0.1:${port}`).join(',');
  const database = openDatabase({ url: new Secret(`postgres://u:p@${hosts}/db`) });
  onTestFinished(() => database.close());
  await expect(database.change('SELECT 1')).rejects.toThrow('starting or ending');
  expect(await database.change('SELECT 1')).toEqual([]);
});

it('of several hosts the next one is asked where the certificate of the first has expired', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-hosts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const issuer = issueCertificate({ name: 'authority', authority: true });
  writeFileSync(join(folder, 'ca.pem'), issuer.cert);
  const name = { name: 'server', hosts: ['127.0.0.1'], issuer };
  const expired = issueCertificate({ ...name, notAfter: new Date('2021-01-01') });
  const servers = [expired, issueCertificate(name)].map((its) => startSilentServer(() => null, its));
  const hosts = (await Promise.all(servers)).map(({ port }) => `127.0.0.1:${port}`).join(',');
  const query = `sslmode=verify-full&sslrootcert=${join(folder, 'ca.pem')}`;
  const database = openDatabase({ url: new Secret(`postgres://u:p@${hosts}/db?${query}`) });
  onTestFinished(() => database.close());
  expect(await database.change('SELECT 1')).toEqual([]);
});

it('of several addresses of one host the next one is asked while there is time for others', async () => {
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  await once(server.listen(0, '::1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await leadNowhere(port);
  const database = openDatabase({ url: new Secret(`postgres://u:p@db.localhost:${port}/db`) });
  onTestFinished(() => database.close());
  const began = performance.now();
  const failed = database.change('SELECT 1').catch((error: unknown) => error);
  await once(server, 'connection');
  expect(performance.now() - began).toBeLessThan(2900);
  expect(await failed).toBeInstanceOf(StorageError);
});
