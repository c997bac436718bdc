/**
 * What storing costs: bytes on disk per poll, CPU and time per poll in group commits with synchronous=FULL,
 * and the time to read a year of history. Run: node bench/storage.ts
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountState, PollRecord } from '../src/domain/reading.ts';
import type { Log } from '../src/ports/log.ts';
import { openSqliteStore } from '../src/store/sqlite/open-store.ts';
import type { SqliteStore } from '../src/store/sqlite/port.ts';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { systemClock } from '../src/system/clock.ts';
import { batch } from '../test/store/sqlite/batches.ts';

const fiveMinutesMs = 300_000;
const start = Date.UTC(2026, 0, 1);
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));

/** A linear congruential generator: the same balances in every run. */
let seed = 42;
function fraction(): number {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return seed / 2 ** 32;
}

try {
  measureYear('unchanged', () => 0);
  measureYear('changing', () => Math.floor(fraction() * 40) * 35_000);
  measureYear('noisy', () => Math.floor(fraction() * 1_000_000_000));
  for (const withStates of [false, true]) measureCommits(withStates);
} finally {
  rmSync(directory, { recursive: true });
}

function measureYear(name: string, spend: () => number): void {
  const path = join(directory, `year-${name}.db`);
  const store = open(path);
  const polls: PollRecord[] = [];
  let sms = 9_000_000_000_000;
  for (let count = 0; count < 105_120; count += 1) {
    sms -= spend();
    polls.push(reading(start + count * fiveMinutesMs + Math.floor(fraction() * 80), sms));
  }
  const empty = diskBytes(path);
  for (let from = 0; from < polls.length; from += 1000) {
    store.commit(
      batch({ polls: polls.slice(from, from + 1000).map((poll) => ({ account: 'bench', poll })) }),
    );
  }
  store.close();
  const perPoll = (diskBytes(path) - empty) / polls.length;
  const reader = openSqliteReader({ path });
  const times = Array.from({ length: 5 }, () => {
    const begin = performance.now();
    let found = 0;
    for (const part of reader.readings({ account: 'bench', since: 0, until: Number.MAX_SAFE_INTEGER }))
      found += part.length;
    if (found !== polls.length) throw new Error(`${found} of ${polls.length} readings came back`);
    return performance.now() - begin;
  });
  reader.close();
  const sorted = times.toSorted((left, right) => left - right);
  console.log(
    `${name} balances: ${perPoll.toFixed(2)} bytes/poll; a year of 5-minute readings: first ${times[0]?.toFixed(1)} ms, median ${sorted[2]?.toFixed(1)} ms`,
  );
}

function measureCommits(withStates: boolean): void {
  const accounts = 1000;
  const size = 100;
  const path = join(directory, `commits-${withStates}.db`);
  const store = open(path);
  const balances = new Array<number>(accounts).fill(9_000_000_000);
  const batches = Array.from({ length: 3000 }, (_, index) => {
    const polls = Array.from({ length: size }, (_each, offset) => {
      const number = (index * size + offset) % accounts;
      balances[number] = (balances[number] ?? 0) - Math.floor(fraction() * 40) * 35_000;
      const at = start + Math.floor((index * size) / accounts) * 20_000 + Math.floor(fraction() * 80);
      return { account: `account-${number}`, poll: reading(at, balances[number]) };
    });
    return batch({
      polls,
      accounts: withStates ? polls.map(({ account, poll }) => state(account, poll)) : [],
    });
  });
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const waits = batches.map((each) => {
    const from = performance.now();
    store.commit(each);
    return performance.now() - from;
  });
  const wallMs = performance.now() - begin;
  const used = process.cpuUsage(cpu);
  const polls = batches.length * size;
  const sorted = waits.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2);
  const bytes = diskBytes(path);
  store.close();
  console.log(
    `batches of ${size} of ${accounts} accounts${withStates ? ' with account states' : ''}: ` +
      `${((used.user + used.system) / polls).toFixed(1)} µs CPU/poll, ${((wallMs * 1000) / polls).toFixed(1)} µs/poll, ` +
      `commit p50 ${at(0.5)} p99 ${at(0.99)} max ${at(0.9999)} ms, ${(bytes / polls).toFixed(1)} bytes/poll with the log, ${(diskBytes(path) / polls).toFixed(1)} without`,
  );
}

function open(path: string): SqliteStore {
  return openSqliteStore({ path, log: silent, now: systemClock.now, program: 'bench' });
}

function reading(at: number, sms: number): PollRecord {
  return { at, outcome: 'ok', reading: { at, balances: { sms, voip: 0 }, currency: 'CNY' } };
}

function state(account: string, poll: PollRecord): AccountState {
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
    usage: { 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '199' },
    retryAt: null,
    purse: null,
    seriesSince: 0,
  };
}

function diskBytes(path: string): number {
  const name = path.slice(directory.length + 1);
  return readdirSync(directory)
    .filter((file) => file === name || file === `${name}-wal`)
    .reduce((total, file) => total + statSync(join(directory, file)).size, 0);
}
