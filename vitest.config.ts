import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-program.ts',
    // Generous: a loaded machine must not make a test fail that only waits for processes.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files share their workers: tests keep no state of their own in modules, and loading those anew for each file costs half the time.
    isolate: false,
    // Many tests wait for processes that they started: two cores are busy with four files.
    maxWorkers: Math.max(availableParallelism(), 4),
    // Colours and the terminal's width must not depend on where the tests run.
    env: { NO_COLOR: '1', TZ: 'UTC' },
  },
});
