import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runCli } from '../support/cli.ts';

const key = '/ping/0123456789abcdef0123';

/** A provider that refuses every request, in words that hold a key of somebody else's. */
async function startTalkativeProvider(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 7, msg: `did you mean ${key}` }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return `http://127.0.0.1:${address.port}`;
}

test('a secret that comes with a reload is hidden in what the provider says, though its connections stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = {
    provider: { baseUrl: await startTalkativeProvider(), maxRequestsPerSecond: 20 },
    poll: { every: '1s' },
    accounts: [{ id: 'otp', authSecret: 'the-key-of-otp' }],
    channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/' } },
    server: null,
    log: { level: 'silent' },
  };
  const configure = (given: object): void =>
    writeFileSync(join(folder, 'config.json'), JSON.stringify(given));
  const failure = async (): Promise<string> => {
    const { stdout } = await runCli(['status', '--json'], { cwd: folder });
    return stdout === '' ? '' : JSON.parse(stdout).accounts[0].failure;
  };
  configure(config);
  const ending = new AbortController();
  const ended = runCli(['run'], { cwd: folder, signal: ending.signal });
  onTestFinished(async () => {
    ending.abort();
    await ended;
  });
  await expect.poll(failure).toContain(`did you mean ${key}`);
  configure({ ...config, heartbeat: { url: `http://127.0.0.1:9${key}` } });
  await expect.poll(failure).toContain('did you mean [secret]');
});

test('the password of a proxy is hidden in what the provider says to a daemon, and to a check without one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('HTTPS_PROXY', `http://me:${encodeURIComponent(key)}@127.0.0.1:9`);
  const provider = { baseUrl: await startTalkativeProvider() };
  const accounts = [{ id: 'otp', authSecret: 'the-key-of-otp' }];
  const channels = { ops: { type: 'webhook', url: 'http://127.0.0.1:9/' } };
  const config = { provider, accounts, channels, server: null, log: { level: 'silent' } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const checked = await runCli(['check', '--json'], { cwd: folder });
  expect(checked.stdout).toContain('did you mean [secret]');
  const ending = new AbortController();
  const ended = runCli(['run'], { cwd: folder, signal: ending.signal });
  const failure = async () => (await runCli(['status', '--json'], { cwd: folder })).stdout;
  await expect.poll(failure).toContain('did you mean [secret]');
  ending.abort();
  await ended;
});

test('a proxy variable that holds no address ends the start with a sentence, before there is a database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('HTTPS_PROXY', 'pass:word@::');
  const accounts = [{ id: 'otp', authSecret: 'the-key-of-otp' }];
  const channels = { ops: { type: 'webhook', url: 'https://receiver.example/' } };
  const config = { provider: { baseUrl: 'http://127.0.0.1:9' }, accounts, channels, server: null };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const { code, stderr } = await runCli(['run'], { cwd: folder });
  expect(stderr).toContain(
    'lowwater: the environment variable HTTPS_PROXY does not hold the address of a proxy',
  );
  expect(stderr).not.toContain('word');
  expect(code).toBe(1);
  expect(readdirSync(folder)).toEqual(['config.json']);
});

test('a page on a port that the system chose stays at it when a reload changes its language or names that port', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const configure = (language: string, port = 0): void =>
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({
        language,
        provider: { baseUrl: 'http://127.0.0.1:9' },
        accounts: [{ id: 'otp', authSecret: 'the-key-of-otp' }],
        channels: { ops: { type: 'webhook', url: 'http://127.0.0.1:9/' } },
        server: { port },
        log: { level: 'silent' },
      }),
    );
  configure('en');
  const ending = new AbortController();
  const ended = runCli(['run'], { cwd: folder, signal: ending.signal });
  onTestFinished(async () => {
    ending.abort();
    await ended;
  });
  const address = async (): Promise<string> =>
    JSON.parse(readFileSync(join(folder, 'lowwater.db-daemon'), 'utf8')).address;
  await expect.poll(() => address().catch(() => null)).toMatch(/^http/);
  const first = await address();
  const page = async (): Promise<string> => (await fetch(await address())).text();
  expect(await page()).toContain('<html lang="en"');
  configure('es');
  await expect.poll(() => page().catch(() => '')).toContain('<html lang="es"');
  expect(await address()).toBe(first);
  configure('zh-CN', Number(new URL(first).port));
  await expect.poll(() => page().catch(() => '')).toContain('<html lang="zh-CN"');
});
