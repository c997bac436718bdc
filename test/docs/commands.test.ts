import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/registry.ts';
import { parseCommandLine } from '../../src/cli/run-command-line.ts';
import { createStyle } from '../../src/cli/terminal/output.ts';
import { defaultScenario } from '../../src/simulator/scenario.ts';
import { startSimulator } from '../../src/simulator/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { builtMain } from '../support/built-program.ts';
import { commandsOf, fences, pages, proseOf } from '../support/documentation.ts';
import { makeDocumentedHouse } from '../support/documented-house.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What needs another machine, a registry or root stands in a fence that says `sh elsewhere`, and begins with one of these. */
const elsewhere = [
  'docker',
  'kubectl',
  'helm',
  'git',
  'cd',
  'cp',
  'install',
  'npm',
  'systemctl',
  'rclone',
  'litestream',
];

/** Go on until somebody ends them. */
const lasting = ['run', 'demo', 'simulate'];

/** Ask a person, a daemon that runs, or a second database; or take a minute (`test-alert`, which its own test plays). */
const onlyParsed = ['init', 'health', 'migrate-store', 'cluster', 'test-alert'];

/** Speaks of accounts of its own: its test plays its commands, from the first to the last. */
const playedByItself = 'docs/many-accounts.md';
const inFences = fences
  .filter(({ info, page }) => info === 'sh' && page !== playedByItself)
  .flatMap(commandsOf);
const inProse = pages.flatMap((page) =>
  [...proseOf(page).matchAll(/`((?:lowwater|npm|npx) [^`]+)`/g)].flatMap(([, command = '']) =>
    command.replaceAll(/\s+/g, ' ').split(' && '),
  ),
);
/** `backup FILE`, `[--port 9080]`, `completion bash\|zsh`: shows what may stand there. */
const isForm = (command: string) => /[[\]<>…]|\\\||\b(?:FILE|NAME|ID|ACCOUNT|RULE|TYPE)\b/.test(command);
/** What stands in prose without what it must have, such as `lowwater explain`, speaks of the command. */
const isName = (command: string) => refusalOf(command)?.includes('missing required argument') === true;
const typed = [
  ...new Set([...inFences, ...inProse.filter((command) => !isForm(command) && !isName(command))]),
];
const wordOf = (command: string) => command.split(' ')[1] ?? '';
const ofLowwater = typed.filter((command) => command.startsWith('lowwater '));

let folder: string;
let port: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const receiver = await startHttpReceiver((response) => response.end('ok'));
  const adapters = { clock: systemClock, random: systemRandom };
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    scenario: defaultScenario,
    ...adapters,
  });
  port = new URL(simulator.url).port;
  folder = await makeDocumentedHouse({ provider: simulator.url, webhook: receiver.url });
  mkdirSync(join(folder, 'bin'));
  const program = join(folder, 'bin/lowwater');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${builtMain}' "$@"\n`);
  chmodSync(program, 0o755);
  closing.push(receiver.close, simulator.close);
});

afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a command of the documentation', () => {
  it.each(ofLowwater.filter((command) => !lasting.concat(onlyParsed).includes(wordOf(command))))(
    'works as it stands: %s',
    async (command) => {
      const { status, stderr } = await runInShell(command);
      // A check tells by its exit code what it found.
      expect(wordOf(command) === 'check' ? 0 : status, stderr).toBe(0);
      expect(stderr).not.toMatch(/^lowwater: /m);
    },
  );

  it.each(ofLowwater.filter((command) => lasting.includes(wordOf(command))))(
    'goes on until it is ended: %s',
    async (command) => {
      const child = spawn('sh', ['-c', `exec ${command}`], {
        cwd: folder,
        env: environment(),
        stdio: 'ignore',
      });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(child.exitCode).toBe(null);
      child.kill('SIGTERM');
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    },
  );

  it.each(ofLowwater)('is one that lowwater knows: %s', (command) => {
    expect(refusalOf(command)).toBe(null);
  });

  it.each(typed.filter((command) => command.startsWith('npm run ')))(
    'is a script of the package: %s',
    (command) => {
      expect(Object.keys(scripts)).toContain(command.split(' ')[2]);
    },
  );

  it.each(typed.filter((command) => command.startsWith('curl ')))(
    'is answered by the simulator: %s',
    async (command) => {
      const { stdout } = await runInShell(command.replace('localhost:9080', `127.0.0.1:${port}`));
      expect(JSON.parse(stdout)).toMatchObject({ code: 200 });
    },
  );

  it('is of a kind that is tried here', () => {
    const rest = typed.filter(
      (command) => !/^(?:lowwater|npm (?:run|ci|test|audit)|curl)(?: |$)/.test(command),
    );
    // What takes long is not run: that it is there is all that is tried.
    for (const command of rest) {
      const [, path = ''] = /^(?:npx vitest run |node )?(\S+)$/.exec(command) ?? [];
      expect(existsSync(join(root, path)), command).toBe(true);
    }
  });

  it('says in its fence when it belongs to another machine, and is of a kind that does', () => {
    const others = fences.filter(({ info }) => info.startsWith('sh') && info !== 'sh');
    expect(new Set(others.map(({ info }) => info))).toEqual(new Set(['sh elsewhere']));
    for (const command of others.flatMap(commandsOf)) expect(elsewhere).toContain(command.split(' ')[0]);
  });
});

describe('the README', () => {
  it('lists every command', () => {
    const readme = pages.find(({ path }) => path === 'README.md')?.text ?? '';
    const [, chapter = ''] = readme.split('\n## Commands');
    for (const { name } of commands) expect(chapter).toContain(`\`${name}`);
  });
});

/** What lowwater says against the words, as a shell gives them; null where it takes them. */
function refusalOf(command: string): string | null {
  if (!command.startsWith('lowwater ')) return null;
  const shell = spawnSync('sh', ['-c', `printf '%s\\n' ${command.slice('lowwater '.length)}`], {
    encoding: 'utf8',
  });
  try {
    parseCommandLine(shell.stdout.trimEnd().split('\n'), {
      version: '0.0.0',
      stdout: { columns: 80, style: createStyle(false) },
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function environment(): Record<string, string> {
  const compileCache = join(tmpdir(), 'lowwater-compile-cache');
  return {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    TZ: 'UTC',
    NODE_COMPILE_CACHE: compileCache,
  };
}

/** In a process of its own, while the receivers of this one answer. */
async function runInShell(command: string) {
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, ...said };
}
