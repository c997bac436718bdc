import type { ProcessParts } from '../cli/context.ts';
import { isLoopbackHost } from '../domain/addresses.ts';
import type { Settings } from '../domain/settings.ts';
import type { ProcessLog } from './process-log.ts';

/** Daemon and demo, and the secrets of the log, for the command line. */
export function createProcessParts(log: ProcessLog, version: string): ProcessParts {
  return {
    hide: log.hide,
    async runDaemon({ file, settings, secrets, warnings, sources }, signal) {
      const { logWarnings, serve } = await import('./serve.ts');
      const opened = await log.open(settings.log.level);
      if (process.env.LOWWATER_IMAGE) opened.info(describePage(settings), 'lowwater starts in a container');
      logWarnings(opened, warnings);
      await serve({ file, settings, secrets, sources, hide: log.hide, log: opened, version, signal });
    },
    async runDemo(order) {
      const { runDemo } = await import('./demo/run-demo.ts');
      await runDemo(order, version, log);
    },
  };
}

function describePage({ server }: Settings): {
  readonly page: string | null;
  readonly missing: readonly string[];
} {
  if (server === null) return { page: null, missing: ['"server" is null: there is no page'] };
  const missing = [
    ...(isLoopbackHost(server.host)
      ? ['"server": { "host": "0.0.0.0" }: the page answers inside the container alone']
      : []),
    ...(server.token === null
      ? [`"server": { "token": "\${env:LOWWATER_TOKEN}" }: nobody else may see it without`]
      : []),
  ];
  const { publicUrl, port } = server;
  return {
    page: publicUrl ?? `port ${port} of the container, as it is published (-p ${port}:${port})`,
    missing,
  };
}
