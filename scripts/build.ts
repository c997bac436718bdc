import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/**
 * Makes `dist/` from `src/`: TypeScript compiled, everything else (page assets, fonts) copied as it is. Does
 * nothing when `dist/` is newer than all that it is made from; `--force` builds all the same.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.built');

if (process.argv.includes('--force') || !isUpToDate()) build();

function isUpToDate(): boolean {
  if (!existsSync(stamp)) return false;
  const builtAt = statSync(stamp).mtimeMs;
  // A removed source changes the time of its folder, so folders count as well as files.
  return builtFrom().every((path) => statSync(path).mtimeMs <= builtAt);
}

function builtFrom(): string[] {
  const settings = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.ts',
  ];
  return [...settings, 'src', ...globSync('src/**', { cwd: root })].map((path) => join(root, path));
}

function build(): void {
  const startedAt = new Date();
  rmSync(dist, { recursive: true, force: true });
  try {
    execFileSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
      {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
  } catch {
    // The compiler has said why.
    process.exit(1);
  }
  for (const path of globSync('src/**', { cwd: root, exclude: (name) => name.endsWith('.ts') })) {
    const source = join(root, path);
    if (statSync(source).isFile()) cpSync(source, join(dist, path.slice('src/'.length)));
  }
  chmodSync(join(dist, 'main.js'), 0o755);
  // Dated back to the start: a source that was edited while the compiler ran is newer, and is built next time.
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
