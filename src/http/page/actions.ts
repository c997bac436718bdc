import { findAccount } from '../api/find.ts';
import { accept, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { readAlertQuery, selectAlerts } from './alert-list.ts';
import { alertName } from './alerts.ts';
import { readForm, readOwnPath, readPerson, sendBack } from './form-input.ts';
import { frameOf, type PageOptions, show } from './show.ts';
import { type MistakenSilence, renderSilences } from './silences.ts';

/** What the forms of the pages do. Each goes back to the page that showed it. */
export function addActions(app: WebApp, options: PageOptions): void {
  app.post('/alerts/many', (context) => actOnMany(options, context));
  app.post('/alerts/:account/:rule/acknowledge', (context) => acknowledge(options, context));
  app.post('/alerts/:account/:rule/unacknowledge', (context) => unacknowledge(options, context));
  app.post('/silences', (context) => silence(options, context));
  app.post('/silences/:id/expire', (context) => expireSilence(options, context));
  app.post('/accounts/:id/poll', (context) => pollNow(options, context));
}

async function acknowledge({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(views.acknowledge({ account, rule, ...readPerson(form) }));
  return sendBack(context, form, 'acknowledged');
}

async function silence(options: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  try {
    const order = parseInput(silenceOrderSchema, {
      match: readMatch(form),
      ...(form.get('everything') === 'yes' ? { everything: true } : {}),
      for: form.get('for') ?? '',
      ...readPerson(form),
    });
    accept(options.views.silence(readSilenceOrder(order, context.get('now'))));
  } catch (error) {
    const mistaken = error instanceof RequestError && error.code === 'bad_request';
    if (!mistaken || form.get('back') !== '/silences') throw error;
    return showSilences(options, context, { form, problem: error.message });
  }
  return sendBack(context, form, 'silenced');
}

function readMatch(form: URLSearchParams): object {
  const keys = ['account', 'rule', 'severity'].flatMap((key) => {
    const value = form.get(key)?.trim() ?? '';
    return value === '' ? [] : [[key, value]];
  });
  const [label = '', ...value] = (form.get('label') ?? '').trim().split('=');
  return { ...Object.fromEntries(keys), ...(label === '' ? {} : { labels: { [label]: value.join('=') } }) };
}

async function expireSilence({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  accept(views.expireSilence(context.req.param('id') ?? ''));
  return sendBack(context, form, 'expired');
}

async function pollNow({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { outcome } = accept(await views.pollNow(findAccount(views, context.req.param('id') ?? '').id));
  return sendBack(context, form, outcome === 'ok' ? 'polled' : 'poll-failed');
}

async function unacknowledge({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(views.unacknowledge({ account, rule }));
  return sendBack(context, form, 'given-back');
}

/** Acknowledges or silences what was ticked, or all that the filters of the page select. */
async function actOnMany({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const ticked = new Set(form.getAll('alert'));
  const query = new URL(readOwnPath(form.get('query') ?? undefined), 'http://own').searchParams;
  const open = views.alerts({ all: false });
  const alerts =
    form.get('all') === 'yes'
      ? selectAlerts(open, readAlertQuery(query))
      : open.filter((alert) => ticked.has(alertName(alert)));
  if (alerts.length === 0) return sendBack(context, form, 'none');
  const person = readPerson(form);
  if (form.get('do') !== 'silence') {
    const answers = views.acknowledgeAll({ alerts, ...person });
    return sendBack(
      context,
      form,
      answers.every((answer) => answer === null) ? 'acknowledged-many' : 'partly',
    );
  }
  for (const { account, rule } of alerts) {
    const order = { match: { account, rule }, for: form.get('for') ?? '', ...person };
    accept(views.silence(readSilenceOrder(parseInput(silenceOrderSchema, order), context.get('now'))));
  }
  return sendBack(context, form, 'silenced');
}

/** The silences; with a mistaken order also what is wrong with it, beside what was filled in. */
export function showSilences(
  options: PageOptions,
  context: WebContext,
  mistaken: MistakenSilence | null,
): Response {
  const content = renderSilences(options.views, frameOf(options, context), mistaken);
  return show(options, context, {
    title: 'Silences · lowwater',
    content,
    current: 'silences',
    scripts: ['live.js'],
    status: mistaken === null ? 200 : 400,
  });
}
