import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Secret } from '../../src/domain/secret.ts';
import { type BuiltProcess, runBuilt, startBuilt } from '../support/built-program.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { listenHttp, okBody, send } from '../support/loopback-provider.ts';
import { noPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

/** What is asked of `/readyz` and of the accounts here. */
interface Answer {
  readonly problems: readonly string[];
  readonly cluster: { readonly role: string };
  readonly accounts: readonly { readonly outcome: string | null }[];
}

const nothing: Answer = { problems: [], cluster: { role: '' }, accounts: [] };

interface Machine {
  readonly origin: string;
  start(): BuiltProcess;
  run(...words: readonly string[]): ReturnType<typeof runBuilt>;
}

async function makeMachine(
  { onTestFinished }: TestContext,
  database: string,
  answers: () => boolean = () => true,
): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-start-'));
  const provider = await listenHttp((_, response) => {
    if (answers()) send(response, { body: okBody, headers: { 'content-type': 'application/json' } });
  });
  onTestFinished(async () => {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const port = await freePort();
  const config = join(folder, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      provider: { baseUrl: provider.url },
      poll: { every: '1s' },
      accounts: [{ id: 'otp', authSecret: 'secret-of-otp-4711' }],
      channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/hook' } },
      server: { port },
      storage: { postgres: { url: `\${env:DATABASE}` } },
      cluster: { node: 'north' },
    }),
  );
  const options = { cwd: folder, env: { DATABASE: database } };
  const words = (command: readonly string[]) => [...command, '--config', config];
  return {
    origin: `http://127.0.0.1:${port}`,
    start() {
      const started = startBuilt(words(['run']), options);
      onTestFinished(async () => {
        started.child.kill('SIGKILL');
        await started.ended;
      });
      return started;
    },
    run: (...command) => runBuilt(words(command), options),
  };
}

let server: PostgresCluster;
let url: Secret;
beforeAll(async () => {
  if (noPostgres !== null) return;
  server = await startPostgres();
  url = await server.createDatabase();
});
afterAll(() => server?.remove());

/** All of them mostly wait. */
const atOnce = { concurrent: true };

describe.skipIf(noPostgres !== null)('a daemon whose database is not there at its start', atOnce, () => {
  it('waits, says that it knows nothing and why, and begins once the database answers', async (context) => {
    const own = await startPostgres();
    context.onTestFinished(() => own.remove());
    const address = await own.createDatabase();
    own.stop('fast');
    const { origin, start, run } = await makeMachine(context, address.reveal());
    const daemon = start();
    const ask = async (path: string): Promise<Answer> =>
      JSON.parse(await (await fetch(origin + path)).text());
    const why = expect.stringContaining('nobody listens at the address of storage.postgres.url');
    await eventually('it says why it is not ready', async () => {
      const { problems = [] } = await ask('/readyz').catch(() => nothing);
      return problems.length > 0;
    });
    expect((await fetch(`${origin}/livez`)).status).toBe(200);
    expect((await fetch(`${origin}/readyz`)).status).toBe(503);
    expect(await ask('/readyz')).toEqual({
      status: 'starting',
      problems: [why],
      polling: 'unknown',
      pollingSince: expect.any(String),
      cluster: {
        role: 'joining',
        node: 'north',
        owner: null,
        epoch: null,
        reachesDatabase: false,
        sameConfiguration: null,
      },
    });
    expect(await ask('/api/v1/accounts')).toMatchObject({
      accounts: [{ id: 'otp', outcome: null, readAt: null }],
    });
    expect((await fetch(`${origin}/api/v1/alerts`)).status).toBe(503);
    const page = await (await fetch(origin)).text();
    expect(page).toContain('Which alerts there are is not known just now');
    expect(page).toContain('nobody listens at the address of storage.postgres.url');
    expect(await (await fetch(`${origin}/metrics`)).text()).toContain('lowwater_owner 0\n');
    expect(await (await fetch(`${origin}/metrics`)).text()).toContain('lowwater_fleet_polling 0\n');
    expect((await run('validate')).code).toBe(0);
    own.start();
    await eventually('it owns the accounts', async () => (await ask('/readyz')).cluster.role === 'owner');
    await eventually('it has polled', async () => {
      const { accounts } = await ask('/api/v1/accounts');
      return accounts[0]?.outcome === 'ok';
    });
    expect(await ask('/readyz')).toMatchObject({ status: 'ok', problems: [], polling: 'this' });
    const lines = daemon.output().stdout.split('\n');
    expect(lines.filter((line) => line.includes('does not answer')).length).toBeLessThanOrEqual(2);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  it('names its database in each answer once it is there, as a daemon on a new one does', async (context) => {
    const proxy = await startTcpProxy(server.port);
    context.onTestFinished(() => proxy.close());
    proxy.mode = 'cut';
    const address = new URL((await server.createDatabase()).reveal());
    address.port = String(proxy.port);
    const { origin, start } = await makeMachine(context, address.href);
    start();
    const name = async () => (await fetch(`${origin}/livez`)).headers.get('lowwater-database');
    const hears = () =>
      name().then(
        () => true,
        () => false,
      );
    await eventually('it listens', hears);
    expect(await name()).toBeNull();
    proxy.mode = 'pass';
    await eventually('it names it', async () => (await name()) !== null);
    expect(await name()).toMatch(/^[0-9a-f]{32}$/);
  });

  it('ends in good order while it waits', async (context) => {
    const database = 'postgres://lowwater:secret@127.0.0.1:1/lowwater';
    const { origin, start } = await makeMachine(context, database);
    const daemon = start();
    await eventually('it listens', () =>
      fetch(origin).then(
        () => true,
        () => false,
      ),
    );
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('ends with an error where the password is wrong, and does not show it', async (context) => {
    const address = new URL(url.reveal());
    address.password = 'sesame-open';
    const { start } = await makeMachine(context, address.href);
    const { code, stderr } = await start().ended;
    expect(code).toBe(1);
    expect(stderr).toContain('refuses the user or password');
    expect(stderr).not.toContain('sesame-open');
  });
});

describe.skipIf(noPostgres !== null)('a daemon whose database says nothing any more', atOnce, () => {
  it('ends soon after SIGTERM, with 0, though a poll hangs as well', async (context) => {
    const database = await server.createDatabase();
    const proxy = await startTcpProxy(server.port);
    context.onTestFinished(() => proxy.close());
    const address = new URL(database.reveal());
    address.port = String(proxy.port);
    let waiting = 0;
    const { origin, start } = await makeMachine(context, address.href, () => {
      if (proxy.mode === 'hang') waiting += 1;
      return proxy.mode === 'pass';
    });
    const daemon = start();
    await eventually('it polls', async () => {
      const answer = await fetch(`${origin}/api/v1/accounts`).catch(() => null);
      const { accounts }: Answer = answer === null ? nothing : JSON.parse(await answer.text());
      return accounts.some(({ outcome }) => outcome === 'ok');
    });
    proxy.mode = 'hang';
    await eventually('a poll hangs', () => waiting > 0);
    const askedAt = performance.now();
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    // Ten seconds, as test/daemon/restart.test.ts counts them, of a busy machine; one that waits for what hangs never ends.
    expect(performance.now() - askedAt).toBeLessThan(30_000);
  });
});
