import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/registry.ts';
import { parseCommandLine } from '../../src/cli/run-command-line.ts';
import { createStyle } from '../../src/cli/terminal/output.ts';
import { defaultScenario } from '../../src/simulator/scenario.ts';
import { startSimulator } from '../../src/simulator/server.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { runBuilt, startBuilt } from '../support/built-program.ts';
import { runCli } from '../support/cli.ts';
import { commandsOf, fences, pages, proseOf } from '../support/documentation.ts';
import { makeDocumentedHouse } from '../support/documented-house.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';

const execute = promisify(execFile);
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

/** Go on until somebody ends them; what each prints once it has begun. */
const lasting = new Map([
  ['run', /"msg":"started"/],
  ['demo', /http:/],
  ['simulate', /simulator on http:/],
]);

/** Ask a person, a daemon that runs, or a second database; or take a minute (`test-alert`, which its own test plays). */
const onlyParsed = ['init', 'health', 'migrate-store', 'cluster', 'test-alert'];

/** Other tests start these in a process of their own: `test/e2e/golden`, `storage`, `command-line`, `secrets` and `version-before`. */
const startedElsewhere = [
  ...['history', 'query', 'replay', 'backup', 'check', 'ack', 'validate', 'silence'],
  ...['status', 'explain', 'test-channel', 'expect-spending', '--version'],
];

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
const candidates = [...inFences, ...inProse.filter((command) => !isForm(command))];
const words = readWords(candidates.filter((command) => command.startsWith('lowwater ')));
const wordsOf = (command: string) => words.get(command) ?? [];
/** What stands in prose without what it must have, such as `lowwater explain`, speaks of the command. */
const isName = (command: string) => refusalOf(command)?.includes('missing required argument') === true;
const typed = [...new Set(candidates.filter((command) => inFences.includes(command) || !isName(command)))];
const wordOf = (command: string) => command.split(' ')[1] ?? '';
const ofLowwater = typed.filter((command) => command.startsWith('lowwater '));
const ending = ofLowwater.filter(
  (command) => !lasting.has(wordOf(command)) && !onlyParsed.includes(wordOf(command)),
);

/** One of a word in a process of its own shows that it starts; the others differ in what the command line reads. */
const isFirst = (command: string) => ofLowwater.find((each) => wordOf(each) === wordOf(command)) === command;

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
  closing.push(receiver.close, simulator.close);
});

afterAll(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a command of the documentation', () => {
  it.each(ending)('works as it stands: %s', async (command) => {
    const words = wordsOf(command);
    const isStarted = isFirst(command) && !startedElsewhere.includes(wordOf(command));
    const { code, stderr } = await (isStarted ? runBuilt : runCli)(words, { cwd: folder });
    // A check tells by its exit code what it found.
    expect(wordOf(command) === 'check' ? 0 : code, stderr).toBe(0);
    expect(stderr).not.toMatch(/^lowwater: /m);
  });

  it.each(ofLowwater.filter((command) => lasting.has(wordOf(command))))(
    'goes on until it is ended: %s',
    async (command) => {
      const begun = lasting.get(wordOf(command)) ?? /never/;
      if (isFirst(command)) {
        const started = startBuilt(wordsOf(command), { cwd: folder });
        await started.until(begun);
        started.child.kill('SIGTERM');
        expect(await started.ended).toMatchObject({ code: 0, signal: null });
        return;
      }
      const end = new AbortController();
      const { code, stdout } = await runCli(wordsOf(command), {
        cwd: folder,
        signal: end.signal,
        prints: (stdout) => begun.test(stdout) && end.abort(),
      });
      expect(stdout).toMatch(begun);
      expect(code).toBe(0);
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
      const { stdout } = await execute('sh', ['-c', command.replace('localhost:9080', `127.0.0.1:${port}`)]);
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

  it('in Chinese has no command, option of the demo aside, and no version of Node that the English one has not', () => {
    const [chinese, english] = ['README.zh-CN.md', 'README.md'].map((path) => ({
      commands: fences.filter(({ page, info }) => page === path && info.startsWith('sh')).flatMap(commandsOf),
      node: pages.find((page) => page.path === path)?.text.match(/Node\.js ([\d.]+)/)?.[1],
    }));
    expect(english?.commands).toEqual(
      expect.arrayContaining(
        chinese?.commands.map((command) => command.replace(' -- --language zh-CN', '')) ?? [],
      ),
    );
    expect(chinese?.node).toBe(english?.node);
  });
});

/** The words behind `lowwater`, as a shell gives them: one shell reads them all. */
function readWords(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const script = lines.map((line) => `printf '%s\\0' ${line.slice('lowwater '.length)}; printf '\\n'`);
  const { stdout } = spawnSync('sh', ['-c', script.join('\n')], { encoding: 'utf8' });
  const printed = stdout.split('\0\n');
  return new Map(lines.map((line, index) => [line, printed[index]?.split('\0') ?? []]));
}

/** What lowwater says against the words; null where it takes them. */
function refusalOf(command: string): string | null {
  if (!command.startsWith('lowwater ')) return null;
  try {
    parseCommandLine(wordsOf(command), {
      version: '0.0.0',
      stdout: { columns: 80, style: createStyle(false) },
    });
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
