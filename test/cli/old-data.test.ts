import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { minuteMs, units } from '../support/account-facts.ts';
import { loadFile, runCli } from '../support/cli.ts';
import { seedDatabase } from '../support/seed-database.ts';

/** What two commands say of a database whose newest poll is that old; between two polls the account was topped up. */
async function readOldDatabase(ageMs: number, poll: object, others: readonly object[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-old-'));
  const path = join(folder, 'config.json');
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    poll,
    accounts: [
      { id: 'otp', authSecret: 'key-of-the-otp-account' },
      ...others.map((other, nth) => ({
        id: `other-${nth}`,
        authSecret: `key-of-another-${nth}`,
        poll: other,
      })),
    ],
    rules: [{ id: 'paid', type: 'top-up' }],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
    // Not asked: on this machine another daemon may listen where one does by default.
    server: null,
  };
  writeFileSync(path, JSON.stringify(config));
  const loaded = await loadFile(path);
  const at = systemClock.now() - ageMs;
  seedDatabase(loaded.settings.storage.path ?? '', loaded.settings, [
    { account: 'otp', at: at - minuteMs, answer: { sms: units(5), voip: 0 } },
    { account: 'otp', at, answer: { sms: units(9), voip: 0 } },
    ...others.map((_, nth) => ({ account: `other-${nth}`, at, answer: { sms: units(9), voip: 0 } })),
  ]);
  const status = await runCli(['status'], { cwd: folder });
  const alerts = await runCli(['alerts', '--all'], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  return { status, alerts };
}

it('a database that nobody fills is no news of now, and the commands that read it say so', async () => {
  const { status, alerts } = await readOldDatabase(3 * 60 * minuteMs, { every: '1m' });
  const warning =
    'warning: the newest poll in the database is 3 hours old: no daemon is running, or it cannot store what it sees\n';
  expect(status).toMatchObject({ code: 0, stderr: warning });
  expect(alerts).toMatchObject({ code: 0, stderr: warning });
});

it('a database is old by the account that is polled most often, though others rest for days between two polls', async () => {
  const others = [{ cron: '0 0 * * 1' }, { every: '1d' }];
  const { status, alerts } = await readOldDatabase(3 * 60 * minuteMs, { every: '1m' }, others);
  const warning = expect.stringMatching(/^warning: the newest poll in the database is 3 hours old/);
  expect(status).toMatchObject({ code: 0, stderr: warning });
  expect(alerts).toMatchObject({ code: 0, stderr: warning });
});

it.each([
  ['between two polls', minuteMs, { every: '1m' }],
  ['while the next poll by cron is to come', 3 * 60 * minuteMs, { cron: '0 0 * * 1' }],
] as const)('nothing is said %s', async (_name, ageMs, poll) => {
  const { status } = await readOldDatabase(ageMs, poll);
  expect(status).toMatchObject({ code: 0, stderr: '' });
});

it('a database that missed the polls of a cron expression has fallen behind too, and its readings are not called ok', async () => {
  const { status, alerts } = await readOldDatabase(30 * 24 * 60 * minuteMs, { cron: '0 8 * * *' });
  const warning = expect.stringMatching(/^warning: the newest poll in the database is 30 days old/);
  expect(status).toMatchObject({
    code: 0,
    stderr: warning,
    stdout: expect.stringContaining('not read  otp'),
  });
  expect(alerts).toMatchObject({ code: 0, stderr: warning });
});

it('a check of an account to which nothing was pushed for long knows nothing of it, and gives no stale figure', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-pushed-'));
  const path = join(folder, 'config.json');
  const config = {
    providers: { own: { type: 'pushed', balances: [{ id: 'sms' }, { id: 'voip' }] } },
    accounts: [{ id: 'otp', provider: 'own' }],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
    server: null,
  };
  writeFileSync(path, JSON.stringify(config));
  const { settings } = await loadFile(path);
  const at = systemClock.now() - 72 * 60 * minuteMs;
  seedDatabase(settings.storage.path ?? '', settings, [
    { account: 'otp', at, answer: { sms: units(9), voip: 0 } },
  ]);
  const checked = await runCli(['check'], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  expect(checked).toMatchObject({ code: 3, stderr: '' });
  expect(checked.stdout).toMatch(/^UNKNOWN: otp: not read; 0 of 1 account fine\n/);
  expect(checked.stdout).toMatch(/^ +sms-negative +ok when last read /m);
});

it('a top-up merely happened: it has no length', async () => {
  const { alerts } = await readOldDatabase(minuteMs, { every: '1m' });
  expect(alerts.stdout).toMatch(/resolved +info +otp +paid +4\.00 +0\.01 +\d{4}-\d\d-\d\d \d\d:\d\d +-\n/);
});

it('polls that are damaged in the database are named once by a command that reads them several times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-damaged-'));
  const path = join(folder, 'config.json');
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'key-of-the-otp-account' }],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
    server: null,
  };
  writeFileSync(path, JSON.stringify(config));
  const { settings } = await loadFile(path);
  const database = settings.storage.path ?? '';
  seedDatabase(database, settings, [
    { account: 'otp', at: systemClock.now() - minuteMs, answer: { sms: units(9), voip: 0 } },
  ]);
  const other = new Database(database);
  other.prepare(`update account set tail = cast(x'ff' || substr(tail, 2) as blob)`).run();
  other.close();
  const { stdout, stderr } = await runCli(['history', 'otp'], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  expect(stdout).toContain('No readings of otp');
  expect(stderr.match(/1 stored poll of otp .* are damaged and left out/g)).toHaveLength(1);
});
