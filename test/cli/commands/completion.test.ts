import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { manPageFile, writeManPage } from '../../../scripts/man-page.ts';
import { optionsOf } from '../../../src/cli/command.ts';
import { commands } from '../../../src/cli/commands/registry.ts';
import { startHttpService } from '../../../src/net/http-service.ts';
import { builtMain } from '../../support/built-program.ts';
import { runCli } from '../../support/cli.ts';

async function print(shell: string): Promise<string> {
  return (await runCli(['completion', shell], { cwd: tmpdir() })).stdout;
}

/** What bash offers after these words, the last of which is being typed. */
function complete(...words: readonly string[]): Promise<readonly string[]> {
  return completeWith('', ...words);
}

async function completeWith(before: string, ...words: readonly string[]): Promise<readonly string[]> {
  const script = `${before}
${await print('bash')}
COMP_WORDS=(lowwater "$@"); COMP_CWORD=$#; _lowwater; printf '%s\\n' "\${COMPREPLY[@]}"`;
  // The server that it asks may live in this process.
  const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...words]);
  return stdout.split('\n').filter((word) => word !== '');
}

it('bash offers commands, members of groups and options', async () => {
  expect(await complete('st')).toEqual(['status']);
  expect(await complete('silence', '')).toEqual(['add', 'list', 'expire']);
  expect(await complete('silence', 'add', '--e')).toEqual(['--everything']);
  expect(await complete('history', 'otp', '--s')).toEqual(['--since', '--server']);
  expect(await complete('report', '--p')).toEqual(['--print']);
});

it('bash offers names of files where an option waits for its value, and commands after the configuration', async () => {
  expect(await complete('--config', '')).toEqual([]);
  expect(await complete('silence', 'add', '--for', '')).toEqual([]);
  expect(await complete('--config', 'other.json', 'silence', '')).toEqual(['add', 'list', 'expire']);
});

it('bash offers the names of the configuration where one is asked for, no matter what is wrong in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-complete-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.json');
  writeFileSync(
    file,
    `{ // with a comma too few
      "accounts": [{ "id": "otp" }, { "id": "marketing", "authSecret": "\${env:NO_SUCH}" }]
      "rules": [{ "id": "sms-low", "type": "belwo" }],
      "channels": { "ops": {} }, "reports": [{ "id": "weekly" }] }`,
  );
  const lowwater = `lowwater() { LOWWATER_CONFIG='${file}' '${process.execPath}' '${builtMain}' "$@"; }`;
  const offer = (...words: readonly string[]) => completeWith(lowwater, ...words);
  expect(await offer('ack', '')).toEqual(['otp', 'marketing']);
  expect(await offer('ack', 'otp', '')).toEqual(['sms-low']);
  expect(await offer('silence', 'add', '--account', 'm')).toEqual(['marketing']);
  expect(await offer('silence', 'add', '--severity', '')).toEqual(['info', 'warning', 'critical']);
  expect(await offer('report', 'w')).toEqual(['weekly']);
  expect(await offer('test-channel', '')).toEqual(['ops']);
  expect(await offer('history', 'otp', '--s')).toEqual(['--since', '--server']);
  expect(await offer('ack', '--comment', 'paid by ada', '--by=ada', '')).toEqual(['otp', 'marketing']);
  expect(await offer('ack', '--comment', 'paid by ada', 'otp', '')).toEqual(['sms-low']);
  expect(await offer('ack', 'otp', '--by', '=', 'ada', '')).toEqual(['sms-low']);
  expect(await offer('ack', 'otp', 'sms-low', '')).toEqual(expect.arrayContaining(['--comment', '--by']));
  const other = join(folder, 'other.json');
  writeFileSync(other, '{ "accounts": [{ "id": "voice" }] }');
  expect(await offer('--config', other, 'ack', '')).toEqual(['voice']);
  expect(await offer('ack', '--config', other, '')).toEqual(['voice']);
  writeFileSync(file, '{ "accounts": { "files": "accounts.d/*.json" } }');
  expect(await offer('ack', '')).toEqual([]);
});

it('bash offers what a daemon has now: alerts of the account before them, silences, expected top-ups', async () => {
  const answers: Readonly<Record<string, object>> = {
    '/api/v1/alerts': {
      alerts: [
        { account: 'otp', rule: 'sms-low' },
        { account: 'voice', rule: 'voip-low' },
      ],
    },
    '/api/v1/silences': { silences: [{ id: 's-1' }, { id: null }] },
    '/api/v1/expected-top-ups': { expected: [{ id: 'x-1' }, { id: '$(rm -rf /)' }] },
  };
  const { url, close } = await startHttpService({ port: 0, host: '127.0.0.1' }, (request, response) => {
    const isLetIn = request.headers.authorization === 'Bearer of-the-tests';
    response.end(JSON.stringify(isLetIn ? answers[request.url ?? ''] : {}));
  });
  onTestFinished(close);
  const run = `LOWWATER_SERVER='${url}' LOWWATER_TOKEN=of-the-tests '${process.execPath}' '${builtMain}' "$@"`;
  const offer = (...words: readonly string[]) => completeWith(`lowwater() { ${run}; }`, ...words);
  expect(await offer('ack', 'voice', '')).toEqual(['voip-low']);
  expect(await offer('silence', 'expire', '')).toEqual(['s-1']);
  expect(await offer('expect', '--cancel', '')).toEqual(['x-1']);
});

it.each(['bash', 'zsh', 'fish'])('the script for %s knows every command', async (shell) => {
  const script = await print(shell);
  for (const { name } of commands) expect(script).toContain(name.split(' ').at(-1));
});

it('another shell is refused with those that there are', async () => {
  expect(await runCli(['completion', 'csh'], { cwd: tmpdir() })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh, fish'),
  });
});

it('the man page is what the help of the commands says now', () => {
  expect(readFileSync(manPageFile, 'utf8')).toBe(writeManPage());
});

it('the README names every command and every option that it shows exists', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
  const table = readme.slice(readme.indexOf('## Commands'), readme.indexOf('## HTTP'));
  const cells = [...table.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');
  const isShown = (name: string) => cells.some((cell) => cell === name || cell.startsWith(`${name} `));
  expect(commands.map(({ name }) => name).filter((name) => !isShown(name))).toEqual([]);
  const known = new Set(['help', ...commands.flatMap((command) => Object.keys(optionsOf(command)))]);
  const shown = cells.flatMap((cell) => [...cell.matchAll(/--([a-z-]+)/g)].map(([, name]) => name ?? ''));
  expect(shown.filter((name) => !known.has(name))).toEqual([]);
});
