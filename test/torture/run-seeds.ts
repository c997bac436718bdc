import { Worker } from 'node:worker_threads';
import type { Result } from './simulate.ts';

/** How one seed went, without its story. */
export interface SeedResult extends Omit<Result, 'story'> {
  readonly seed: number;
  readonly cpuMs: number;
}

/**
 * Runs the seeds `from` … `from + seeds - 1`, each in one of `jobs` threads; gives them as they end. Stops early after
 * `mostFailures` failed.
 */
export async function runSeeds(
  order: {
    readonly from: number;
    readonly seeds: number;
    readonly days: number | null;
    readonly jobs: number;
    readonly mostFailures: number;
  },
  ended: (result: SeedResult) => void,
): Promise<void> {
  let next = order.from;
  let failures = 0;
  const end = order.from + order.seeds;
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./seed-worker.ts', import.meta.url));
      const give = (): void => {
        if (next >= end || failures >= order.mostFailures) worker.postMessage(null);
        else worker.postMessage({ seed: next++, days: order.days });
      };
      worker.on('message', (result: SeedResult) => {
        if (result.violation !== null) failures++;
        ended(result);
        give();
      });
      worker.on('error', reject);
      worker.on('exit', () => resolve());
      give();
    });
  await Promise.all(Array.from({ length: Math.min(order.jobs, order.seeds) }, work));
}
