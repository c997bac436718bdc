import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The last commit of 0.3.0. */
const commit = '56a1d73b';

/** Why there is no program of the version before; null where git has it. */
export const noProgramBefore: string | null = hasCommit()
  ? null
  : `git has no commit ${commit} (a shallow clone?): tests with lowwater 0.3.0 are left out`;

/** Unpacks the sources of 0.3.0, which Node runs as they are; gives its entry point. The caller calls `remove`. */
export function unpackProgramBefore(): { readonly main: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-before-'));
  const sources = execFileSync('git', ['archive', commit, 'src', 'migrations', 'package.json'], {
    cwd: root,
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: sources });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    main: join(folder, 'src/main.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
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
