import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deployedFlags, type MeasuredProcess, startMeasured } from './measured-process.ts';
import { type Peers, startPeers } from './start-peers.ts';
import { writeConfig } from './write-config.ts';

/** What one program did to the provider while it was watched. */
export interface Saturated {
  readonly requestsPerSecond: number;
  readonly cpuMicrosPerRequest: number;
  /** Share of one processor that it got. */
  readonly load: number;
}

/** Warm connections and compiled code before anything is counted. */
const settleMs = 8000;

/** The whole program with every account polled once a second, more of them than it may be able to. */
export async function measureSaturatedProgram(options: {
  readonly program: string;
  readonly accounts: number;
  readonly forMs: number;
}): Promise<Saturated> {
  const { program, accounts, forMs } = options;
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(accounts, 'untimed');
  try {
    const config = writeConfig({ directory, accounts, every: '1s', ...peers });
    const measured = startMeasured(
      [...deployedFlags, program, 'run', '--config', config],
      join(directory, 'log'),
    );
    await untilRequests(peers, accounts);
    const result = await watch(measured, peers, forMs);
    await measured.end('SIGTERM');
    return result;
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}

/** Bare POSTs, so many under way all the time or begun each second. */
export async function measureBarePost(options: {
  readonly accounts: number;
  readonly pace: 'at-once' | 'per-second';
  readonly count: number;
  readonly forMs: number;
}): Promise<Saturated> {
  const { accounts, pace, count, forMs } = options;
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(accounts, 'untimed');
  try {
    const script = join(import.meta.dirname, 'bare-post.ts');
    const measured = startMeasured(
      [script, peers.providerUrl, String(accounts), pace, String(count)],
      join(directory, 'log'),
    );
    await untilRequests(peers, count);
    const result = await watch(measured, peers, forMs);
    await measured.end('SIGKILL');
    return result;
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}

async function untilRequests(peers: Peers, atLeast: number): Promise<void> {
  while ((await peers.count()).requests < atLeast) await sleep(100);
}

async function watch(measured: MeasuredProcess, peers: Peers, forMs: number): Promise<Saturated> {
  await sleep(settleMs);
  const before = { cpu: measured.cpuSeconds(), ...(await peers.count()) };
  await sleep(forMs);
  const after = { cpu: measured.cpuSeconds(), ...(await peers.count()) };
  const requests = after.requests - before.requests;
  const seconds = (after.at - before.at) / 1000;
  const cpu = after.cpu - before.cpu;
  return {
    requestsPerSecond: requests / seconds,
    cpuMicrosPerRequest: (cpu * 1e6) / requests,
    load: cpu / seconds,
  };
}
