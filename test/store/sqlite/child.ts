import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Another process that opens a store; see child-daemon.ts. */
export interface Child {
  readonly pid: number;
  /** The next line that it says; null when it ended. */
  line(): Promise<string | null>;
  /** SIGKILL; gives the lines that were said and not yet taken. */
  kill(): Promise<readonly string[]>;
}

export function startChild(path: string, ...rest: readonly string[]): Child {
  const script = fileURLToPath(new URL('./child-daemon.ts', import.meta.url));
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [script, path, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string | null> => {
    const next = await lines.next();
    return next.done === true ? null : next.value;
  };
  return {
    pid: child.pid ?? -1,
    line,
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      const left: string[] = [];
      for (let said = await line(); said !== null; said = await line()) left.push(said);
      await ended;
      return left;
    },
  };
}
