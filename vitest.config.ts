import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { startedSooner } from './test/support/built-program.ts';

// Before workers start: processes that run the program or its sources take a third less of the processor to start.
Object.assign(process.env, startedSooner());

/** Files that mostly wait for processes and browsers, the longest first; of a room all that is not named before. */
const waiting = [
  'e2e/cluster.',
  'docs/many-accounts.',
  'e2e/page.',
  'e2e/kill-matrix.',
  'docs/commands.',
  'e2e/signals.',
  'e2e/reload.',
  'e2e/storage.',
  'http/browser-pages.',
  'wiring/process.',
  'e2e/crash.',
  'e2e/version-before.',
  'http/browser-hands.',
  'http/browser-charts.',
  'store/postgres/connection.',
  'http/browser-live.',
  'channels/email/email-sender.',
  'e2e/',
  'http/flows.',
  'cli/commands/cluster.',
  'store/postgres/',
  'http/browser',
  'store/sqlite/',
  'wiring/',
  'cli/',
  'deploy/',
];

/** Files that mostly calculate and take long. */
const calculating = [
  'torture/torture.',
  'http/page/in-other-languages.',
  'daemon/fewer-messages.',
  'http/',
  'daemon/',
];

/**
 * Keeps the processor busy from the first file to the last: those that wait stand evenly between those that calculate, and what takes
 * longest begins first in both, as nothing would be left to run beside it.
 */
class InTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification, starts: readonly string[]): number => {
      const index = starts.findIndex((start) => moduleId.includes(`/test/${start}`));
      return index === -1 ? starts.length : index;
    };
    const ranked = (starts: readonly string[], of: readonly TestSpecification[], spread: number) =>
      of
        .toSorted((left, right) => rank(left, starts) - rank(right, starts))
        .map((file, index) => ({ file, place: (index / of.length) ** spread }));
    const { waits = [], calculates = [] } = Object.groupBy(sorted, (file) =>
      rank(file, waiting) < waiting.length ? 'waits' : 'calculates',
    );
    // The first of those that wait last ten times as long as most: more of the others come between them.
    return [...ranked(waiting, waits, 0.7), ...ranked(calculating, calculates, 1)]
      .sort((left, right) => left.place - right.place)
      .map(({ file }) => file);
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-program.ts',
    // Generous: a machine that ten others load must not make a test fail that only waits for processes, and one that passes waits no longer.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // Files share their workers: tests keep no state of their own in modules, and loading those anew for each file costs half the time.
    isolate: false,
    // Node reads the sources as they are: nothing is transformed, and each worker keeps what it has read.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: InTurns },
    // Many tests wait for processes that they started: two cores are busy with six files. Each worker more reads the whole program once more.
    maxWorkers: Math.max(availableParallelism(), 6),
    // Young objects are collected less often: about a thirtieth less of the processor for what workers calculate.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=32'],
    // Colours and the terminal's width must not depend on where the tests run.
    env: { NO_COLOR: '1', TZ: 'UTC' },
  },
});
