import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { minuteMs, units } from '../support/account-facts.ts';
import { loadFile, runCli } from '../support/cli.ts';
import { seedDatabase } from '../support/seed-database.ts';

let folder: string;
const whole = {
  provider: { baseUrl: 'https://api.example.com' },
  poll: { every: '1m' },
  accounts: [{ id: 'otp', authSecret: 'key-of-the-otp-account' }],
  rules: [{ id: 'sms-low', type: 'below', balance: 'sms', threshold: '100' }],
  channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
  // Not asked: on this machine another daemon may listen where one does by default.
  server: null,
  storage: { path: 'lowwater.db' },
};

/** Of a file whose database has a negative balance, and alerts that fire for it. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-imperfect-'));
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(whole));
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  symlinkSync('loop', join(folder, 'loop'));
  const { settings } = await loadFile(path);
  const at = systemClock.now() - 1000;
  seedDatabase(settings.storage.path ?? '', settings, [
    { account: 'otp', at: at - minuteMs, answer: { sms: units(5), voip: 0 } },
    { account: 'otp', at, answer: { sms: units(-3.5), voip: 0 } },
  ]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runWith(command: readonly string[], change: object) {
  const path = join(folder, 'imperfect.json');
  writeFileSync(path, JSON.stringify({ ...whole, ...change }));
  return runCli([...command, '--config', path], { cwd: folder });
}

describe.each([
  ['an address that is not resolved', { provider: { baseUrl: `\${env:LOWWATER_NOT_SET}` } }],
  ['an address that is missing', { provider: {} }],
  ['accounts that are no list', { accounts: true }],
  ['a threshold that is no amount', { rules: [{ ...whole.rules[0], threshold: 'x' }] }],
  ['a rule of no kind', { rules: [{ ...whole.rules[0], type: 'belwo' }] }],
])('a file with %s hides no alert of its database', (_, change) => {
  it('by `alerts`', async () => {
    const { code, stdout, stderr } = await runWith(['alerts'], change);
    expect(code).toBe(0);
    expect(stdout).toMatch(/firing\s+critical\s+otp\s+sms-negative\s+-3\.50/);
    expect(stdout).toMatch(/firing\s+warning\s+otp\s+sms-low/);
    expect(stderr).toContain('1 problem in');
  });

  it('by `status`', async () => {
    expect((await runWith(['status'], change)).stdout).toContain('2 alerts firing');
    expect((await runWith(['status', '--line'], change)).stdout).toMatch(/^CRITICAL /);
  });

  it('by `ack`', async () => {
    const { code } = await runWith(['ack', 'otp', 'sms-low'], change);
    expect(code).toBe(0);
  });
});

it.each([
  ['is empty', ''],
  ['holds a comment alone', '// to be written'],
  ['is no JSON', 'hello'],
])('a file that %s hides no alert of the database beside it', async (_, text) => {
  const path = join(folder, 'cut.json');
  writeFileSync(path, text);
  const { code, stdout, stderr } = await runCli(['alerts', '--config', path], { cwd: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 problem in') });
  expect(stdout).toMatch(/firing\s+critical\s+otp\s+sms-negative/);
});

describe.each([
  ['a number', 5],
  ['nothing', null],
  ['not resolved', `\${env:LOWWATER_NOT_SET}`],
])('where `storage.path` is %s', (_, path) => {
  it.each([['status'], ['alerts'], ['check'], ['backup', 'copy.db'], ['query', 'SELECT 1']])(
    'no other database is taken for it: %s',
    async (...command) => {
      const { code, stdout, stderr } = await runWith(command, { storage: { path } });
      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr).toContain('does not say where the database is');
      expect(existsSync(join(folder, 'copy.db'))).toBe(false);
    },
  );
});

it.each([
  ['a device', '/dev/zero', 'is no regular file'],
  ['a FIFO that nobody writes to', 'fifo', 'is no regular file'],
  ['a link to itself', 'loop', 'leads nowhere'],
  ['below a file', 'config.json/lowwater.db', 'cannot be used'],
])('validate refuses a database that is %s, as run does', async (_, path, said) => {
  for (const command of ['validate', 'run']) {
    const { code, stderr } = await runWith([command], { storage: { path } });
    expect([code, stderr]).toEqual([command === 'run' ? 1 : 2, expect.stringContaining(said)]);
  }
});

it('sends nothing to what stands in the place of an address that is not resolved, and says so', async () => {
  const { code, stderr } = await runWith(['report', 'weekly'], {
    channels: { hook: { type: 'webhook', url: `\${env:LOWWATER_NOT_SET}` } },
    reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['hook'] }],
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/weekly could not be sent to hook: its settings are wrong or unresolved here/);
});

it('names the variable that is not set where a report cannot be read without it', async () => {
  const { code, stderr } = await runWith(['report', 'weekly'], {
    channels: {
      mail: {
        type: 'email',
        smtpUrl: `\${env:LOWWATER_NOT_SET}`,
        from: 'a@example.com',
        to: ['b@example.com'],
      },
    },
    reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['mail'] }],
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(/channels\.mail\.smtpUrl: the environment variable LOWWATER_NOT_SET is not set/);
});

it.each([
  ['a key that stands twice', { accounts: [whole.accounts[0]] }, '"id":"otp"', '"id":"tap","id":"otp"'],
  [
    'a threshold that no rule takes',
    { accounts: [{ ...whole.accounts[0], thresholds: { voip: { warning: 5 } } }] },
    '',
    '',
  ],
])('`check` polls nothing for a file with %s, which the daemon refuses too', async (_, change, from, to) => {
  const path = join(folder, 'refused.json');
  writeFileSync(path, JSON.stringify({ ...whole, ...change }).replace(from, to));
  for (const command of ['check', 'run']) {
    const { code, stdout, stderr } = await runCli([command, '--config', path], { cwd: folder });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/error: .*accounts\[0\]/)]);
  }
});

it.each(['accounts', 'storage'])('goes by the last where "%s" stands twice, as JSON does', async (key) => {
  const path = join(folder, 'twice.json');
  writeFileSync(path, JSON.stringify(whole).replace('{', `{"${key}":[],`));
  const { code, stdout, stderr } = await runCli(['alerts', '--config', path], { cwd: folder });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/firing\s+critical\s+otp\s+sms-negative/)]);
  expect(stderr).not.toContain('does not say enough');
});
