import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { presetKinds } from '../../src/providers/presets/preset-kinds.ts';
import { scenarioSchema } from '../../src/simulator/scenario.ts';
import { demoAccount, startDemoApi } from '../../src/simulator/simulated-api.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { minuteMs, units } from '../support/account-facts.ts';
import { builtMain } from '../support/built-program.ts';
import { loadFile, runCli } from '../support/cli.ts';
import { commandsOf, fences } from '../support/documentation.ts';
import { eventually } from '../support/eventually.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { seedDatabase } from '../support/seed-database.ts';
import { startSimulator } from '../support/simulator.ts';

const page = fences.filter((fence) => fence.page === 'docs/many-accounts.md');
const commands = page.filter(({ info }) => info.startsWith('sh')).flatMap(commandsOf);
const bodyOf = (kind: string): string => page.find(({ info }) => info === kind)?.body ?? '';

const accountCount = 200;
const teams = ['identity', 'growth', 'support', 'billing'];
const closing: (() => unknown)[] = [];
const env: Record<string, string> = {};
let folder: string;
let receiver: HttpReceiver;

/** The rows of the page, each again under other numbers until there are two hundred accounts. */
function makeSheet(urls: ReadonlyMap<string, string>): readonly string[] {
  const [header = '', ...rows] = bodyOf('csv').trim().split('\n');
  const lines = Array.from({ length: accountCount }, (_, index) => {
    const row = rows[index % rows.length] ?? '';
    const number = String(Math.floor(index / rows.length) * 200 + 1).padStart(3, '0');
    const cells = row
      .replaceAll('001', number)
      .replace(/^growth-101/, `growth-us-${number}`)
      .split(',');
    const [, , type = ''] = cells;
    return cells.with(3, urls.get(type) ?? '').join(',');
  });
  return [header, ...lines];
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-many-'));
  receiver = await startHttpReceiver((response) => response.end('ok'));
  const urls = new Map<string, string>();
  const place = { host: '127.0.0.1', port: 0, clock: systemClock };
  for (const type of ['twilio', 'vonage', 'plivo', 'telnyx', 'infobip']) {
    const kind = presetKinds.find((each) => each.type === type);
    const started = kind && (await startDemoApi(kind, { ...place, spentPerHour: 12_000_000 }));
    if (!started) throw new Error(`${type} is not simulated`);
    urls.set(type, started.api.url);
    closing.push(() => started.api.close());
    for (const [name, value] of Object.entries(demoAccount(kind).credentials)) env[`${type}.${name}`] = value;
  }
  urls.set('', 'http://127.0.0.1:9');
  const ids = makeSheet(urls).flatMap((line) => /^otp-\d+/.exec(line)?.[0] ?? []);
  const accounts = ids.map((id) => ({
    id,
    authSecret: `key-of-${id}`,
    sms: '350',
    voip: '0',
    currency: 'CNY',
  }));
  const simulator = await startSimulator({
    ...place,
    scenario: scenarioSchema.parse({ accounts }),
    random: systemRandom,
  });
  closing.push(
    () => simulator.close(),
    () => receiver.close(),
  );
  urls.set('', simulator.url);
  const lines = makeSheet(urls);
  writeFileSync(join(folder, 'accounts.csv'), `${lines.join('\n')}\n`);
  for (const line of lines) {
    const [id = '', , type = '', , credentials = ''] = line.split(',');
    for (const [, name, variable = ''] of credentials.matchAll(/(?:(\w+)=)?env:(\w+)/g))
      env[variable] = type === '' ? `key-of-${id}` : (env[`${type}.${name ?? 'apiKey'}`] ?? '');
  }
  for (const team of teams) env[`HOOK_${team.toUpperCase()}`] = new URL(`/${team}`, receiver.url).href;
  mkdirSync(join(folder, 'bin'));
  const program = join(folder, 'bin/lowwater');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${builtMain}' "$@"\n`);
  chmodSync(program, 0o755);
});

afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
});

const surroundings = () => ({ ...process.env, ...env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` });
const run = (command: string) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn('sh', ['-c', command], { cwd: folder, env: surroundings() });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (text: Buffer) => {
      said.stdout += text;
    });
    child.stderr.on('data', (text: Buffer) => {
      said.stderr += text;
    });
    child.on('close', (code) => resolve({ code, ...said }));
  });
const runHere = (command: string) => runCli(command.split(' ').slice(1), { cwd: folder, env });
const readConfig = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const writeConfig = (name: string, config: object) =>
  writeFileSync(join(folder, name), JSON.stringify(config));

/** Two days in which the balances of the first team fell from 400 to 350. */
async function liveThroughTwoDays(): Promise<void> {
  Object.assign(process.env, env);
  const { settings } = await loadFile(join(folder, 'config.json'));
  const end = Math.floor(systemClock.now() / minuteMs) * minuteMs - minuteMs;
  const watched = settings.accounts.filter(({ id }) => id.startsWith('otp-'));
  const polls = Array.from({ length: 97 }, (_, index) =>
    watched.map(({ id: account }) => {
      const at = end - (96 - index) * 30 * minuteMs;
      return { account, at, answer: { sms: units(400 - (50 * index) / 96), voip: 0 } };
    }),
  );
  seedDatabase(settings.storage.path ?? '', settings, polls.flat());
}

it('takes ten commands and no script, and each does what the page says', async () => {
  expect(commands).toHaveLength(10);
  const [init = '', validate = '', daemon = '', routes = '', ...rest] = commands;

  const made = await run(init);
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('200 accounts taken from accounts.csv'),
  });
  // Another program may listen on the usual port of the machine that tests.
  const config = readConfig('config.json');
  writeConfig('config.json', { ...config, server: { ...config.server, port: 0 } });
  expect(await run(validate)).toMatchObject({ code: 0 });
  const { settings } = await (async () => {
    await liveThroughTwoDays();
    return loadFile(join(folder, 'config.json'));
  })();
  expect(new Set(settings.accounts.map(({ provider }) => provider)).size).toBe(6);
  expect(new Set(settings.accounts.map(({ currency }) => currency)).size).toBe(3);
  expect(new Set(settings.accounts.map(({ labels }) => labels.team))).toEqual(new Set(teams));

  const running = spawn('sh', ['-c', `exec ${daemon}`], {
    cwd: folder,
    env: surroundings(),
    stdio: 'ignore',
  });
  closing.unshift(
    () =>
      new Promise((resolve) => {
        running.on('close', resolve);
        running.kill('SIGTERM');
      }),
  );
  const atWork = async () => (await runHere('lowwater health')).code === 0;
  await eventually('the daemon answers', atWork);

  expect((await run(routes)).stdout).toMatch(/route 2 \(team growth\): taken\n.*\n.*\n {2}growth: at once/s);

  for (const [place, team] of teams.entries()) {
    // One in a process of its own shows that it starts there.
    const { code, stdout } = await (place === 0 ? run : runHere)(rest[place] ?? '');
    expect(stdout).toContain(`  ${team}: delivered`);
    expect(code).toBe(0);
    const tests = receiver.received.filter(({ body }) =>
      JSON.parse(body).data.headline.startsWith('TEST · '),
    );
    expect(tests.map(({ path }) => path)).toContain(`/${team}`);
  }

  const [copy = '', compare = ''] = rest.slice(teams.length);
  expect(await run(copy)).toMatchObject({ code: 0 });
  const copied = readConfig('new.json');
  writeConfig('new.json', { ...copied, rules: [JSON.parse(bodyOf('json')), ...copied.rules] });
  const compared = await run(compare);
  expect(compared).toMatchObject({ code: 0 });
  expect(compared.stdout).toMatch(/otp-001 +new +identity-runway +warning/);
  expect(compared.stdout).toMatch(/\d+ new.*, at 34 accounts; /);
  expect(compared.stdout).toMatch(/identity: \d+ → [1-9]/);
});
