/**
 * What the program costs that has little to do: ten accounts every five minutes, with a page that nobody reads. Processor seconds a day,
 * wake-ups a minute (voluntary context switches of all its threads, as the kernel counts them) and resident megabytes, over whole rounds
 * of polls after the first. Run: npm run build && node bench/idle.ts [OTHER_MAIN_JS] [--rounds 1]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { deployedFlags, startMeasured } from './pipeline/measured-process.ts';
import { startPeers } from './pipeline/start-peers.ts';
import { writeConfig } from './pipeline/write-config.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '1' } },
});
const roundMinutes = 5;
const minutes = Number(values.rounds) * roundMinutes;
/** Half a minute before the second round: V8 has looked twice for what the start left by then, which no later round does again. */
const startMinutes = roundMinutes - 0.5;
const own = join(import.meta.dirname, '../dist/main.js');
for (const program of [...positionals, own]) await measure(program);

async function measure(program: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-bench-'));
  const peers = await startPeers(10, 'untimed');
  try {
    const path = writeConfig({ directory, accounts: 10, every: `${roundMinutes}m`, ...peers });
    const measured = startMeasured(
      [...deployedFlags, program, 'run', '--config', path],
      join(directory, 'log'),
    );
    await sleep(startMinutes * 60_000);
    const before = { cpu: measured.cpuSeconds(), wakeUps: measured.wakeUps() };
    await sleep(minutes * 60_000);
    const cpu = ((measured.cpuSeconds() - before.cpu) / minutes) * 1440;
    const wakeUps = (measured.wakeUps() - before.wakeUps) / minutes;
    const memory = measured.residentMegabytes();
    await measured.end('SIGTERM');
    console.log(
      `${program}: ${cpu.toFixed(0)} CPU s a day, ${wakeUps.toFixed(0)} wake-ups a minute, ${memory.toFixed(0)} MiB`,
    );
  } finally {
    peers.stop();
    rmSync(directory, { recursive: true });
  }
}
