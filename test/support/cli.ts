import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../../src/cli/context.ts';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import type { Output } from '../../src/cli/terminal/output.ts';
import { createStyle } from '../../src/cli/terminal/style.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { openProcessLog } from '../../src/wiring/process-log.ts';
import { createRooms } from '../../src/wiring/rooms.ts';

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A terminal that wide; without it output goes to a pipe. */
  readonly columns?: number;
  readonly colour?: boolean;
  readonly signal?: AbortSignal;
  /** The version of the program, where it is not this one's. */
  readonly version?: string;
  /** What the person at the terminal answers. */
  readonly ask?: (question: string, hidden: boolean) => Promise<string>;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line on the real rooms, in this process. */
export async function runCli(words: readonly string[], options: CliOptions): Promise<CliResult> {
  const stdout = recordOutput(options);
  const stderr = recordOutput(options);
  const context: CommandContext = {
    stdout: stdout.output,
    stderr: stderr.output,
    env: options.env ?? {},
    cwd: options.cwd,
    user: 'tester',
    ask: options.ask ?? null,
    version: options.version ?? version,
    clock: systemClock,
    random: systemRandom,
    signal: options.signal ?? new AbortController().signal,
    rooms: createRooms({ log: openProcessLog({}), version }),
  };
  const code = await runCommandLine(words, context);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function recordOutput({ columns, colour = false }: CliOptions): { readonly output: Output; text(): string } {
  let written = '';
  return {
    text: () => written,
    output: {
      isTerminal: columns !== undefined,
      columns: columns ?? 80,
      style: createStyle(colour),
      write: (text) => {
        written += text;
        return Promise.resolve();
      },
    },
  };
}
