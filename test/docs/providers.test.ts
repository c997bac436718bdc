import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presetKinds } from '../../src/providers/presets/preset-kinds.ts';
import { demoAccount, type SimulatedApi, startSimulatedApi } from '../../src/simulator/simulated-api.ts';
import { systemClock } from '../../src/system/clock.ts';
import { runCli } from '../support/cli.ts';
import { fences } from '../support/documentation.ts';

const page = fences.filter((fence) => fence.page === 'docs/providers.md');
const commands = page.filter(({ info }) => info === 'sh').flatMap(({ body }) => body.trimEnd().split('\n'));
const simulations = commands.filter((command) => command.startsWith('lowwater simulate '));

let folder: string;
const apis: SimulatedApi[] = [];

/** Each `simulate` of the page is played here, and the files that it writes are told where. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-wallet-'));
  const places: [written: string, played: string][] = [];
  for (const command of simulations) {
    const [, type = '', port = ''] = /--provider (\S+) --port (\d+)$/.exec(command) ?? [];
    const kind = presetKinds.find((each) => each.type === type) ?? expect.fail(`${command} plays no preset`);
    const simulation = (await kind.loadSimulation?.()) ?? expect.fail(`${command} plays nothing`);
    const api = await startSimulatedApi({
      port: 0,
      host: '127.0.0.1',
      simulation,
      accounts: [demoAccount(kind)],
      requestsPerSecond: 10,
      spentPerHour: 0,
      clock: systemClock,
    });
    apis.push(api);
    places.push([`http://127.0.0.1:${port}`, api.url]);
  }
  for (const { info, body } of page) {
    const name = /^json (\S+)$/.exec(info)?.[1];
    const text = places.reduce((all, [written, played]) => all.replace(written, played), body);
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }
});

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()));
  rmSync(folder, { recursive: true });
});

const run = (command = '') => runCli(command.split(' ').slice(1), { cwd: folder });

describe('docs/providers.md', () => {
  it('has a simulator, a file and commands for each of its two lessons', () => {
    expect(commands.map((command) => command.split(' ')[1])).toEqual([
      'simulate',
      'validate',
      'check',
      'simulate',
      'check',
    ]);
  });

  it('writes a file that is a good one', async () => {
    expect(await run(commands[1])).toMatchObject({ code: 0 });
  });

  it('shows the request without its credentials, the answer, and what was read from where', async () => {
    const { code, stdout } = await run(commands[2]);
    expect(code).toBe(0);
    expect(stdout).toContain(`GET ${apis[0]?.url}/a1/me`);
    expect(stdout).toContain('authorization: Basic [user]:[password]');
    expect(stdout).toContain('HTTP 200 {"currency":"EUR","balance":1000000}');
    expect(stdout).toMatch(/balance main +\$\.balance +1000000 +100\n/);
    expect(stdout).toMatch(/Wallet +100\.00 EUR/i);
    expect(stdout).not.toContain('simulated-apiPassword');
  });

  it('signs a request as the simulated vendor checks it, and shows the text that was signed', async () => {
    const { code, stdout } = await run(commands[4]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /authorization: MAC id="\[key\]", ts="\d{10}", nonce="[\da-f]{32}", mac="[\w+/]{43}="/,
    );
    expect(stdout).toMatch(
      /mac is of \d{10}\\n[\da-f]{32}\\nGET\\n\/v2\/user\/credit-balance\\n127\.0\.0\.1\\n443\\n\\n/,
    );
    expect(stdout).toMatch(/Main +100\.00 EUR/i);
    expect(stdout).not.toContain('simulated-apiSecret');
  });
});
