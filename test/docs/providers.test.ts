import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { presetKinds } from '../../src/providers/presets/preset-kinds.ts';
import { demoAccount, type SimulatedApi, startSimulatedApi } from '../../src/simulator/simulated-api.ts';
import { systemClock } from '../../src/system/clock.ts';
import { runCli } from '../support/cli.ts';
import { fences } from '../support/documentation.ts';

const written = fences.find(({ info }) => info === 'json wallet.json')?.body ?? '';
const commands = fences
  .filter(({ page, info }) => page === 'docs/providers.md' && info === 'sh')
  .flatMap(({ body }) => body.trimEnd().split('\n'));

let folder: string;
let api: SimulatedApi;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-wallet-'));
  const kind = presetKinds.find(({ type }) => commands[0]?.includes(`--provider ${type} `));
  const simulation = (await kind?.loadSimulation?.()) ?? expect.fail('the first command plays no preset');
  api = await startSimulatedApi({
    port: 0,
    host: '127.0.0.1',
    simulation,
    accounts: kind === undefined ? [] : [demoAccount(kind)],
    requestsPerSecond: 10,
    spentPerHour: 0,
    clock: systemClock,
  });
  writeFileSync(join(folder, 'wallet.json'), written.replace('http://127.0.0.1:9081', api.url));
});

afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

const run = (command: string) => runCli(command.split(' ').slice(1), { cwd: folder });

it('the ten minutes of docs/providers.md have a simulator, a file and two commands', () => {
  expect(commands.map((command) => command.split(' ')[1])).toEqual(['simulate', 'validate', 'check']);
  expect(JSON.parse(written).providers.wallet.type).toBe('http-json');
});

it('the file that they write is a good one', async () => {
  expect(await run(commands[1] ?? '')).toMatchObject({ code: 0 });
});

it('their last command shows the request without its credentials, the answer, and what was read from where', async () => {
  const { code, stdout } = await run(commands[2] ?? '');
  expect(code).toBe(0);
  expect(stdout).toContain(`GET ${api.url}/a1/me`);
  expect(stdout).toContain('authorization: Basic [user]:[password]');
  expect(stdout).toContain('HTTP 200 {"currency":"EUR","balance":1000000}');
  expect(stdout).toMatch(/balance main +\$\.balance +1000000 +100\n/);
  expect(stdout).toMatch(/Wallet +100\.00 EUR/i);
  expect(stdout).not.toContain('simulated-apiPassword');
});
