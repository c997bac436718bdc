import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCli } from '../support/cli.ts';

test('the demo leaves the folder of the database alone that LOWWATER_DATA names, as the image does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-demo-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('LOWWATER_DATA', folder);
  const { code, stdout } = await runCli(['demo', '--for', '1s'], { cwd: folder });
  expect(code).toBe(0);
  expect(stdout).toContain('The page: http://');
  expect(readdirSync(folder)).toEqual([]);
});
