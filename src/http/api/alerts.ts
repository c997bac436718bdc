import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import {
  alertJson,
  auditJson,
  channelJson,
  incidentJson,
  notificationJson,
  silenceJson,
} from '../../views/public-json.ts';
import { orNull } from '../../views/public-object.ts';
import { RequestError } from '../refusal.ts';
import { accept, pageOfList, pageOfTime, pagingQuery, parseInstant, recentQuery } from './input.ts';
import { type Api, answers, gives, listed, operations, refused, takes, window } from './operation.ts';
import {
  acknowledgeManySchema,
  acknowledgeOrderSchema,
  expireOrderSchema,
  readSeen,
  readSilenceOrder,
  silenceOrderSchema,
} from './orders.ts';

const ofAlerts = operations('alerts');
const ofSilences = operations('silences');
const ofMessages = operations('messages');
const params = z.object({ account: z.string(), rule: z.string() });

const listAlerts = createRoute({
  ...ofAlerts.get('alerts', 'listAlerts', 'Alerts pending and firing, with all=true also resolved ones'),
  request: {
    query: z.object({
      all: z.enum(['true', 'false'], { error: 'give true or false' }).default('false'),
      ...pagingQuery,
    }),
  },
  responses: listed('Alerts', 'alerts', alertJson),
});

const acknowledgeAlert = createRoute({
  ...ofAlerts.post(
    'alerts/{account}/{rule}/ack',
    'acknowledgeAlert',
    'Acknowledges the open incident of an alert',
  ),
  request: { params, ...takes(acknowledgeOrderSchema, false) },
  responses: answers('The alert', { alert: orNull(alertJson.schema) }),
});

const acknowledgeAlerts = createRoute({
  ...ofAlerts.post(
    'acks',
    'acknowledgeAlerts',
    'Acknowledges the open incidents of many alerts at once; those without one are named, the others taken',
  ),
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
  ...ofAlerts.del(
    'alerts/{account}/{rule}/ack',
    'unacknowledgeAlert',
    'Gives the open incident of an alert back: reminders and escalation go on',
  ),
  request: { params },
  responses: answers('The alert', { alert: orNull(alertJson.schema) }),
});

const listIncidents = createRoute({
  ...ofAlerts.get('incidents', 'listIncidents', 'Incidents, newest first'),
  request: {
    query: z.object({
      account: z.string().optional().meta({ description: 'Only of this account' }),
      since: window.since.meta({ description: 'Open at this time or later; ISO 8601, or a duration ago' }),
      ...recentQuery,
    }),
  },
  responses: listed('Incidents', 'incidents', incidentJson),
});

const ended = answers('Its id', { expired: z.string() });

const listSilences = createRoute({
  ...ofSilences.get('silences', 'listSilences', 'Silences that are not over'),
  request: { query: z.object(pagingQuery) },
  responses: listed('Silences', 'silences', silenceJson),
});

const addSilence = createRoute({
  ...ofSilences.post('silences', 'addSilence', 'Mutes matching alerts for a time'),
  request: takes(silenceOrderSchema),
  responses: { 201: gives('The silence', z.strictObject({ silence: silenceJson.schema })), ...refused },
});

const expireNamedSilence = createRoute({
  ...ofSilences.del('silences', 'expireNamedSilence', 'Ends a silence; its id in the body or as ?id='),
  request: {
    query: z.object({ id: z.string().optional().meta({ description: 'The silence' }) }),
    ...takes(expireOrderSchema.partial(), false),
  },
  responses: ended,
});

const expireSilence = createRoute({
  ...ofSilences.del('silences/{id}', 'expireSilence', 'Ends a silence'),
  request: { params: z.object({ id: z.string() }) },
  responses: ended,
});

const listNotifications = createRoute({
  ...ofMessages.get('notifications', 'listNotifications', 'Messages with their delivery, newest first'),
  request: { query: z.object(recentQuery) },
  responses: listed('Messages', 'notifications', notificationJson),
});

const listChannels = createRoute({
  ...ofMessages.get('channels', 'listChannels', 'Channels with what they still owe'),
  request: { query: z.object(pagingQuery) },
  responses: listed('Channels', 'channels', channelJson),
});

const listAudit = createRoute({
  ...ofMessages.get(
    'audit',
    'listAudit',
    'What people did: acknowledgements, silences, polls by hand and the like, newest first',
  ),
  request: {
    query: z.object({ since: window.since, ...recentQuery }),
  },
  responses: listed('Actions', 'audit', auditJson),
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

export function addSilenceOperations(api: Api): void {
  api.openapi(listSilences, (context) => {
    const page = pageOfList(context.var.views.silences(), context.req.valid('query'), (silence) =>
      JSON.stringify([silence.id, silence.startsAt, silence.match]),
    );
    return context.json({ silences: page.items.map(silenceJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(addSilence, async (context) => {
    const now = context.get('now');
    const order = readSilenceOrder(context.req.valid('json'), now);
    const made = accept(await context.var.views.silence({ ...order, by: context.get('person') ?? order.by }));
    const view = { ...made, by: made.createdBy, active: made.startsAt <= now, laterStarts: [] };
    return context.json({ silence: silenceJson(view) }, 201);
  });

  api.openapi(expireNamedSilence, async (context) => {
    const id = context.req.valid('query').id ?? context.req.valid('json').id;
    if (id === undefined)
      throw new RequestError('bad_request', 'id: give the silence in the body or as ?id=');
    accept(await context.var.views.expireSilence(id));
    return context.json({ expired: id }, 200);
  });

  api.openapi(expireSilence, async (context) => {
    const { id } = context.req.valid('param');
    accept(await context.var.views.expireSilence(id));
    return context.json({ expired: id }, 200);
  });
}

export function addMessageOperations(api: Api): void {
  api.openapi(listNotifications, async (context) => {
    const page = await pageOfTime(
      context.req.valid('query'),
      ({ limit, before }) => context.var.views.notifications(limit, before),
      ({ createdAt }) => createdAt,
    );
    const notifications = page.items.map(notificationJson);
    return context.json({ notifications, nextCursor: page.nextCursor }, 200);
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
