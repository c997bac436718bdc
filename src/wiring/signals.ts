import { commandOf } from '../cli/command-of.ts';
import { systemClock } from '../system/clock.ts';

/** Commands that change nothing and leave nothing behind, but may wait for a daemon that does not answer: they end at once. */
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
 * Listens for signals from now on, and so as early as it is called; the signal that it gives aborts with the first
 * SIGTERM or SIGINT, which asks for an orderly end, or when the terminal is gone (SIGHUP). A second one does not wait for it.
 * `words` are those of the command line.
 */
export function listenForSignals(words: readonly string[]): AbortSignal {
  const ending = new AbortController();
  // Node would open its debugger to whoever may connect to this machine, and the system end the process.
  for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);
  const command = commandOf(words);
  // A query runs inside the database, where no signal is heard, and leaves nothing behind: it may end at once.
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
  // To the daemon SIGHUP means "read the configuration again". Before it runs, it has yet to read it, and at its end it
  // has no more use for it: neither may kill it.
  if (command === 'run') process.on('SIGHUP', () => undefined);
  return ending.signal;
}

/** A reader of a file is mostly done with it by then. By looks, as a busy machine may give the process no turn for as long. */
const looks = 20;
const lookEveryMs = 10;

/**
 * Ends the process with an exit code. While a file is being read, `exit` waits for the thread that reads it, which a file system
 * that hangs holds for ever: then the process ends by the signal, as whoever sent it would expect of a program that does not
 * listen.
 */
export function leave(code: number, signal: NodeJS.Signals = 'SIGTERM', looksLeft = looks): void {
  if (!readsFiles()) process.exit(code);
  if (looksLeft > 0) {
    systemClock.setTimer(lookEveryMs, () => leave(code, signal, looksLeft - 1));
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container gets no signal that it does not listen to, not even from itself.
  process.abort();
}

/** Whether a thread is busy with a file, or stuck with one. */
function readsFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
