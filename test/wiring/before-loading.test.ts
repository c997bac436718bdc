import { spawnSync } from 'node:child_process';
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

test('a replay has 8 MB for young objects and keeps to it, however much is in use', () => {
  const module = new URL('../../src/wiring/before-loading.ts', import.meta.url).href;
  const program = `
    const { limitMemory } = await import(${JSON.stringify(module)});
    limitMemory('replay');
    const inUse = Array.from({ length: 500_000 }, (_, index) => ({ index }));
    const young = process.getBuiltinModule('v8').getHeapSpaceStatistics().find((each) => each.space_name === 'new_space');
    console.log(young.space_size / 2 ** 20, inUse.length);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('16 500000\n');
});
