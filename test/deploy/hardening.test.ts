import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
