import { parseArgs } from 'node:util';
import { type KillPlan, killSteps } from '../test/support/kill/kill-plan.ts';
import { type KillResult, type KillRun, playKillRun, type Receiver } from '../test/support/kill/kill-run.ts';

/**
 * Kills the daemon with SIGKILL at every step of commit and delivery, in turn the first, second, … time
 * that it comes to it, and checks what its receivers got: nothing lost, and no more twice than crashes and
 * lost answers allow. `--every 3` takes every third row, `--parallel 4` plays four at a time. Ends with 1
 * when a promise was broken.
 */
const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' }, parallel: { type: 'string', default: '3' } },
});

const rows = (await planRows()).filter((_row, index) => index % Number(values.every) === 0);
const startedAt = performance.now();
const results = await playAll(rows, Number(values.parallel));
printTable(results);
const broken = results.flatMap(({ run, result }) => result.broken.map((text) => `${describe(run)}: ${text}`));
for (const line of broken) process.stdout.write(`BROKEN  ${line}\n`);
const crashes = sum(results, (result) => result.crashes);
process.stdout.write(
  `${results.length} runs, ${crashes} kills, ${sum(results, ({ unknown }) => unknown)} lost answers, ${sum(results, ({ refused }) => refused)} refusals: ` +
    `${broken.length === 0 ? 'no alert lost, none invented' : `${broken.length} promises broken`}, ` +
    `${sum(results, ({ duplicates }) => duplicates)} sent twice (${Math.round((performance.now() - startedAt) / 1000)} s)\n`,
);
process.exitCode = broken.length === 0 ? 0 : 1;

/**
 * Every step as often as an undisturbed run comes to it, against each kind of receiver; and runs with a crash
 * upon a crash.
 */
async function planRows(): Promise<KillRun[]> {
  const calm = await playKillRun({ plans: [], receiver: 'takes all' });
  const { counts } = calm;
  if (counts === null || calm.broken.length > 0)
    throw new Error(`the undisturbed run failed: ${calm.broken.join('; ')}`);
  const single = killSteps.flatMap((step) =>
    // Polls and commits go on as long as the story takes; their later ones differ in nothing.
    Array.from({ length: Math.min(counts[step], 12) }, (_, index): KillPlan => ({ step, nth: index + 1 })),
  );
  const receivers: readonly Receiver[] = ['takes all', 'refuses first', 'loses first answers'];
  return [
    ...receivers.flatMap((receiver) => single.map((plan) => ({ plans: [plan], receiver }))),
    ...killSteps.map((step) => ({
      plans: [1, 2, 3].map((nth) => ({ step, nth })),
      receiver: 'takes all' as const,
    })),
    { plans: [], receiver: 'kills on arrival' },
  ];
}

async function playAll(
  rowsToPlay: readonly KillRun[],
  parallel: number,
): Promise<{ readonly run: KillRun; readonly result: KillResult }[]> {
  const played: { run: KillRun; result: KillResult }[] = [];
  const queue = [...rowsToPlay];
  const worker = async (): Promise<void> => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      played.push({ run, result: await playKillRun(run) });
      if (process.stderr.isTTY) process.stderr.write(`\r${played.length} of ${rowsToPlay.length} `);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return played.sort((left, right) => rowsToPlay.indexOf(left.run) - rowsToPlay.indexOf(right.run));
}

function printTable(played: readonly { readonly run: KillRun; readonly result: KillResult }[]): void {
  const groups = new Map<string, KillResult[]>();
  for (const { run, result } of played) {
    const key = `${(run.plans.length > 1 ? `${run.plans[0]?.step}, 3 times` : (run.plans[0]?.step ?? 'message arrives')).padEnd(30)}${run.receiver}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  process.stdout.write(
    `${'killed when'.padEnd(30)}${'receivers'.padEnd(24)}runs  kills  refused  unknown  twice  lost\n`,
  );
  for (const [key, group] of groups) {
    const cells = [
      String(group.length).padStart(4),
      String(total(group, ({ crashes: count }) => count)).padStart(7),
      String(total(group, ({ refused }) => refused)).padStart(9),
      String(total(group, ({ unknown }) => unknown)).padStart(9),
      String(total(group, ({ duplicates }) => duplicates)).padStart(7),
      String(total(group, ({ broken: wrong }) => wrong.length)).padStart(6),
    ];
    process.stdout.write(`${key.padEnd(54)}${cells.join('')}\n`);
  }
}

function describe({ plans, receiver }: KillRun): string {
  return `${plans.map(({ step, nth }) => `${step} #${nth}`).join(', ')} against one that ${receiver}`;
}

function sum(played: readonly { readonly result: KillResult }[], of: (result: KillResult) => number): number {
  return total(
    played.map(({ result }) => result),
    of,
  );
}

function total(played: readonly KillResult[], of: (result: KillResult) => number): number {
  return played.reduce((before, result) => before + of(result), 0);
}
