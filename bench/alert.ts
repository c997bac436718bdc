/**
 * How long after the provider's answer the message about it arrives: the built program against a simulated provider and a receiver
 * in a process of their own, which see both. Every message was stored before it left (`synchronous=FULL`). One alert at a time, by a
 * webhook and by Slack, then all of a thousand accounts within one interval. Aims: p50 2 ms and 10 ms at the most, 3 ms at once.
 * Run: npm run build && node bench/alert.ts [--program dist/main.js]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { deployedFlags, startMeasured } from './pipeline/measured-process.ts';
import { startPeers } from './pipeline/start-peers.ts';
import { writeConfig } from './pipeline/write-config.ts';

const { values } = parseArgs({
  options: { program: { type: 'string', default: join(import.meta.dirname, '../dist/main.js') } },
});

const flips = 12;
await measure(
  'one alert, a webhook',
  { accounts: 1, every: '1s', channel: 'webhook', channels: 1 },
  flips,
  2200,
);
await measure(
  'one alert, one Slack channel',
  { accounts: 1, every: '1s', channel: 'slack', channels: 1 },
  flips,
  2200,
);
await measure(
  'a thousand within 10 s',
  { accounts: 1000, every: '10s', channel: 'webhook', channels: 20 },
  1,
  11_000,
);

/** Moves the balances of all accounts below the threshold and back, so many times. */
async function measure(
  name: string,
  what: {
    readonly accounts: number;
    readonly every: string;
    readonly channel: 'slack' | 'webhook';
    readonly channels: number;
  },
  times: number,
  pauseMs: number,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(what.accounts, 'timed');
  try {
    const config = writeConfig({ directory, ...what, ...peers });
    const program = [...deployedFlags, values.program, 'run', '--config', config];
    const measured = startMeasured(program, join(directory, 'log'));
    await sleep(what.accounts === 1 ? 3000 : 12_000);
    const numbers = Array.from({ length: what.accounts }, (_, number) => number);
    for (let time = 0; time < times; time++) {
      await peers.setBalances(numbers, time % 2 === 0 ? '150' : '5000');
      await sleep(pauseMs);
    }
    await measured.end('SIGTERM');
    const { delays } = await peers.timings();
    const first = delays[0]?.ms ?? Number.NaN;
    const sorted = delays.map(({ ms }) => ms).sort((left, right) => left - right);
    const at = (share: number): string =>
      (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1);
    console.log(
      `${name}: ${sorted.length} messages, p50 ${at(0.5)} ms, p99 ${at(0.99)}, most ${at(1)}, the first of the process ${first.toFixed(1)}`,
    );
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}
