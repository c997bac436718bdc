import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfigFile } from '../../src/config/load-config.ts';
import { openReader, openStore } from '../../src/store/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { openStoredViews } from '../../src/views/stored-views.ts';
import { silent } from '../store/sqlite/batches.ts';
import { loadFile } from '../support/cli.ts';
import { seededRandom } from '../support/seeded-random.ts';

const fixtures = join(import.meta.dirname, '..', 'fixtures');

/** Five seconds after lowwater 0.1.0 had written the database, by polling the simulator each second for 28 seconds. */
const now = Date.parse('2026-11-22T02:41:10Z');

/** The configuration and the database of 0.1.0, in a folder of their own. */
function makeInstallation(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-upgrade-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'config.json'), readFileSync(join(fixtures, 'config-0.1.0.json')));
  const database = gunzipSync(readFileSync(join(fixtures, 'lowwater-0.1.0.db.gz')));
  writeFileSync(join(folder, 'lowwater.db'), database);
  return folder;
}

async function loadSettings(folder: string) {
  const path = join(folder, 'config.json');
  const { loaded } = await loadConfigFile({ path, env: {}, calendar: cronCalendar, now });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

it('a configuration of 0.1.0 is valid and means what it meant', async () => {
  const { settings } = await loadSettings(makeInstallation());
  expect(settings.accounts.map(({ id }) => id)).toEqual(['otp', 'marketing', 'broken']);
  expect(settings.rules.filter(({ builtIn }) => !builtIn).map(({ id, type }) => [id, type])).toEqual([
    ['sms-low', 'below'],
    ['sms-runway', 'runway'],
    ['sms-drop', 'drop'],
    ['sms-idle', 'idle'],
    ['top-up', 'top-up'],
  ]);
  expect(settings.routes).toMatchObject([{ channels: ['ops'], repeatEveryMs: 4 * 3_600_000 }]);
});

/** The answers about the database of 0.1.0 once a start has migrated it. */
async function openUpgraded(change = '') {
  const folder = makeInstallation();
  const { settings } = await loadSettings(folder);
  const { path = '' } = settings.storage;
  const database = new Database(path);
  database.exec(change);
  database.close();
  await openStore({ path, log: silent, now: () => now, program: 'lowwater of this test' }).close();
  const reader = openReader({ path, now: () => now });
  onTestFinished(() => reader.close());
  const views = await openStoredViews({
    settings,
    reader,
    clock: { now: () => now, monotonic: () => now, setTimer: () => () => undefined },
    random: seededRandom(),
    calendar: cronCalendar,
  });
  return { reader, views };
}

it('a top-up of the time of 0.1.0 is shown among what is past, and what fires still beside it', async () => {
  const { views } = await openUpgraded(`
    UPDATE incident SET ended_at = fired_at, body = json_set(body, '$.event', json('true'), '$.type', 'top-up')
      WHERE account = 'marketing';
    DELETE FROM alert WHERE account = 'marketing';`);
  const all = await views.alerts({ all: true });
  expect(all.map(({ account, type, state }) => `${account} ${type} ${state}`)).toEqual([
    'broken auth-failed firing',
    'otp below firing',
    'marketing top-up resolved',
  ]);
});

it('a database of 0.1.0 is migrated, and readings, incidents, acknowledgements and silences are as they were', async () => {
  const { reader, views } = await openUpgraded();
  const readings = await views.readings('otp', now - 3_600_000, now);
  expect(readings).toHaveLength(28);
  expect(readings.at(-1)).toMatchObject({ balances: { sms: expect.any(Number) }, currency: 'CNY' });
  const open = await views.alerts({ all: false });
  const alerts = open.map(({ account, rule, severity, state }) => [account, rule, severity, state]);
  expect(alerts).toEqual(
    expect.arrayContaining([
      ['broken', 'auth-failed', 'critical', 'firing'],
      ['marketing', 'sms-low', 'warning', 'firing'],
      ['otp', 'sms-low', 'info', 'firing'],
    ]),
  );
  expect(alerts).toHaveLength(3);
  const acknowledged = open.find(({ account }) => account === 'broken')?.acknowledged;
  expect(acknowledged).toMatchObject({ by: 'root', comment: 'rotating the key' });
  expect(views.silences()).toContainEqual(
    expect.objectContaining({ match: { account: ['marketing'] }, comment: 'old silence', active: true }),
  );
  expect((await reader.load()).incidents.map(({ account, rule }) => `${account} ${rule}`).toSorted()).toEqual(
    ['broken auth-failed', 'marketing sms-low', 'otp sms-low'],
  );
});

it('what reads next to the daemon asks for a start of the daemon first', () => {
  const folder = makeInstallation();
  const path = join(folder, 'lowwater.db');
  expect(() => openReader({ path, now: () => now })).toThrow(
    /has schema 1, this program works with schema \d+/,
  );
});

it('what means something else now is warned of with the line to write, until the database is of this version', async () => {
  const folder = makeInstallation();
  const file = join(folder, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.routes = [{ channels: Object.keys(config.channels) }];
  config.rules.push({ id: 'runs-out', type: 'runway', within: '2d' });
  config.server = { host: '0.0.0.0', port: 0, token: 'a-token-long-enough-for-this-test' };
  writeFileSync(file, JSON.stringify(config));
  const warnings = async () => {
    const loaded = await loadFile(file);
    return loaded.warnings
      .map(({ path, message }) => `${path}: ${message}`)
      .filter((text) => /since 0\.\d\.0/.test(text));
  };
  expect(await warnings()).toEqual([
    'rules[5].lookback: goes by the forecast of the week since 0.2.0, not by the mean of a day: "lookback": "24h" keeps the mean',
    'server.openMetrics: /metrics asks for the token since 0.2.0: "openMetrics": true keeps it open to everybody',
    'routes[0].repeatEvery: reminders go by severity since 0.3.0 (info never, warning daily, critical every 4 h): "repeatEvery": "4h" keeps the old pace',
  ]);
  const path = join(folder, 'lowwater.db');
  await openStore({ path, log: silent, now: () => now, program: 'lowwater of this test' }).close();
  expect(await warnings()).toEqual([]);
});
