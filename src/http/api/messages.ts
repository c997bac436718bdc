import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { auditJson, channelJson, notificationJson } from '../../views/public-json.ts';
import { count, parseInstant } from './input.ts';
import { type Api, answers, window } from './operation.ts';
import { maxItems, nextCursor, pageOfList, pageOfTime, pagingQuery } from './paging.ts';

const tags = ['messages'];

const listNotifications = createRoute({
  method: 'get',
  path: '/api/v1/notifications',
  operationId: 'listNotifications',
  summary: 'Messages with their delivery, newest first',
  tags,
  request: { query: z.object({ ...pagingQuery, limit: count(1, maxItems).default(100) }) },
  responses: answers('Messages', { notifications: z.array(notificationJson.schema), nextCursor }),
});

const listChannels = createRoute({
  method: 'get',
  path: '/api/v1/channels',
  operationId: 'listChannels',
  summary: 'Channels with what they still owe',
  tags,
  request: { query: z.object(pagingQuery) },
  responses: answers('Channels', { channels: z.array(channelJson.schema), nextCursor }),
});

const listAudit = createRoute({
  method: 'get',
  path: '/api/v1/audit',
  operationId: 'listAudit',
  summary: 'What people did: acknowledgements, silences, polls by hand and the like, newest first',
  tags,
  request: {
    query: z.object({ since: window.since, ...pagingQuery, limit: count(1, maxItems).default(100) }),
  },
  responses: answers('Actions', { audit: z.array(auditJson.schema), nextCursor }),
});

export function addMessageOperations(api: Api): void {
  api.openapi(listNotifications, async (context) => {
    const page = await pageOfTime(
      context.req.valid('query'),
      ({ limit, before }) => context.var.views.notifications(limit, before),
      ({ createdAt }) => createdAt,
    );
    return context.json(
      { notifications: page.items.map(notificationJson), nextCursor: page.nextCursor },
      200,
    );
  });

  api.openapi(listAudit, async (context) => {
    const { since: given, ...query } = context.req.valid('query');
    const since = parseInstant(given, 'since', context.get('now')) ?? 0;
    const page = await pageOfTime(
      query,
      async ({ limit, before }) => context.var.views.audit({ since, before, limit }),
      ({ at }) => at,
    );
    return context.json({ audit: page.items.map(auditJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(listChannels, (context) => {
    const page = pageOfList(context.var.views.channels(), context.req.valid('query'), ({ name }) => name);
    return context.json({ channels: page.items.map(channelJson), nextCursor: page.nextCursor }, 200);
  });
}
