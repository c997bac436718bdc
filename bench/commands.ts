/**
 * What a person waits for at the command line, and what a replay of years takes: processor time of `--help`, `validate` and `status`
 * (the best of several, with compiled code kept as it is after the first), then `replay` of so many stored polls with 256 MB of heap and
 * the most memory it took. Aims: 90, 150 and 180 ms; 200 MB. Run: npm run build && node bench/commands.ts [--polls 10500000]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openSqliteStore } from '../src/store/sqlite/open-store.ts';
import { systemClock } from '../src/system/clock.ts';
import { batch } from '../test/store/sqlite/batches.ts';

const { values } = parseArgs({
  options: {
    program: { type: 'string', default: join(import.meta.dirname, '../dist/main.js') },
    polls: { type: 'string', default: '10500000' },
  },
});
const everyMs = 300_000;
const pollsPerAccount = 105_000;
const tries = 8;
const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
const database = join(directory, 'lowwater.db');

try {
  const accounts = Math.max(1, Math.round(Number(values.polls) / pollsPerAccount));
  const small = writeConfig('small.json', 2);
  const large = writeConfig('large.json', accounts);
  fill(accounts);
  for (const words of [['--help'], ['validate', '--config', small], ['status', '--config', small]]) {
    const runs = [];
    for (let run = 0; run < tries; run++) runs.push(await measure(words));
    console.log(
      `${words[0]}: ${Math.round(Math.min(...runs.map(({ cpuMs }) => cpuMs)))} ms of processor time`,
    );
  }
  const words = ['replay', '--since', '370d', '--json', '--config', large];
  const { cpuMs, residentMegabytes } = await measure(words, ['--max-old-space-size=256']);
  const polls = accounts * pollsPerAccount;
  console.log(
    `replay of ${polls.toLocaleString('en')} stored polls: ${Math.round((polls / cpuMs) * 1000).toLocaleString('en')} polls/s ` +
      `of processor time, most memory ${residentMegabytes.toFixed(0)} MiB`,
  );
} finally {
  rmSync(directory, { recursive: true });
}

/** Runs a command to its end. Its resources are the kernel's, as it last showed them. */
async function measure(
  words: readonly string[],
  flags: readonly string[] = [],
): Promise<{ cpuMs: number; residentMegabytes: number }> {
  const report = join(directory, 'usage');
  const noting = `data:text/javascript,process.on('exit',()=>{const{userCPUTime:u,systemCPUTime:s,maxRSS:m}=process.resourceUsage();process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(report)},u+s+' '+m)})`;
  const child = spawn(process.execPath, [...flags, '--import', noting, values.program, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}`);
  const [cpuMicros = 0, kilobytes = 0] = readFileSync(report, 'utf8').split(' ').map(Number);
  return { cpuMs: cpuMicros / 1000, residentMegabytes: kilobytes / 1024 };
}

function fill(accounts: number): void {
  const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const store = openSqliteStore({ path: database, log, now: systemClock.now, program: 'bench' });
  const begin = systemClock.now() - pollsPerAccount * everyMs;
  let seed = 42;
  const fraction = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  for (let number = 0; number < accounts; number++) {
    let sms = 900_000_000;
    for (let from = 0; from < pollsPerAccount; from += 5000) {
      const polls = Array.from({ length: Math.min(5000, pollsPerAccount - from) }, (_, index) => {
        sms -= Math.floor(fraction() * 40) * 35_000;
        if (sms < 100_000_000 && fraction() < 0.005) sms += 1_000_000_000;
        const at = begin + (from + index) * everyMs + Math.floor(fraction() * 80);
        const reading = { at, balances: { sms, voip: 0 }, currency: 'CNY' };
        return { account: `account-${number}`, poll: { at, outcome: 'ok', reading } as const };
      });
      store.commit(batch({ polls }));
    }
  }
  store.close();
}

function writeConfig(name: string, accounts: number): string {
  const path = join(directory, name);
  const config = {
    provider: { baseUrl: 'http://127.0.0.1:9' },
    accounts: Array.from({ length: accounts }, (_, number) => ({
      id: `account-${number}`,
      authSecret: `bench-${number}-7f3c9d1e5b8a`,
      currency: 'CNY',
    })),
    rules: [
      { id: 'low', type: 'below', thresholds: { info: 500, warning: 200, critical: 50 }, hysteresis: '10%' },
      { id: 'runway', type: 'runway', thresholds: { warning: '3d', critical: '1d' } },
      { id: 'drop', type: 'drop', by: '30%', window: '1h' },
      { id: 'top-up', type: 'top-up' },
    ],
    channels: { ops: { type: 'slack', webhookUrl: 'http://127.0.0.1:9/hook' } },
    server: null,
    storage: { path: database },
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}
