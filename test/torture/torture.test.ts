import { describe, expect, it } from 'vitest';
import { drawScenario } from './draw-scenario.ts';
import { runSeeds, type SeedResult } from './run-seeds.ts';
import { simulate } from './simulate.ts';

/** Few and short stories: a test run has little time. `.ci/run` plays 300 of a day, and `npm run torture` tells longer ones. */
const days = 2;
const seeds = 5;

describe('daemons in simulated time', () => {
  it('keeps every promise through the faults of 5 seeds', { timeout: 300_000 }, async () => {
    const results: SeedResult[] = [];
    // One thread: each reads the whole program, and the other core has the other test files.
    await runSeeds({ from: 12, seeds, days, jobs: 1, mostFailures: 3 }, (result) => results.push(result));
    const broken = results.filter((result) => result.violation !== null);
    expect(broken.map(({ seed, violation }) => ({ seed, violation }))).toEqual([]);
    expect(results).toHaveLength(seeds);
    // A simulation in which nothing happens would keep every promise.
    expect(results.filter((result) => result.kills > 0).length).toBeGreaterThan(seeds / 2);
    expect(results.reduce((sum, result) => sum + result.takeovers, 0)).toBeGreaterThan(seeds);
    expect(results.filter((result) => result.incidents > 0).length).toBeGreaterThan(seeds / 2);
    expect(results.filter((result) => result.replayed).length).toBeGreaterThanOrEqual(seeds / 5);
  });

  it('gives the same run for the same seed, byte for byte', { timeout: 60_000 }, async () => {
    const once = await simulate(drawScenario(7, days), { notified: true });
    const again = await simulate(drawScenario(7, days), { notified: true });
    expect(again.story).toEqual(once.story);
    expect(again.hash).toBe(once.hash);
    expect(once.story.length).toBeGreaterThan(100);
  });
});
