/** The variable that marks the process that answers the query. */
export const watchedVariable = 'LOWWATER_WATCHED_QUERY';

/** Runs the query in a child process, because only a signal ends a query that stays inside SQLite. It then counts as failed: exit code 1. */
export function watchQuery(): void {
  // Not imported: the bundle replaces this module with an empty one, because packages load it but do not use it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [watchedVariable]: '1' },
  });
  let received: NodeJS.Signals | null = null;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      received = signal;
      child.kill(signal);
    });
  child.on('exit', (code, ended) => {
    process.exitCode = code ?? 1;
    // On SIGTERM the child has already said why it ends.
    if (code === null && received === null && ended !== 'SIGTERM')
      process.stderr.write(
        `lowwater: the query was ended by ${ended}: it may need more memory than there is\n`,
      );
    if (received === null) return;
    process.removeAllListeners(received);
    process.kill(process.pid, received);
  });
}
