import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildAccountView } from '../../support/built-views.ts';
import { loadFile, runCli } from '../../support/cli.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { seedDatabase } from '../../support/seed-database.ts';
import { runFakeServer, serveWorld } from '../../support/web-server.ts';
import { startWorld } from '../../support/world.ts';

let folder: string;

const hook = { type: 'webhook', url: 'https://example.com/hook' };
const config = {
  provider: { baseUrl: 'https://api.example.com' },
  accounts: [{ id: 'otp', authSecret: 'a-key', currency: 'CNY', labels: { team: 'identity' } }],
  rules: [{ id: 'sms-low', type: 'below', thresholds: { warning: 200, critical: 50 } }],
  channels: { ops: hook, boss: hook, growth: hook },
  routes: [
    { match: { labels: { team: 'growth' } }, channels: ['growth'] },
    {
      match: { severity: 'critical', currency: 'CNY' },
      channels: ['ops'],
      groupWait: '10s',
      repeatEvery: '1h',
      escalate: { after: '30m', channels: ['boss'] },
    },
    { channels: ['ops'] },
  ],
  silences: [
    {
      match: { labels: { team: 'identity' } },
      ...{ cron: '0 2 * * 0', timezone: 'UTC', duration: '2h', comment: 'maintenance' },
    },
  ],
  server: null,
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-routes-'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const routes = (...words: string[]) => runCli(['routes', ...words], { cwd: folder });

describe('lowwater routes', () => {
  it('says which route takes an alert and why not the others, and when each channel hears of it', async () => {
    const { code, stdout } = await routes('otp', 'sms-low', '--at', '2026-11-25T12:00Z');
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'otp sms-low, critical, at 2026-11-25 12:00 (UTC):',
      '  route 1 (team growth): not taken: asks for team growth',
      '  route 2 (currency CNY, severity critical): taken',
      '  route 3 (every alert): not taken: an earlier route took it',
      '  ops: at once, with what comes within 10s; repeated every 1h',
      '  boss: escalated after 30m unless somebody takes it; repeated every 1h',
      '  silences of people are not known: neither daemon nor database answers',
      '',
    ]);
  });

  it('knows no silences of people where the daemon that is asked has read nothing', async () => {
    const views = new FakeViews();
    views.accountList = [buildAccountView({})];
    views.isKnown = () => false;
    const server = await runFakeServer({ views });
    onTestFinished(() => server.close());
    const words = ['otp', 'sms-low', '--config', 'config.json', '--server', server.url];
    const { version } = views.daemonStatus;
    const { code, stdout } = await runCli(['routes', ...words], { cwd: folder, version });
    expect(code).toBe(0);
    expect(stdout).toContain('\n  silences of people are not known: ');
  });

  it('asks for the configuration where only a daemon is named', async () => {
    const { url } = await serveWorld(await startWorld());
    const words = ['routes', 'otp', 'sms-low', '--server', url];
    const refused = { code: 2, stderr: expect.stringContaining('name it by --config') };
    expect(await runCli(words, { cwd: folder })).toMatchObject(refused);
  });

  it('by another severity, in a mute time of the configuration and a silence that somebody made', async () => {
    const { settings } = await loadFile(join(folder, 'config.json'));
    await seedDatabase(settings.storage.path ?? '', settings, []);
    const added = await runCli(
      ['silence', 'add', '--rule', 'sms-low', '--for', '1h', '--comment', 'a test'],
      { cwd: folder },
    );
    expect(added.code).toBe(0);
    const now = await routes('otp', 'sms-low', '--severity', 'warning', '--json');
    expect(JSON.parse(now.stdout)).toMatchObject({
      ...{ account: 'otp', rule: 'sms-low', severity: 'warning' },
      routes: [
        { route: 1, taken: false },
        { route: 2, taken: false, why: 'asks for severity critical' },
        { route: 3, taken: true, why: null },
      ],
      channels: [{ channel: 'ops', atOnce: true, repeatEvery: '1d', escalateAfter: null }],
      silences: expect.arrayContaining([expect.objectContaining({ by: 'tester', comment: 'a test' })]),
    });
    const sunday = await routes('otp', 'sms-low', '--at', '2026-11-29T03:00Z');
    expect(sunday.stdout).toMatch(
      /muted until 2026-11-29 04:00 by configuration \(team identity\): maintenance/,
    );
    const monday = await routes('otp', 'sms-negative', '--at', '2026-11-30T03:00Z');
    expect(monday.stdout).toContain('no silence holds then');
  });

  it.each([
    [['otq', 'sms-low'], 'did you mean "otp"?'],
    [['otp', 'sms-lwo'], 'did you mean "sms-low"?'],
    [['otp', 'sms-low', '--severity', 'bad'], 'choose info, warning, critical'],
  ])('refuses %j', async (words, said) => {
    expect(await routes(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  });
});
