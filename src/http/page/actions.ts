import { parseDuration } from '../../domain/duration.ts';
import type { Refusal, SeenAlertName } from '../../domain/operator.ts';
import { plural } from '../../domain/plural.ts';
import type { AlertView, LiveViews } from '../../views/views.ts';
import { accept, findAccount, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { digestOf, readAlertQuery, selectAlerts } from './alert-list.ts';
import { readForm, readOwnPath, readPerson, readPicked, readSeen, sendBack } from './form-input.ts';
import { orderTopUp } from './pay.ts';
import { frameOf, type PageOptions, show } from './show.ts';
import { fieldOf, type GivenSilence, readSilenceForm, renderSilenceQuestion } from './silence-form.ts';
import { renderSilences } from './silences.ts';

/** What the forms of the pages do. Each goes back to the page that showed it. */
export function addActions(app: WebApp, options: PageOptions): void {
  app.post('/alerts/many', actOnMany);
  app.post('/alerts/:account/:rule/acknowledge', acknowledge);
  app.post('/alerts/:account/:rule/unacknowledge', unacknowledge);
  app.post('/pay/ordered', async (context) => {
    const form = await readForm(context);
    await orderTopUp(context, form, frameOf(options, context));
    form.set('back', '/pay');
    return sendBack(context, form, 'ordered');
  });
  app.post('/pay/cancel', async (context) => {
    const form = await readForm(context);
    const [account = '', id = ''] = ['account', 'id'].map((name) => form.get(name) ?? '');
    accept(await context.var.views.cancelExpected({ account, id }));
    form.set('back', '/pay');
    return sendBack(context, form, 'cancelled');
  });
  app.post('/silences', (context) => silence(options, context));
  app.post('/silences/:id/extend', extendSilence);
  app.post('/silences/:id/expire', expireSilence);
  app.post('/accounts/:id/poll', pollNow);
}

async function acknowledge(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(await views.acknowledge({ account, rule, ...readPerson(form), ...readSeen(form) }));
  return sendBack(context, form, 'acknowledged');
}

/** A silence that is confirmed begins; another is asked about first, and one with a mistake is shown again with it. */
async function silence(options: PageOptions, context: WebContext): Promise<Response> {
  const { views } = context.var;
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

async function extendSilence(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  const byMs = parseDuration(form.get('for') ?? '');
  if (byMs === null || byMs <= 0)
    throw new RequestError('bad_request', 'for: give a duration such as "90m" or "2h"');
  accept(await views.extendSilence({ id: context.req.param('id') ?? '', byMs }));
  return sendBack(context, form, 'extended');
}

async function expireSilence(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  accept(await views.expireSilence(context.req.param('id') ?? ''));
  return sendBack(context, form, 'expired');
}

async function pollNow(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  const { id } = await findAccount(views, context.req.param('id') ?? '');
  const { outcome } = accept(await views.pollNow(id));
  return sendBack(context, form, outcome === 'ok' ? 'polled' : 'poll-failed');
}

async function unacknowledge(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  const { account = '', rule = '' } = context.req.param();
  accept(await views.unacknowledge({ account, rule }));
  return sendBack(context, form, 'given-back');
}

async function actOnMany(context: WebContext): Promise<Response> {
  const { views } = context.var;
  const form = await readForm(context);
  const alerts =
    form.get('all') === 'yes'
      ? await readMatching(views, form)
      : form.getAll('alert').flatMap((picked) => readPicked(picked) ?? []);
  if (alerts.length === 0) return sendBack(context, form, 'none');
  const isSilence = form.get('do') === 'silence';
  const answers = isSilence
    ? await silenceMany(views, { alerts, form, now: context.get('now') })
    : await views.acknowledgeAll({ alerts, ...readPerson(form) });
  const changed = alerts.filter((_, index) => answers[index]?.refused === 'changed');
  if (changed.length > 0) throw refuseMany(changed, alerts.length);
  if (isSilence) return sendBack(context, form, 'silenced');
  const isWhole = answers.every((answer) => answer === null);
  return sendBack(context, form, isWhole ? 'acknowledged-many' : 'partly');
}

/** All that the filters of the page select, where they are those that its reader saw. */
async function readMatching(views: LiveViews, form: URLSearchParams): Promise<readonly AlertView[]> {
  const query = new URL(readOwnPath(form.get('query') ?? undefined), 'http://own').searchParams;
  const alerts = selectAlerts(await views.alerts({ all: false }), readAlertQuery(query));
  const seen = form.get('seen-all');
  if (seen === null || seen === digestOf(alerts)) return alerts;
  throw new RequestError(
    'changed',
    `The alerts that match have changed: ${plural(alerts.length, 'alert')} now. Nothing was done; look at them again.`,
  );
}

async function silenceMany(
  views: LiveViews,
  order: { readonly alerts: readonly SeenAlertName[]; readonly form: URLSearchParams; readonly now: number },
): Promise<readonly (Refusal | null)[]> {
  const { alerts, form, now } = order;
  const given = { for: form.get('for') ?? '', ...readPerson(form) };
  const answers: (Refusal | null)[] = [];
  for (const { account, rule, seen } of alerts) {
    const input = { ...given, match: { account, rule }, ...(seen && { seen: { account, rule, ...seen } }) };
    const made = await views.silence(readSilenceOrder(parseInput(silenceOrderSchema, input), now));
    if ('refused' in made && made.refused !== 'changed') accept(made);
    answers.push('refused' in made ? made : null);
  }
  return answers;
}

const maxNamed = 10;

function refuseMany(changed: readonly SeenAlertName[], asked: number): RequestError {
  const names = changed.slice(0, maxNamed).map(({ account, rule }) => `${rule} of ${account}`);
  const more = changed.length - names.length;
  return new RequestError(
    'changed',
    `${changed.length} of ${plural(asked, 'alert')} ${changed.length === 1 ? 'is' : 'are'} another incident or severity now: ${names.join(', ')}${
      more > 0 ? ` and ${more} more` : ''
    }. Look at them again; the others are done.`,
  );
}

/** The silences, and the form with what was given before. */
export function showSilences(options: PageOptions, context: WebContext, given: GivenSilence): Response {
  return show(options, context, {
    title: 'Silences · lowwater',
    content: renderSilences(context.var.views, frameOf(options, context), given),
    current: 'silences',
    scripts: ['live.js'],
    status: given.problem === null ? 200 : 400,
  });
}
