/** Set in the process that answers the query. */
export const watchedVariable = 'LOWWATER_WATCHED_QUERY';

/** Only a signal ends a query that stays inside SQLite; ended so it has failed: exit code 1. */
export function watchQuery(): void {
  // The bundle has nothing in the place of this module, which packages load and do not use.
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
    // By SIGTERM it ends itself, and has said why.
    if (code === null && received === null && ended !== 'SIGTERM')
      process.stderr.write(
        `lowwater: the query was ended by ${ended}: it may need more memory than there is\n`,
      );
    if (received === null) return;
    process.removeAllListeners(received);
    process.kill(process.pid, received);
  });
}
