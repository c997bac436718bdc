import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Secret } from '../../src/domain/secret.ts';
import { dayMs } from '../../src/domain/time.ts';
import type { StoreFile } from '../../src/ports/store.ts';
import { openPostgresReader } from '../../src/store/postgres/reader.ts';
import { openReader } from '../../src/store/store.ts';
import { type BuiltProcess, builtMain, type Ended, startNode } from '../support/built-program.ts';
import { startLedgerProvider } from '../support/cluster/ledger-provider.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { noPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts';
import { buildProgramBefore, noProgramBefore } from '../support/program-before.ts';

const account = 'otp';

interface Installation {
  readonly folder: string;
  readonly said: () => ReadonlySet<number>;
  /** Starts a daemon: a program by its entry point, under a name of its own. */
  start(main: string, node: string): Promise<BuiltProcess>;
  run(main: string, ...words: readonly string[]): Promise<Ended>;
  /** The role that the daemon of this name says that it has; null while it does not answer. */
  role(node: string): Promise<string | null>;
  /** Waits until so many further answers of the provider were given. */
  untilPolled(times: number): Promise<void>;
}

async function install({ onTestFinished }: TestContext, storage: object): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-rolling-'));
  const provider = await startLedgerProvider(1000);
  onTestFinished(async () => {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ports = new Map<string, number>();
  const write = (node: string, port: number): string => {
    const file = join(folder, `${node}.json`);
    const config = {
      provider: { baseUrl: provider.url, maxRequestsPerSecond: 20 },
      poll: { every: '1s' },
      accounts: [{ id: account, authSecret: 'secret-of-otp-4711' }],
      channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/hook' } },
      server: { port },
      storage,
      ...('postgres' in storage ? { cluster: { node, lease: '6s' } } : {}),
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  };
  const started: BuiltProcess[] = [];
  onTestFinished(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
  });
  return {
    folder,
    said: () => new Set(provider.said.map(({ micros }) => micros)),
    async start(main, node) {
      const port = ports.get(node) ?? (await freePort());
      ports.set(node, port);
      const daemon = startNode([main, 'run', '--config', write(node, port)], { cwd: folder });
      started.push(daemon);
      return daemon;
    },
    run: (main, ...words) => startNode([main, ...words, '--config', write('cli', 1)], { cwd: folder }).ended,
    async role(node) {
      const answer = await fetch(`http://127.0.0.1:${ports.get(node)}/readyz`).catch(() => null);
      const body = answer === null ? null : ((await answer.json()) as { cluster?: { role: string } });
      return body?.cluster?.role ?? null;
    },
    async untilPolled(times) {
      const from = provider.said.length;
      await eventually('the account is polled', () => provider.said.length >= from + times);
    },
  };
}

/** What is broken of: each stored reading was said by the provider and stands once, and no more than `lost` are missing. */
async function judge(reader: StoreFile, said: ReadonlySet<number>, lost: number): Promise<readonly string[]> {
  const stored: number[] = [];
  for await (const part of reader.readings({ account, since: 0, until: Number.MAX_SAFE_INTEGER }))
    stored.push(...part.map(({ balances }) => balances.sms ?? 0));
  await reader.close();
  const broken = stored.filter((micros) => !said.has(micros)).map((micros) => `never said: ${micros}`);
  if (new Set(stored).size < stored.length) broken.push('a reading stands twice');
  if (stored.length < said.size - lost)
    broken.push(`${said.size - stored.length} of ${said.size} are missing`);
  return broken;
}

async function end(daemon: BuiltProcess): Promise<void> {
  daemon.child.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

/** All of them mostly wait. */
const atOnce = { concurrent: true };
const why = noProgramBefore === null ? '' : ` (${noProgramBefore})`;

describe.skipIf(noProgramBefore !== null)(`lowwater 0.3.0 and this program${why}`, atOnce, () => {
  let before: string;
  beforeAll(() => {
    before = buildProgramBefore();
  });

  describe.skipIf(noPostgres !== null)('on one PostgreSQL', () => {
    let server: PostgresCluster;
    let url: Secret;
    beforeAll(async () => {
      server = await startPostgres();
      url = await server.createDatabase();
    });
    afterAll(() => server.remove());

    it('roll forward and back: each starts, stands by and owns next to the other, and no reading is lost or doubled', async (context) => {
      const place = await install(context, { postgres: { url: url.reveal() } });
      const until = (node: string, role: string): Promise<unknown> =>
        eventually(`${node} is ${role}`, async () => (await place.role(node)) === role);
      const old = await place.start(before, 'old');
      await until('old', 'owner');
      await place.untilPolled(2);
      const next = await place.start(builtMain, 'next');
      await until('next', 'standby');
      await end(old);
      await until('next', 'owner');
      await place.untilPolled(2);
      const again = await place.start(before, 'again');
      await until('again', 'standby');
      expect((await place.run(before, 'history', account, '--json')).code).toBe(0);
      await end(next);
      await until('again', 'owner');
      await place.untilPolled(2);
      const last = await place.start(builtMain, 'last');
      await until('last', 'standby');
      await end(again);
      await until('last', 'owner');
      await end(last);
      const reader = await openPostgresReader({ url, program: 'lowwater 0.4.0' });
      expect(await judge(reader, place.said(), 2)).toEqual([]);
    });
  });

  it('on a SQLite file: this one goes on with it, and 0.3.0 goes on again, beside an order that it does not know too', async (context) => {
    const place = await install(context, { path: 'lowwater.db' });
    const path = join(place.folder, 'lowwater.db');
    for (const [main, node] of [
      [before, 'old'],
      [builtMain, 'next'],
      [before, 'again'],
      [builtMain, 'last'],
    ] as const) {
      const daemon = await place.start(main, node);
      await place.untilPolled(3);
      await end(daemon);
      if (node !== 'next') continue;
      const [from, to] = [1, 2].map((days) => new Date(Date.now() + days * dayMs).toISOString());
      const words = ['expect-spending', account, '5', '--from', `${from}`, '--to', `${to}`];
      expect((await place.run(builtMain, ...words)).code).toBe(0);
    }
    expect(await judge(openReader({ path, now: Date.now }), place.said(), 0)).toEqual([]);
  });
});
