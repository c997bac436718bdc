import { leave } from './leave.ts';

/**
 * Listens for signals from now on, and so as early as it is called; the signal that it gives aborts with the first
 * SIGTERM or SIGINT, which asks for an orderly end. A second one does not wait for it. `words` are those of the
 * command line.
 */
export function listenForSignals(words: readonly string[]): AbortSignal {
  const ending = new AbortController();
  // A query runs inside the database, where no signal is heard, and leaves nothing behind: it may end at once.
  if (words[0] === 'query') return ending.signal;
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const) {
    process.on(signal, () => {
      if (ending.signal.aborted) leave(128 + number, signal);
      ending.abort();
    });
  }
  // To the daemon SIGHUP means "read the configuration again". Before it runs, it has yet to read it, and at its end it
  // has no more use for it: neither may kill it. To all else it means that the terminal is gone.
  if (words.includes('run')) process.on('SIGHUP', () => undefined);
  // Node would open its debugger to whoever may connect to this machine, and the system end the process.
  for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);
  return ending.signal;
}
