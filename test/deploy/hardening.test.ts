import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test.each([
  ['the image', 'Dockerfile', /^ENTRYPOINT .*"--disable-sigusr1"/m],
  ['the unit', 'deploy/lowwater.service', /^ExecStart=.* --disable-sigusr1 /m],
])('%s lets no signal open the debugger, not even before the program runs', (_name, file, closed) => {
  expect(readFileSync(join(root, file), 'utf8')).toMatch(closed);
});

test('a reload of the unit waits until the program listens to SIGHUP', () => {
  expect(readFileSync(join(root, 'deploy/lowwater.service'), 'utf8')).toMatch(
    /^ExecStartPost=\/bin\/sleep 1$/m,
  );
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasAnalyze).each([
  ['is sound', 'verify', []],
  ['lets the program do little', 'security', ['--offline=true', '--threshold=20']],
])('systemd finds that the unit %s', (_name, word, options) => {
  // The paths of an installation are not here; systemd asks whether the programs exist.
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const unit = readFileSync(join(root, 'deploy/lowwater.service'), 'utf8');
  writeFileSync(join(folder, 'lowwater.service'), unit.replace('/usr/bin/node', process.execPath));
  const words = [word, ...options, join(folder, 'lowwater.service')];
  const { status, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
