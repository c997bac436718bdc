import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { polledTogether } from '../../src/domain/backoff.ts';
import { deployedFlags, startMeasured } from './measured-process.ts';
import type { Arrival } from './peers-protocol.ts';
import { type Peers, startPeers } from './start-peers.ts';
import { countStored, type GrownHistory, growHistory } from './stored-history.ts';
import { fallingEvery, writeConfig } from './write-config.ts';

const intervalMs = 20_000;
/** The sweep of first polls is over, later ones keep their grid. */
const sweepMs = 8000;
/** Alerts fire, resolve and fire again, each wave with a whole interval to be seen in. */
const waves = [
  { afterMs: 32_000, amount: '150' },
  { afterMs: 53_000, amount: '5000' },
  { afterMs: 74_000, amount: '150' },
] as const;
const wholeMs = 96_000;

export interface Steady {
  readonly polls: number;
  /** While nothing happens, and over the whole run with its alerts. */
  readonly quietCpu: number;
  readonly cpuWithAlerts: number;
  readonly residentMegabytes: number;
  readonly peakMegabytes: number;
  readonly firstPollMs: number;
  readonly allPolledMs: number;
  /** Sorted, milliseconds. */
  readonly lateness: readonly number[];
  readonly webhookDelays: readonly number[];
  readonly storedPolls: number;
  readonly databaseBytes: number;
  readonly grown: GrownHistory;
}

/** The whole program with 1,000 accounts every 20 seconds, a tenth of which fall below a threshold, rise and fall again. */
export async function measureSteadyProgram(program: string, accounts: number): Promise<Steady> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(accounts, 'timed');
  try {
    const config = writeConfig({ directory, accounts, every: '20s', ...peers });
    const measured = startMeasured(
      [...deployedFlags, program, 'run', '--config', config],
      join(directory, 'log'),
    );
    await sleep(sweepMs);
    const mark = async (): Promise<Mark> => ({
      cpu: measured.cpuSeconds(),
      requests: (await peers.count()).requests,
    });
    const begun = await mark();
    await sleep(waves[0].afterMs - sweepMs);
    const quiet = await mark();
    const residentMegabytes = await playWaves(peers, accounts, () => measured.residentMegabytes());
    const over = await mark();
    const peakMegabytes = measured.peakMegabytes();
    await measured.end('SIGTERM');
    const polls = (await peers.count()).requests;
    const { arrivals, delays } = await peers.timings();
    const database = join(directory, 'lowwater.db');
    const firsts = firstArrivals(arrivals);
    return {
      polls,
      quietCpu: secondsPerThousand(begun, quiet),
      cpuWithAlerts: secondsPerThousand(begun, over),
      residentMegabytes,
      peakMegabytes,
      firstPollMs: Math.min(...firsts) - measured.startedAt,
      allPolledMs: firsts.length < accounts ? Number.NaN : Math.max(...firsts) - measured.startedAt,
      lateness: latenessOf(
        arrivals.filter(({ at }) => at > measured.startedAt + sweepMs),
        accounts,
      ),
      webhookDelays: delays.map(({ ms }) => ms).sort((left, right) => left - right),
      storedPolls: countStored(database, accounts),
      databaseBytes: statSync(database).size,
      grown: growHistory(database, accounts),
    };
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}

interface Mark {
  readonly cpu: number;
  readonly requests: number;
}

function secondsPerThousand(from: Mark, to: Mark): number {
  return ((to.cpu - from.cpu) * 1000) / (to.requests - from.requests);
}

/** Gives the highest resident memory seen, once a second. */
async function playWaves(peers: Peers, accounts: number, resident: () => number): Promise<number> {
  const falling = Array.from(
    { length: Math.ceil(accounts / fallingEvery) },
    (_, index) => index * fallingEvery,
  );
  const left = [...waves];
  let highest = 0;
  for (let elapsedMs: number = waves[0].afterMs; elapsedMs < wholeMs; elapsedMs += 1000) {
    const [wave] = left;
    if (wave !== undefined && elapsedMs >= wave.afterMs) {
      await peers.setBalances(falling, wave.amount);
      left.shift();
    }
    await sleep(1000);
    highest = Math.max(highest, resident());
  }
  return highest;
}

function firstArrivals(arrivals: readonly Arrival[]): number[] {
  const firsts = new Map<number, number>();
  for (const { account, at } of arrivals) if (!firsts.has(account)) firsts.set(account, at);
  return [...firsts.values()];
}

/**
 * How late polls were. Accounts are polled on one grid, each group of them a fixed part of the interval after the one before it:
 * the earliest arrival of all tells where the grid lies, and every other one is held against it. The way to the provider is included.
 */
function latenessOf(arrivals: readonly Arrival[], accounts: number): number[] {
  const [first] = arrivals;
  if (first === undefined) return [];
  const together = polledTogether(accounts, intervalMs);
  const offset = ({ account, at }: Arrival): number =>
    at - ((account - (account % together)) * intervalMs) / accounts;
  const offsets = arrivals.map((each) => {
    const distance = offset(each) - offset(first);
    return distance - Math.round(distance / intervalMs) * intervalMs;
  });
  const earliest = Math.min(...offsets);
  return offsets.map((each) => each - earliest).sort((left, right) => left - right);
}
