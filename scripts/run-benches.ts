import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

/** Runs every benchmark in bench/, one after the other, so that none weighs on another. */
const root = join(import.meta.dirname, '..');
let failed = false;
for (const file of globSync('bench/*.ts', { cwd: root }).sort()) {
  console.log(`\n${file}`);
  const { status } = spawnSync(process.execPath, [join(root, file)], { cwd: root, stdio: 'inherit' });
  failed ||= status !== 0;
}
if (failed) process.exitCode = 1;
