/**
 * The whole pipeline on loopback, against a simulated provider and a receiver of Slack messages in another process; each account
 * has a secret of its own. Measured is the built program (`lowwater run`) from outside: processor time and memory as the kernel
 * counts them, instants as its peers see them. Takes about four minutes. Nothing fails by a threshold: the table shows what was reached.
 *
 *     npm run build && node bench/pipeline.ts [--program dist/main.js] [--only steady|saturated] [--accounts 6000] [--repeat 3]
 *
 * What the closest relatives reach on the same kind of machine, 1,000 targets every 20 s: Gatus 1.09 CPU s per 1,000 polls, 105 MB,
 * 223 s until all are polled; Uptime Kuma 3.6 CPU s, 261 MB, 641 s, 182 bytes a poll.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBarePost, measureSaturatedProgram, type Saturated } from './pipeline/saturated.ts';
import { measureSteadyProgram, type Steady } from './pipeline/steady.ts';

const { values } = parseArgs({
  options: {
    program: { type: 'string', default: join(import.meta.dirname, '../dist/main.js') },
    only: { type: 'string' },
    accounts: { type: 'string', default: '6000' },
    repeat: { type: 'string', default: '3' },
  },
});
const forMs = 10_000;
/** As many at once as the program has under way when it is saturated with thousands of accounts, or fewer: it makes no difference. */
const atOnce = 100;

console.log(`${'what'.padEnd(66)} ${'reached'.padStart(16)}   aim`);
if (values.only !== 'steady') await printSaturated();
if (values.only !== 'saturated') await printSteady();
console.log(
  `load of the machine over the last minutes: ${loadavg()
    .map((it) => it.toFixed(1))
    .join(' ')}`,
);

async function printSaturated(): Promise<void> {
  const { program } = values;
  const accounts = Number(values.accounts);
  const pairs: { bare: Saturated; whole: Saturated }[] = [];
  // In turn, so that what else the machine does weighs on both.
  for (let round = 0; round < Number(values.repeat); round++) {
    const bare = await measureBarePost({ accounts, pace: 'at-once', count: atOnce, forMs });
    const whole = await measureSaturatedProgram({ program, accounts, forMs });
    pairs.push({ bare, whole });
  }
  const ratios = pairs.map(({ bare, whole }) => whole.cpuMicrosPerRequest / bare.cpuMicrosPerRequest);
  row(
    'saturated: CPU per bare POST',
    range(pairs, ({ bare }) => bare.cpuMicrosPerRequest, 'µs'),
    '-',
  );
  row(
    'saturated: CPU per poll of the whole pipeline',
    range(pairs, ({ whole }) => whole.cpuMicrosPerRequest, 'µs'),
    '-',
  );
  row(
    'saturated: pipeline to bare POST',
    range(ratios, (ratio) => ratio, '×', 2),
    '<= 2.0 ×',
  );
  row(
    `saturated: polls per second, ${accounts} accounts every second`,
    range(pairs, ({ whole }) => whole.requestsPerSecond, ''),
    '>= 5000',
  );
  row(
    '  of one processor, it had',
    range(pairs, ({ whole }) => whole.load * 100, '%'),
    '-',
  );
  row(
    '  that is, polls per second of processor time',
    range(pairs, ({ whole }) => 1e6 / whole.cpuMicrosPerRequest, ''),
    '>= 5000',
  );
  row(
    '  bare POSTs per second',
    range(pairs, ({ bare }) => bare.requestsPerSecond, ''),
    '-',
  );
}

async function printSteady(): Promise<void> {
  const pace = { accounts: 1000, pace: 'per-second', count: 50, forMs: 20_000 } as const;
  const bare = await measureBarePost(pace);
  const reached: Steady = await measureSteadyProgram(values.program, 1000);
  const { lateness, webhookDelays, grown } = reached;
  row(
    '1,000 accounts every 20 s: CPU per 1,000 polls',
    `${reached.quietCpu.toFixed(2)} s`,
    '<= 0.6 s (Gatus 1.09, Uptime Kuma 3.6)',
  );
  row('  bare POSTs, 50 a second just before', `${(bare.cpuMicrosPerRequest / 1000).toFixed(2)} s`, '-');
  row('  with 100 alerts that fire, resolve and fire again', `${reached.cpuWithAlerts.toFixed(2)} s`, '-');
  row(
    '  resident memory, highest of the run (peak of the start)',
    `${reached.residentMegabytes.toFixed(0)} (${reached.peakMegabytes.toFixed(0)}) MB`,
    '<= 130 MB (Gatus 105, Uptime Kuma 261)',
  );
  row(
    `  bytes stored per poll, over ${grown.addedPolls} more, each read back`,
    `${grown.bytesPerPoll.toFixed(1)} B`,
    '<= 30 B (Uptime Kuma 182)',
  );
  row(
    '  polls of the run that the database gives back, of polls made',
    `${reached.storedPolls}/${reached.polls}`,
    'all',
  );
  row('  database after the run', `${(reached.databaseBytes / 1024).toFixed(0)} KB`, '-');
  row(`  lateness of ${lateness.length} polls, p50`, ms(share(lateness, 0.5)), '-');
  row('  lateness, p99', ms(share(lateness, 0.99)), '<= 10 ms');
  row('  lateness, worst', ms(share(lateness, 1)), '-');
  row(`  answer to webhook, ${webhookDelays.length} messages, p50`, ms(share(webhookDelays, 0.5)), '<= 5 ms');
  row('  answer to webhook, p99', ms(share(webhookDelays, 0.99)), '<= 50 ms');
  row('  start of the process to the first poll', ms(reached.firstPollMs), '<= 1000 ms');
  row('  start to all polled', ms(reached.allPolledMs), '<= 5000 ms (Gatus 223 s, Uptime Kuma 641 s)');
}

function row(what: string, reached: string, aim: string): void {
  console.log(`${what.padEnd(66)} ${reached.padStart(16)}   ${aim}`);
}

/** The median, and in brackets the lowest and highest. */
function range<T>(items: readonly T[], of: (item: T) => number, unit: string, decimals = 0): string {
  const sorted = items.map(of).sort((left, right) => left - right);
  const [low, middle, high] = [0, 0.5, 1].map((part) => share(sorted, part).toFixed(decimals));
  return `${middle}${unit === '' ? '' : ` ${unit}`} (${low}-${high})`;
}

function share(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
