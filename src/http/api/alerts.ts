import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { alertJson, incidentJson } from '../../views/public-json.ts';
import { orNull } from '../../views/public-object.ts';
import { accept, count, parseInstant } from './input.ts';
import { type Api, answers, takes, window } from './operation.ts';
import { acknowledgeManySchema, acknowledgeOrderSchema, readSeen } from './orders.ts';
import { maxItems, nextCursor, pageOfList, pageOfTime, pagingQuery } from './paging.ts';

const tags = ['alerts'];
const params = z.object({ account: z.string(), rule: z.string() });

const listAlerts = createRoute({
  method: 'get',
  path: '/api/v1/alerts',
  operationId: 'listAlerts',
  summary: 'Alerts pending and firing, with all=true also resolved ones',
  tags,
  request: {
    query: z.object({
      all: z.enum(['true', 'false'], { error: 'give true or false' }).default('false'),
      ...pagingQuery,
    }),
  },
  responses: answers('Alerts', { alerts: z.array(alertJson.schema), nextCursor }),
});

const acknowledgeAlert = createRoute({
  method: 'post',
  path: '/api/v1/alerts/{account}/{rule}/ack',
  operationId: 'acknowledgeAlert',
  summary: 'Acknowledges the open incident of an alert',
  tags,
  request: { params, ...takes(acknowledgeOrderSchema, false) },
  responses: answers('The alert', { alert: orNull(alertJson.schema) }),
});

const acknowledgeAlerts = createRoute({
  method: 'post',
  path: '/api/v1/acks',
  operationId: 'acknowledgeAlerts',
  summary:
    'Acknowledges the open incidents of many alerts at once; those without one are named, the others taken',
  tags,
  request: takes(acknowledgeManySchema),
  responses: answers('What became of each, in the order given', {
    acks: z.array(
      z.strictObject({
        account: z.string(),
        rule: z.string(),
        acknowledged: z.boolean(),
        why: z.string().nullable().meta({ description: 'Why not' }),
      }),
    ),
  }),
});

const unacknowledgeAlert = createRoute({
  method: 'delete',
  path: '/api/v1/alerts/{account}/{rule}/ack',
  operationId: 'unacknowledgeAlert',
  summary: 'Gives the open incident of an alert back: reminders and escalation go on',
  tags,
  request: { params },
  responses: answers('The alert', { alert: orNull(alertJson.schema) }),
});

const listIncidents = createRoute({
  method: 'get',
  path: '/api/v1/incidents',
  operationId: 'listIncidents',
  summary: 'Incidents, newest first',
  tags,
  request: {
    query: z.object({
      account: z.string().optional().meta({ description: 'Only of this account' }),
      since: window.since.meta({ description: 'Open at this time or later; ISO 8601, or a duration ago' }),
      ...pagingQuery,
      limit: count(1, maxItems).default(100),
    }),
  },
  responses: answers('Incidents', { incidents: z.array(incidentJson.schema), nextCursor }),
});

export function addAlertOperations(api: Api): void {
  api.openapi(listAlerts, async (context) => {
    const { all, ...query } = context.req.valid('query');
    const alerts = await context.var.views.alerts({ all: all === 'true' });
    const page = pageOfList(alerts, query, ({ account, rule, incident }) =>
      JSON.stringify([account, rule, incident]),
    );
    return context.json({ alerts: page.items.map(alertJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(acknowledgeAlert, async (context) => {
    const { by: typed = 'api', comment = '', ...saw } = context.req.valid('json');
    const by = context.get('person') ?? typed;
    const { account, rule } = context.req.valid('param');
    accept(await context.var.views.acknowledge({ account, rule, by, comment, ...readSeen(saw) }));
    const alert = await context.var.views.alert(account, rule);
    return context.json({ alert: alert && alertJson(alert) }, 200);
  });

  api.openapi(acknowledgeAlerts, async (context) => {
    const { alerts, by: typed = 'api', comment = '' } = context.req.valid('json');
    const by = context.get('person') ?? typed;
    const seen = alerts.map(({ account, rule, ...saw }) => ({ account, rule, ...readSeen(saw) }));
    const answers = await context.var.views.acknowledgeAll({ alerts: seen, by, comment });
    const acks = alerts.map(({ account, rule }, index) => {
      const refusal = answers[index] ?? null;
      return { account, rule, acknowledged: refusal === null, why: refusal?.why ?? null };
    });
    return context.json({ acks }, 200);
  });

  api.openapi(unacknowledgeAlert, async (context) => {
    const { account, rule } = context.req.valid('param');
    accept(await context.var.views.unacknowledge({ account, rule }));
    const alert = await context.var.views.alert(account, rule);
    return context.json({ alert: alert && alertJson(alert) }, 200);
  });

  api.openapi(listIncidents, async (context) => {
    const { account, since: given, limit, cursor } = context.req.valid('query');
    const since = parseInstant(given, 'since', context.get('now'));
    const page = await pageOfTime(
      { limit, cursor },
      (query) =>
        context.var.views.incidents({
          ...(account === undefined ? {} : { account }),
          ...(since === null ? {} : { since }),
          until: query.before,
          limit: query.limit,
        }),
      ({ firedAt }) => firedAt,
    );
    return context.json({ incidents: page.items.map(incidentJson), nextCursor: page.nextCursor }, 200);
  });
}
