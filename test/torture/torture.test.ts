import { describe, expect, it } from 'vitest';
import { drawScenario } from './draw-scenario.ts';
import { type Result, simulate } from './simulate.ts';

/** Few and short stories: a test run has little time. `.ci/run` plays 300 of a day, and `npm run torture` tells longer ones. */
const days = 1;
const seeds = 5;

describe('daemons in simulated time', () => {
  it('keeps every promise through the faults of 5 seeds', async () => {
    const results: (Result & { readonly seed: number })[] = [];
    // In this thread: another one would read the whole program once more.
    await withoutStacks(async () => {
      for (let seed = 12; results.length < seeds; seed += 1)
        results.push({ seed, ...(await simulate(drawScenario(seed, days), { notified: false })) });
    });
    const broken = results.filter((result) => result.violation !== null);
    expect(broken.map(({ seed, violation }) => ({ seed, violation }))).toEqual([]);
    expect(results).toHaveLength(seeds);
    // A simulation in which nothing happens would keep every promise.
    expect(results.filter((result) => result.kills > 0).length).toBeGreaterThan(seeds / 2);
    expect(results.reduce((sum, result) => sum + result.takeovers, 0)).toBeGreaterThan(seeds);
    expect(results.filter((result) => result.incidents > 0).length).toBeGreaterThan(seeds / 2);
    expect(results.filter((result) => result.replayed).length).toBeGreaterThanOrEqual(seeds / 5);
  });

  it('gives the same run for the same seed, byte for byte', async () => {
    const once = await simulate(drawScenario(7, 2), { notified: true });
    const again = await simulate(drawScenario(7, 2), { notified: true });
    expect(again.story).toEqual(once.story);
    expect(again.hash).toBe(once.hash);
    expect(once.story.length).toBeGreaterThan(100);
  });
});

/** Thousands of simulated storage errors need no stack; a failing seed is run again with its own. */
async function withoutStacks(use: () => Promise<void>): Promise<void> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  try {
    await use();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
