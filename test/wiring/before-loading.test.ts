import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

const module = new URL('../../src/wiring/before-loading.ts', import.meta.url).href;

function print(program: string): string {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: {},
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  return stdout;
}

test('what Node has compiled of itself is taken before flags are set that void it', () => {
  const program = `
    const { limitMemory } = await import(${JSON.stringify(module)});
    limitMemory('small');
    console.log(process.moduleLoadList.includes('NativeModule http'));`;
  expect(print(program)).toBe('true\n');
});

test('a replay has 8 MB for young objects and keeps to it, however much is in use', () => {
  const program = `
    const { limitMemory } = await import(${JSON.stringify(module)});
    limitMemory('replay');
    const inUse = Array.from({ length: 500_000 }, (_, index) => ({ index }));
    const young = process.getBuiltinModule('v8').getHeapSpaceStatistics().find((each) => each.space_name === 'new_space');
    console.log(young.space_size / 2 ** 20, inUse.length);`;
  expect(print(program)).toBe('16 500000\n');
});

test('a home in which nobody can make a folder keeps no command from going on', () => {
  const program = `
    const { keepCompiledCode } = await import(${JSON.stringify(module)});
    keepCompiledCode({ HOME: '/proc' });
    console.log('went on');`;
  expect(print(program)).toBe('went on\n');
});

test.each([
  ['HOME', 'ops', 'ops/.cache/lowwater'],
  ['XDG_CACHE_HOME', 'var/cache', 'var/cache/lowwater'],
])(
  'the folder of compiled code, and what is missing above it, is open to its user alone, whatever the umask says: %s',
  (name, given, made) => {
    const root = mkdtempSync(join(tmpdir(), 'lowwater-home-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const program = `
    process.umask(0);
    const { keepCompiledCode } = await import(${JSON.stringify(module)});
    keepCompiledCode({ ${name}: ${JSON.stringify(join(root, given))} });
    console.log('went on');`;
    expect(print(program)).toBe('went on\n');
    for (let folder = join(root, made); folder !== root; folder = dirname(folder))
      expect(statSync(folder).mode & 0o777).toBe(0o700);
  },
);
