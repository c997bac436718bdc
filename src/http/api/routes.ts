import { formatMicros } from '../../domain/money.ts';
import { balances, type Reading } from '../../domain/reading.ts';
import { thin } from '../../spending/thin.ts';
import {
  accountJson,
  alertJson,
  explanationJson,
  isoText,
  notificationJson,
  silenceJson,
} from '../../views/public-json.ts';
import type { AccountView, AlertView, LiveViews } from '../../views/views.ts';
import type { Call } from '../call.ts';
import { buildChart, chartRanges } from '../page/chart-model.ts';
import { type Reply, RequestError, sendJson } from '../reply.ts';
import type { Route } from '../router.ts';
import { accept, parseCount, parseInput, parseInstant, parseSilenceOrder } from './input.ts';
import { createOpenApi } from './openapi.ts';
import { channelJson, incidentJson, pollJson } from './present.ts';
import { acknowledgeOrderSchema, expireOrderSchema } from './schema.ts';

const weekMs = 7 * 86_400_000;

/** The JSON API, and what the page and scripts need beside it. */
export function createApiRoutes(views: LiveViews): readonly Route[] {
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => {
    return { method, pattern: `/api/v1${path}`, access: 'api', handle };
  };
  return [
    route('GET', '/openapi.json', () => sendJson(createOpenApi(views.status().version))),
    route('GET', '/accounts', () => sendJson({ accounts: views.accounts().map(accountJson) })),
    route('GET', '/accounts/{id}', (call) => sendJson({ account: accountJson(findAccount(views, call)) })),
    route('GET', '/accounts/{id}/history', (call) => sendHistory(views, call)),
    route('GET', '/accounts/{id}/polls', (call) => sendPolls(views, call)),
    route('GET', '/accounts/{id}/explain', (call) => sendExplanations(views, call)),
    route('GET', '/accounts/{id}/chart', (call) => sendChart(views, call)),
    route('POST', '/accounts/{id}/poll', (call) => pollNow(views, call)),
    route('GET', '/alerts', (call) => sendAlerts(views, call)),
    route('POST', '/alerts/{account}/{rule}/ack', (call) => acknowledge(views, call)),
    route('GET', '/incidents', (call) => sendIncidents(views, call)),
    route('GET', '/notifications', (call) => sendNotifications(views, call)),
    route('GET', '/channels', () => sendJson({ channels: views.channels().map(channelJson) })),
    route('GET', '/silences', () => sendJson({ silences: views.silences().map(silenceJson) })),
    route('POST', '/silences', (call) => silence(views, call)),
    route('DELETE', '/silences', (call) => expireNamed(views, call)),
    route('DELETE', '/silences/{id}', ({ params }) => expire(views, params.id ?? '')),
  ];
}

export function findAccount(views: LiveViews, { params }: Pick<Call, 'params'>): AccountView {
  const account = views.account(params.id ?? '');
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}

function sendHistory(views: LiveViews, call: Call): Reply {
  const { id } = findAccount(views, call);
  const { since, until } = readWindow(call);
  const points = parseCount(call.query.get('points'), {
    name: 'points',
    least: 2,
    most: 200_000,
    otherwise: 5_000,
  });
  const readings = thin(views.readings(id, since, until), points);
  // Written by hand: a year of readings is the most that this server ever serialises.
  const body = `{"points":[${readings.map(writePoint).join(',')}]}\n`;
  return { kind: 'whole', status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

function writePoint({ at, sms, voip, currency }: Reading): string {
  return `{"at":"${isoText(at)}","sms":"${formatMicros(sms)}","voip":"${formatMicros(voip)}","currency":${JSON.stringify(currency)}}`;
}

function sendPolls(views: LiveViews, call: Call): Reply {
  const { id } = findAccount(views, call);
  const { since, until } = readWindow(call);
  const polls = views.polls(id, since, until).slice(-readLimit(call));
  return sendJson({ polls: polls.toReversed().map(pollJson) });
}

function sendExplanations(views: LiveViews, call: Call): Reply {
  const { id } = findAccount(views, call);
  const wanted = call.query.get('rule');
  const explanations = views.explain(id).filter(({ rule }) => wanted === null || rule.id === wanted);
  if (wanted !== null && explanations.length === 0) {
    throw new RequestError('not_found', 'No such rule applies to this account.');
  }
  return sendJson({ explanations: explanations.map(explanationJson) });
}

function sendChart(views: LiveViews, call: Call): Reply {
  const account = findAccount(views, call);
  const range = chartRanges.find(({ name }) => name === (call.query.get('range') ?? '24h'));
  const balance = balances.find((name) => name === (call.query.get('balance') ?? 'sms'));
  if (range === undefined || balance === undefined) {
    throw new RequestError('bad_request', 'range: give 24h, 7d, 30d or 1y; balance: give sms or voip');
  }
  return sendJson(buildChart(views, { account, range, balance, now: call.now }));
}

function sendAlerts(views: LiveViews, { query }: Call): Reply {
  const all = query.get('all') ?? 'false';
  if (all !== 'true' && all !== 'false') throw new RequestError('bad_request', 'all: give true or false');
  return sendJson({ alerts: views.alerts({ all: all === 'true' }).map(alertJson) });
}

function sendIncidents(views: LiveViews, call: Call): Reply {
  const account = call.query.get('account');
  const since = parseInstant(call.query.get('since'), 'since', call.now);
  const incidents = views.incidents({
    ...(account === null ? {} : { account }),
    ...(since === null ? {} : { since }),
    limit: readLimit(call),
  });
  return sendJson({ incidents: incidents.map(incidentJson) });
}

function sendNotifications(views: LiveViews, call: Call): Reply {
  return sendJson({ notifications: views.notifications(readLimit(call)).map(notificationJson) });
}

async function pollNow(views: LiveViews, call: Call): Promise<Reply> {
  const { outcome, view } = accept(await views.pollNow(findAccount(views, call).id));
  return sendJson({ outcome, account: accountJson(view) });
}

async function acknowledge(views: LiveViews, { params, readJson }: Call): Promise<Reply> {
  const { by, comment } = parseInput(acknowledgeOrderSchema, (await readJson()) ?? {});
  const { account = '', rule = '' } = params;
  accept(views.acknowledge({ account, rule, by: by ?? 'api', comment: comment ?? '' }));
  const alert = findAlert(views, account, rule);
  return sendJson({ alert: alert && alertJson(alert) });
}

/** The alert of an account and a rule while it is pending or firing. */
export function findAlert(views: LiveViews, account: string, rule: string): AlertView | null {
  return (
    views.alerts({ all: false }).find((alert) => alert.account === account && alert.rule === rule) ?? null
  );
}

async function silence(views: LiveViews, { readJson, now }: Call): Promise<Reply> {
  const made = accept(views.silence(parseSilenceOrder(await readJson(), now)));
  return sendJson(
    { silence: silenceJson({ ...made, by: made.createdBy, active: made.startsAt <= now }) },
    201,
  );
}

async function expireNamed(views: LiveViews, { query, readJson }: Call): Promise<Reply> {
  return expire(views, query.get('id') ?? parseInput(expireOrderSchema, await readJson()).id);
}

function expire(views: LiveViews, id: string): Reply {
  accept(views.expireSilence(id));
  return sendJson({ expired: id });
}

function readWindow({ query, now }: Call): { readonly since: number; readonly until: number } {
  // The end is exclusive, and a reading of this very millisecond belongs to the answer.
  const until = parseInstant(query.get('until'), 'until', now) ?? now + 1;
  return { since: parseInstant(query.get('since'), 'since', now) ?? until - weekMs, until };
}

function readLimit({ query }: Call): number {
  return parseCount(query.get('limit'), { name: 'limit', least: 1, most: 1_000, otherwise: 100 });
}
