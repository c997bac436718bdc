import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const copied = [
  'src',
  'migrations',
  'languages',
  'test',
  'scripts',
  'config.example.json',
  'package.json',
  'tsconfig.json',
];

/** Everything that tests and simulation load, in a folder that is removed at the end, so that bugs can be put in. Packages are shared. */
export function copyProduct(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-mutations-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const path of copied) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  for (const name of packages()) {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), path);
  }
  return folder;
}

/** That of the repository builds the program first, which is not in the copy. */
export function writeTestConfig(folder: string, include: readonly string[] = ['test/**/*.test.ts']): void {
  const test = { include, testTimeout: 30_000, isolate: false, env: { NO_COLOR: '1', TZ: 'UTC' } };
  writeFileSync(join(folder, 'vitest.config.ts'), `export default ${JSON.stringify({ test })};\n`);
}

function packages(): readonly string[] {
  return readdirSync(join(root, 'node_modules')).flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(root, 'node_modules', name)).map((part) => `${name}/${part}`)
      : name,
  );
}
