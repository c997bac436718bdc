import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../support/cli.ts';

/** Validates a file whose database stands at that path, in a folder of its own that `prepare` fills. */
async function validate(path: string, prepare: (folder: string) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-validate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  prepare(folder);
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'otp-key-8f3a9c1d' }],
    channels: { ops: { type: 'webhook', url: 'https://hooks.example.com/x' } },
    server: null,
    storage: { path },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return runCli(['validate'], { cwd: folder });
}

it.each([
  ['a folder', (folder: string) => mkdirSync(join(folder, 'data')), 'storage.path: is a directory'],
  [
    'another file',
    (folder: string) => writeFileSync(join(folder, 'data'), 'id,name\n1,otp\n'),
    'storage.path: is another file, and no database',
  ],
])('refuses a database that run would refuse: %s', async (_, prepare, said) => {
  expect(await validate('data', prepare)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
});

it('warns of a folder that is not there, and says nothing of a database that is still to come', async () => {
  const missing = await validate('no/such/folder/lowwater.db');
  expect(missing).toMatchObject({ code: 0, stderr: expect.stringContaining('is not on this machine') });
  expect(await validate('lowwater.db')).toMatchObject({ code: 0, stderr: '' });
});
