import { Worker } from 'node:worker_threads';
import type { Result } from './simulate.ts';

/** How one seed went, without its story. */
export interface SeedResult extends Omit<Result, 'story'> {
  readonly seed: number;
  readonly cpuMs: number;
}

/** A seed takes a second; a simulated year with many accounts, minutes. */
const longestRunMs = 10 * 60_000;
const nothing = {
  violation: null,
  hash: 0,
  polls: 0,
  sends: 0,
  incidents: 0,
  kills: 0,
  takeovers: 0,
  accountDays: 0,
  replayed: false,
  endedAtDay: 0,
  cpuMs: 0,
} as const;

/**
 * Runs the seeds `from` … `from + seeds - 1`, each in one of `jobs` threads; gives them as they end. Stops early after
 * `mostFailures` failed.
 */
export async function runSeeds(
  order: {
    readonly from: number;
    readonly seeds: number;
    readonly days: number | null;
    /** Null: as each seed draws it. */
    readonly pair?: string | null;
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
      const worker = new Worker(new URL('./seed-worker.ts', import.meta.url), {
        // Room for short-lived objects: a third of the time went into collecting them.
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      });
      let hung: NodeJS.Timeout | undefined;
      let current = 0;
      const give = (): void => {
        if (next >= end || failures >= order.mostFailures) worker.postMessage(null);
        else {
          current = next++;
          hung = setTimeout(hang, longestRunMs);
          worker.postMessage({ seed: current, days: order.days, pair: order.pair ?? null });
        }
      };
      // A daemon that never comes back cannot be asked to stop: its thread is given up, and so is the rest of its seeds.
      const hang = (): void => {
        failures++;
        ended({
          ...nothing,
          seed: current,
          violation: { rule: 'the daemon never hangs', message: 'it did' },
        });
        void worker.terminate();
      };
      worker.on('message', (result: SeedResult) => {
        clearTimeout(hung);
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
