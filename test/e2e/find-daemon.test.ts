import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findByNote } from '../../src/cli/daemon/find-daemon.ts';
import { identifyOpen } from '../../src/store/sqlite/file-system.ts';
import { type CliResult, runCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Bed, makeBed, type RunningDaemon } from '../support/run-daemon.ts';

const token = 'a-token-of-the-tests-only';

/** The unit's environment: what the commands of a root shell do not have. */
const unitEnvironment = { OTP_KEY: 'otp+Secret/4711=key', PAGE_TOKEN: token };

let bed: Bed;
let daemon: RunningDaemon;
let other: Bed;
let otherDaemon: RunningDaemon;
let folder: string;

/** The configuration of the unit: secrets from its environment, the database in its data folder. */
function unitConfiguration(port: number): Record<string, unknown> {
  return {
    accounts: [{ id: 'otp', authSecret: `\${env:OTP_KEY}` }],
    server: { port, token: `\${env:PAGE_TOKEN}` },
    reports: [{ id: 'weekly', cron: '0 9 * * 1', channels: ['ops'] }],
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-find-'));
  bed = await makeBed();
  bed.configure(unitConfiguration(await freePort()));
  const data = join(bed.folder, 'data');
  mkdirSync(data);
  daemon = await bed.start({ ...unitEnvironment, LOWWATER_DATA: data });
  // The other daemon has an account of the same id, another balance, and no token.
  other = await makeBed({ config: { server: { port: await freePort() } } });
  other.provider.control.setBalance('otp', 'sms', '9999');
  otherDaemon = await other.start();
  bed.provider.control.setBalance('otp', 'sms', '120.5');
  await eventually('both have read and the first fires', async () => {
    const firing = await daemon.get('/api/v1/alerts', { authorization: `Bearer ${token}` });
    return JSON.stringify(firing).includes('firing') && (await otherDaemon.get('/readyz')) !== null;
  });
});

afterAll(async () => {
  await Promise.all([bed?.close(), other?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** A file of its own in a folder of its own, made of the unit's by a change of its text. */
function writeFile(name: string, change: (text: string) => string = (text) => text): string {
  const file = join(folder, name);
  writeFileSync(file, change(readFileSync(bed.configFile, 'utf8')));
  return file;
}

function run(
  words: readonly string[],
  options: { readonly file?: string; readonly env?: Record<string, string>; readonly version?: string } = {},
): Promise<CliResult> {
  const config = options.file === undefined ? [] : ['--config', options.file];
  const { file: _, env = {}, ...rest } = options;
  return runCli([...words, ...config], { cwd: folder, env, ...rest });
}

const database = () => join(bed.folder, 'data', 'lowwater.db');
const named = (path: string) => (text: string) =>
  text.replace(/\{/, `{ "storage": { "path": ${JSON.stringify(path)} },`);

interface Situation {
  readonly title: string;
  readonly file?: () => string;
  readonly env?: () => Record<string, string>;
  /** What `status` prints of the balance, or what is said where it cannot. */
  readonly shows?: string;
  readonly refuses?: RegExp;
  readonly says?: RegExp;
  /** How `check` ends where it is refused. */
  readonly check?: number;
}

const situations: readonly Situation[] = [
  {
    title: 'a root shell next to the unit that has its token asks the daemon without any of its secrets',
    file: () => bed.configFile,
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
    says: /note: 2 problems in .*config\.json.*\n.*whether that is the configuration's is not known/s,
  },
  {
    title: 'a root shell next to the unit without its token reads the database that the file names',
    file: () => writeFile('named.json', named(database())),
    shows: '120.50',
    says: /LOWWATER_TOKEN must be its server\.token\); trying its database/,
  },
  {
    title: 'a root shell without token and without data folder says what is missing',
    file: () => bed.configFile,
    refuses: /LOWWATER_TOKEN must be its server\.token.*does not exist/s,
    // No daemon polls for it, so it needs the whole file.
    check: 2,
  },
  {
    title: 'the note next to the database finds a daemon of which the file says another port',
    file: () => writeFile('port.json', (text) => named(database())(text).replace(/"port": \d+/, '"port": 1')),
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
  },
  {
    title: 'a typo in a rule hinders nobody',
    file: () => writeFile('typo.json', (text) => named(database())(text).replace('"below"', '"belwo"')),
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
    says: /note: \d problems in .*typo\.json/,
  },
  {
    title: 'a comma that is missing hinders nobody',
    file: () => writeFile('comma.json', (text) => named(database())(text).replace(/\],(\s+"rules")/, ']$1')),
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
    says: /note: 1 problem in .*comma\.json/,
  },
  {
    title: 'a server section with an error leaves the note next to the database',
    file: () =>
      writeFile('server.json', (text) => named(database())(text).replace(/"port": \d+/, '"port": "x"')),
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
  },
  {
    title: 'from a laptop, with an address and a token and no file at all',
    env: () => ({ LOWWATER_TOKEN: token, LOWWATER_SERVER: daemon.url }),
    shows: '120.50',
  },
  {
    title: 'from a laptop with a wrong token it says what is wrong',
    env: () => ({ LOWWATER_TOKEN: 'wrong', LOWWATER_SERVER: daemon.url }),
    refuses: /refuses \(LOWWATER_TOKEN must be its server\.token\)/,
  },
  {
    title: 'another address where nobody listens is said to be so',
    env: () => ({ LOWWATER_SERVER: 'http://127.0.0.1:1' }),
    refuses: /no daemon answers at http:\/\/127\.0\.0\.1:1/,
  },
  {
    title: 'a file whose port belongs to a daemon with another database refuses and names both',
    file: () =>
      writeFile('stranger.json', (text) =>
        named(`${database()}-copy/lowwater.db`)(text).replace(
          /"port": \d+/,
          `"port": ${new URL(otherDaemon.url).port}`,
        ),
      ),
    refuses:
      /has another database \([0-9a-f]{16}\) than this configuration \([0-9a-f]{16}, .*-copy\/lowwater\.db\)/,
  },
  {
    title: 'no server in the file: the database is read',
    file: () =>
      writeFile('none.json', (text) =>
        named(database())(text).replace(/"server": \{[^}]*\}\s*\}?/, '"server": null'),
      ),
    env: () => ({ LOWWATER_TOKEN: token }),
    shows: '120.50',
  },
];

describe('which daemon a command asks', () => {
  beforeAll(async () => {
    // A database of the same accounts that a third daemon once made.
    const copy = `${database()}-copy`;
    mkdirSync(copy);
    const third = await makeBed();
    const running = await third.start();
    await running.stop();
    copyFileSync(join(third.folder, 'lowwater.db'), join(copy, 'lowwater.db'));
    await third.close();
  });

  it.each(situations)('$title', async ({ file, env, shows, refuses, says, check = 3 }) => {
    const options = { ...(file === undefined ? {} : { file: file() }), env: env?.() ?? {} };
    const status = await run(['status'], options);
    if (refuses !== undefined) {
      expect(status).toMatchObject({ code: 1, stdout: '' });
      expect(status.stderr).toMatch(refuses);
      for (const words of [
        ['silence', 'add', '--everything', '--for', '1h'],
        ['ack', 'otp', 'sms-low'],
      ])
        expect(await run(words, options)).toMatchObject({ code: 1, stdout: '' });
      expect((await run(['check'], options)).code).toBe(check);
      return;
    }
    expect(status.stdout).toContain(shows);
    expect(status.code).toBe(0);
    expect(status.stderr).toMatch(says ?? /^(?:note: .*\n)*$/);
    expect((await run(['alerts', '--json'], options)).stdout).toContain('"sms-low"');
    expect((await run(['explain', 'otp', 'sms-low'], options)).stdout).toMatch(
      /breached, warning[\s\S]*120\.50/,
    );
    expect((await run(['history', 'otp', '--csv'], options)).stdout).toContain(',120.5,40,CNY');
    expect((await run(['report', 'weekly', '--print'], options)).stdout).toContain('120.50 CNY');
    expect((await run(['ack', 'otp', 'sms-low', '--by', 'ada'], options)).stdout).toMatch(
      /is acknowledged(?:\.| already)/,
    );
    expect((await run(['silence', 'list'], options)).stdout).toBe('Nothing is silenced.\n');
  });

  it('a daemon whose database was removed while it runs is asked all the same, and is alive', async () => {
    const lost = await makeBed({ config: { server: { port: await freePort() } } });
    onTestFinished(() => lost.close());
    lost.provider.control.setBalance('otp', 'sms', '120.5');
    const running = await lost.start();
    for (const end of ['', '-wal', '-shm', '-lock', '-daemon'])
      rmSync(join(lost.folder, `lowwater.db${end}`), { force: true });
    await eventually('it goes on from memory', async () =>
      JSON.stringify(await running.get('/readyz')).includes('was removed'),
    );
    const written = (name: string, path: string): string => {
      const file = join(folder, name);
      writeFileSync(file, named(path)(readFileSync(lost.configFile, 'utf8')));
      return file;
    };
    const file = written('lost.json', join(lost.folder, 'lowwater.db'));
    expect(await run(['health'], { file })).toMatchObject({ code: 0, stdout: 'alive\n' });
    const status = await run(['status'], { file });
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('120.50') });
    expect(status.stderr).toMatch(/not known: .*lowwater\.db does not exist\nwarning: storage-failed/);
    expect(await run(['ack', 'otp', 'sms-low'], { file })).toMatchObject({ code: 0 });
    const stranger = written('not-lost.json', join(folder, 'new.db'));
    expect((await run(['status'], { file: stranger })).stderr).toMatch(
      /has another database .* \(.*new\.db does not exist\)/,
    );
  });

  it('what a command asked of one daemon never reached the other', async () => {
    expect(await otherDaemon.get('/api/v1/silences')).toMatchObject({ silences: [] });
    expect(await otherDaemon.get('/api/v1/alerts')).toMatchObject({ alerts: [] });
  });

  it('a command of another version reads the database of the daemon, and without one says so', async () => {
    const options = { env: { LOWWATER_TOKEN: token }, version: '9.9.0' };
    const file = writeFile('version.json', named(database()));
    const status = await run(['status'], { ...options, file });
    expect(status.stdout).toContain('120.50');
    expect(status.stderr).toMatch(
      /note: the daemon runs lowwater [\d.]+, this command is 9\.9\.0: reading its database/,
    );
    const env = { LOWWATER_TOKEN: token, LOWWATER_SERVER: daemon.url };
    expect(await run(['status'], { ...options, env })).toMatchObject({ code: 1, stdout: '' });
    expect((await run(['ack', 'otp', 'sms-low'], { ...options, env })).code).toBe(0);
  });

  it('an order that a daemon of another version refuses names both versions', async () => {
    const env = { LOWWATER_TOKEN: token, LOWWATER_SERVER: daemon.url };
    const { code, stderr } = await run(['ack', 'otp', 'unknown'], { env, version: '9.9.0' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/"unknown".*\(the daemon runs lowwater [\d.]+, this command is 9\.9\.0\)/);
  });

  it('check shows what the daemon of its own file polls, with ranges, and not what another one does', async () => {
    const file = writeFile('check.json', named(database()));
    const { code, stdout } = await run(['check'], { file, env: { LOWWATER_TOKEN: token } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^WARNING: otp: sms-low 120\.50 CNY; .* \| 'otp sms'=120\.5;200:;50:/);
  });

  it('a web server that is no lowwater is sent no token, and nobody is told to give it one', async () => {
    const seen: (string | undefined)[] = [];
    const web = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(401, {
        'www-authenticate': 'Bearer realm="other"',
        'content-type': 'application/json',
      });
      response.end('{"status":"ok"}');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const env = { LOWWATER_SERVER: `http://127.0.0.1:${port}`, LOWWATER_TOKEN: token };
    const { stderr, code } = await runCli(['status'], { cwd: folder, env });
    expect(code).toBe(1);
    expect(stderr).toContain('is not lowwater');
    expect(stderr).not.toContain('LOWWATER_TOKEN');
    expect(seen).toEqual([undefined]);
    web.close();
  });

  it('a daemon that refuses for another reason than the token is no cause to look at the token', async () => {
    const message = 'busy for another 20 s';
    const web = createServer((_, response) => {
      response.writeHead(429, { 'lowwater-database': 'a', 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message } }));
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const env = { LOWWATER_SERVER: `http://127.0.0.1:${(web.address() as AddressInfo).port}` };
    const { stderr, code } = await runCli(['status'], { cwd: folder, env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`refuses (${message})`) });
    expect(stderr).not.toContain('LOWWATER_TOKEN');
    web.close();
  });

  it('a program that answers every question in JSON is no daemon: nobody is told that it is alive, and the database is read', async () => {
    const web = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const { port } = web.address() as AddressInfo;
    const env = { LOWWATER_SERVER: `http://127.0.0.1:${port}`, LOWWATER_TOKEN: token };
    for (const [command, code] of [['health', 1] as const, ['status', 1] as const, ['check', 3] as const]) {
      const stderr = expect.stringContaining('is not lowwater');
      expect(await run([command], { env })).toMatchObject({ code, stdout: '', stderr });
    }
    // The daemon leaves no note where the database is copied to.
    mkdirSync(join(folder, 'copy'));
    copyFileSync(database(), join(folder, 'copy', 'lowwater.db'));
    const move = (text: string) =>
      named(join(folder, 'copy', 'lowwater.db'))(text).replaceAll(/"port":\s*\d+/g, `"port": ${port}`);
    const file = writeFile('taken.json', move);
    const { code, stdout, stderr } = await run(['status'], { file });
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('is not lowwater') });
    expect(stdout).toContain('otp');
    web.close();
  });

  it('the note holds no secret and goes with the daemon', async () => {
    const third = await makeBed();
    const running = await third.start();
    const note = join(third.folder, 'lowwater.db-daemon');
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
      address: running.url,
      database: expect.stringMatching(/^[0-9a-f]{16}$/),
      checked: expect.any(String),
      ...identifyOpen({ path: join(third.folder, 'lowwater.db') }),
      version: expect.any(String),
    });
    await running.stop();
    expect(() => readFileSync(note)).toThrow('ENOENT');
    await third.close();
  });

  it('a daemon answers for its file as it has checked it, and for no other text of it', async () => {
    const fourth = await makeBed({ config: { server: { port: await freePort(), token } } });
    const running = await fourth.start();
    const said: string[] = [];
    const context = { env: {}, stderr: { write: async (text: string) => void said.push(text) } };
    const found = await findByNote(context, fourth.configFile);
    expect(found).toMatchObject({
      url: running.url,
      refusal: null,
      facts: { accounts: ['otp'] },
    });
    expect(said).toEqual([]);
    const routes = await runCli(['routes', 'otp', 'stale'], { cwd: fourth.folder });
    expect(routes).toMatchObject({ code: 0, stdout: expect.stringContaining('otp stale, warning') });
    const compare = ['replay', '--compare', 'running', '--config', fourth.configFile];
    const compared = await runCli(compare, { cwd: folder });
    expect(compared).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing would change') });
    const text = readFileSync(fourth.configFile, 'utf8');
    writeFileSync(fourth.configFile, text.replace('"accounts"', '"unknownKey": 1, "accounts"'));
    expect(await findByNote(context, fourth.configFile)).toBeNull();
    const { stdout, stderr } = await runCli(['status'], { cwd: fourth.folder });
    expect(stderr).toContain('1 problem in');
    expect(stdout).toContain('otp');
    await running.stop();
    writeFileSync(fourth.configFile, text);
    expect(await findByNote(context, fourth.configFile)).toBeNull();
    await fourth.close();
  });
});
