import { parseDuration } from '../../domain/duration.ts';
import { accept, findAccount, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { readAlertQuery, selectAlerts } from './alert-list.ts';
import { readForm, readOwnPath, readPerson, sendBack } from './form-input.ts';
import { alertName } from './forms.ts';
import { frameOf, type PageOptions, show } from './show.ts';
import { fieldOf, type GivenSilence, readSilenceForm, renderSilenceQuestion } from './silence-form.ts';
import { renderSilences } from './silences.ts';

/** What the forms of the pages do. Each goes back to the page that showed it. */
export function addActions(app: WebApp, options: PageOptions): void {
  app.post('/alerts/many', (context) => actOnMany(options, context));
  app.post('/alerts/:account/:rule/acknowledge', (context) => acknowledge(options, context));
  app.post('/alerts/:account/:rule/unacknowledge', (context) => unacknowledge(options, context));
  app.post('/silences', (context) => silence(options, context));
  app.post('/silences/:id/extend', (context) => extendSilence(options, context));
  app.post('/silences/:id/expire', (context) => expireSilence(options, context));
  app.post('/accounts/:id/poll', (context) => pollNow(options, context));
}

async function acknowledge({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(await views.acknowledge({ account, rule, ...readPerson(form) }));
  return sendBack(context, form, 'acknowledged');
}

/** A silence that is confirmed begins; another is asked about first, and one with a mistake is shown again with it. */
async function silence(options: PageOptions, context: WebContext): Promise<Response> {
  const { views } = options;
  const form = await readForm(context);
  if (form.get('change') === 'yes') return showSilences(options, context, { form, problem: null });
  const frame = frameOf(options, context);
  const order = readSilenceForm(form, frame);
  if ('field' in order) return showSilences(options, context, { form, problem: order });
  const muted = views.wouldMute(order);
  if ('refused' in muted) {
    const problem = { field: fieldOf(muted.about), words: muted.why };
    return showSilences(options, context, { form, problem });
  }
  if (form.get('confirmed') === 'yes') {
    accept(await views.silence(order));
    return sendBack(context, form, 'silenced');
  }
  return show(options, context, {
    title: 'Silence? · lowwater',
    content: await renderSilenceQuestion(views, { order, muted, form }, frame),
    current: 'silences',
  });
}

async function extendSilence({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const byMs = parseDuration(form.get('for') ?? '');
  if (byMs === null || byMs <= 0)
    throw new RequestError('bad_request', 'for: give a duration such as "90m" or "2h"');
  accept(await views.extendSilence({ id: context.req.param('id') ?? '', byMs }));
  return sendBack(context, form, 'extended');
}

async function expireSilence({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  accept(await views.expireSilence(context.req.param('id') ?? ''));
  return sendBack(context, form, 'expired');
}

async function pollNow({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { id } = await findAccount(views, context.req.param('id') ?? '');
  const { outcome } = accept(await views.pollNow(id));
  return sendBack(context, form, outcome === 'ok' ? 'polled' : 'poll-failed');
}

async function unacknowledge({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(await views.unacknowledge({ account, rule }));
  return sendBack(context, form, 'given-back');
}

/** Acknowledges or silences what was ticked, or all that the filters of the page select. */
async function actOnMany({ views }: PageOptions, context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const ticked = new Set(form.getAll('alert'));
  const query = new URL(readOwnPath(form.get('query') ?? undefined), 'http://own').searchParams;
  const open = await views.alerts({ all: false });
  const alerts =
    form.get('all') === 'yes'
      ? selectAlerts(open, readAlertQuery(query))
      : open.filter((alert) => ticked.has(alertName(alert)));
  if (alerts.length === 0) return sendBack(context, form, 'none');
  const person = readPerson(form);
  if (form.get('do') !== 'silence') {
    const answers = await views.acknowledgeAll({ alerts, ...person });
    return sendBack(
      context,
      form,
      answers.every((answer) => answer === null) ? 'acknowledged-many' : 'partly',
    );
  }
  for (const { account, rule } of alerts) {
    const order = { match: { account, rule }, for: form.get('for') ?? '', ...person };
    accept(await views.silence(readSilenceOrder(parseInput(silenceOrderSchema, order), context.get('now'))));
  }
  return sendBack(context, form, 'silenced');
}

/** The silences, and the form with what was given before. */
export function showSilences(options: PageOptions, context: WebContext, given: GivenSilence): Response {
  return show(options, context, {
    title: 'Silences · lowwater',
    content: renderSilences(options.views, frameOf(options, context), given),
    current: 'silences',
    scripts: ['live.js'],
    status: given.problem === null ? 200 : 400,
  });
}
