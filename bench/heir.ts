/**
 * What a daemon needs that takes over a fleet with a day of history: 288 polls of each account are stored in PostgreSQL, then the built program
 * starts on that and takes the accounts. Printed: how long reading everything took, its memory an account once it owns them, and after it has
 * polled each once more.
 * Run: npm run build && node bench/heir.ts [accounts ...]; 100,000 take five minutes.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../src/domain/secret.ts';
import type { Log } from '../src/ports/log.ts';
import type { Batch } from '../src/ports/store.ts';
import { openCluster } from '../src/store/postgres/open-cluster.ts';
import { systemClock } from '../src/system/clock.ts';
import { batch } from '../test/store/sqlite/batches.ts';
import { freePort } from '../test/support/free-port.ts';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';
import { accountId, accountSecret } from './pipeline/accounts.ts';
import { deployedFlags, startMeasured } from './pipeline/measured-process.ts';
import { startPeers } from './pipeline/start-peers.ts';

const program = join(import.meta.dirname, '../dist/main.js');
const everyMs = 300_000;
const pollsOfEach = 288;
const accountsAtOnce = 250;
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

if (noPostgres !== null) console.log(noPostgres);
else {
  const counts = process.argv.slice(2).map(Number);
  for (const accounts of counts.length > 0 ? counts : [20_000, 50_000, 100_000]) await measure(accounts);
}

async function measure(accounts: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-heir-'));
  const server = await startPostgres({ fsync: 'off', shared_buffers: '512MB', max_wal_size: '4GB' });
  const peers = await startPeers(accounts, 'untimed');
  try {
    const url = await server.createDatabase();
    await fill(url, accounts);
    const logFile = join(directory, 'log');
    const daemon = startMeasured(
      [...deployedFlags, program, 'run', '--config', await writeConfig(directory, accounts, url, peers)],
      logFile,
    );
    const at = async (message: string): Promise<number> => {
      for (;;) {
        const line = readFileSync(logFile, 'utf8')
          .split('\n')
          .find((each) => each.includes(message));
        if (line !== undefined) return Date.parse(JSON.parse(line).time);
        await sleep(100);
      }
    };
    const takenAt = await at('this daemon takes the accounts');
    const cpuBefore = daemon.cpuSeconds();
    const ownedAt = await at('this daemon owns the accounts');
    const cpu = daemon.cpuSeconds() - cpuBefore;
    const { requests } = await peers.count();
    const began = Date.now();
    const perAccount = (): string =>
      `${daemon.residentMegabytes().toFixed(0)} MiB, ${((daemon.residentMegabytes() * 1024) / accounts).toFixed(1)} KiB an account`;
    console.log(
      `${accounts} accounts with a day of history: read in ${ownedAt - takenAt} ms (${cpu.toFixed(1)} s of processor time); ${perAccount()}`,
    );
    while ((await peers.count()).requests < requests + accounts && Date.now() - began < 2 * everyMs)
      await sleep(500);
    console.log(`  each polled once more: ${perAccount()}; at most ${daemon.peakMegabytes().toFixed(0)} MiB`);
    await daemon.end('SIGTERM');
  } finally {
    peers.stop();
    server.remove();
    rmSync(directory, { recursive: true });
  }
}

/** As an owner that polled for a day and let go: the balance falls, and is topped up now and then. */
async function fill(url: Secret, accounts: number): Promise<void> {
  const cluster = openCluster({
    url,
    leaseMs: 3_600_000,
    log: silent,
    now: systemClock.now,
    program: 'a benchmark',
  });
  await cluster.open();
  const incarnation = crypto.randomUUID();
  await cluster.join({ incarnation, node: 'bench', advertise: null, status: null, configHash: '' });
  const epoch = await cluster.claim(incarnation);
  if (epoch === null) throw new Error('the accounts are owned');
  const store = cluster.store({ incarnation, epoch });
  const start = Date.now() - pollsOfEach * everyMs;
  for (let from = 0; from < accounts; from += accountsAtOnce) {
    const numbers = Array.from(
      { length: Math.min(accountsAtOnce, accounts - from) },
      (_, index) => from + index,
    );
    const polls = numbers.flatMap((number) =>
      Array.from({ length: pollsOfEach }, (_, nth) => pollOf(number, nth, start)),
    );
    await store.commit(batch({ polls, accounts: numbers.map((number) => stateOf(number, start)) }));
  }
  await cluster.leave(incarnation);
  await cluster.close();
}

function pollOf(number: number, nth: number, start: number): Batch['polls'][number] {
  const at = start + nth * everyMs + (number % everyMs);
  const sms = 5_000_000_000 - ((nth * 7919 + number) % 200) * 977_000;
  const reading = { at, balances: { sms, voip: 0 }, currency: 'CNY' };
  return { account: accountId(number), poll: { at, outcome: 'ok', reading } };
}

function stateOf(number: number, start: number): Batch['accounts'][number] {
  const { account, poll } = pollOf(number, pollsOfEach - 1, start);
  return {
    account,
    firstSeenAt: start,
    polledAt: poll.at,
    outcome: poll.outcome,
    ...{ failure: null, failureCode: null, consecutiveFailures: 0 },
    ...{ reading: poll.reading, previous: pollOf(number, pollsOfEach - 2, start).poll.reading },
    changedAt: poll.at,
    ...{ unwatchedMs: 0, usage: {}, retryAt: null, purse: null, seriesSince: 0 },
  };
}

async function writeConfig(
  directory: string,
  accounts: number,
  url: Secret,
  peers: { readonly providerUrl: string; readonly hooksUrl: string },
): Promise<string> {
  mkdirSync(join(directory, 'accounts.d'));
  const list = Array.from({ length: accounts }, (_, number) => ({
    id: accountId(number),
    authSecret: accountSecret(number),
    currency: 'CNY',
    labels: { team: `team-${number % 20}` },
  }));
  for (let from = 0; from < accounts; from += 1000)
    writeFileSync(
      join(directory, 'accounts.d', `${from}.json`),
      JSON.stringify(list.slice(from, from + 1000)),
    );
  const config = join(directory, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      provider: { baseUrl: peers.providerUrl, maxRequestsPerSecond: 20 },
      poll: { every: '5m' },
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
      server: { port: await freePort() },
      storage: { postgres: { url: url.reveal() } },
      cluster: { node: 'heir' },
    }),
  );
  return config;
}
