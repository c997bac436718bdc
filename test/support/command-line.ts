import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../src/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `lowwater` from its sources as a process of its own, to its end. */
export function runLowwater(words: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return startLowwater(words, options).ended;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with standard output so far as soon as it matches; rejects when the process ends before it does. */
  until(pattern: RegExp): Promise<string>;
}

/** Starts `lowwater` from its sources as a process of its own. */
export function startLowwater(words: readonly string[], { cwd, env = {} }: RunOptions = {}): Started {
  const child = spawn(process.execPath, [main, ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    // Nothing of the environment that tests happen to run in may decide what they see.
    env: { PATH: process.env.PATH, HOME: '/nonexistent', TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    child,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(stdout)) return;
          listeners.delete(look);
          resolve(stdout);
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`ended before it printed ${pattern}: ${stdout}${stderr}`)));
      }),
  };
}
