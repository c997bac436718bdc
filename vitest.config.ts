import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Rooms whose files take longest, mostly by waiting for processes and browsers: none of them may be left for last. */
const first = ['torture', 'e2e', 'http', 'docs', 'cli'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = first.findIndex((room) => moduleId.includes(`/test/${room}/`));
      return index === -1 ? first.length : index;
    };
    return sorted.toSorted((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-program.ts',
    // Generous: a loaded machine must not make a test fail that only waits for processes.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // Files share their workers: tests keep no state of their own in modules, and loading those anew for each file costs half the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Many tests wait for processes that they started: two cores are busy with five files.
    maxWorkers: Math.max(availableParallelism(), 5),
    // Colours and the terminal's width must not depend on where the tests run.
    env: { NO_COLOR: '1', TZ: 'UTC' },
  },
});
