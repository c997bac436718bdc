import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { createAsker } from '../../../src/cli/init/asker.ts';
import { createStyle } from '../../../src/cli/terminal/output.ts';
import { startHttpService } from '../../../src/net/http-service.ts';
import { defaultScenario } from '../../../src/simulator/scenario.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/server.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { systemRandom } from '../../../src/system/random.ts';
import { placeholder } from '../../config/sample.ts';
import { runCli } from '../../support/cli.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

let simulator: Simulator;
let folder: string;
let file: string;

beforeAll(async () => {
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    scenario: defaultScenario,
    clock: systemClock,
    random: systemRandom,
  });
});
afterAll(() => simulator.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-init-'));
  file = join(folder, 'config.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

function init(...words: readonly string[]) {
  return runCli(['init', '--url', simulator.url, ...words], { cwd: folder });
}

const slack = 'https://hooks.slack.com/services/T0/B0/secret';

it('leaves nothing of a file that the disk has no room for, so that it may be asked again', async (context) => {
  const disk = mountSmallDisk(mkdtempSync(join(tmpdir(), 'lowwater-full-')), 'size=1m');
  if (disk === null) return context.skip('only root can mount a small file system');
  onTestFinished(() => {
    disk.unmount();
    rmSync(disk.path, { recursive: true });
  });
  disk.leave(0);
  const words = ['init', '--url', simulator.url, '--key', 'demo-otp-secret', '--channel', slack];
  const refused = await runCli(words, { cwd: disk.path });
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/cannot be written to: ENOSPC\n$/),
  });
  expect(existsSync(join(disk.path, 'config.json'))).toBe(false);
  disk.free();
  expect(await runCli(words, { cwd: disk.path })).toMatchObject({ code: 0 });
});

it('writes a file that validates, for its owner alone, with the currency that was read and a long token', async () => {
  const { code, stdout, stderr } = await init('--key', 'demo-otp-secret', '--channel', slack);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/The provider answered: SMS [\d.]+ CNY/);
  expect(stdout).not.toContain('demo-otp-secret');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const config = JSON.parse(readFileSync(file, 'utf8'));
  expect(config).toMatchObject({
    accounts: [{ id: 'main', authSecret: 'demo-otp-secret', currency: 'CNY' }],
    channels: { main: { type: 'slack', webhookUrl: slack } },
    server: { token: expect.stringMatching(/^[0-9a-f]{48}$/) },
  });
  expect(await runCli(['validate'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
});

it('names what comes next as a shell takes it, where the file has spaces in its name', async () => {
  const words = ['--key', 'demo-otp-secret', '--channel', slack];
  const { stdout } = await init(...words, '--config', "Ada's first.json");
  const quoted = String.raw`'Ada'\''s first.json'`;
  expect(stdout).toContain(
    `lowwater test-channel main --config ${quoted}, then lowwater run --config ${quoted}.\n`,
  );
});

it('asks on a terminal for what no option names, again after a wrong answer, and hides the key', async () => {
  const answers = [
    'nowhere',
    'smtp://127.0.0.1:2525',
    'ops@example.com',
    'page',
    '',
    '2d',
    'http://10.0.0.1',
    simulator.url,
    'wrong',
    simulator.url,
    'demo-otp-secret',
    'n',
  ];
  const asked: [string, boolean][] = [];
  const ask = (question: string, hidden: boolean) => {
    asked.push([question, hidden]);
    return Promise.resolve(answers[asked.length - 1] ?? '');
  };
  const words = ['init', '--provider', 'account-service', '--account', 'otp', '--config', 'mine.json'];
  const { code, stdout, stderr } = await runCli(words, { cwd: folder, ask, env: {} });
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /must be an https:.*\n.*without a path.*\n.*unencrypted.*\n.*refused the key; nothing was written: try again/s,
  );
  expect(stdout).toContain('lowwater run --config mine.json');
  expect(asked.map(([, hidden]) => hidden)).toEqual(
    answers.map((answer) => ['wrong', 'demo-otp-secret'].includes(answer)),
  );
  file = join(folder, 'mine.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    accounts: [{ id: 'otp', leadTime: '2d' }],
    rules: expect.arrayContaining([
      expect.objectContaining({ type: 'runway', thresholds: { warning: '7d', critical: 'leadTime + 1d' } }),
    ]),
    channels: { main: { type: 'email', to: ['ops@example.com'] } },
  });
});

it.each([
  ['nowhere/config.json', 'ENOENT'],
  ['a-loop/config.json', 'ELOOP'],
])('asks nobody anything where the file %s cannot be written: %s', async (config, why) => {
  symlinkSync('a-loop', join(folder, 'a-loop'));
  const ask = () => expect.unreachable('a question');
  const words = ['init', '--config', config];
  const { code, stderr } = await runCli(words, { cwd: folder, ask, env: {} });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`cannot be written to: ${why}`),
  });
});

it.each([
  ['by --key', { option: () => 'refused' }, {}],
  ['by --credential', { option: () => null }, { typed: 'refused' }],
])('asks the person for a key that was given %s and refused', async (_how, input, given) => {
  const stderr = { write: async () => undefined, isTerminal: true, columns: 80, style: createStyle(false) };
  const { signal } = new AbortController();
  let wasRefused = false;
  const ask = createAsker({ ask: async () => 'another', signal, stderr }, input, () => wasRefused);
  const question = () => ask('key', 'Key', { hidden: true, ...given });
  expect(await question()).toBe('refused');
  wasRefused = true;
  expect(await question()).toBe('another');
});

it('asks nothing where a file is there already, and writes nothing when it is asked to end while it asks', async () => {
  const person = new AbortController();
  const { signal } = person;
  const ask = () => {
    person.abort();
    return Promise.resolve('');
  };
  expect(await runCli(['init'], { cwd: folder, ask, signal })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing was written'),
  });
  writeFileSync(file, '{}');
  const neverAsk = () => expect.unreachable('asked');
  expect(await runCli(['init'], { cwd: folder, ask: neverAsk })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists'),
  });
});

it('writes a rule for each balance that is not 0, with steps next to the runway, and the zone of the machine', async () => {
  await init(
    '--key',
    'demo-voice-secret',
    '--channel',
    slack,
    '--public-url',
    'https://balances.example.com',
  );
  const config = JSON.parse(readFileSync(file, 'utf8'));
  const watched = new Set(
    config.rules.map(({ balance, type }: Record<string, string>) => `${type} ${balance}`),
  );
  expect([...watched]).toEqual(expect.arrayContaining(['below voip', 'runway voip']));
  expect(config).toMatchObject({
    $schema: expect.stringMatching(/config\.schema\.json$/),
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    server: { publicUrl: 'https://balances.example.com' },
  });
  expect(await runCli(['validate'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
});

it('leaves an address where it is when it is named, and finds the kind by what stands there', async () => {
  process.env.LOWWATER_INIT_HOOK = slack;
  const words = [
    'init',
    '--url',
    simulator.url,
    '--key',
    'demo-otp-secret',
    '--channel',
    'env:LOWWATER_INIT_HOOK',
  ];
  const { code } = await runCli(words, { cwd: folder, env: { LOWWATER_INIT_HOOK: slack } });
  delete process.env.LOWWATER_INIT_HOOK;
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).channels).toEqual({
    main: { type: 'slack', webhookUrl: placeholder('env:LOWWATER_INIT_HOOK') },
  });
});

it('leaves the address of a channel in the file that is named, and finds the kind by what stands there', async () => {
  const path = join(folder, 'hook');
  writeFileSync(path, `${slack}\n`);
  const { code } = await init('--key', 'demo-otp-secret', '--channel', `file:${path}`);
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).channels).toEqual({
    main: { type: 'slack', webhookUrl: placeholder(`file:${path}`) },
  });
});

it.each([
  [['--channel', 'env:SLACK_HOOK'], 'the environment variable SLACK_HOOK is not set'],
  [['--channel', 'file:/nowhere/hook'], 'the file "/nowhere/hook" cannot be read'],
  [['--channel', slack, '--channel-type', 'slakc'], '--channel-type slakc: choose slack, '],
  [['--channel', slack, '--service', 'docker'], '--service docker: choose systemd, compose, kubernetes'],
])('says what is wrong with %j, and writes nothing', async (words, problem) => {
  const { code, stderr } = await init('--key', 'demo-otp-secret', ...words);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) });
  expect(existsSync(file)).toBe(false);
});

it('leaves a key where it is when it is named', async () => {
  process.env.LOWWATER_INIT_KEY = 'demo-otp-secret';
  await init('--key', 'env:LOWWATER_INIT_KEY', '--channel', 'https://example.com/hook');
  delete process.env.LOWWATER_INIT_KEY;
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    accounts: [{ authSecret: placeholder('env:LOWWATER_INIT_KEY') }],
    channels: { main: { type: 'webhook' } },
  });
});

it.each([
  ['https://hooks.slack.com/services/T0/B0/secret', 'slack'],
  ['https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual/paths/invoke?sig=x', 'teams'],
  ['https://oapi.dingtalk.com/robot/send?access_token=x', 'dingtalk'],
  ['https://open.feishu.cn/open-apis/bot/v2/hook/x', 'feishu'],
  ['https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x', 'wecom'],
  ['https://alerts.example.com/in', 'webhook'],
])('knows the kind of channel by its address: %s is %s', async (address, type) => {
  expect(await init('--key', 'demo-otp-secret', '--channel', address)).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(file, 'utf8')).channels).toMatchObject({ main: { type } });
  expect(await runCli(['validate'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
});

it('writes nothing when the provider refuses the key', async () => {
  expect(await init('--key', 'wrong', '--channel', slack)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('refused the key'),
  });
  expect(existsSync(file)).toBe(false);
});

it('writes the file when nobody answers, with a rule for the runway and the lead time, and says that the key was not tried', async () => {
  const words = ['init', '--url', 'http://127.0.0.1:9', '--key', 'a-key', '--channel', slack];
  expect(await runCli([...words, '--lead-time', '2d'], { cwd: folder })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('could not be tried'),
  });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    accounts: [{ leadTime: '2d' }],
    rules: [{ type: 'runway', thresholds: { warning: '7d', critical: 'leadTime + 1d' } }],
  });
  expect(await runCli(['validate'], { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
});

it('writes nothing when it is stopped while the provider is asked', async () => {
  const asked = Promise.withResolvers<void>();
  const service = await startHttpService({ port: 0, host: '127.0.0.1' }, () => asked.resolve());
  const words = ['init', '--url', service.url, '--key', 'a-key', '--channel', slack];
  const stop = new AbortController();
  const ending = runCli(words, { cwd: folder, signal: stop.signal });
  await asked.promise;
  stop.abort();
  expect(await ending).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing was written') });
  expect(existsSync(file)).toBe(false);
  await service.close();
});

it.each([
  ['an option that is missing without a terminal', ['--key', 'a'], '--channel is missing'],
  ['no address', ['--key', 'a', '--channel', 'slack'], 'must be an https:// webhook or smtps:// address'],
  [
    'what the configuration refuses',
    ['--key', 'a', '--channel', slack, '--account', 'OTP!'],
    'accounts[0].id',
  ],
])('refuses %s with exit code 2 and leaves no file', async (_, words, hint) => {
  expect(await init(...words)).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
  expect(existsSync(file)).toBe(false);
});

it.each([
  ['one of them left out', ['accountSid=AC1'], 'authToken=… is missing'],
  [
    'a name that it does not have',
    ['accountSid=AC1', 'token=s3cret-9'],
    'each of "accountSid" and "authToken"',
  ],
  ['a key without its name', ['s3cret-9'], 'takes NAME=KEY'],
  ['one of them twice', ['accountSid=AC1', 'accountSid=AC2'], 'once for each'],
])('asks no provider with %s, and never quotes a key', async (_, credentials, said) => {
  const typed = credentials.flatMap((pair) => ['--credential', pair]);
  const words = ['--provider', 'twilio', ...typed, '--channel', slack];
  const { code, stderr } = await init(...words);
  expect(code).toBe(2);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain('s3cret-9');
});

it('asks the address that is given in place of the vendor’s own, and sends the key nowhere else', async () => {
  const asked: string[] = [];
  const service = await startHttpService({ port: 0, host: '127.0.0.1' }, (request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"balance":"7.5","currency":"EUR"}');
  });
  const credentials = ['--credential', `accountSid=AC${'0'.repeat(32)}`, '--credential', 'authToken=t0ken-9'];
  const words = ['init', '--provider', 'twilio', '--url', service.url, ...credentials, '--channel', slack];
  const { code, stdout } = await runCli(words, { cwd: folder });
  await service.close();
  expect([code, asked.length]).toEqual([0, 1]);
  expect(stdout).toContain('7.50 EUR');
  expect(JSON.parse(readFileSync(file, 'utf8')).providers).toEqual({
    twilio: { type: 'twilio', baseUrl: service.url },
  });
});

it('never writes over a file', async () => {
  writeFileSync(file, 'mine');
  expect(await init('--key', 'demo-otp-secret', '--channel', slack)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('never writes over a file'),
  });
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

it('asks for the address of a provider whose customers have one each', async () => {
  const words = ['init', '--provider', 'infobip', '--key', 'k', '--channel', slack];
  expect(await runCli(words, { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--url is missing'),
  });
  const given = await runCli([...words, '--url', 'http://127.0.0.1:9'], { cwd: folder });
  expect(given.code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8')).providers).toEqual({
    infobip: { type: 'infobip', baseUrl: 'http://127.0.0.1:9' },
  });
});

it('writes a unit with the paths of this Node, the program and the configuration, for a configuration that is there too', async () => {
  await init('--key', 'demo-otp-secret', '--channel', slack);
  const asked = () => runCli(['init', '--service', 'systemd'], { cwd: folder });
  const { code, stdout } = await asked();
  expect(code).toBe(0);
  expect(stdout).toContain('/etc/systemd/system/ && systemctl enable --now lowwater');
  const unit = readFileSync(join(folder, 'lowwater.service'), 'utf8');
  expect(unit).toMatch(/^ExecStart=\/\S+ --disable-sigusr1 .*\/dist\/main\.js run --config .*config\.json$/m);
  expect(unit).toContain(`ExecStart=${realpathSync(process.execPath)} `);
  expect(unit).toContain(`run --config ${file}\n`);
  // Who wrote the configuration, which nobody else can read.
  expect(unit).toMatch(/^User=tester$/m);
  expect(unit).not.toContain('DynamicUser');
  expect((await asked()).stderr).toMatch(/lowwater\.service exists/);
  expect((await runCli(['init', '--service', 'upstart'], { cwd: folder })).stderr).toMatch(/choose systemd/);
});

it('writes a compose file in which the container runs as who owns the configuration', async () => {
  await init('--key', 'demo-otp-secret', '--channel', slack);
  const asked = () => runCli(['init', '--service', 'compose'], { cwd: folder });
  const { code, stdout } = await asked();
  expect([code, stdout]).toEqual([0, expect.stringContaining('docker compose -f')]);
  const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'));
  const { uid, gid } = statSync(file);
  expect(services.lowwater).toMatchObject({
    user: `${uid}:${gid}`,
    volumes: ['.:/etc/lowwater:ro', './data:/data'],
    environment: { LOWWATER_CONFIG: '/etc/lowwater/config.json' },
  });
  // Before docker does, as root.
  expect(statSync(join(folder, 'data')).uid).toBe(uid);
  expect((await asked()).stderr).toMatch(/compose\.yaml exists/);
});

it.skipIf(process.getuid?.() !== 0)(
  'gives the folder of the database to who owns the configuration, where root writes the compose file',
  async () => {
    await init('--key', 'demo-otp-secret', '--channel', slack);
    chownSync(file, 1000, 1000);
    await runCli(['init', '--service', 'compose'], { cwd: folder, user: 'root' });
    expect(statSync(join(folder, 'data'))).toMatchObject({ uid: 1000, gid: 1000 });
  },
);

it('says of a unit and a container that they may not write where the configuration wants its database', async () => {
  const warning = '"storage.path" is set, where the service may not write';
  await init('--key', 'demo-otp-secret', '--channel', slack);
  const written = JSON.parse(readFileSync(file, 'utf8'));
  const say = async (service: string) =>
    (await runCli(['init', '--service', service], { cwd: folder })).stdout;
  expect(await say('systemd')).not.toContain(warning);
  rmSync(join(folder, 'lowwater.service'));
  writeFileSync(file, JSON.stringify({ ...written, storage: { path: 'lowwater.db' } }));
  expect(await say('systemd')).toContain(warning);
  expect(await say('compose')).toContain(warning);
  rmSync(join(folder, 'compose.yaml'));
  writeFileSync(file, JSON.stringify({ ...written, storage: { path: '/data/balances.db' } }));
  expect(await say('compose')).not.toContain(warning);
});

const isInRoot = [process.execPath, import.meta.dirname].some((path) =>
  realpathSync(path).startsWith('/root/'),
);

it.skipIf(isInRoot)(
  'gives root a command that hands over the configuration and its lists alone',
  async () => {
    mkdirSync(join(folder, 'accounts.d'));
    writeFileSync(file, '{ "accounts": { "files": "accounts.d/*.json" } }');
    const { stdout } = await runCli(['init', '--service', 'systemd'], { cwd: folder, user: 'root' });
    expect(stdout).toContain(`chown -R lowwater: ${file} ${join(folder, 'accounts.d')} && cp `);
  },
);

it.skipIf(isInRoot)(
  'gives root a command that hands over the secrets in that folder too, and names those that lie elsewhere',
  async () => {
    mkdirSync(join(folder, 'secrets'));
    writeFileSync(join(folder, 'secrets/otp'), 'a-key');
    writeFileSync(join(folder, 'a key'), 'a-key');
    const paths = ['secrets/otp', 'a key', '/run/secrets/voice'];
    const accounts = paths.map((path, at) => ({ id: `a${at}`, authSecret: placeholder(`file:${path}`) }));
    writeFileSync(file, JSON.stringify({ accounts }));
    const { stdout } = await runCli(['init', '--service', 'systemd'], { cwd: folder, user: 'root' });
    expect(stdout).toContain(
      `chown -R lowwater: ${file} ${join(folder, 'secrets')} '${folder}/a key' && cp `,
    );
    expect(stdout).toContain('The user lowwater must be able to read /run/secrets/voice.');
  },
);

it.skipIf(isInRoot)(
  'lets the user of the service into a closed folder, and gives it no file there but the configuration and its lists',
  async () => {
    chmodSync(folder, 0o750);
    writeFileSync(
      file,
      '{ "accounts": { "files": "team-*.json" }, "rules": { "files": "/srv/rules/*.json" } }',
    );
    const { stdout } = await runCli(['init', '--service', 'systemd'], { cwd: folder, user: 'root' });
    const owned = `${file} ${join(folder, 'team-*.json')} /srv/rules`;
    expect(stdout).toContain(
      `&& chgrp lowwater ${folder} && chmod g+rx ${folder} && chown -R lowwater: ${owned} && cp `,
    );
  },
);

it('keeps secrets of files with one name in two folders apart in manifests, and leaves no example of others', async () => {
  const account = (id: string, path: string) => ({ id, authSecret: placeholder(`file:${path}`) });
  const accounts = [account('a', '/run/a/key'), account('b', '/run/b/key'), account('c', '/run/a/key')];
  writeFileSync(file, JSON.stringify({ accounts }));
  await runCli(['init', '--service', 'kubernetes'], { cwd: folder });
  const sqlite = join(folder, 'kubernetes/sqlite');
  const written = JSON.parse(readFileSync(join(sqlite, 'config.json'), 'utf8')) as { accounts: object[] };
  expect(written.accounts).toMatchObject(
    ['key', 'run-b-key', 'key'].map((name) => ({
      authSecret: placeholder(`file:/run/secrets/lowwater/${name}`),
    })),
  );
  expect(existsSync(join(sqlite, 'secrets.env.example'))).toBe(false);
});

it('writes manifests with the configuration in one file, and its secrets apart', async () => {
  mkdirSync(join(folder, 'accounts.d'));
  const own = (id: string, authSecret: string) => JSON.stringify([{ id, authSecret, currency: 'EUR' }]);
  writeFileSync(join(folder, 'accounts.d/a.json'), own('a', placeholder('env:A_KEY')));
  writeFileSync(join(folder, 'accounts.d/b.json'), own('b', placeholder('file:/etc/keys/b.txt')));
  const elsewhere = mkdtempSync(join(tmpdir(), 'lowwater-lists-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  writeFileSync(join(elsewhere, 'r.json'), '[{ "id": "low", "type": "below", "threshold": 5 }]');
  writeFileSync(
    file,
    `{ // with a remark
      "provider": { "baseUrl": "\${env:WHERE:-https://api.example.com}" },
      "accounts": { "files": "accounts.d/*.json" },
      "rules": { "files": "${elsewhere}/*.json" },
      "channels": { "ops": { "type": "webhook", "url": "https://example.net/$\${literal}", "headers": { "x": "\${env:TEAM:-{none}}" } } },
      "storage": { "path": "/var/lib/lowwater/x.db" },
      "server": { "token": "a-token-of-mine", "host": "127.0.0.1" }
    }`,
  );
  const asked = () =>
    runCli(['init', '--service', 'kubernetes'], { cwd: folder, env: { A_KEY: 'key-of-a' } });
  const { code, stdout } = await asked();
  expect([code, stdout]).toEqual([0, expect.stringContaining('give b.txt in sqlite/secrets.env')]);
  const written = readFileSync(join(folder, 'kubernetes/sqlite/config.json'), 'utf8');
  expect(written).not.toMatch(/key-of-a|a-token-of-mine/);
  expect(JSON.parse(written)).toMatchObject({
    provider: { baseUrl: placeholder('file:/run/secrets/lowwater/WHERE') },
    accounts: [
      { id: 'a', authSecret: placeholder('file:/run/secrets/lowwater/A_KEY') },
      { id: 'b', authSecret: placeholder('file:/run/secrets/lowwater/b.txt') },
    ],
    rules: [{ id: 'low' }],
    channels: {
      ops: {
        url: placeholder('file:/run/secrets/lowwater/url'),
        headers: { x: placeholder('file:/run/secrets/lowwater/TEAM') },
      },
    },
    storage: {},
    server: { host: '0.0.0.0', port: 8080, token: placeholder('file:/run/secrets/lowwater/token') },
  });
  const secrets = join(folder, 'kubernetes/sqlite/secrets.env');
  expect(readFileSync(secrets, 'utf8').trim().split('\n').toSorted()).toEqual([
    'A_KEY=key-of-a',
    'TEAM={none}',
    'WHERE=https://api.example.com',
    'b.txt=',
    'token=a-token-of-mine',
    `url=https://example.net/${placeholder('literal')}`,
  ]);
  expect(statSync(secrets).mode & 0o777).toBe(0o600);
  expect(existsSync(join(folder, 'kubernetes/base/deployment.yaml'))).toBe(true);
  expect((await asked()).stderr).toMatch(/kubernetes exists/);
});

it('writes no key into the manifests that stands in the configuration, and two daemons where PostgreSQL is named', async () => {
  const accounts = ['key-of-a', 'key-of-b', 'key-of-a'].map((authSecret, index) => {
    return { id: `a${index}`, baseUrl: 'https://api.example.com', authSecret };
  });
  writeFileSync(
    file,
    JSON.stringify({
      accounts,
      channels: { ops: { type: 'slack', webhookUrl: slack } },
      storage: { postgres: { url: 'postgres://lowwater:password@db/lowwater' } },
      cluster: { node: placeholder('env:HOSTNAME'), lease: '9s' },
    }),
  );
  const { stdout } = await runCli(['init', '--service', 'kubernetes'], { cwd: folder });
  expect(stdout).toMatch(/^\S+ is written. Next: give token in postgres\/secrets\.env/);
  const ways = join(folder, 'kubernetes');
  const config = readFileSync(join(ways, 'postgres/config.json'), 'utf8');
  expect(config).not.toMatch(/key-of|hooks\.slack|password/);
  const inSecrets = (name: string) => placeholder(`file:/run/secrets/lowwater/${name}`);
  expect(JSON.parse(config)).toMatchObject({
    accounts: ['authSecret', 'authSecret-2', 'authSecret'].map((name) => ({ authSecret: inSecrets(name) })),
    channels: { ops: { webhookUrl: inSecrets('webhookUrl') } },
    storage: { postgres: { url: inSecrets('url') } },
    cluster: { node: placeholder('env:POD_NAME'), lease: '9s' },
  });
  expect(readFileSync(join(ways, 'postgres/secrets.env'), 'utf8')).toContain('authSecret-2=key-of-b\n');
  expect(readFileSync(join(ways, 'postgres/two-of-them.yaml'), 'utf8')).toContain('replicas: 2');
  expect(existsSync(join(ways, 'sqlite'))).toBe(false);
});
