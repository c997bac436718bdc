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
import { writeBundle } from './bundle.ts';
import { writeThirdPartyText } from './third-party-text.ts';

/**
 * Makes `dist/` from `src/`: the program as a bundle, the licences of what it holds, the page's assets as they are. Does
 * nothing when `dist/` is newer than all that it is made from; `--force` builds all the same.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.built');

if (process.argv.includes('--force') || !isUpToDate()) await build();

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
    'scripts/build.ts',
    'scripts/bundle.ts',
    'scripts/lean-bundle.ts',
    'scripts/third-party-text.ts',
  ];
  return [...settings, ...globSync(['languages/*.json', 'src', 'src/**'], { cwd: root })].map((path) =>
    join(root, path),
  );
}

async function build(): Promise<void> {
  const startedAt = new Date();
  rmSync(dist, { recursive: true, force: true });
  const packages = await writeBundle(root, dist);
  writeFileSync(join(dist, 'third-party.txt'), writeThirdPartyText(packages));
  for (const path of globSync('src/**/assets/**/*.*', { cwd: root })) {
    cpSync(join(root, path), join(dist, path.slice('src/'.length)));
  }
  chmodSync(join(dist, 'main.js'), 0o755);
  // Dated back to the start: a source that was edited while the compiler ran is newer, and is built next time.
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}
