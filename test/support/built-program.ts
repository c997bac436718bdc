import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What `npm run build` makes; LOWWATER_MAIN names another build, such as one unpacked from a package. */
export const builtMain = process.env.LOWWATER_MAIN ?? join(import.meta.dirname, '../../dist/main.js');

if (!existsSync(builtMain)) throw new Error(`${builtMain} is missing: run \`npm run build\` first`);

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface BuiltProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly output: () => { readonly stdout: string; readonly stderr: string };
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
export function startNode(words: readonly string[], { cwd, env = {} }: ProcessOptions = {}): BuiltProcess {
  const child = spawn(process.execPath, words, {
    ...(cwd === undefined ? {} : { cwd }),
    // Nothing of the environment that tests happen to run in may decide what they see.
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      TZ: 'UTC',
      // Starts take a third less of the processor.
      NODE_COMPILE_CACHE: join(tmpdir(), 'lowwater-compile-cache'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, ended, output: () => ({ ...output }) };
}
