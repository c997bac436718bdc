import { findAccount } from '../api/find.ts';
import { accept, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { Call, WebApp } from '../web-env.ts';
import { alertName, readAlertQuery, selectAlerts } from './alert-list.ts';
import { readForm, readOwnPath, readPerson, sendBack } from './form-input.ts';
import { frameOf, type PageOptions, show } from './show.ts';
import { type MistakenSilence, renderSilences } from './silences.ts';

/** What the forms of the pages do. Each goes back to the page that showed it. */
export function addActions(app: WebApp, options: PageOptions): void {
  app.post('/alerts/many', (call) => actOnMany(options, call));
  app.post('/alerts/:account/:rule/acknowledge', (call) => acknowledge(options, call));
  app.post('/alerts/:account/:rule/unacknowledge', (call) => unacknowledge(options, call));
  app.post('/silences', (call) => silence(options, call));
  app.post('/silences/:id/expire', (call) => expireSilence(options, call));
  app.post('/accounts/:id/poll', (call) => pollNow(options, call));
}

async function acknowledge({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const { account = '', rule = '' } = call.req.param();
  accept(views.acknowledge({ account, rule, ...readPerson(form) }));
  return sendBack(call, form, 'acknowledged');
}

async function silence(options: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  try {
    const order = parseInput(silenceOrderSchema, {
      match: readMatch(form),
      ...(form.get('everything') === 'yes' ? { everything: true } : {}),
      for: form.get('for') ?? '',
      ...readPerson(form),
    });
    accept(options.views.silence(readSilenceOrder(order, call.get('now'))));
  } catch (error) {
    const mistaken = error instanceof RequestError && error.code === 'bad_request';
    if (!mistaken || form.get('back') !== '/silences') throw error;
    return showSilences(options, call, { form, problem: error.message });
  }
  return sendBack(call, form, 'silenced');
}

function readMatch(form: URLSearchParams): object {
  const keys = ['account', 'rule', 'severity'].flatMap((key) => {
    const value = form.get(key)?.trim() ?? '';
    return value === '' ? [] : [[key, value]];
  });
  const [label = '', ...value] = (form.get('label') ?? '').trim().split('=');
  return { ...Object.fromEntries(keys), ...(label === '' ? {} : { labels: { [label]: value.join('=') } }) };
}

async function expireSilence({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  accept(views.expireSilence(call.req.param('id') ?? ''));
  return sendBack(call, form, 'expired');
}

async function pollNow({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const { outcome } = accept(await views.pollNow(findAccount(views, call.req.param('id') ?? '').id));
  return sendBack(call, form, outcome === 'ok' ? 'polled' : 'poll-failed');
}

async function unacknowledge({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const { account = '', rule = '' } = call.req.param();
  accept(views.unacknowledge({ account, rule }));
  return sendBack(call, form, 'given-back');
}

/** Acknowledges or silences what was ticked, or all that the filters of the page select. */
async function actOnMany({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const ticked = new Set(form.getAll('alert'));
  const query = new URL(readOwnPath(form.get('query') ?? undefined), 'http://own').searchParams;
  const open = views.alerts({ all: false });
  const alerts =
    form.get('all') === 'yes'
      ? selectAlerts(open, readAlertQuery(query))
      : open.filter((alert) => ticked.has(alertName(alert)));
  if (alerts.length === 0) return sendBack(call, form, 'none');
  const person = readPerson(form);
  if (form.get('do') !== 'silence') {
    const answers = views.acknowledgeAll({ alerts, ...person });
    return sendBack(call, form, answers.every((answer) => answer === null) ? 'acknowledged-many' : 'partly');
  }
  for (const { account, rule } of alerts) {
    const order = { match: { account, rule }, for: form.get('for') ?? '', ...person };
    accept(views.silence(readSilenceOrder(parseInput(silenceOrderSchema, order), call.get('now'))));
  }
  return sendBack(call, form, 'silenced');
}

/** The silences; with a mistaken order also what is wrong with it, beside what was filled in. */
export function showSilences(options: PageOptions, call: Call, mistaken: MistakenSilence | null): Response {
  const content = renderSilences(options.views, frameOf(options, call), mistaken);
  return show(options, call, {
    title: 'Silences · lowwater',
    content,
    current: 'silences',
    scripts: ['live.js'],
    status: mistaken === null ? 200 : 400,
  });
}
