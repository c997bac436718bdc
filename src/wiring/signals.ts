import { commandOf } from '../cli/command-of.ts';
import { systemClock } from '../system/clock.ts';

/** Commands that change nothing and leave nothing behind, but may wait for a daemon that does not answer: a signal ends them at once. */
export const asking: readonly unknown[] = [
  'status',
  'alerts',
  'history',
  'explain',
  'audit',
  'routes',
  'health',
];

/**
 * Listens for signals from now on, so call it as early as possible. The returned signal aborts on the first
 * SIGTERM or SIGINT, which asks for an orderly end, or when the terminal is gone (SIGHUP). A second one ends the process at once.
 * `words`: the words of the command line.
 */
export function listenForSignals(words: readonly string[]): AbortSignal {
  const ending = new AbortController();
  // By default, Node would open its debugger to every user of this machine on SIGUSR1, and SIGUSR2 would end the process.
  for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);
  const command = commandOf(words);
  // A query runs inside the database, where no signal is heard. It leaves nothing behind, so it may end at once.
  if (command === 'query') return ending.signal;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
    ['SIGHUP', 1],
  ] as const) {
    if (signal === 'SIGHUP' && command === 'run') continue;
    process.on(signal, () => {
      if (ending.signal.aborted || asking.includes(command)) leave(128 + number, signal);
      ending.abort();
    });
  }
  // To the daemon, SIGHUP means "read the configuration again". Before it runs, it has yet to read it; at its end it
  // does not need it any more. In neither case may the signal kill the process.
  if (command === 'run') process.on('SIGHUP', () => undefined);
  return ending.signal;
}

/** Reading a file is usually over after this many checks. They are counted, because a busy machine may give the process no turn for as long. */
const looks = 20;
const lookEveryMs = 10;

/**
 * Ends the process with an exit code. While a file is being read, `exit` waits for the thread that reads it, and a file system
 * that hangs would hold that thread for ever. The process then ends by the signal, as a program that does not listen for it
 * would.
 */
export function leave(code: number, signal: NodeJS.Signals = 'SIGTERM', looksLeft = looks): void {
  if (!readsFiles()) process.exit(code);
  if (looksLeft > 0) {
    systemClock.setTimer(lookEveryMs, () => leave(code, signal, looksLeft - 1));
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container ignores signals that it does not listen for, even its own.
  process.abort();
}

/** Whether a thread is reading a file, or is stuck with one. */
function readsFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
