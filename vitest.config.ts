import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What takes longest, and so begins first: nothing else would be left to run beside it. Files that mostly wait stand between those that
 * mostly calculate, then come rooms whose files start processes, then the rest.
 */
const first = [
  'e2e/cluster.',
  'http/browser-pages.',
  'torture/torture.',
  'docs/many-accounts.',
  'e2e/page.',
  'http/flows.',
  'e2e/version-before.',
  'http/page/in-other-languages.',
  'docs/commands.',
  'http/browser-hands.',
  'http/browser-charts.',
  'http/browser-live.',
  'e2e/kill-matrix.',
  'http/server.',
  'cli/commands/cluster.',
  'store/postgres/connection.',
  'channels/email/email-sender.',
  'daemon/fewer-messages.',
  'e2e/',
  'store/postgres/',
  'wording/languages.',
  'http/',
  'docs/',
  'cli/',
  'wiring/',
  'store/',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = first.findIndex((start) => moduleId.includes(`/test/${start}`));
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
    // Node reads the sources as they are: nothing is transformed, and each worker keeps what it has read.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // Many tests wait for processes that they started: two cores are busy with four files. Each worker more reads the whole program once more.
    maxWorkers: Math.max(availableParallelism(), 4),
    // Colours and the terminal's width must not depend on where the tests run.
    env: { NO_COLOR: '1', TZ: 'UTC' },
  },
});
