import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext, LoadedConfiguration } from '../../src/cli/context.ts';
import { loadConfiguration } from '../../src/cli/load-configuration.ts';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import { createStyle, type Output } from '../../src/cli/terminal/output.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { createProcessParts } from '../../src/wiring/process.ts';
import { openProcessLog } from '../../src/wiring/process-log.ts';

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
  readonly user?: string;
  /** The version of the program, where it is not this one's. */
  readonly version?: string;
  /** Hears all that stands on standard output each time that something is added. */
  readonly prints?: (stdout: string) => void;
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
  const { prints: _, ...silent } = options;
  const stderr = recordOutput(silent);
  const code = await runCommandLine(words, contextOf(stdout.output, stderr.output, options));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** A configuration as commands read it. Rejects where it has errors, with all that is printed of them. */
export async function loadFile(file: string): Promise<LoadedConfiguration> {
  const { output, text } = recordOutput({ cwd: '/' });
  const option = (name: string) => (name === 'config' ? file : null);
  return loadConfiguration(contextOf(output, output, { cwd: '/' }), { option }).catch((error: unknown) => {
    throw new Error(text(), { cause: error });
  });
}

function contextOf(stdout: Output, stderr: Output, options: CliOptions): CommandContext {
  return {
    stdout,
    stderr,
    env: options.env ?? {},
    cwd: options.cwd,
    user: options.user ?? 'tester',
    ask: options.ask ?? null,
    version: options.version ?? version,
    clock: systemClock,
    random: systemRandom,
    signal: options.signal ?? new AbortController().signal,
    process: createProcessParts(openProcessLog(), version),
  };
}

function recordOutput({ columns, colour = false, prints }: CliOptions): {
  readonly output: Output;
  text(): string;
} {
  let written = '';
  return {
    text: () => written,
    output: {
      isTerminal: columns !== undefined,
      columns: columns ?? 80,
      style: createStyle(colour),
      write: (text) => {
        written += text;
        prints?.(written);
        return Promise.resolve();
      },
    },
  };
}
