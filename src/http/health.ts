import type { LiveViews } from '../views/views.ts';
import type { Reply } from './reply.ts';
import { sendJson } from './reply.ts';
import type { Route } from './router.ts';

/**
 * `/livez` says that the process answers and depends on nothing, so a container is never restarted for an
 * outage elsewhere. `/readyz` is 200 once the database is open and the scheduler runs; what is wrong although
 * it runs stands in `problems`.
 */
export function createHealthRoutes(views: LiveViews): readonly Route[] {
  const live = (): Reply => sendJson({ status: 'ok' });
  const open = (pattern: string, handle: Route['handle']): Route => ({
    method: 'GET',
    pattern,
    access: 'open',
    handle,
  });
  return [
    open('/livez', live),
    open('/healthz', live),
    open('/readyz', ({ query }) => sendReadiness(views, query)),
  ];
}

function sendReadiness(views: LiveViews, query: URLSearchParams): Reply {
  const { ready, problems, version, startedAt, configLoadedAt, configReloadOk } = views.status();
  const body = { status: ready ? 'ok' : 'starting', problems };
  if (!query.has('verbose')) return sendJson(body, ready ? 200 : 503);
  const details = {
    version,
    startedAt: new Date(startedAt).toISOString(),
    configLoadedAt: new Date(configLoadedAt).toISOString(),
    configReloadOk,
  };
  return sendJson({ ...body, ...details }, ready ? 200 : 503);
}
