import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 10_000,
    hookTimeout: 20_000,
    // Colours and the terminal's width must not depend on where the tests run.
    env: { NO_COLOR: '1', TZ: 'UTC' },
  },
});
