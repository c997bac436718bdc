import { expect, test } from 'vitest';
import { codeDirectory } from '../../src/wiring/before-loading.ts';

test.each([
  [{ HOME: '/home/ops' }, '/home/ops/.cache/lowwater'],
  [{ HOME: '/home/ops', XDG_CACHE_HOME: '/var/tmp/ops' }, '/var/tmp/ops/lowwater'],
  [{ HOME: '/home/ops', CACHE_DIRECTORY: '/var/cache/lowwater' }, '/var/cache/lowwater'],
  [{ HOME: '', XDG_CACHE_HOME: '' }, null],
  [{}, null],
])('under %j compiled code is kept in %j', (env, directory) => {
  expect(codeDirectory(env)).toBe(directory);
});
