import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The last commit of 0.3.0. */
const commit = '56a1d73b';

/** Why there is no program of the version before; null where git has it. */
export const noProgramBefore: string | null = hasCommit()
  ? null
  : `git has no commit ${commit} (a shallow clone?): tests with lowwater 0.3.0 are left out`;

/** The folder where npm keeps what it installed, which 0.3.0 imports as well: gone with it, and out of git's sight. */
const kept = join(root, 'node_modules/.cache', `lowwater-${commit}`);

/** Builds 0.3.0 by its own script, once for all runs: from its sources each start takes twice the processor time. Gives its entry point. */
export function buildProgramBefore(): string {
  const main = join(kept, 'dist/main.js');
  if (existsSync(main)) return main;
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-before-'));
  try {
    const parts = ['src', 'migrations', 'assets', 'scripts', 'package.json'];
    const sources = execFileSync('git', ['archive', commit, ...parts], { cwd: root, maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '-C', folder], { input: sources });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    execFileSync(process.execPath, [join(folder, 'scripts/build.ts')], { stdio: 'pipe' });
    const copy = `${kept}-${process.pid}`;
    for (const part of ['package.json', 'migrations', 'dist'])
      cpSync(join(folder, part), join(copy, part), { recursive: true });
    // Whole from the moment that others see it.
    renameSync(copy, kept);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return main;
}

function hasCommit(): boolean {
  if (!existsSync(join(root, '.git'))) return false;
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
