import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { commandOf } from '../cli/command-of.ts';
import type { ProcessParts } from '../cli/context.ts';
import { failureCode, runCommandLine } from '../cli/run-command-line.ts';
import { openOutput, readerGone } from '../cli/terminal/output.ts';
import { pauseOrEnd } from '../net/deadline.ts';
import { fireUnlessEnded, systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import { openProcessLog, type ProcessLog } from './process-log.ts';
import { leave } from './signals.ts';

/** Runs the command until it is done or `signal` asks for an end. Only a second signal or a programming error ends it at once. */
export async function startProcess(signal: AbortSignal): Promise<void> {
  const { env } = process;
  // Files are private: database, write-ahead log, backups and what `init` writes are nobody else's business.
  process.umask(0o077);
  const isDaemon = commandOf(process.argv.slice(2)) === 'run';
  const log = openProcessLog();
  process.on('uncaughtException', (error) => void endFatally(error));
  // Node would write warnings on standard error, in the middle of a command's output.
  process.removeAllListeners('warning').on('warning', log.reportWarning);
  const noReader = new AbortController();
  const stdout = openOutput(process.stdout, (error) => {
    // The daemon's log lines are lost, and are counted as lost; the daemon goes on.
    if (isDaemon) return;
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return noReader.abort(readerGone);
    process.stderr.write(`lowwater: standard output cannot be written: ${error.message}\n`);
    process.exit(failureCode(process.argv.slice(2)));
  });
  const stderr = openOutput(process.stderr, () => undefined);
  const version = readVersion();
  try {
    const cwd = readDirectory();
    if (cwd === null) {
      process.stderr.write('lowwater: the working directory was removed: change to another one\n');
      process.exitCode = failureCode(process.argv.slice(2));
      return;
    }
    process.exitCode = await runCommandLine(process.argv.slice(2), {
      stdout,
      stderr,
      env,
      cwd,
      user: nameUser(),
      // A getter, because Node opens standard input as soon as it is looked at.
      get ask() {
        const ask = (question: string, hidden: boolean) => askOnTerminal(question, hidden, signal);
        return process.stdin.isTTY && process.stderr.isTTY ? ask : null;
      },
      version,
      clock: systemClock,
      random: systemRandom,
      signal: AbortSignal.any([signal, noReader.signal]),
      process: createProcessParts(log, version),
    });
  } catch (error) {
    await endFatally(error);
  }
  if (isDaemon) fireUnlessEnded(lastWordsMs, () => leave(Number(process.exitCode ?? 0)));

  async function endFatally(error: unknown): Promise<never> {
    try {
      await log.reportFatal(error);
    } catch (silenced) {
      // For example, the program was replaced while it ran. Only the log can hide secrets, so the original error is not printed.
      process.stderr.write(`lowwater: ended by an error that it cannot report: ${String(silenced)}\n`);
    }
    process.exit(1);
  }
}

/** The daemon, the demo and the secrets of the log, as the command line uses them. */
export function createProcessParts(log: ProcessLog, version: string): ProcessParts {
  return {
    hide: log.hide,
    async runDaemon(loaded, signal) {
      const { serve } = await import('./serve.ts');
      await serve({ ...loaded, log, version, signal });
    },
    async runDemo(order) {
      const { runDemo } = await import('./demo/run-demo.ts');
      await runDemo(order, version, log);
    },
  };
}

function readDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** The longest time that the process waits for the end of the log: a reader may have stopped reading, or the disk of a file may be slow. */
const lastWordsMs = 1000;

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}

/** The name for the audit of a person's orders. In a container the user id may have no name. */
function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Asks one question on standard error and reads one line from the terminal, empty if it is given up. A `hidden` answer is not shown. */
async function askOnTerminal(question: string, hidden: boolean, signal: AbortSignal): Promise<string> {
  const { isCancel, password, text } = await import('@clack/prompts');
  // A terminal without a size reports 0, and each character would get a line of its own.
  process.stderr.columns ||= 80;
  const ask = hidden ? password : text;
  // Ctrl-D ends the input: nobody would answer after that.
  const end = new AbortController();
  const onKey = (_: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }): void => {
    if (key?.ctrl === true && key.name === 'd') end.abort();
  };
  process.stdin.on('keypress', onKey);
  const answer = await ask({
    message: question,
    output: process.stderr,
    signal: AbortSignal.any([signal, end.signal]),
  });
  process.stdin.off('keypress', onKey);
  if (!isCancel(answer)) return answer ?? '';
  // Ctrl-C and Ctrl-D give up the whole command, not only this question.
  if (!signal.aborted) process.kill(process.pid, 'SIGINT');
  // The signal arrives a turn later, and does not keep the process alive until then: this pause does.
  await pauseOrEnd(systemClock, 1000, signal);
  return '';
}
