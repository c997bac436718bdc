import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Secret } from '../../../src/domain/secret.ts';
import type { ClusterStatus, Role } from '../../../src/ports/cluster.ts';
import { openReader, openStore } from '../../../src/store/store.ts';
import { card, makeDatabase, open, own } from '../../store/postgres/fixtures.ts';
import {
  accountState,
  batch,
  incident,
  makePollEveryHour,
  noon,
  pollsOf,
  silent,
} from '../../store/sqlite/batches.ts';
import { type Ended, runBuilt } from '../../support/built-program.ts';
import { buildAccountView } from '../../support/built-views.ts';
import { type CliResult, runCli } from '../../support/cli.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { runFakeServer } from '../../support/web-server.ts';

interface Installation {
  readonly folder: string;
  /** In this process: not every command must cost a start. */
  run(...words: readonly string[]): Promise<CliResult>;
  /** In a process of its own. */
  runBuilt(...words: readonly string[]): Promise<Ended>;
}

/** A configuration whose database is at this address, or a file next to it. `version`: of the commands, where it is not this one's. */
function install(
  url: Secret | string | null,
  server: object | null = null,
  version: { readonly version?: string } = {},
): Installation {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-cluster-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'demo-otp-secret' }],
    channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/hook' } },
    server,
    storage: url === null ? { path: 'lowwater.db' } : { postgres: { url: `\${env:DATABASE}` } },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const env = {
    ...(url === null ? {} : { DATABASE: typeof url === 'string' ? url : url.reveal() }),
    TARGET: '',
  };
  const at = { cwd: folder, env, ...version };
  onTestFinished(() => void vi.unstubAllEnvs());
  return {
    folder,
    run: (...words) => {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
      return runCli(words, at);
    },
    runBuilt: (...words) => runBuilt(words, at),
  };
}

describe('the commands about daemons that share a database', () => {
  it('say so where there is a file', async () => {
    const { run } = install(null);
    for (const command of ['status', 'hand-over'])
      expect(await run('cluster', command)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('storage.postgres.url'),
      });
  });

  it('say that nothing names the database where its address is unset or cannot be read', async () => {
    for (const url of ['', 'http://db.example.com/lowwater', 'postgres://user:a@b:5432:7/lowwater'])
      for (const command of ['status', 'hand-over']) {
        const { code, stderr } = await install(url).run('cluster', command);
        expect(code).toBe(1);
        expect(stderr).toContain('the configuration does not say where the database is');
        expect(stderr).not.toContain('SQLite');
      }
  });

  it('show what a daemon knows while nobody reaches the database, with a word about the rest', async () => {
    const views = new FakeViews();
    views.accountList = [buildAccountView()];
    const { version } = views.daemonStatus;
    const daemon = await runFakeServer({ views });
    onTestFinished(() => daemon.close());
    const { hostname: host, port } = new URL(daemon.url);
    const { run, folder } = install('postgres://nobody@127.0.0.1:9/none', { host, port: Number(port) });
    vi.stubEnv('DATABASE', 'postgres://nobody@127.0.0.1:9/none');
    const at = { cwd: folder, version };
    const shown = await runCli(['status'], at);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('OTP production') });
    expect(shown.stderr).toMatch(/^warning: who owns the accounts is not known: the PostgreSQL database: /m);
    expect(JSON.parse((await runCli(['status', '--json'], at)).stdout)).not.toHaveProperty('cluster');
    expect(await run('cluster', 'status')).toMatchObject({ code: 1, stdout: '' });
  });

  it.skipIf(noPostgres !== null)(
    'name who owns the accounts and who stands by, and whose configuration differs',
    async () => {
      const url = await makeDatabase();
      const cluster = await open(url);
      const { incarnation } = await own(cluster);
      const second = card({ node: 'two', advertise: 'http://10.0.0.2:8080', configHash: 'other' });
      await cluster.join(second);
      const { run, runBuilt } = install(url, null, { version: '1.0.0' });
      const status = await runBuilt('cluster', 'status');
      expect(status).toMatchObject({ code: 0, stderr: '' });
      expect(status.stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toMatchObject([
        ['NODE', 'ROLE', 'CONFIGURATION', 'LEASE', 'PROGRAM', 'ADDRESS'],
        ['one', 'owner (epoch 1)', "as the owner's", expect.any(String), 'lowwater 1.0.0', '-'],
        ['two', 'stands by', "NOT the owner's", expect.any(String), 'lowwater 1.0.0', 'http://10.0.0.2:8080'],
        [''],
      ]);
      const { epoch, owner, members } = JSON.parse((await run('cluster', 'status', '--json')).stdout);
      expect({ epoch, owner }).toEqual({ epoch: 1, owner: 'one' });
      expect(members[1]).toEqual({
        node: 'two',
        role: 'standby',
        advertise: 'http://10.0.0.2:8080',
        program: 'lowwater 1.0.0',
        sameConfiguration: false,
        leaseEndsAt: expect.stringMatching(/Z$/),
      });
      const shown = await run('status');
      expect(shown.stdout.trimEnd().split('\n').at(-1)).toBe(
        'one owns the accounts (epoch 1), two stands by',
      );
      expect(shown.stderr.trimEnd().split('\n')).toEqual([
        'warning: the configuration here is not that of one, which owns the accounts',
        'warning: the configuration of two, which stands by, is not that of one',
      ]);
      expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({
        accounts: [{ id: 'otp' }],
        cluster: { epoch: 1, owner: 'one', members: [{ role: 'owner' }, { role: 'standby' }] },
      });
      await cluster.leave(incarnation);
      expect(await run('cluster', 'status')).toMatchObject({
        code: 1,
        stderr:
          'warning: nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory\n',
      });
      expect(await run('status')).toMatchObject({
        stdout: expect.stringContaining('nobody owns the accounts, two stands by\n'),
        stderr: expect.stringContaining('warning: nobody owns the accounts: nothing is polled, unless'),
      });
      await cluster.leave(second.incarnation);
      // Where the database only reads, those that run are not members either.
      expect((await run('cluster', 'status')).stdout).toBe(
        'No daemon is known to this database: none runs, or none can write to it.\n',
      );
    },
  );

  it.skipIf(noPostgres !== null)(
    'do not say of a file that it differs from that of an owner of another version, with which it cannot be compared',
    async () => {
      const url = await makeDatabase();
      await own(await open(url));
      expect(await install(url).run('status')).toMatchObject({
        stdout: expect.stringContaining('one owns the accounts (epoch 1), nobody stands by'),
        stderr: '',
      });
    },
  );

  it.skipIf(noPostgres !== null)(
    'leave the owner an order to hand over, and wait for the next owner',
    async () => {
      const url = await makeDatabase();
      const cluster = await open(url);
      const { incarnation, store } = await own(cluster);
      const { run, runBuilt } = install(url);
      expect(await run('cluster', 'hand-over')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no other daemon'),
      });
      const next = card({ node: 'two', configHash: 'other' });
      await cluster.join(next);
      await cluster.publishConfiguration('abc', '{"accounts":{"otp":"1","voice":"1"}}');
      await cluster.publishConfiguration('other', '{"accounts":{"otp":"2"}}');
      expect(await run('cluster', 'hand-over')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          'the configuration of two is not that of one (accounts: otp (changed), voice (missing)): give both the same file, or repeat with --force',
        ),
      });
      const waiting = runBuilt('cluster', 'hand-over', '--force');
      while ((await store.takeOrders()).length === 0) {}
      await cluster.leave(incarnation);
      await cluster.claim(next.incarnation);
      expect(await waiting).toMatchObject({ code: 0, stdout: 'one has handed the accounts over to two.\n' });
    },
  );
});

it.skipIf(noPostgres !== null)(
  'an order that a daemon of 0.3.0 would end by is refused where one shares the database, and left for nobody',
  async () => {
    const url = await makeDatabase();
    const cluster = await open(url);
    const { store } = await own(cluster);
    const before = await open(url, { as: 'lowwater 0.3.0' });
    await before.join(card({ node: 'two' }));
    const { run } = install(url);
    const [from, to] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
    const words = ['expect-spending', 'otp', '400', '--from', from ?? '', '--to', to ?? ''];
    expect(await run(...words)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('lowwater 0.3.0 shares the database and does not know this order'),
    });
    expect(await store.takeOrders()).toEqual([]);
  },
);

it('an order that the daemon of a SQLite file would end by is refused while that daemon does not answer, and left for nobody', async () => {
  const { folder, runBuilt: run } = install(null);
  const path = join(folder, 'lowwater.db');
  const before = openStore({ path, log: silent, now: () => noon, program: 'lowwater 0.3.0' });
  const [from, to] = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const expect400 = ['expect-spending', 'otp', '400', '--from', from ?? '', '--to', to ?? ''];
  expect(await run(...expect400)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the accounts are with lowwater 0.3.0, which does not know this order'),
  });
  expect(await before.takeOrders()).toEqual([]);
  expect(await run('silence', 'add', '--account', 'otp', '--for', '1h')).toMatchObject({ code: 0 });
  expect(await before.takeOrders()).toMatchObject([{ kind: 'silence' }]);
  await before.close();
  expect(await run(...expect400)).toMatchObject({ code: 0 });
});

it('migrate-store names --to where nobody listens at the address that stood there', async () => {
  const { folder, run } = install(null);
  openStore({
    path: join(folder, 'lowwater.db'),
    log: silent,
    now: () => noon,
    program: 'lowwater 1',
  }).close();
  const said = await run('migrate-store', '--to', 'postgres://u:p@127.0.0.1:1/d');
  expect(said).toMatchObject({ code: 1, stderr: expect.stringContaining('address of --to') });
  expect(said.stderr).not.toContain('storage.postgres.url');
});

describe.skipIf(noPostgres !== null)('migrate-store', () => {
  it('copies a file into PostgreSQL and back, counts, and shows no password', async () => {
    const here = install(null);
    const path = join(here.folder, 'lowwater.db');
    const store = openStore({ path, log: silent, now: () => noon, program: 'lowwater 1' });
    await store.commit(
      batch({
        polls: pollsOf('otp', makePollEveryHour(noon, 9)),
        accounts: [accountState('otp')],
        incidents: [incident('i')],
      }),
    );
    await store.close();
    const url = await makeDatabase();
    const there = await here.runBuilt('migrate-store', '--to', url.reveal(), '--json');
    expect(there).toMatchObject({ code: 0, stderr: expect.stringContaining('set storage.postgres.url') });
    const { tables } = JSON.parse(there.stdout);
    expect(tables).toContainEqual({ name: 'incident', rows: 1, bytes: expect.any(Number) });
    const again = await here.run('migrate-store', '--to', url.reveal());
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('only into an empty one') });
    const { password } = await sharedPostgres();
    for (const said of [there, again]) expect(said.stdout + said.stderr).not.toContain(password);

    const other = install(url);
    const back = await other.runBuilt('migrate-store', '--to', 'copy.db');
    expect(back).toMatchObject({ code: 0, stderr: expect.stringContaining('set storage.path') });
    const reader = openReader({ path: join(other.folder, 'copy.db'), now: () => noon });
    expect((await reader.load()).incidents).toEqual([incident('i')]);
    await reader.close();
    expect(await other.run('backup', 'b.db')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pg_dump'),
    });
    expect(await other.run('query', 'SELECT 1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('psql'),
    });
    expect(await other.run('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('otp') });
  });

  it('wants to know where', async () => {
    const { run } = install(null);
    expect(await run('migrate-store')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--to is missing'),
    });
    expect(await run('migrate-store', '--to', 'mysql://u:secretword@h/d')).toMatchObject({
      code: 2,
      stderr: expect.not.stringContaining('secretword'),
    });
    expect(await run('migrate-store', '--to', `\${env:NOWHERE}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('NOWHERE'),
    });
  });
});

describe('a check at a daemon that stands by', () => {
  const check = async (account: Parameters<typeof buildAccountView>[0]) => {
    const views = new FakeViews();
    views.accountList = [buildAccountView(account)];
    views.refusal = { refused: 'not-now', why: 'this daemon stands by: two polls the accounts' };
    const server = await runFakeServer({ views });
    onTestFinished(() => server.close());
    const { folder } = install(null);
    const { version } = views.daemonStatus;
    return runCli(['check', '--server', server.url], { cwd: folder, version });
  };

  it('knows what the owner has read just now, and says who polls', async () => {
    const { code, stdout } = await check({ isRead: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^OK: 1 of 1 account fine \| 'otp sms'=/);
    expect(stdout).toContain('not asked: this daemon stands by: two polls the accounts');
  });

  it.each([{ isRead: false }, { isRead: true, backoffUntil: noon }])(
    'knows nothing of an account of which that is not so: %j',
    async (account) => {
      const { code, stdout } = await check(account);
      expect(code).toBe(3);
      expect(stdout).toMatch(/^UNKNOWN: otp: not asked; 0 of 1 account fine\n/);
    },
  );
});

describe('an order to a daemon that shares its database', () => {
  const order = async (role: Role) => {
    const views = new FakeViews();
    const cluster: ClusterStatus = {
      role,
      polling: { who: 'other', node: 'two', since: noon },
      ...{ ready: true, node: 'one', owner: null, epoch: 1, takeovers: 0, reachesDatabase: true },
      ...{ origin: null, sameConfiguration: true, problems: [], alerts: [], undecided: [] },
    };
    views.daemonStatus = { ...views.daemonStatus, cluster };
    const server = await runFakeServer({ views });
    onTestFinished(() => server.close());
    const { run } = install(null);
    const words = ['silence', 'add', '--everything', '--for', '1h', '--server', server.url];
    const { stdout } = await run(...words, '--json');
    return { json: JSON.parse(stdout), said: (await run(...words)).stdout };
  };

  it('is in force where that one owns the accounts', async () => {
    const { json, said } = await order('owner');
    expect(json).toMatchObject({ inForce: true });
    expect(said).not.toContain('in the database');
  });

  it('is not yet where that one stands by', async () => {
    const { json, said } = await order('standby');
    expect(json).toMatchObject({ inForce: false });
    expect(said).toContain('stands by: the order is in the database');
  });
});
