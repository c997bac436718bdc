import * as z from 'zod';
import { isRefusal } from '../../domain/operator.ts';
import { wasDoneBefore } from '../../engine/orders.ts';
import {
  alertJson,
  auditJson,
  channelJson,
  incidentJson,
  notificationJson,
  silenceJson,
  testAlertJson,
} from '../../views/public-json.ts';
import { orNull } from '../../views/public-object.ts';
import { silenceKey } from '../../views/silences.ts';
import { known, RequestError } from '../refusal.ts';
import { pageOfList, pageOfTime, pagingQuery, parseInstant, recentQuery } from './input.ts';
import { answers, listed, type Operation, operations, window } from './operation.ts';
import {
  acknowledgeManySchema,
  acknowledgeOrderSchema,
  byQuery,
  expireOrderSchema,
  readSeen,
  readSilenceOrder,
  silenceOrderSchema,
  testAlertSchema,
} from './orders.ts';

const ofAlerts = operations('alerts');
const ofSilences = operations('silences');
const ofMessages = operations('messages');
const params = { account: z.string(), rule: z.string() };
const theAlert = answers('The alert', { alert: orNull(alertJson.schema) });

export const alertOperations: readonly Operation[] = [
  ofAlerts.get('alerts', 'listAlerts', {
    summary: 'Alerts pending and firing, with all=true also resolved ones',
    query: {
      all: z.enum(['true', 'false'], { error: 'give true or false' }).default('false'),
      ...pagingQuery,
    },
    answers: listed('Alerts', 'alerts', alertJson),
    answer: async ({ views, query }) =>
      // A pending alert keeps its place when it begins to fire. A resolved one moves further down, so it counts as another.
      pageOfList(
        await views.alerts({ all: query.all === 'true' }),
        query,
        ({ account, rule, state, incident }) =>
          JSON.stringify([account, rule, state === 'resolved' && incident]),
      ),
  }),
  ofAlerts.post('alerts/{account}/{rule}/ack', 'acknowledgeAlert', {
    summary: 'Acknowledges the open incident of an alert',
    params,
    body: acknowledgeOrderSchema,
    isOptional: true,
    answers: answers('The alert', {
      alert: orNull(alertJson.schema),
      heldBy: orNull(z.string()).describe(
        'Who had acknowledged it before: nothing was changed then. Null where this order did it',
      ),
    }),
    answer: async ({ views, params, door, body: { by, comment = '', ...saw } }) => {
      const order = { kind: 'acknowledge', ...params, comment, ...readSeen(saw) } as const;
      const { doneBy: heldBy = null } = await door.give(order, by);
      const alert = await views.alert(params.account, params.rule);
      return { alert: alert && alertJson(alert), heldBy };
    },
  }),
  ofAlerts.post('acks', 'acknowledgeAlerts', {
    summary:
      'Acknowledges the open incidents of many alerts at once; those without one are named, the others taken',
    body: acknowledgeManySchema,
    answers: answers('What became of each, in the order given', {
      acks: z.array(
        z.strictObject({
          account: z.string(),
          rule: z.string(),
          acknowledged: z.boolean(),
          why: z.string().nullable().describe('Why not, or who had acknowledged it before'),
        }),
      ),
    }),
    answer: async ({ door, body: { alerts, by, comment = '' } }) => {
      const wanted = alerts.map(({ account, rule, ...saw }) => {
        return { kind: 'acknowledge', account, rule, comment, ...readSeen(saw) } as const;
      });
      const answers = await door.giveAll(wanted, by);
      const acks = alerts.map(({ account, rule }, index) => {
        const answer = answers[index] ?? {};
        if (isRefusal(answer)) return { account, rule, acknowledged: false, why: answer.why };
        const why = wasDoneBefore(answer) ? `${answer.doneBy} has it already` : null;
        return { account, rule, acknowledged: true, why };
      });
      return { acks };
    },
  }),
  ofAlerts.del('alerts/{account}/{rule}/ack', 'unacknowledgeAlert', {
    summary: 'Gives the open incident of an alert back: reminders and escalation go on',
    params,
    query: byQuery,
    answers: theAlert,
    answer: async ({ views, params, door, query: { by } }) => {
      await door.give({ kind: 'unacknowledge', ...params }, by);
      const alert = await views.alert(params.account, params.rule);
      return { alert: alert && alertJson(alert) };
    },
  }),
  ofAlerts.post('test-alerts', 'testAlert', {
    summary:
      'Sends an alert that nothing fires where a real one would go: it says that it is a test, resolves after a minute, and is no incident',
    body: testAlertSchema,
    answers: answers('What became of it', { test: testAlertJson.schema }),
    answer: async ({ door, body: { by, ...wanted } }) => ({
      test: await testAlertJson(await door.give({ kind: 'test-alert', ...wanted }, by)),
    }),
  }),
  ofAlerts.get('incidents', 'listIncidents', {
    summary: 'Incidents, newest first',
    query: {
      account: z.string().optional().describe('Only of this account'),
      since: window.since.describe('Open at this time or later; ISO 8601, or a duration ago'),
      ...recentQuery,
    },
    answers: listed('Incidents', 'incidents', incidentJson),
    answer: ({ views, now, query: { account, since: given, ...page } }) => {
      const since = parseInstant(given, 'since', now);
      const wanted = { ...(account !== undefined && { account }), ...(since !== null && { since }) };
      return pageOfTime(
        page,
        ({ limit, before }) => views.incidents({ ...wanted, until: before, limit }),
        ({ firedAt }) => firedAt,
      );
    },
  }),
];

const ended = answers('Its id', { expired: z.string() });

export const silenceOperations: readonly Operation[] = [
  ofSilences.get('silences', 'listSilences', {
    summary: 'Silences that are not over',
    query: pagingQuery,
    answers: listed('Silences', 'silences', silenceJson),
    answer: ({ views, query }) => pageOfList(known(views).silences(), query, silenceKey),
  }),
  ofSilences.post('silences', 'addSilence', {
    summary: 'Mutes matching alerts for a time',
    body: silenceOrderSchema,
    answers: answers('The silence', { silence: silenceJson.schema }, 201),
    answer: async ({ now, door, body }) => {
      const made = await door.give({ kind: 'silence', ...readSilenceOrder(body, now) }, body.by);
      const view = { ...made, by: made.createdBy, active: made.startsAt <= now, laterStarts: [] };
      return { silence: silenceJson(view) };
    },
  }),
  ofSilences.del('silences', 'expireNamedSilence', {
    summary: 'Ends a silence; its id in the body or as ?id=',
    query: { id: z.string().optional().describe('The silence'), ...byQuery },
    body: expireOrderSchema.partial(),
    isOptional: true,
    answers: ended,
    answer: async ({ door, query, body }) => {
      const id = query.id ?? body.id;
      if (id === undefined)
        throw new RequestError('bad_request', 'id: give the silence in the body or as ?id=');
      await door.give({ kind: 'expire', id }, query.by);
      return { expired: id };
    },
  }),
  ofSilences.del('silences/{id}', 'expireSilence', {
    summary: 'Ends a silence',
    params: { id: z.string() },
    query: byQuery,
    answers: ended,
    answer: async ({ door, params: { id }, query: { by } }) => {
      await door.give({ kind: 'expire', id }, by);
      return { expired: id };
    },
  }),
];

export const messageOperations: readonly Operation[] = [
  ofMessages.get('notifications', 'listNotifications', {
    summary: 'Messages with their delivery, newest first',
    query: recentQuery,
    answers: listed('Messages', 'notifications', notificationJson),
    answer: ({ views, query }) =>
      pageOfTime(
        query,
        ({ limit, before }) => views.notifications(limit, before),
        ({ createdAt }) => createdAt,
      ),
  }),
  ofMessages.get('audit', 'listAudit', {
    summary: 'What people did: acknowledgements, silences, polls by hand and the like, newest first',
    query: { since: window.since, ...recentQuery },
    answers: listed('Actions', 'audit', auditJson),
    answer: ({ views, now, query }) => {
      const since = parseInstant(query.since, 'since', now) ?? 0;
      return pageOfTime(
        query,
        async ({ limit, before }) => known(views).audit({ since, before, limit }),
        ({ at }) => at,
      );
    },
  }),
  ofMessages.get('channels', 'listChannels', {
    summary: 'Channels with what they still owe',
    query: pagingQuery,
    answers: listed('Channels', 'channels', channelJson),
    answer: ({ views, query }) => pageOfList(known(views).channels(), query, ({ name }) => name),
  }),
];
