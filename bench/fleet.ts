/**
 * What a fleet of accounts costs either store: CPU per poll in commits of 500 with their account states, here and in the database's own
 * processes; for PostgreSQL bytes of its log, how many of the rewritten rows needed no index to change, and how far its tables
 * grew; then loading everything as a daemon does that takes over. An hour of 3,300 polls a second is 238 rounds.
 * Run: node bench/fleet.ts [--accounts 50000] [--rounds 4] [--only postgres]
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { AccountState, PollRecord } from '../src/domain/reading.ts';
import type { Log } from '../src/ports/log.ts';
import type { Batch, Store } from '../src/ports/store.ts';
import { openCluster } from '../src/store/postgres/open-cluster.ts';
import { openStore } from '../src/store/store.ts';
import { systemClock } from '../src/system/clock.ts';
import { batch } from '../test/store/sqlite/batches.ts';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';

const { values: options } = parseArgs({
  options: {
    accounts: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '4' },
    only: { type: 'string' },
  },
});
const accounts = Number(options.accounts);
const rounds = Number(options.rounds);
const batchPolls = 500;
const everyMs = 300_000;
const start = Date.UTC(2026, 0, 1);
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const program = 'lowwater of a benchmark';

/** A linear congruential generator: the same balances in every run. */
let seed = 42;
function fraction(): number {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return seed / 2 ** 32;
}

console.log(`${accounts} accounts, ${rounds} rounds of one poll each after 1 to 130 that were stored before`);
if (options.only !== 'postgres') await measureSqlite();
if (options.only === 'sqlite') process.exit();
if (noPostgres === null) await measurePostgres();
else console.log(noPostgres);

async function measureSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-fleet-'));
  const path = join(folder, 'lowwater.db');
  const open = (): Store => openStore({ path, log: silent, now: systemClock.now, program });
  try {
    const store = open();
    await fill(store);
    report('SQLite', await measureRounds(store, () => 0));
    await store.close();
    const size = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    console.log(`  on disk ${megabytes(size)}`);
    const again = open();
    await measureLoading(again);
    await again.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measurePostgres(): Promise<void> {
  const server = await startPostgres({
    fsync: 'on',
    shared_buffers: '512MB',
    max_wal_size: '4GB',
    autovacuum_naptime: '10s',
  });
  try {
    const url = await server.createDatabase();
    const cluster = openCluster({
      url,
      leaseMs: 3_600_000,
      log: silent,
      now: systemClock.now,
      program,
    });
    await cluster.open();
    const own = async (): Promise<Store> => {
      const incarnation = crypto.randomUUID();
      await cluster.join({ incarnation, node: 'bench', advertise: null, status: null, configHash: '' });
      const epoch = await cluster.claim(incarnation);
      if (epoch === null) throw new Error('the accounts are owned');
      return {
        ...cluster.reader,
        ...cluster.store({ incarnation, epoch }),
        close: () => cluster.leave(incarnation),
      };
    };
    const ask = async (text: string): Promise<number> => Number((await server.sql(url, text))[0]?.n);
    const store = await own();
    await fill(store);
    const rewritten = "FROM pg_stat_user_tables WHERE relname = 'account'";
    const count = async () => ({
      log: await ask("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS n"),
      updates: await ask(`SELECT n_tup_upd AS n ${rewritten}`),
      hot: await ask(`SELECT n_tup_hot_upd AS n ${rewritten}`),
      bytes: await ask("SELECT pg_total_relation_size('account') AS n"),
    });
    const before = await count();
    const began = performance.now();
    const used = await measureRounds(
      store,
      () => serverCpuMs(server.port),
      async (round) => {
        const tables = await server.sql(
          url,
          "SELECT relname AS name, pg_total_relation_size(relid) AS bytes, n_dead_tup AS dead FROM pg_stat_user_tables WHERE relname IN ('account', 'segment') ORDER BY 1",
        );
        const sizes = tables.map(
          ({ name, bytes, dead }) => `${name} ${megabytes(Number(bytes))} (${dead} dead rows)`,
        );
        console.log(
          `  after ${(round * accounts) / 1e6} million polls and ${((performance.now() - began) / 1000).toFixed(0)} s: ${sizes.join(', ')}`,
        );
      },
    );
    report('PostgreSQL', used);
    // What sessions have counted reaches the statistics after a moment.
    await new Promise((resolve) => systemClock.setTimer(1500, () => resolve(undefined)));
    const after = await count();
    const polls = accounts * rounds;
    console.log(
      `  log ${((after.log - before.log) / polls).toFixed(0)} bytes/poll; rewritten without an index ${percent((after.hot - before.hot) / (after.updates - before.updates))}; ` +
        `accounts ${megabytes(before.bytes)} before, ${megabytes(after.bytes)} after`,
    );
    await store.close();
    await measureLoading(await own());
    await cluster.close();
  } finally {
    server.remove();
  }
}

/** Tails of all lengths, as they are in a fleet that has run for a while. */
async function fill(store: Store): Promise<void> {
  for (let from = 0; from < accounts; from += batchPolls) {
    const polls = [];
    for (let number = from; number < Math.min(accounts, from + batchPolls); number += 1) {
      const many = 1 + (number % 130);
      for (let back = many; back > 0; back -= 1) polls.push(pollOf(number, -back));
    }
    await store.commit(batchOf(polls));
  }
}

interface Used {
  readonly hereMs: number;
  readonly thereMs: number;
  readonly waits: readonly number[];
}

/** `look` is called some ten times in between. */
async function measureRounds(
  store: Store,
  otherCpuMs: () => number,
  look: (round: number) => Promise<void> = async () => undefined,
): Promise<Used> {
  const waits: number[] = [];
  let hereMs = 0;
  const there = otherCpuMs();
  for (let round = 0; round < rounds; round += 1) {
    for (let from = 0; from < accounts; from += batchPolls) {
      // Accounts have phases of their own: those of one commit lie anywhere.
      const numbers = Array.from(
        { length: Math.min(batchPolls, accounts - from) },
        (_, place) => ((from + place) * 7919) % accounts,
      );
      const batch = batchOf(numbers.map((number) => pollOf(number, round)));
      const begin = performance.now();
      const cpu = process.cpuUsage();
      await store.commit(batch);
      const used = process.cpuUsage(cpu);
      hereMs += (used.user + used.system) / 1000;
      waits.push(performance.now() - begin);
    }
    if ((round + 1) % Math.ceil(rounds / 10) === 0) await look(round + 1);
  }
  return { hereMs, thereMs: otherCpuMs() - there, waits };
}

function report(name: string, { hereMs, thereMs, waits }: Used): void {
  const polls = accounts * rounds;
  const sorted = waits.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  console.log(
    `${name}: ${((hereMs * 1000) / polls).toFixed(1)} µs CPU/poll here, ${((thereMs * 1000) / polls).toFixed(1)} in the server; ` +
      `commits of ${batchPolls}: p50 ${at(0.5)} p99 ${at(0.99)} max ${at(0.9999)} ms`,
  );
}

async function measureLoading(store: Store): Promise<void> {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  const { accounts: loaded } = await store.load();
  const used = process.cpuUsage(cpu);
  const loadMs = performance.now() - begin;
  const from = performance.now();
  await store.commit(batchOf(loaded.slice(0, batchPolls).map((_, number) => pollOf(number, rounds))));
  console.log(
    `  loaded ${loaded.length} accounts in ${loadMs.toFixed(0)} ms (${((used.user + used.system) / 1000).toFixed(0)} ms CPU here), first commit ${(performance.now() - from).toFixed(0)} ms; ` +
      `RSS ${megabytes(process.memoryUsage.rss())}`,
  );
}

function pollOf(number: number, round: number): Batch['polls'][number] {
  const at = start + round * everyMs + (number % 300_000) + Math.floor(fraction() * 80);
  const sms = 9_000_000_000 - round * 977_000 - Math.floor(fraction() * 40) * 35_000;
  const poll: PollRecord = {
    at,
    outcome: 'ok',
    reading: { at, balances: { sms, voip: 0 }, currency: 'CNY' },
  };
  return { account: `account-${number}`, poll };
}

function batchOf(polls: Batch['polls']): Batch {
  const newest = new Map(polls.map(({ account, poll }) => [account, poll]));
  return batch({
    polls,
    accounts: [...newest].map(([account, poll]) => stateOf(account, poll)),
    notes: { alive: String(polls[0]?.poll.at) },
  });
}

function stateOf(account: string, poll: PollRecord): AccountState {
  return {
    account,
    firstSeenAt: start,
    polledAt: poll.at,
    outcome: poll.outcome,
    failure: null,
    failureCode: null,
    consecutiveFailures: 0,
    reading: poll.reading,
    previous: poll.reading,
    changedAt: poll.at,
    unwatchedMs: 0,
    usage: { 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '183' },
    retryAt: null,
    purse: null,
    seriesSince: 0,
  };
}

/** Processor time of all processes of the server so far, by proc(5); those that have ended are in their parent's. */
function serverCpuMs(port: number): number {
  const tick = 10;
  let ms = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, command = ''] = /\((.*)\)/.exec(stat) ?? [];
      if (!command.startsWith('postgres')) continue;
      if (!isOf(port, name)) continue;
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ms += (Number(fields[11]) + Number(fields[12])) * tick;
    } catch {
      // It has ended since.
    }
  }
  return ms;
}

/** Whether a process belongs to the server that listens on this port: its parent's command line says so, or its own. */
function isOf(port: number, process: string): boolean {
  const own = readFileSync(`/proc/${process}/cmdline`, 'utf8');
  const parent = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1] ?? '0';
  const line = parent === '1' || own.includes('-D') ? own : readFileSync(`/proc/${parent}/cmdline`, 'utf8');
  return line.includes(`port=${port}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
