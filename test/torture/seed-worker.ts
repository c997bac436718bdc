import { parentPort, threadId } from 'node:worker_threads';
import { drawScenario } from './draw-scenario.ts';
import { simulate } from './simulate.ts';

// Thousands of simulated storage errors need none; a failing seed is run again with its stack.
Error.stackTraceLimit = 1;

interface Order {
  readonly seed: number;
  readonly days: number | null;
  readonly pair: string | null;
}

/** One thread of `runSeeds`: runs the seeds that it is given. */
parentPort?.on('message', async (order: Order | null) => {
  if (order === null) {
    parentPort?.close();
    return;
  }
  const { seed, days, pair } = order;
  const before = process.threadCpuUsage();
  const { story: _, ...result } = await simulate(drawScenario(seed, days ?? undefined, pair ?? undefined), {
    notified: false,
  });
  const { user, system } = process.threadCpuUsage(before);
  parentPort?.postMessage({ seed, cpuMs: (user + system) / 1000, thread: threadId, ...result });
});
