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
  [
    'a folder',
    (folder: string) => mkdirSync(join(folder, 'data')),
    /storage\.path: database \S+ is a directory: set storage\.path/,
  ],
  [
    'another file',
    (folder: string) => writeFileSync(join(folder, 'data'), 'id,name\n1,otp\n'),
    /storage\.path: is another file, and no database/,
  ],
])(
  'refuses a database that run would refuse, by its line as all that is wrong: %s',
  async (_, prepare, said) => {
    const { code, stderr } = await validate('data', prepare);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) });
    expect(stderr).toMatch(/^error: \S+\/config\.json:1:\d+: /);
  },
);

it('sums up many accounts on one screen, and prints all of them with --full', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-validate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const accounts = Array.from({ length: 200 }, (_, index) => ({
    id: `a${index}`,
    authSecret: `key-of-${index}`,
    currency: index < 150 ? 'CNY' : 'EUR',
    labels: { team: `team-${index % 4}` },
    ...(index < 3 ? { thresholds: { sms: { warning: 300 } } } : {}),
  }));
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts,
    rules: [{ id: 'low', type: 'below', thresholds: { warning: 200, critical: 50 } }],
    channels: { ops: { type: 'webhook', url: 'https://hooks.example.com/x' } },
    server: null,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const { code, stdout } = await runCli(['validate'], { cwd: folder });
  expect(code).toBe(0);
  expect(stdout.split('\n').length).toBeLessThan(40);
  for (const line of [
    'currency: CNY 150, EUR 50',
    'label team: team-0 50, team-1 50, team-2 50, team-3 50',
    'own thresholds: 3',
    'low: 200 accounts, SMS balance below 50.00 (critical), 200.00 (warning)',
  ])
    expect(stdout).toContain(line);
  const all = (await runCli(['validate', '--full'], { cwd: folder })).stdout;
  expect(all).toContain('id: a199');
  expect(all.split('\n').length).toBeGreaterThan(3000);
});

it('warns of a folder that is not there, and says nothing of a database that is still to come', async () => {
  const missing = await validate('no/such/folder/lowwater.db');
  expect(missing).toMatchObject({ code: 0, stderr: expect.stringContaining('is not on this machine') });
  expect(await validate('lowwater.db')).toMatchObject({ code: 0, stderr: '' });
});
