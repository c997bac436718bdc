import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtMain, runBuilt, startBuilt, startNode } from '../support/built-program.ts';
import { runCli } from '../support/cli.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lowwater-cli-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Code that runs in the process before lowwater does: how a test breaks what no option of the product breaks. */
function preload(code: string): { readonly NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

describe.concurrent('lowwater when something is wrong with the process', () => {
  // Of another major version the minor one says nothing, and as text 8 comes after 22 and 100 before it.
  it.each([
    ['8.20.0', false],
    ['22.18.0', false],
    ['22.19.0', true],
    ['100.0.0', true],
  ])(
    'on Node %s starts: %s; refuses with one line that names the version needed',
    async (version, starts) => {
      const env = preload(`Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`);
      const { code, stdout, stderr } = await runBuilt(['--version'], { env });
      expect(code).toBe(starts ? 0 : 1);
      expect(stdout).toMatch(starts ? /^lowwater \d+\.\d+\.\d+\n$/ : /^$/);
      expect(stderr).toBe(starts ? '' : `lowwater needs Node.js 22.19 or newer, this is ${version}.\n`);
    },
  );

  it.each([
    ['a rejection that nobody handles', 'Promise.reject(new Error("a bug"))'],
    ['an exception that nobody catches', 'throw new Error("a bug")'],
    ['a rejection with something else than an error', 'Promise.reject("a bug")'],
  ])('%s ends it with exit code 1 and one fatal line', async (_name, bug) => {
    const env = preload(`
      const waiting = setInterval(() => {
        if (process.listenerCount('uncaughtException') === 0) return;
        clearInterval(waiting);
        ${bug};
      }, 10);
    `);
    const { code, stderr } = await runBuilt(['simulate', '--port', '0'], { env });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'fatal',
      err: { message: expect.stringContaining('a bug') },
    });
  });

  it('an error ends it with one line also where the program was replaced and its log is gone', async () => {
    const env = preload(`
      import { registerHooks } from 'node:module';
      const gone = (name) => { throw new Error('Cannot find module ' + name); };
      registerHooks({ resolve: (name, context, next) => (/\\/log-/.test(name) ? gone(name) : next(name, context)) });
      const waiting = setInterval(() => {
        if (process.listenerCount('uncaughtException') === 0) return;
        clearInterval(waiting);
        throw new Error('a bug');
      }, 10);
    `);
    const { code, stderr } = await runBuilt(['simulate', '--port', '0'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^lowwater: ended by an error that it cannot report: .*Cannot find module.*\n$/);
  });

  it('what Node warns of is a line of the log, and nothing among what is said', async () => {
    const env = preload(`
      const waiting = setInterval(() => {
        if (process.listenerCount('SIGHUP') < 2) return;
        clearInterval(waiting);
        process.emitWarning('SOCKS is young', 'ExperimentalWarning');
      }, 10);
    `);
    const file = join(folder, 'warned.json');
    writeFileSync(
      file,
      JSON.stringify({
        storage: { path: join(folder, 'warned.db') },
        provider: { baseUrl: 'http://127.0.0.1:9' },
        accounts: [{ id: 'otp', authSecret: 'a-secret-of-no-account' }],
        channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9' } },
        server: null,
      }),
    );
    const daemon = startBuilt(['run', '--config', file], { env });
    await daemon.until(/"name":"ExperimentalWarning","warning":"SOCKS is young"/);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('a second signal does not wait for an orderly end', async () => {
    const env = preload(
      `import { Server } from 'node:http'; Server.prototype.close = function () { return this; };`,
    );
    const simulator = startBuilt(['simulate', '--port', '0'], { env });
    await simulator.until(/Provider simulator/);
    simulator.child.kill('SIGTERM');
    const early = await Promise.race([
      simulator.ended,
      new Promise((resolve) => setTimeout(resolve, 300, 'still there')),
    ]);
    expect(early).toBe('still there');
    simulator.child.kill('SIGINT');
    expect(await simulator.ended).toMatchObject({ code: 130 });
  });
});

describe.concurrent('lowwater as a process', () => {
  it('prints its commands on standard error and exits with 2 when nothing was asked', async () => {
    const { code, stdout, stderr } = await runBuilt([]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Commands');
  });

  it.skipIf(!existsSync('/usr/bin/script'))(
    'ends at the first Ctrl-C while it asks on a terminal, and asks nothing more',
    async () => {
      const command = `${process.execPath} ${builtMain} init --config ${join(folder, 'new.json')}`;
      const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null']);
      let pressed = false;
      let shown = '';
      terminal.stdout.on('data', (text) => {
        shown += text;
        if (pressed || !String(text).includes('Where messages go')) return;
        pressed = true;
        terminal.stdin.write('\x03');
      });
      expect(await once(terminal, 'close')).toEqual([1, null]);
      expect(shown).toContain('stopped; nothing was written');
      expect(shown).not.toContain('is missing');
    },
  );

  it('says in one line that the working directory was removed', () => {
    const gone = join(folder, 'gone');
    const command = `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${builtMain}' status`;
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toBe('lowwater: the working directory was removed: change to another one\n');
  });

  it('says in one line that its output cannot be written, and exits with 1', async () => {
    const env = preload(
      `process.stdout._write = (_chunk, _encoding, done) => done(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));`,
    );
    expect(await runBuilt(['schema'], { env })).toMatchObject({
      code: 1,
      stderr: 'lowwater: standard output cannot be written: ENOSPC: no space left on device, write\n',
    });
    // To a monitoring system 1 is a warning.
    expect(await runBuilt(['check', '--help'], { env })).toMatchObject({ code: 3 });
  });

  it.each([
    ['none into a pipe', {}, false],
    ['some into a pipe that FORCE_COLOR says shows them', { FORCE_COLOR: '1' }, true],
    ['none with NO_COLOR, no matter what else is asked for', { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ] as const)('prints colours: %s', async (_name, env, coloured) => {
    const { stdout } = await runBuilt(['--help'], { env });
    expect(stdout.includes('\u001b[1m')).toBe(coloured);
  });

  it('says nothing on standard error of two variables that want opposite colours', async () => {
    const env = { FORCE_COLOR: '1', NO_COLOR: '1' };
    expect(await runBuilt(['schema'], { env })).toMatchObject({ code: 0, stderr: '' });
  });

  it('exits with 2 when there is no configuration, and says where it looked', async () => {
    const { code, stderr } = await runCli(['validate'], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(join(folder, 'config.json'));
    expect(stderr).toContain('/etc/lowwater/config.json');
  });

  it('tells doubts about the configuration in the log of the daemon, as lines like all others', async () => {
    const file = join(folder, 'doubtful.jsonc');
    writeFileSync(
      file,
      `{ // Nobody listens there.
  "provider": { "baseUrl": "http://127.0.0.1:9" },
  "poll": { "every": "10s" },
  "accounts": [{ "id": "otp", "authSecret": "$OTP_SECRET" }],
  "channels": { "ops": { "type": "webhook", "url": "http://127.0.0.1:9" } },
  "server": null,
}`,
    );
    const daemon = startBuilt(['run', '--config', file]);
    const lines = (await daemon.until(/"msg":"started"/)).trimEnd().split('\n');
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, stderr: '' });
    const notified = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'configuration warning');
    expect(notified).toMatchObject([
      { level: 'warn', path: 'poll.every', line: 3, warning: expect.stringContaining('rate limits') },
      { level: 'warn', path: 'accounts[0].authSecret', line: 4 },
    ]);
  });

  it('is quiet when the reader of its output goes away', async () => {
    const simulator = startBuilt(['simulate', '--port', '0']);
    simulator.child.stdout?.destroy();
    expect(await simulator.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('says why when a port cannot be listened on, and exits with 1; who listens there ends with 0 on the first signal', async () => {
    const first = startBuilt(['simulate', '--port', '0']);
    const told = await first.until(/Provider simulator on http:\/\/127\.0\.0\.1:\d+/);
    const port = /127\.0\.0\.1:(\d+)/.exec(told)?.[1] ?? '';
    const second = await runBuilt(['simulate', '--port', port]);
    first.child.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(port);
    expect(second.stderr).toContain('another program');
    expect(second.stderr).not.toMatch(/fatal|stack/);
  });

  it('says which scenario cannot be used, and exits with 2', async () => {
    const file = join(folder, 'scenario.json');
    writeFileSync(file, '{"accounts":[{"id":"otp"}],"events":[{"at":"1h","do":"dance"}]}');
    const { code, stderr } = await runCli(['simulate', '--scenario', file], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('accounts[0]');
    expect(stderr).toContain('events[0]');
  });
});

describe.concurrent('what a command loads', () => {
  const configuration = {
    provider: { baseUrl: 'https://api.example.com' },
    accounts: [{ id: 'otp', authSecret: 'secret-0123456789abcdef' }],
    channels: { ops: { type: 'slack', webhookUrl: 'https://hooks.slack.com/services/T00/B00/abcdef' } },
    routes: [{ channels: ['ops'] }],
    // Other tests leave a database in this folder.
    storage: { path: 'none.db' },
  };

  it.each([
    ['--help', ['commander', 'string-width']],
    ['validate', ['commander', 'croner', 'json-p3', 'jsonc-parser', 'string-width', 'zod']],
  ])('%s loads no more packages than it needs', async (command, needed) => {
    const name = command.replace('--', '');
    const loaded = join(folder, `${name}.loaded`);
    const config = join(folder, `${name}.json`);
    writeFileSync(config, JSON.stringify(configuration));
    const env = preload(`
      import { appendFileSync } from 'node:fs';
      import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context); } });
    `);
    // From the sources: the bundle holds what they import.
    const { ended } = startNode([main, command, '--config', config], { env });
    expect(await ended).toMatchObject({ code: 0 });
    const packages = readFileSync(loaded, 'utf8').matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/g);
    // What string-width is made of.
    const own = ['ansi-regex', 'get-east-asian-width', 'strip-ansi'];
    const names = new Set([...packages].map(([, name = '']) => name));
    expect([...names].filter((name) => !own.includes(name)).toSorted()).toEqual(needed);
  });
});
