import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test run builds before it begins; LOWWATER_MAIN names another build, such as one unpacked from a package. */
export const builtMain = process.env.LOWWATER_MAIN ?? join(import.meta.dirname, '../../dist/main.js');

const compiledCode = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'lowwater-compile-cache');

/**
 * Variables of processes that run the program or its sources: with compiled code that is kept, starts take a third less of the processor.
 * V8 throws away what was compiled under other flags, and writes its own in the place: commands that set flags of their own have a folder each.
 */
export function startedSooner(words: readonly string[] = []): { readonly NODE_COMPILE_CACHE: string } {
  const command = ['run', 'replay'].find((name) => words.includes(name)) ?? '';
  return { NODE_COMPILE_CACHE: join(compiledCode, command) };
}

/**
 * Objects of the start live on, and are not copied often; more room would be memory that tests of a daemon's memory see. Flags that decide
 * what V8 compiles would have it throw away what Node brings along of its own modules, compiled: a twentieth of a start.
 */
export const leanStart = ['--min-semi-space-size=16'];

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What stands on its standard input; absent: nothing. */
  readonly input?: string;
}

export interface BuiltProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Resolves with standard output so far as soon as it matches; rejects when the process ends before it does. */
  until(pattern: RegExp): Promise<string>;
}

/** Starts the built `lowwater` as a process of its own. */
export function startBuilt(words: readonly string[], options: ProcessOptions = {}): BuiltProcess {
  return startNode([builtMain, ...words], options);
}

/** Runs the built `lowwater` to its end. */
export function runBuilt(words: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  return startBuilt(words, options).ended;
}

/** Starts Node with a clean environment and keeps what it prints. */
export function startNode(
  words: readonly string[],
  { cwd, env = {}, input }: ProcessOptions = {},
): BuiltProcess {
  const child = spawn(process.execPath, [...leanStart, ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    // Nothing of the environment that tests happen to run in may decide what they see.
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      TZ: 'UTC',
      ...startedSooner(words),
      ...env,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (pattern.test(output.stdout)) resolve(output.stdout);
      };
      child.stdout?.on('data', look);
      look();
      void ended.then(() =>
        reject(new Error(`ended before it printed ${pattern}: ${output.stdout}${output.stderr}`)),
      );
    });
  return { child, ended, output: () => ({ ...output }), until };
}
