import { createApiRoutes } from './api/routes.ts';
import { createAssetRoutes } from './assets.ts';
import type { EventStreams } from './events.ts';
import { expositionMediaType } from './exposition.ts';
import { createHealthRoutes } from './health.ts';
import { renderMetrics } from './metrics.ts';
import { createPageRoutes, type PageOptions } from './page/routes.ts';
import type { Route } from './router.ts';

/** Everything that the server answers. */
export function createRoutes(options: PageOptions & { readonly streams: EventStreams }): readonly Route[] {
  const { views, streams } = options;
  return [
    ...createHealthRoutes(views),
    {
      method: 'GET',
      pattern: '/metrics',
      access: 'open',
      handle: ({ now }) => ({
        kind: 'whole',
        status: 200,
        headers: { 'content-type': expositionMediaType },
        body: renderMetrics(views, now),
      }),
    },
    { method: 'GET', pattern: '/events', access: 'page', handle: () => streams.reply() },
    ...createAssetRoutes(),
    ...createApiRoutes(views),
    ...createPageRoutes(options),
  ];
}
