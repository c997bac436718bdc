import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Before the first test file: no test may meet a program that was built from other sources. */
export function setup(): void {
  if (process.env.LOWWATER_MAIN !== undefined) return;
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], { stdio: 'inherit' });
}
