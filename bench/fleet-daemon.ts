/**
 * A fleet of accounts on whole daemons, once with SQLite and once with PostgreSQL where it is installed: `validate`, start to the first
 * and to all polled, processor time a poll, memory, page and API meanwhile, `status`, reloads that change one account and all rules,
 * and a take-over with loading (with SQLite: killed and started again). Every account is polled each minute, not each five, so that a run ends within minutes:
 * what is per poll holds, what is per second is five times what such a fleet does.
 * Run: npm run build && node bench/fleet-daemon.ts [--accounts 50000] [--every 60s] [--only sqlite]
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Secret } from '../src/domain/secret.ts';
import { freePort } from '../test/support/free-port.ts';
import { noPostgres, type PostgresCluster, startPostgres } from '../test/support/postgres.ts';
import { accountId, accountSecret } from './pipeline/accounts.ts';
import { deployedFlags, type MeasuredProcess, startMeasured } from './pipeline/measured-process.ts';
import { type Peers, startPeers } from './pipeline/start-peers.ts';

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '50000' },
    every: { type: 'string', default: '60s' },
    only: { type: 'string' },
    program: { type: 'string', default: join(import.meta.dirname, '../dist/main.js') },
  },
});
const accounts = Number(values.accounts);
const accountsAFile = 1000;
const watchMs = 20_000;

if (values.only !== 'postgres') await measureFleet('SQLite', null);
if (values.only !== 'sqlite') {
  if (noPostgres === null) await measureOnPostgres();
  else console.log(noPostgres);
}

async function measureOnPostgres(): Promise<void> {
  const server = await startPostgres({ fsync: 'on', shared_buffers: '512MB', max_wal_size: '4GB' });
  try {
    await measureFleet('PostgreSQL', { server, url: await server.createDatabase() });
  } finally {
    server.remove();
  }
}

interface Shared {
  readonly server: PostgresCluster;
  readonly url: Secret;
}

async function measureFleet(name: string, shared: Shared | null): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-fleet-'));
  const peers = await startPeers(accounts, 'untimed');
  try {
    console.log(`${name}, ${accounts} accounts, each every ${values.every}`);
    writeAccounts(directory);
    const first = await prepare({ directory, node: 'north', peers, shared });
    const checked = startMeasured(
      [values.program, 'validate', '--config', first.config],
      join(directory, 'validated'),
    );
    const validatedMs = await endOf(checked);
    console.log(`  validate: ${seconds(validatedMs)}`);
    const daemon = first.start();
    console.log(`  start: ${await untilPolled(daemon, peers)}`);
    // First polls are spread over less than the interval: only later ones are as even as those of a day.
    await untilRequests(daemon, peers, accounts * 2);
    console.log(`  alone: ${await watch(daemon, peers)}`);
    const [usage, answers] = await Promise.all([watch(daemon, peers), askAround(first.origin)]);
    console.log(`  with a reader: ${usage}\n    ${answers}`);
    for (const words of [['status'], ['status', '--line']]) {
      const asked = [values.program, ...words, '--config', first.config];
      console.log(
        `  ${words.join(' ')}: ${seconds(await endOf(startMeasured(asked, join(directory, 'status'))))}`,
      );
    }
    const rename = () => writeFile(directory, 0, 'another name');
    console.log(`  reload with one changed account: ${await reload(rename, first.origin)}`);
    const { config } = first;
    const editRules = () =>
      writeFileSync(config, readFileSync(config, 'utf8').replace('"warning":200', '"warning":201'));
    console.log(`  reload with other rules: ${await reload(editRules, first.origin)}`);
    await (shared === null
      ? restart({ daemon, start: first.start, peers })
      : takeOver({
          daemon,
          heir: await prepare({ directory, node: 'south', peers, shared }),
          peers,
          shared,
        }));
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}

function writeAccounts(directory: string): void {
  mkdirSync(join(directory, 'accounts.d'));
  for (let from = 0; from < accounts; from += accountsAFile) writeFile(directory, from, '');
}

function writeFile(directory: string, from: number, nameOfFirst: string): void {
  const list = Array.from({ length: Math.min(accountsAFile, accounts - from) }, (_, index) => ({
    id: accountId(from + index),
    authSecret: accountSecret(from + index),
    currency: 'CNY',
    labels: { team: `team-${index % 20}` },
    ...(index === 0 && nameOfFirst !== '' ? { name: nameOfFirst } : {}),
  }));
  writeFileSync(join(directory, 'accounts.d', `${accountId(from)}.json`), JSON.stringify(list, null, 2));
}

interface Prepared {
  readonly config: string;
  readonly origin: string;
  start(): MeasuredProcess;
}

async function prepare(it: {
  readonly directory: string;
  readonly node: string;
  readonly peers: Peers;
  readonly shared: Shared | null;
}): Promise<Prepared> {
  const { directory, node, peers, shared } = it;
  const port = await freePort();
  const config = join(directory, `${node}.json`);
  const stored = { storage: { path: 'lowwater.db' } };
  const inPostgres = { storage: { postgres: { url: shared?.url.reveal() } }, cluster: { node } };
  writeFileSync(
    config,
    JSON.stringify({
      provider: { baseUrl: peers.providerUrl, maxRequestsPerSecond: 20 },
      poll: { every: values.every },
      accounts: { files: 'accounts.d/*.json' },
      rules: [
        {
          id: 'low',
          type: 'below',
          thresholds: { info: 500, warning: 200, critical: 50 },
          hysteresis: '10%',
        },
        { id: 'runway', type: 'runway', thresholds: { warning: '7d', critical: '2d' } },
        { id: 'drop', type: 'drop', by: 100_000, window: '1h' },
      ],
      channels: { ops: { type: 'slack', webhookUrl: `${peers.hooksUrl}/ops` } },
      server: { port },
      ...(shared === null ? stored : inPostgres),
    }),
  );
  const words = [...deployedFlags, values.program, 'run', '--config', config];
  return {
    config,
    origin: `http://127.0.0.1:${port}`,
    start: () => startMeasured(words, join(directory, `${node}.log`)),
  };
}

/** When the first and the last account were polled, from the start. */
async function untilPolled(daemon: MeasuredProcess, peers: Peers): Promise<string> {
  const { requests: before } = await peers.count();
  const firstMs = await untilRequests(daemon, peers, before + 1);
  const allMs = await untilRequests(daemon, peers, before + accounts);
  return `first poll after ${seconds(firstMs)}, all after ${seconds(allMs)}; RSS ${megabytes(daemon)}`;
}

async function untilRequests(daemon: MeasuredProcess, peers: Peers, wanted: number): Promise<number> {
  for (;;) {
    const { requests, at } = await peers.count();
    if (requests >= wanted) return at - daemon.startedAt;
    // It throws where the program has ended.
    daemon.cpuSeconds();
    await sleep(20);
  }
}

async function watch(daemon: MeasuredProcess, peers: Peers): Promise<string> {
  const before = { cpu: daemon.cpuSeconds(), ...(await peers.count()) };
  await sleep(watchMs);
  const after = { cpu: daemon.cpuSeconds(), ...(await peers.count()) };
  const polls = after.requests - before.requests;
  const cpu = after.cpu - before.cpu;
  const perSecond = (polls / (after.at - before.at)) * 1000;
  return `${((cpu / polls) * 1e6).toFixed(0)} µs CPU a poll at ${perSecond.toFixed(0)} polls/s; RSS ${megabytes(daemon)}`;
}

/** What a person and a program wait for while everything goes on. */
async function askAround(origin: string): Promise<string> {
  const paths = [
    '/',
    '/api/v1/accounts?limit=100',
    `/api/v1/accounts/${accountId(42)}`,
    '/metrics',
    '/livez',
  ];
  const took = new Map<string, number[]>(paths.map((path) => [path, []]));
  const until = performance.now() + watchMs;
  while (performance.now() < until) {
    for (const path of paths) {
      took.get(path)?.push(await timeOf(origin + path));
      await sleep(100);
    }
  }
  return [...took].map(([path, all]) => `${path} ${spread(all)}`).join('; ');
}

async function timeOf(address: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(address, { headers: { accept: 'text/html,application/json' } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${address}: HTTP ${response.status}`);
  return performance.now() - from;
}

/** From the writing of the file until the new configuration is in force, and the longest that anybody waited meanwhile. */
async function reload(edit: () => void, origin: string): Promise<string> {
  const loadedAt = async (): Promise<string> => {
    const status: unknown = await (await fetch(`${origin}/readyz?verbose`)).json();
    return String(Reflect.get(Object(status), 'configLoadedAt'));
  };
  const before = await loadedAt();
  const from = performance.now();
  edit();
  let longest = 0;
  while ((await loadedAt()) === before) {
    longest = Math.max(longest, await timeOf(`${origin}/livez`));
    await sleep(10);
  }
  const inForceMs = performance.now() - from;
  for (let more = 0; more < 100; more++) longest = Math.max(longest, await timeOf(`${origin}/livez`));
  return `in force after ${seconds(inForceMs)}, nobody waited longer than ${longest.toFixed(0)} ms`;
}

async function restart(it: {
  readonly daemon: MeasuredProcess;
  readonly start: () => MeasuredProcess;
  readonly peers: Peers;
}): Promise<void> {
  await it.daemon.end('SIGKILL');
  const again = it.start();
  console.log(`  killed and started again: ${await untilPolled(again, it.peers)}`);
  await again.end('SIGTERM');
}

async function takeOver(it: {
  readonly daemon: MeasuredProcess;
  readonly heir: Prepared;
  readonly peers: Peers;
  readonly shared: Shared;
}): Promise<void> {
  const { daemon, heir, peers, shared } = it;
  const standby = heir.start();
  while (!(await isReady(heir.origin))) await sleep(100);
  const first = await timeOf(`${heir.origin}/`);
  const idle = standby.cpuSeconds();
  const more = await askAround(heir.origin);
  const used = (standby.cpuSeconds() - idle) / (watchMs / 1000);
  console.log(
    `  stands by: first page after ${seconds(first)}, then ${(used * 100).toFixed(0)} % of a core for a reader; RSS ${megabytes(standby)}\n    ${more}`,
  );
  const epochOf = async (): Promise<readonly [epoch: number, stored: number]> => {
    const [row] = await shared.server.sql(
      shared.url,
      'SELECT epoch::int, coalesce(batch, 0)::int AS batch FROM slot LEFT JOIN member ON member.incarnation = slot.incarnation',
    );
    return [Number(row?.epoch), Number(row?.batch)];
  };
  const [before] = await epochOf();
  await daemon.end('SIGKILL');
  const killedAt = performance.now();
  while ((await epochOf())[0] === before) await sleep(20);
  const takenMs = performance.now() - killedAt;
  const { requests } = await peers.count();
  while ((await peers.count()).requests === requests) await sleep(20);
  const polledMs = performance.now() - killedAt;
  while ((await epochOf())[1] === 0) await sleep(20);
  const storedMs = performance.now() - killedAt;
  const { requests: since } = await peers.count();
  await untilRequests(standby, peers, since + accounts);
  console.log(
    `  killed: taken over after ${seconds(takenMs)} (lease 8 s), polls after ${seconds(polledMs)}, stores after ${seconds(storedMs)}; ` +
      `everything polled after ${seconds(performance.now() - killedAt)}; RSS ${megabytes(standby)}`,
  );
  await standby.end('SIGTERM');
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** How long a program runs that ends by itself. */
async function endOf(program: MeasuredProcess): Promise<number> {
  for (;;) {
    try {
      program.cpuSeconds();
      await sleep(5);
    } catch {
      return Number(process.hrtime.bigint()) / 1e6 - program.startedAt;
    }
  }
}

function spread(all: readonly number[]): string {
  const sorted = all.toSorted((left, right) => left - right);
  return `p50 ${sorted[sorted.length >> 1]?.toFixed(0)} most ${sorted.at(-1)?.toFixed(0)} ms`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(program: MeasuredProcess): string {
  return `${program.residentMegabytes().toFixed(0)} MiB`;
}
