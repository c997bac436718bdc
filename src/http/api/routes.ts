import { formatMicros } from '../../domain/money.ts';
import { balances, type Reading } from '../../domain/reading.ts';
import { thin } from '../../spending/thin.ts';
import type { AccountView, AlertView, DaemonDesk } from '../../views/desk.ts';
import {
  accountJson,
  alertJson,
  explanationJson,
  isoText,
  notificationJson,
  silenceJson,
} from '../../views/desk-json.ts';
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
export function createApiRoutes(desk: DaemonDesk): readonly Route[] {
  const route = (method: Route['method'], path: string, handle: Route['handle']): Route => {
    return { method, pattern: `/api/v1${path}`, access: 'api', handle };
  };
  return [
    route('GET', '/openapi.json', () => sendJson(createOpenApi(desk.status().version))),
    route('GET', '/accounts', () => sendJson({ accounts: desk.accounts().map(accountJson) })),
    route('GET', '/accounts/{id}', (call) => sendJson({ account: accountJson(findAccount(desk, call)) })),
    route('GET', '/accounts/{id}/history', (call) => sendHistory(desk, call)),
    route('GET', '/accounts/{id}/polls', (call) => sendPolls(desk, call)),
    route('GET', '/accounts/{id}/explain', (call) => sendExplanations(desk, call)),
    route('GET', '/accounts/{id}/chart', (call) => sendChart(desk, call)),
    route('POST', '/accounts/{id}/poll', (call) => pollNow(desk, call)),
    route('GET', '/alerts', (call) => sendAlerts(desk, call)),
    route('POST', '/alerts/{account}/{rule}/ack', (call) => acknowledge(desk, call)),
    route('GET', '/incidents', (call) => sendIncidents(desk, call)),
    route('GET', '/notifications', (call) => sendNotifications(desk, call)),
    route('GET', '/channels', () => sendJson({ channels: desk.channels().map(channelJson) })),
    route('GET', '/silences', () => sendJson({ silences: desk.silences().map(silenceJson) })),
    route('POST', '/silences', (call) => silence(desk, call)),
    route('DELETE', '/silences', (call) => expireNamed(desk, call)),
    route('DELETE', '/silences/{id}', ({ params }) => expire(desk, params.id ?? '')),
  ];
}

export function findAccount(desk: DaemonDesk, { params }: Pick<Call, 'params'>): AccountView {
  const account = desk.account(params.id ?? '');
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}

function sendHistory(desk: DaemonDesk, call: Call): Reply {
  const { id } = findAccount(desk, call);
  const { since, until } = readWindow(call);
  const points = parseCount(call.query.get('points'), {
    name: 'points',
    least: 2,
    most: 200_000,
    otherwise: 5_000,
  });
  const readings = thin(desk.readings(id, since, until), points);
  // Written by hand: a year of readings is the most that this server ever serialises.
  const body = `{"points":[${readings.map(writePoint).join(',')}]}\n`;
  return { kind: 'whole', status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

function writePoint({ at, sms, voip, currency }: Reading): string {
  return `{"at":"${isoText(at)}","sms":"${formatMicros(sms)}","voip":"${formatMicros(voip)}","currency":${JSON.stringify(currency)}}`;
}

function sendPolls(desk: DaemonDesk, call: Call): Reply {
  const { id } = findAccount(desk, call);
  const { since, until } = readWindow(call);
  const polls = desk.polls(id, since, until).slice(-readLimit(call));
  return sendJson({ polls: polls.toReversed().map(pollJson) });
}

function sendExplanations(desk: DaemonDesk, call: Call): Reply {
  const { id } = findAccount(desk, call);
  const wanted = call.query.get('rule');
  const explanations = desk.explain(id).filter(({ rule }) => wanted === null || rule.id === wanted);
  if (wanted !== null && explanations.length === 0) {
    throw new RequestError('not_found', 'No such rule applies to this account.');
  }
  return sendJson({ explanations: explanations.map(explanationJson) });
}

function sendChart(desk: DaemonDesk, call: Call): Reply {
  const account = findAccount(desk, call);
  const range = chartRanges.find(({ name }) => name === (call.query.get('range') ?? '24h'));
  const balance = balances.find((name) => name === (call.query.get('balance') ?? 'sms'));
  if (range === undefined || balance === undefined) {
    throw new RequestError('bad_request', 'range: give 24h, 7d, 30d or 1y; balance: give sms or voip');
  }
  return sendJson(buildChart(desk, { account, range, balance, now: call.now }));
}

function sendAlerts(desk: DaemonDesk, { query }: Call): Reply {
  const all = query.get('all') ?? 'false';
  if (all !== 'true' && all !== 'false') throw new RequestError('bad_request', 'all: give true or false');
  return sendJson({ alerts: desk.alerts({ all: all === 'true' }).map(alertJson) });
}

function sendIncidents(desk: DaemonDesk, call: Call): Reply {
  const account = call.query.get('account');
  const since = parseInstant(call.query.get('since'), 'since', call.now);
  const incidents = desk.incidents({
    ...(account === null ? {} : { account }),
    ...(since === null ? {} : { since }),
    limit: readLimit(call),
  });
  return sendJson({ incidents: incidents.map(incidentJson) });
}

function sendNotifications(desk: DaemonDesk, call: Call): Reply {
  return sendJson({ notifications: desk.notifications(readLimit(call)).map(notificationJson) });
}

async function pollNow(desk: DaemonDesk, call: Call): Promise<Reply> {
  const { outcome, view } = accept(await desk.pollNow(findAccount(desk, call).id));
  return sendJson({ outcome, account: accountJson(view) });
}

async function acknowledge(desk: DaemonDesk, { params, readJson }: Call): Promise<Reply> {
  const { by, comment } = parseInput(acknowledgeOrderSchema, (await readJson()) ?? {});
  const { account = '', rule = '' } = params;
  accept(desk.acknowledge({ account, rule, by: by ?? 'api', comment: comment ?? '' }));
  const alert = findAlert(desk, account, rule);
  return sendJson({ alert: alert && alertJson(alert) });
}

/** The alert of an account and a rule while it is pending or firing. */
export function findAlert(desk: DaemonDesk, account: string, rule: string): AlertView | null {
  return (
    desk.alerts({ all: false }).find((alert) => alert.account === account && alert.rule === rule) ?? null
  );
}

async function silence(desk: DaemonDesk, { readJson, now }: Call): Promise<Reply> {
  const made = accept(desk.silence(parseSilenceOrder(await readJson(), now)));
  return sendJson(
    { silence: silenceJson({ ...made, by: made.createdBy, active: made.startsAt <= now }) },
    201,
  );
}

async function expireNamed(desk: DaemonDesk, { query, readJson }: Call): Promise<Reply> {
  return expire(desk, query.get('id') ?? parseInput(expireOrderSchema, await readJson()).id);
}

function expire(desk: DaemonDesk, id: string): Reply {
  accept(desk.expireSilence(id));
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
