import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';

/** Comes with Debian's prometheus; null where it is absent, and what needs it is left out. */
export const promtool = findPromtool();

function findPromtool(): string | null {
  const path = process.env.PROMTOOL ?? 'promtool';
  return spawnSync(path, ['--version']).status === 0 ? path : null;
}

/** Evaluates rules and queries over made series, as a file of `promtool test rules` describes them. */
export function testRules(test: object, rule_files: readonly string[] = []): void {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'test.json');
  writeFileSync(file, JSON.stringify({ rule_files, tests: [{ interval: '1m', ...test }] }));
  const { status, stdout, stderr } = spawnSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8' });
  expect(stdout + stderr).not.toContain('FAILED');
  expect(status).toBe(0);
}
