/**
 * Two builds in turn on the same machine, so that nothing becomes slower unseen: processor time of commands, readings that `replay` takes
 * from a CSV file, processor time of a poll and resident memory while a thousand accounts are polled. Prints each figure's median for both and the
 * ratio of this build to the other; below 1 is less work, and what takes over a tenth more is said to have gone back. Never fails by a number.
 *
 *     npm run build && node bench/compare.ts OTHER_MAIN_JS [--program dist/main.js] [--rounds 3] [--accounts 1000] [--readings 500000]
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { deployedFlags, startMeasured } from './pipeline/measured-process.ts';
import { measureSaturatedProgram } from './pipeline/saturated.ts';
import { startPeers } from './pipeline/start-peers.ts';
import { writeConfig } from './pipeline/write-config.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string', default: join(import.meta.dirname, '../dist/main.js') },
    rounds: { type: 'string', default: '3' },
    accounts: { type: 'string', default: '1000' },
    readings: { type: 'string', default: '500000' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('name the main.js of the other build');

const directory = mkdtempSync(join(tmpdir(), 'lowwater-compare-'));
const config = join(directory, 'config.json');
const history = join(directory, 'history.csv');
const readings = Number(values.readings);

/** A ratio beyond this is more than what runs differ by. */
const goneBack = 1.1;

/** What is measured of one build; every figure is a cost, so that a smaller one is better. */
const figures: Readonly<Record<string, (program: string) => Promise<number>>> = {
  '--help, ms of processor time': (program) => costOf([program, '--help']),
  'validate, ms of processor time': (program) => costOf([program, 'validate', '--config', config]),
  'status of a daemon with 100 accounts, ms of processor time': costOfStatus,
  'replay of a CSV file, µs of processor time a reading': async (program) =>
    ((await costOf([program, 'replay', '--json', '--input', history, '--config', config])) * 1000) / readings,
  'a poll of one account a second each, µs of processor time': async (program) => {
    const accounts = Number(values.accounts);
    return (await measureSaturatedProgram({ program, accounts, forMs: 10_000 })).cpuMicrosPerRequest;
  },
};

try {
  writeInputs();
  console.log(`${'what'.padEnd(60)} ${'other'.padStart(9)} ${'this'.padStart(9)}  ratio (least to most)`);
  for (const [name, measure] of Object.entries(figures)) await compare(name, measure);
  console.log(`cores: ${availableParallelism()}; load of the machine: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  rmSync(directory, { recursive: true });
}

async function compare(name: string, measure: (program: string) => Promise<number>): Promise<void> {
  const pairs: { theirs: number; ours: number }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    pairs.push({ theirs: await measure(other ?? ''), ours: await measure(values.program) });
  }
  const ratios = pairs.map(({ theirs, ours }) => ours / theirs).toSorted((left, right) => left - right);
  const shown = [median(pairs.map(({ theirs }) => theirs)), median(pairs.map(({ ours }) => ours))];
  const [low, high] = [ratios[0] ?? 0, ratios.at(-1) ?? 0];
  console.log(
    `${name.padEnd(60)} ${shown.map((value) => value.toPrecision(3).padStart(9)).join(' ')}  ` +
      `${median(ratios).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})${median(ratios) > goneBack ? '  WENT BACK' : ''}`,
  );
}

/** Milliseconds of processor time that a command takes from its start to its end, all threads. */
async function costOf(words: readonly string[]): Promise<number> {
  const usage = join(directory, 'usage');
  const noting = `data:text/javascript,process.on('exit',()=>{const{userCPUTime:u,systemCPUTime:s}=process.resourceUsage();process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(usage)},String((u+s)/1000))})`;
  const measured = startMeasured(['--import', noting, ...words], join(directory, 'output'));
  const code = await measured.ended;
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
  return Number(readFileSync(usage, 'utf8'));
}

/** Asked twice: the first time V8 compiles it. */
async function costOfStatus(program: string): Promise<number> {
  const accounts = 100;
  const folder = mkdtempSync(join(directory, 'status-'));
  const peers = await startPeers(accounts, 'untimed');
  try {
    const path = writeConfig({ directory: folder, accounts, every: '5m', ...peers });
    const written: object = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...written, server: { port: await freePort() } }));
    const daemon = startMeasured(
      [...deployedFlags, program, 'run', '--config', path],
      join(directory, 'log'),
    );
    while ((await peers.count()).requests < accounts) await sleep(100);
    await costOf([program, 'status', '--config', path]);
    const cost = await costOf([program, 'status', '--config', path]);
    await daemon.end('SIGTERM');
    return cost;
  } finally {
    peers.stop();
  }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** A configuration with a rule of each common kind, and readings every five minutes that fall and are topped up. */
function writeInputs(): void {
  const settings = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'a-secret-of-the-benchmark', currency: 'CNY' }],
    rules: [
      { id: 'sms-low', type: 'below', thresholds: { info: 500, warning: 200, critical: 50 } },
      { id: 'sms-runway', type: 'runway', within: '3d' },
      { id: 'sms-drop', type: 'drop', by: '30%', window: '1h' },
      { id: 'top-up', type: 'top-up' },
    ],
    channels: { hook: { type: 'webhook', url: 'https://hooks.example.com/lowwater' } },
    server: null,
  };
  writeFileSync(config, JSON.stringify(settings));
  const lines = ['at,sms,voip,currency'];
  let left = 2_000_000;
  for (let count = 0; count < readings; count++) {
    left -= 400 + Math.round(300 * Math.sin(count / 46));
    if (left < 100_000) left += 2_000_000;
    const at = new Date(Date.UTC(2021, 0, 1) + count * 300_000).toISOString();
    lines.push(`${at},${(left / 1000).toFixed(3)},40.5,CNY`);
  }
  writeFileSync(history, `${lines.join('\n')}\n`);
}
