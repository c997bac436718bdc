import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { silent } from '../store/sqlite/batches.ts';
import { runBuilt } from '../support/built-program.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { type RunningDaemon, withBed } from '../support/run-daemon.ts';

/**
 * What programs of users read, as 0.2.0 wrote it: `test/fixtures/golden` was made by its build with LOWWATER_GOLDEN=write and
 * LOWWATER_MAIN. Objects may have gained keys since; what stood there stands as it was.
 */
const golden = join(import.meta.dirname, '..', 'fixtures', 'golden');
const fixtures = join(import.meta.dirname, '..', 'fixtures');
/** When the last poll of the database was made. */
const madeAt = Date.parse('2026-11-22T02:41:10Z');
const isWriting = process.env.LOWWATER_GOLDEN === 'write';

/** Instants, ids, ports and durations differ from run to run. */
function mask(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/127\.0\.0\.1:\d+/g, '<address>');
}

function expectText(name: string, text: string): void {
  const file = join(golden, `${name}.golden`);
  if (isWriting) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

function expectJson(name: string, value: unknown): void {
  const file = join(golden, `${name}.golden`);
  const masked: unknown = JSON.parse(mask(JSON.stringify(value, withoutWords)));
  if (isWriting) writeFileSync(file, `${JSON.stringify(masked, null, 2)}\n`);
  expect(masked).toMatchObject(JSON.parse(readFileSync(file, 'utf8')));
}

/** The configuration of 0.1.0 and a database that 0.2.0 made of its one, brought up to date, in a folder of their own. */
async function makeInstallation(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-golden-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = JSON.parse(readFileSync(join(fixtures, 'config-0.1.0.json'), 'utf8'));
  // Not asked: on this machine another daemon may listen where one does by default.
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, server: null }));
  writeFileSync(
    join(folder, 'lowwater.db'),
    gunzipSync(readFileSync(join(fixtures, 'lowwater-0.2.0.db.gz'))),
  );
  const path = join(folder, 'lowwater.db');
  if (!isWriting)
    await openStore({ path, log: silent, now: () => madeAt, program: 'lowwater of this test' }).close();
  return folder;
}

describe('what the commands print about a database of 0.2.0 stays byte for byte', () => {
  const polls = 'SELECT account, at, outcome FROM poll ORDER BY account, at';
  const readings = 'SELECT account, at, sms, voip, currency FROM reading ORDER BY account, at';
  const since = ['--since', '3000d'];
  const printed: readonly (readonly [string, readonly string[]])[] = [
    ['history.csv', ['history', 'otp', '--csv', ...since]],
    ['history.json', ['history', 'otp', '--json', ...since]],
    ['history-voip.csv', ['history', 'otp', '--csv', '--balance', 'voip', ...since]],
    ['query-readings.csv', ['query', readings, '--csv']],
    ['query-readings.json', ['query', readings, '--json']],
    ['query-polls.csv', ['query', polls, '--csv']],
    ['replay.json', ['replay', '--json', ...since]],
  ];
  /** One of a command in a process of its own shows that it starts there, and that all arrives. */
  const isFirst = (command = '') => printed.find(([, words]) => words[0] === command);

  it.each(printed)('%s', async (name, words) => {
    const folder = await makeInstallation();
    const run = isFirst(words[0])?.[0] === name ? runBuilt : runCli;
    const { stdout, code, stderr } = await run([...words, '--config', join(folder, 'config.json')], {
      cwd: folder,
    });
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expectText(name, stdout);
  });
});

const accounts = ['otp', 'voice', 'revoked'].map((id, index) => ({
  id,
  authSecret: `secret-of-${id}`,
  sms: ['120.5', '-18.383', '7'][index] ?? '0',
  voip: '4.5',
  currency: 'CNY',
}));

it('API, metrics and webhook bodies of a running daemon keep every key and value that they had', async () => {
  const hook = await startHttpReceiver((response) => response.writeHead(204).end());
  onTestFinished(() => hook.close());
  const config = {
    poll: { every: '1h' },
    accounts: accounts.map(({ id, authSecret }) => ({
      id,
      authSecret,
      currency: 'CNY',
      labels: { team: 'identity' },
      ...(id === 'otp' ? { name: 'OTP production', topUpUrl: 'https://pay.example.com/otp' } : {}),
    })),
    rules: [
      {
        id: 'sms-low',
        type: 'below',
        thresholds: { info: 500, warning: 200, critical: 50 },
        hysteresis: '10%',
      },
      { id: 'voip-low', type: 'below', balance: 'voip', threshold: 1 },
      { id: 'runway', type: 'runway', within: '3d' },
    ],
    channels: {
      hook: { type: 'webhook', url: hook.url, secret: `whsec_${'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'}` },
    },
    routes: [{ channels: ['hook'], groupWait: '0s' }],
  };
  await withBed({ config, scenario: { accounts } }, async (bed) => {
    bed.provider.control.revokeKey('revoked');
    const daemon = await bed.start();
    const sent = () => hook.received.map(({ body }) => JSON.parse(body) as object);
    // Alerts that become due before the first is sent are one message with it: on a busy machine three alerts are fewer messages.
    await eventually('all alerts were sent', () => byAccount(sent()).length >= 3);
    await eventually(
      'nothing waits',
      async () => !JSON.stringify(await daemon.get('/api/v1/notifications')).includes('"pending"'),
    );
    expectJson('api-accounts.json', await daemon.get('/api/v1/accounts'));
    expectJson('api-history.json', await daemon.get('/api/v1/accounts/otp/history'));
    expectJson('api-alerts.json', byName(await daemon.get('/api/v1/alerts?all=true'), 'alerts'));
    expectJson(
      'api-notifications.json',
      firstKeys(await daemon.get('/api/v1/notifications'), 'notifications'),
    );
    expectText('metrics.txt', await familiesOf(daemon));
    expectJson('webhook.json', byAccount(sent()));
  });
});

const words: readonly string[] = ['headline', 'details', 'advice', 'failure', 'summary'];

/** Sentences follow the glossary, and how long a request took is no matter of format: of both it counts that they are there. */
function withoutWords(key: string, value: unknown): unknown {
  if (key === 'usageHeaders') return {};
  return words.includes(key) && value !== null ? '<words>' : value;
}

function byName(answer: unknown, list: string): unknown {
  const rows: readonly Record<string, unknown>[] = Reflect.get(Object(answer), list);
  return rows.toSorted((left, right) => nameOf(left).localeCompare(nameOf(right)));
}

function nameOf({ account, rule }: Readonly<Record<string, unknown>>): string {
  return `${account}/${rule}`;
}

/** The keys of the newest row and what each holds. */
function firstKeys(answer: unknown, list: string): unknown {
  const [row] = Reflect.get(Object(answer), list) as readonly object[];
  return Object.fromEntries(Object.entries(row ?? {}).map(([key, value]) => [key, typeof value]));
}

/** Alerts of all messages, however they were grouped. */
function byAccount(bodies: readonly object[]): readonly object[] {
  const alerts = bodies.flatMap(
    (body) => Reflect.get(Object(Reflect.get(body, 'data')), 'alerts') as Record<string, unknown>[],
  );
  return alerts.toSorted((left, right) => nameOf(left).localeCompare(nameOf(right)));
}

/** Every sample line of the balances and alerts, and the type of every family. */
async function familiesOf(daemon: RunningDaemon): Promise<string> {
  const response = await fetch(`${daemon.url}/metrics`);
  const lines = (await response.text()).split('\n');
  const stable = lines.filter((line) =>
    /^lowwater_(?:balance|alert_firing|burn_per_day|runway_seconds|backoff_seconds)\{/.test(line),
  );
  const types = new Set(readGolden('metrics.txt').filter((line) => line.startsWith('# TYPE')));
  const known = lines.filter((line) => line.startsWith('# TYPE lowwater_') && (isWriting || types.has(line)));
  return `${[...known.toSorted(), ...stable.map((line) => line.replace(/^(lowwater_(?:backoff)_seconds\{.*\}) .*/, '$1')).toSorted()].join('\n')}\n`;
}

function readGolden(name: string): readonly string[] {
  return isWriting ? [] : readFileSync(join(golden, `${name}.golden`), 'utf8').split('\n');
}
