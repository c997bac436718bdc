import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { minuteMs, units } from '../support/account-facts.ts';
import { loadFile, runCli } from '../support/cli.ts';
import { listenHttp } from '../support/loopback-provider.ts';
import { seedDatabase } from '../support/seed-database.ts';

it('amounts that are no money are whole in the list of alerts, what explains one, a check, and the curves of a replay, and never look like their limits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-units-'));
  const file = join(folder, 'config.json');
  const provider = await listenHttp((_, response) => {
    response.end(JSON.stringify({ sms: 1234, voip: 3999.6 }));
  });
  const config = {
    providers: {
      wallet: {
        type: 'http-json',
        request: { url: `http://127.0.0.1:${provider.port}/` },
        balances: [
          { id: 'sms', amount: '$.sms', unit: 'credits' },
          { id: 'voip', amount: '$.voip', unit: 'minutes' },
        ],
        currency: { fixed: 'EUR' },
      },
    },
    accounts: [{ id: 'otp', provider: 'wallet' }],
    rules: [
      { id: 'low', type: 'below', threshold: 2000 },
      { id: 'talk', type: 'below', threshold: 4000, balance: 'voip' },
    ],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T0001/B0001/secret' } },
    // Not asked: on this machine another daemon may listen where one does by default.
    server: null,
  };
  writeFileSync(file, JSON.stringify(config));
  const { settings } = await loadFile(file);
  const start = systemClock.now() - 5 * minuteMs;
  const seeds = [1600, 1500, 1234].map((sms, index) => ({
    account: 'otp',
    at: start + index * minuteMs,
    answer: { sms: units(sms), voip: units(3999.6) },
  }));
  seedDatabase(settings.storage.path ?? '', settings, seeds);
  const alerts = await runCli(['alerts'], { cwd: folder });
  const explained = await runCli(['explain', 'otp', 'talk'], { cwd: folder });
  const checked = await runCli(['check'], { cwd: folder });
  const replay = await runCli(['replay', '--since', '1h'], { cwd: folder, columns: 100 });
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
  expect(alerts.stdout).toMatch(/ low +1,234 +2,000 /);
  expect(alerts.stdout).toMatch(/ talk +3,999 +4,000 /);
  expect(explained.stdout).toMatch(/value +3,999 minutes\n +threshold +4,000 minutes\n/);
  expect(checked.stdout).toMatch(/^\w+: otp: low 1,234 credits, talk 3,999 minutes;/);
  expect(replay.stdout).toMatch(/ 2,000 [┤│]/);
});
