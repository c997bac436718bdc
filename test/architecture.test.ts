import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/**
 * Rooms, the ground first, each with the rooms that its files import. These are the arrows that exist: a new one is added here
 * by whoever needs it, and one that nobody needs any more is taken out. None leads to a room that stands later.
 */
const arrows: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ['domain'],
  wording: ['domain'],
  spending: ['domain'],
  schema: ['domain', 'wording', 'spending'],
  rules: ['domain', 'ports', 'wording', 'spending', 'schema'],
  messages: ['domain', 'wording', 'rules'],
  engine: ['domain', 'ports', 'wording', 'spending', 'rules'],
  net: ['domain', 'ports', 'wording'],
  languages: ['wording'],
  daemon: ['domain', 'ports', 'wording', 'spending', 'rules', 'messages', 'engine', 'net'],
  views: ['domain', 'ports', 'wording', 'spending', 'rules', 'messages', 'engine', 'net', 'daemon'],
  cluster: ['domain', 'ports', 'wording', 'engine', 'daemon', 'views'],
  replay: ['domain', 'ports', 'spending', 'rules', 'engine', 'daemon', 'views'],
  chart: ['domain', 'wording', 'spending', 'rules'],
  channels: [
    'domain',
    'ports',
    'wording',
    'schema',
    'rules',
    'messages',
    'engine',
    'net',
    'daemon',
    'views',
    'chart',
  ],
  providers: ['domain', 'ports', 'wording', 'schema', 'net'],
  store: ['domain', 'ports', 'engine', 'net'],
  config: [
    'domain',
    'ports',
    'wording',
    'spending',
    'schema',
    'rules',
    'engine',
    'net',
    'languages',
    'daemon',
    'cluster',
    'channels',
    'providers',
  ],
  http: [
    'domain',
    'ports',
    'wording',
    'spending',
    'schema',
    'rules',
    'engine',
    'net',
    'languages',
    'daemon',
    'views',
    'replay',
    'chart',
  ],
  system: ['domain', 'ports'],
  simulator: ['domain', 'ports', 'net', 'providers'],
  cli: [
    'domain',
    'ports',
    'wording',
    'spending',
    'schema',
    'rules',
    'messages',
    'engine',
    'net',
    'daemon',
    'views',
    'cluster',
    'replay',
    'chart',
    'channels',
    'providers',
    'store',
    'config',
    'http',
    'system',
    'simulator',
  ],
  main: [
    'domain',
    'ports',
    'engine',
    'net',
    'daemon',
    'views',
    'cluster',
    'replay',
    'channels',
    'providers',
    'store',
    'config',
    'http',
    'system',
    'simulator',
    'cli',
  ],
};

/** Rooms in which nothing waits and nothing of the outside is imported, but what `packagesOf` lists. */
const pureRooms: readonly string[] = [
  'domain',
  'wording',
  'spending',
  'schema',
  'rules',
  'messages',
  'engine',
];

/** Kinds bring the shape of their part of the configuration with them. */
const packagesOf: Readonly<Record<string, readonly string[]>> = {
  schema: ['zod'],
  rules: ['zod'],
  // A digest is a pure function; what is random there is asked of the port (`impure`).
  // Orders bring the shape in which they may lie in the database.
  engine: ['node:crypto', 'zod'],
};

/** What only `src/system/` may touch: everybody else is given the clock and the randomness. */
const impure = [
  { name: 'Date.now', pattern: /\bDate\.now\b/ },
  { name: 'new Date()', pattern: /\bnew Date(?:\(\)|\b(?!\())/ },
  { name: 'Math.random', pattern: /\bMath\.random\b/ },
  {
    name: 'random bytes',
    pattern: /\b(?:randomBytes|randomUUID|randomInt|randomFill(?:Sync)?|getRandomValues)\b/,
  },
  { name: 'performance.now', pattern: /\bperformance\.now\b/ },
  { name: 'a timer', pattern: /(?<![.\w])set(?:Timeout|Interval|Immediate)\(|['"](?:node:)?timers\b/ },
] as const;

/** Its `nextTurn` is how long work lets the rest of the process have a turn. */
const givesWay = 'src/daemon/slices.ts';

const longestFile = 300;
/** It joins the parts of the daemon: each has a line where it is made, begins, follows the clock and ends. */
const joining = 'src/daemon/daemon.ts';

interface SourceFile {
  /** From the root of the project, such as `src/domain/money.ts`. */
  readonly path: string;
  readonly text: string;
}

function findViolations(file: SourceFile): string[] {
  const code = withoutComments(file.text);
  const lines = file.text.split('\n').length;
  return [
    ...findForbiddenImports(file.path, code),
    ...findImpurity(file.path, code),
    ...findChannelKinds(file.path, code),
    ...findProviderKinds(file.path, code),
    ...(/\bas any\b|:\s*any\b|<any>/.test(code) ? [`${file.path} uses any`] : []),
    ...(lines > longestFile && file.path !== joining
      ? [`${file.path} has ${lines} lines: split it along an idea`]
      : []),
  ];
}

/** The folders of `src/channels`: each is one kind, named as the configuration names it. So is each file of a preset. */
const channelKinds = [
  ...readdirSync(join(root, 'src/channels'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name),
  ...readdirSync(join(root, 'src/channels/presets'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => basename(name, '.json')),
];

/** A kind is named in its own folder and nowhere else: everybody else asks the registry. */
function findChannelKinds(path: string, code: string): string[] {
  return channelKinds
    .filter(
      (kind) =>
        !path.startsWith(`src/channels/${kind}/`) &&
        !path.startsWith('src/channels/presets/') &&
        new RegExp(`['"\`]${kind}['"\`]`).test(code),
    )
    .map((kind) => `${path} names the channel kind ${kind}: that is its folder's business`);
}

/** Kinds of providers with the folder in which each may be named: its own, or that of the presets. */
const providerKinds: readonly (readonly [kind: string, folder: string])[] = [
  ...readdirSync(join(root, 'src/providers'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['presets', 'transport'].includes(entry.name))
    .map(({ name }) => [name, name] as const),
  ...readdirSync(join(root, 'src/providers/presets'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => [basename(name, '.json'), 'presets'] as const),
];

function findProviderKinds(path: string, code: string): string[] {
  return providerKinds
    .filter(
      ([kind, folder]) =>
        !path.startsWith(`src/providers/${folder}/`) && new RegExp(`['"\`]${kind}['"\`]`).test(code),
    )
    .map(([kind]) => `${path} names the provider kind ${kind}: that is its folder's business`);
}

function findForbiddenImports(path: string, code: string): string[] {
  const room = roomOf(path);
  const reached = arrows[room];
  if (reached === undefined) return [`${path} stands in no known room`];
  return importsOf(code).flatMap((specifier) => {
    if (!specifier.startsWith('.')) {
      return pureRooms.includes(room) && !packagesOf[room]?.includes(specifier)
        ? [`${path} imports ${specifier}: ${room} imports no package`]
        : [];
    }
    const target = roomOf(normalize(join(dirname(path), specifier)));
    return target === room || reached.includes(target) || isCatalogue(room, specifier)
      ? []
      : [`${path} (${room}) imports ${specifier} (${target})`];
  });
}

/** Sentences stand outside of `src`, where translators find them. */
function isCatalogue(room: string, specifier: string): boolean {
  return room === 'languages' && /^\.\.\/\.\.\/languages\/[\w-]+\.json$/.test(specifier);
}

/** Arrows of the list that no file needs, and those to a room that stands later. */
function findIdleArrows(files: readonly SourceFile[]): string[] {
  const used = new Set(
    [...graphOf(files)].flatMap(([path, targets]) => targets.map((it) => `${roomOf(path)} → ${roomOf(it)}`)),
  );
  const rooms = Object.keys(arrows);
  return Object.entries(arrows).flatMap(([room, reached]) =>
    reached
      .filter((it) => !used.has(`${room} → ${it}`) || rooms.indexOf(it) >= rooms.indexOf(room))
      .map((it) => `${room} → ${it}`),
  );
}

function findImpurity(path: string, code: string): string[] {
  const room = roomOf(path);
  if (room === 'system') return [];
  const found = impure
    .filter(({ name, pattern }) => pattern.test(code) && !(path === givesWay && name === 'a timer'))
    .map(({ name }) => `${path} uses ${name}`);
  if (pureRooms.includes(room) && /\basync\b|\bawait\b|\bPromise\b/.test(code))
    found.push(`${path} (${room}) is asynchronous`);
  return found;
}

/** `src/cli/commands/run.ts` is in the room `cli`; `src/main.ts` and what wires the rooms together are `main`. */
function roomOf(path: string): string {
  const [top, folder = '', ...rest] = path.split('/');
  if (top !== 'src') return `outside of src: ${path}`;
  return folder === 'wiring' || (rest.length === 0 && folder === 'main.ts') ? 'main' : folder;
}

function importsOf(code: string): string[] {
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\s]+)['"]/g)].map((match) => match[1] ?? '');
}

/** Comments speak of what is not done here. Quotes may hold the two slashes of an address. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g, '');
}

type Graph = ReadonlyMap<string, readonly string[]>;

function graphOf(files: readonly SourceFile[]): Graph {
  return new Map(
    files.map(({ path, text }) => {
      const own = importsOf(withoutComments(text)).filter((specifier) => specifier.startsWith('.'));
      return [path, own.map((specifier) => normalize(join(dirname(path), specifier)))];
    }),
  );
}

/** Each way that leads back to where it began, once: the files on it in order, the first one again at the end. */
function findCircles(graph: Graph): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    const begun = way.indexOf(file);
    if (begun >= 0) circles.push([...way.slice(begun), file]);
    if (begun >= 0 || finished.has(file)) return;
    for (const next of graph.get(file) ?? []) follow(next, [...way, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) follow(file, []);
  return circles;
}

/** Folders of `test` with what belongs to no one folder of `src`. */
const besideTheMirror = ['e2e', 'torture', 'support', 'fixtures', 'deploy', 'scripts', 'docs'];

/**
 * A test stands in a folder that `src` has, and where its room has a file of its name, in that file's folder. A test of
 * several files has a name of its own.
 */
function findMisplacedTests(tests: readonly string[], files: readonly string[]): string[] {
  const stemOf = (path: string): string =>
    path.replace(/^(?:src|test)\//, '').replace(/(?:\.test)?\.ts$/, '');
  const stems = files.map(stemOf);
  return tests.flatMap((path) => {
    const stem = stemOf(path);
    const [room = ''] = stem.split('/');
    if (besideTheMirror.includes(room) || stem === 'architecture') return [];
    if (!stems.some((other) => dirname(other) === dirname(stem))) return [`${path}: src has no such folder`];
    const named = stems.filter(
      (other) =>
        other.startsWith(`${room}/`) && basename(other) === basename(stem) && path.endsWith('.test.ts'),
    );
    return named.length === 0 || named.includes(stem)
      ? []
      : [`${path}: it belongs to test/${named.join(', test/')}.test.ts`];
  });
}

const sources: readonly SourceFile[] = globSync('src/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

describe('the house', () => {
  it('has files to look at', () => {
    expect(channelKinds.length).toBeGreaterThan(2);
    expect(sources.length).toBeGreaterThan(30);
  });

  it('keeps its arrows, its clock and its size', () => {
    expect(sources.flatMap(findViolations)).toEqual([]);
  });

  it('has no arrow that nobody needs, and none that leads to a later room', () => {
    expect(findIdleArrows(sources)).toEqual([]);
  });
});

describe('test/', () => {
  it('mirrors src/', () => {
    const paths = sources.map(({ path }) => path);
    expect(findMisplacedTests(globSync('test/**/*.ts', { cwd: root }), paths)).toEqual([]);
  });

  it('is found to stand elsewhere', () => {
    const tests = [
      'test/store/backup.test.ts',
      'test/attic/a.test.ts',
      'test/store/crash.test.ts',
      'test/e2e/a.test.ts',
    ];
    expect(findMisplacedTests(tests, ['src/store/store.ts', 'src/store/sqlite/backup.ts'])).toEqual([
      'test/store/backup.test.ts: it belongs to test/store/sqlite/backup.test.ts',
      'test/attic/a.test.ts: src has no such folder',
    ]);
  });
});

describe('imports', () => {
  it('run in no circle', () => {
    expect(findCircles(graphOf(sources))).toEqual([]);
  });

  it('that run in a circle are found, of types as well', () => {
    const circle = [
      { path: 'src/domain/a.ts', text: "import { b } from './b.ts';" },
      { path: 'src/domain/b.ts', text: "import type { C } from '../domain/c.ts';" },
      { path: 'src/domain/c.ts', text: "import { a } from './a.ts';" },
      { path: 'src/domain/d.ts', text: "import { a } from './a.ts';" },
    ];
    expect(findCircles(graphOf(circle))).toEqual([
      ['src/domain/a.ts', 'src/domain/b.ts', 'src/domain/c.ts', 'src/domain/a.ts'],
    ]);
  });
});

describe('the check of the house finds', () => {
  it.each([
    [
      'an upward arrow',
      'src/domain/a.ts',
      "import { x } from '../daemon/x.ts';",
      'imports ../daemon/x.ts (daemon)',
    ],
    [
      'an upward arrow of types',
      'src/engine/a.ts',
      "import type { X } from '../cli/x.ts';",
      'imports ../cli/x.ts (cli)',
    ],
    [
      'a sideways arrow',
      'src/http/a.ts',
      "import { x } from '../store/x.ts';",
      'imports ../store/x.ts (store)',
    ],
    [
      'a sideways arrow of another folder',
      'src/config/checks/a.ts',
      "import '../../http/x.ts';",
      'imports ../../http/x.ts (http)',
    ],
    ['a dynamic import', 'src/http/a.ts', "await import('../store/x.ts');", 'imports ../store/x.ts (store)'],
    [
      'an import of main',
      'src/http/a.ts',
      "import { x } from '../wiring/x.ts';",
      'imports ../wiring/x.ts (main)',
    ],
    ['Node in a pure room', 'src/domain/a.ts', "import { join } from 'node:path';", 'imports no package'],
    ['a package in a pure room', 'src/messages/a.ts', "import * as z from 'zod';", 'imports no package'],
    ['asynchronous code in a pure room', 'src/rules/a.ts', 'export async function f() {}', 'is asynchronous'],
    ['a read of the clock', 'src/engine/a.ts', 'const now = Date.now();', 'uses Date.now'],
    ['the present date', 'src/http/a.ts', 'const now = new Date();', 'uses new Date()'],
    ['randomness', 'src/daemon/a.ts', 'const dice = Math.random();', 'uses Math.random'],
    [
      'random bytes in the wiring',
      'src/wiring/a.ts',
      "import { randomBytes } from 'node:crypto';",
      'uses random bytes',
    ],
    ['a timer', 'src/daemon/a.ts', 'setTimeout(f, 5);', 'uses a timer'],
    ['a timer of no length', 'src/http/a.ts', 'setImmediate(f);', 'uses a timer'],
    [
      'a timer by another name',
      'src/cli/a.ts',
      "import { setImmediate as rest } from 'node:timers/promises';",
      'uses a timer',
    ],
    [
      'a downward arrow that the list lacks',
      'src/net/a.ts',
      "import { x } from '../engine/x.ts';",
      'imports ../engine/x.ts (engine)',
    ],
    ['any', 'src/daemon/a.ts', 'const x: any = 1;', 'uses any'],
    ['a room that nobody knows', 'src/utils/a.ts', '', 'stands in no known room'],
    [
      'a list of channel kinds',
      'src/config/a.ts',
      "const kinds = ['slack', 'email'];",
      'names the channel kind email',
    ],
    [
      'a provider kind outside of its folder',
      'src/config/a.ts',
      "type === 'http-json'",
      'names the provider kind http-json',
    ],
    ['a preset outside of the presets', 'src/cli/a.ts', "'twilio'", 'names the provider kind twilio'],
    [
      'one channel kind that asks for another',
      'src/channels/slack/a.ts',
      "type === 'webhook'",
      'names the channel kind webhook',
    ],
    ['a file without end', 'src/daemon/a.ts', '\n'.repeat(500), 'split it along an idea'],
  ])('%s', (_name, path, text, complaint) => {
    expect(findViolations({ path, text }).join('\n')).toContain(complaint);
  });

  it.each([
    ['a date made from an instant', 'src/daemon/a.ts', 'new Date(at).toISOString()'],
    ['the clock in the room of adapters', 'src/system/clock.ts', 'Date.now()'],
    ['a comment about the clock', 'src/domain/a.ts', '// Date.now() would not do here.'],
    ['a downward arrow', 'src/http/page/a.ts', "import type { Views } from '../../views/views.ts';"],
    ['main importing every room', 'src/wiring/a.ts', "import { x } from '../store/x.ts';"],
    ['a channel kind in its own folder', 'src/channels/slack/a.ts', "type === 'slack'"],
    ['a method that is called like a timer', 'src/daemon/a.ts', 'clock.setTimer(5, f); this.setTimeout(5);'],
  ])('nothing wrong with %s', (_name, path, text) => {
    expect(findViolations({ path, text })).toEqual([]);
  });
});
