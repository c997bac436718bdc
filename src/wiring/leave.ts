import { systemClock } from '../system/clock.ts';

/** What reads a file now is mostly done with it by then. */
const graceMs = 200;

/**
 * Ends the process with an exit code. While a file is being read, `exit` waits for the thread that reads it, which a file system
 * that hangs holds for ever: then the process ends by the signal, as whoever sent it would expect of a program that does not
 * listen.
 */
export function leave(code: number, signal: NodeJS.Signals = 'SIGTERM'): void {
  if (!readsFiles()) process.exit(code);
  systemClock.setTimer(graceMs, () => {
    if (!readsFiles()) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // The first process of a container gets no signal that it does not listen to, not even from itself.
    process.abort();
  });
}

/** Whether a thread is busy with a file, or stuck with one. */
function readsFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
