import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/system/clock.ts';
import { minuteMs, units } from '../../support/account-facts.ts';
import { loadFile, runCli } from '../../support/cli.ts';
import { seedDatabase } from '../../support/seed-database.ts';

const dayMs = 24 * 60 * minuteMs;

it('without a beginning shows the week before the end, and names both where nothing was read between them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-history-'));
  const config = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'key-of-the-otp-account' }],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
    // Not asked: on this machine another daemon may listen where one does by default.
    server: null,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const { settings } = await loadFile(join(folder, 'config.json'));
  const now = systemClock.now();
  const seeds = [20, 9, 0].map((days) => ({
    account: 'otp',
    at: now - days * dayMs,
    answer: { sms: units(100 + days), voip: 0 },
  }));
  seedDatabase(settings.storage.path ?? '', settings, seeds);
  const week = await runCli(['history', 'otp', '--until', '8d', '--csv'], { cwd: folder });
  const none = await runCli(['history', 'otp', '--until', '10d'], { cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  const read = new Date(now - 9 * dayMs).toISOString();
  expect(week).toMatchObject({ code: 0, stdout: `at,sms,voip,currency\r\n${read},109,0,CNY\r\n` });
  expect(none.code).toBe(0);
  expect(none.stdout).toMatch(/^No readings of otp from \S+ \S+ to \S+ \S+ \(UTC\)\.$/m);
});

it.each([
  ['--config nope.json history', 'history'],
  ['--config=nope.json silence expire', 'silence expire'],
  ['silence lst', 'silence'],
])('%s is sent to the help of the command that was meant', async (line, command) => {
  const { code, stderr } = await runCli(line.split(' '), { cwd: tmpdir() });
  expect(code).toBe(2);
  expect(stderr).toContain(`see lowwater ${command} --help`);
});
