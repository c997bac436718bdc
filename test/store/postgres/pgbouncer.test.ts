import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { openCluster } from '../../../src/store/postgres/open-cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { noPostgres, serverUser, sharedPostgres } from '../../support/postgres.ts';
import { flat } from '../beds.ts';
import { accountState, always, batch, makePollEveryHour, noon, pollsOf, silent } from '../sqlite/batches.ts';
import { makeDatabase, own, program } from './fixtures.ts';

const places = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];
const pgbouncer = places.find((place) => existsSync(place));

/** With two connections for all of its clients, and as strict about settings as it is by itself. */
async function throughPgBouncer(
  direct: Secret,
  mode: 'transaction' | 'statement' = 'transaction',
): Promise<Secret> {
  const server = await sharedPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-pgbouncer-'));
  const port = await freePort();
  writeFileSync(join(folder, 'users'), `"lowwater" "${server.password}"\n`);
  writeFileSync(
    join(folder, 'ini'),
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users')}
pool_mode = ${mode}
default_pool_size = 2
`,
  );
  const user = serverUser();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const child = spawn(pgbouncer ?? '', ['-q', join(folder, 'ini')], { stdio: 'ignore', ...user });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await eventually('PgBouncer listens', () => canConnect(port));
  const url = new URL(direct.reveal());
  url.port = String(port);
  return new Secret(url.href);
}

describe.skipIf(noPostgres !== null || pgbouncer === undefined)('behind PgBouncer', () => {
  it('a setting of the role that statements count on is refused by name', async () => {
    const direct = await makeDatabase();
    const name = new URL(direct.reveal()).pathname.slice(1);
    await (await sharedPostgres()).sql(direct, `ALTER DATABASE ${name} SET array_nulls = off`);
    const url = await throughPgBouncer(direct);
    const cluster = openCluster({ url, leaseMs: 60_000, log: silent, now: () => noon, program });
    await expect(cluster.open()).rejects.toThrow("array_nulls is 'off'");
    await cluster.close();
  });

  it.each([
    ['a wrong password', (url: URL) => (url.password = 'sesame-open'), 'refuses the user or password'],
    ['a database that is not there', (url: URL) => (url.pathname = '/nowhere'), 'does not exist'],
  ])('%s is named as the server itself names it, and ends a start', async (_what, change, advice) => {
    const url = new URL((await throughPgBouncer(await makeDatabase())).reveal());
    change(url);
    const address = new Secret(url.href);
    const cluster = openCluster({ url: address, leaseMs: 60_000, log: silent, now: () => noon, program });
    await expect(cluster.open()).rejects.toMatchObject({
      kind: 'unfit',
      message: expect.stringContaining(advice),
    });
    await cluster.close();
  });

  it('is named as what is needed where it lends a connection for one statement alone, and ends a start', async () => {
    const url = await throughPgBouncer(await makeDatabase(), 'statement');
    const cluster = openCluster({ url, leaseMs: 60_000, log: silent, now: () => noon, program });
    await expect(cluster.open()).rejects.toMatchObject({
      kind: 'unfit',
      message: expect.stringContaining('set its pool_mode to transaction'),
    });
    await cluster.close();
  });

  it('everything works, and what it keeps from the server is reported', async () => {
    const url = await throughPgBouncer(await makeDatabase());
    const warned: string[] = [];
    const log = { ...silent, warn: (_fields: object, message: string) => void warned.push(message) };
    const clusters = [0, 1, 2].map(() =>
      openCluster({ url, leaseMs: 60_000, log, now: () => noon, program }),
    );
    await Promise.all(clusters.map((each) => each.open()));
    const [cluster] = clusters;
    if (cluster === undefined) throw new Error('three were opened');
    const { store, incarnation } = await own(cluster);
    const polls = makePollEveryHour(noon, 100);
    await store.commit(batch({ polls: pollsOf('otp', polls), accounts: [accountState('otp')] }));
    await Promise.all(
      clusters.flatMap(({ reader }) => [
        expect(flat(reader.polls({ account: 'otp', ...always }))).resolves.toEqual(polls),
        expect(reader.load()).resolves.toMatchObject({ accounts: [accountState('otp')] }),
      ]),
    );
    while (await store.prune(noon + 1)) {}
    expect((await cluster.look()).owner).toBe(incarnation);
    expect(warned[0]).toMatch(/ALTER ROLE … SET statement_timeout/);
    await Promise.all(clusters.map((each) => each.close()));
  });
});

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
