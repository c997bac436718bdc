import { parseDuration } from '../../domain/duration.ts';
import type { Refusal, SeenAlertName } from '../../domain/operator.ts';
import { plural } from '../../domain/plain-text.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AlertView } from '../../views/views.ts';
import { listFirst } from '../../wording/lists.ts';
import { accept, findAccount, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema, someDuration } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { digestOf, readAlertQuery, selectAlerts } from './alerts-page.ts';
import { readForm, readOwnPath, readPerson, readPicked, readSeen, sendBack } from './forms.ts';
import { orderTopUp } from './pay.ts';
import { endListedSession } from './people.ts';
import { show } from './show.ts';
import {
  fieldOf,
  type GivenSilence,
  readSilenceForm,
  renderSilenceQuestion,
  renderSilences,
} from './silences.ts';
import { keepZone } from './time-zone.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** Does what a form says; the word for what was done. */
type Act = (form: URLSearchParams, context: WebContext, parameters: Parameters) => Promise<string>;

/** What the forms of the pages do. Each goes back to the page that showed it. */
export function addActions(app: WebApp): void {
  const acts: Readonly<Record<string, Act>> = {
    '/alerts/many': actOnMany,
    '/alerts/:account/:rule/acknowledge': async (form, { var: { views } }, { account = '', rule = '' }) => {
      accept(await views.acknowledge({ account, rule, ...readPerson(form), ...readSeen(form) }));
      return 'acknowledged';
    },
    '/alerts/:account/:rule/unacknowledge': async (_, { var: { views } }, { account = '', rule = '' }) => {
      accept(await views.unacknowledge({ account, rule }));
      return 'given-back';
    },
    '/pay/ordered': async (form, context) => {
      form.set('back', '/pay');
      await orderTopUp(context.var.visit, form);
      return 'ordered';
    },
    '/pay/cancel': async (form, { var: { views } }) => {
      form.set('back', '/pay');
      const [account = '', id = ''] = ['account', 'id'].map((name) => form.get(name) ?? '');
      accept(await views.cancelExpected({ account, id }));
      return 'cancelled';
    },
    '/pay/calendar': async (form, { var: { views } }) => {
      form.set('back', '/pay');
      accept(await views.renewCalendarKey());
      return 'calendar';
    },
    '/silences/:id/extend': async (form, { var: { views } }, { id = '' }) => {
      const byMs = parseDuration(form.get('for') ?? '');
      if (byMs === null || byMs <= 0) throw new RequestError('bad_request', `for: ${someDuration}`);
      accept(await views.extendSilence({ id, byMs }));
      return 'extended';
    },
    '/silences/:id/expire': async (_, { var: { views } }, { id = '' }) => {
      accept(await views.expireSilence(id));
      return 'expired';
    },
    '/sessions/:id/end': async (_, context, { id = '' }) => {
      await endListedSession(context, id);
      return 'ended';
    },
    '/time-zone': async (form, context) => {
      keepZone(context, form.get('zone') ?? '');
      return 'zone';
    },
    '/accounts/:id/poll': async (_, { var: { views } }, { id = '' }) => {
      const account = await findAccount(views, id);
      return accept(await views.pollNow(account.id)).outcome === 'ok' ? 'polled' : 'poll-failed';
    },
  };
  for (const [path, act] of Object.entries(acts)) {
    app.post(path, async (context) => {
      const form = await readForm(context);
      return sendBack(context, form, await act(form, context, context.req.param()));
    });
  }
  app.post('/silences', silence);
}

/** A silence that is confirmed begins; another is asked about first, and one with a mistake is shown again with it. */
async function silence(context: WebContext): Promise<Response> {
  const { views, visit } = context.var;
  const form = await readForm(context);
  if (form.get('change') === 'yes') return showSilences(context, { form, problem: null });
  const order = readSilenceForm(form, visit);
  if ('field' in order) return showSilences(context, { form, problem: order });
  const muted = views.wouldMute(order);
  if ('refused' in muted)
    return showSilences(context, {
      form,
      problem: { field: fieldOf(muted.about), words: muted.why },
    });
  if (form.get('confirmed') === 'yes') {
    accept(await views.silence(order));
    return sendBack(context, form, 'silenced');
  }
  const content = await renderSilenceQuestion(visit, order, { muted, form });
  return show(context, { title: 'Silence? · lowwater', content, current: 'silences' });
}

async function actOnMany(form: URLSearchParams, context: WebContext): Promise<string> {
  const { views } = context.var;
  const ticked = () => form.getAll('alert').flatMap((picked) => readPicked(picked) ?? []);
  const alerts = form.get('all') === 'yes' ? await readMatching(views, form) : ticked();
  if (alerts.length === 0) return 'none';
  const isSilence = form.get('do') === 'silence';
  const answers = isSilence
    ? await silenceMany(context, alerts, form)
    : await views.acknowledgeAll({ alerts, ...readPerson(form) });
  const changed = alerts.filter((_, index) => answers[index]?.refused === 'changed');
  if (answers.includes(null)) context.set('isDone', true);
  if (changed.length > 0) throw refuseMany(changed, alerts.length);
  if (isSilence) return 'silenced';
  return answers.every((answer) => answer === null) ? 'acknowledged-many' : 'partly';
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
  context: WebContext,
  alerts: readonly SeenAlertName[],
  form: URLSearchParams,
): Promise<readonly (Refusal | null)[]> {
  const { views, now } = context.var;
  const given = { for: form.get('for') ?? '', ...readPerson(form) };
  const answers: (Refusal | null)[] = [];
  for (const { account, rule, seen } of alerts) {
    const input = { ...given, match: { account, rule }, ...(seen && { seen: { account, rule, ...seen } }) };
    const made = await views.silence(readSilenceOrder(parseInput(silenceOrderSchema, input), now));
    if ('refused' in made && made.refused !== 'changed') accept(made);
    if (!('refused' in made)) context.set('isDone', true);
    answers.push('refused' in made ? made : null);
  }
  return answers;
}

function refuseMany(changed: readonly SeenAlertName[], asked: number): RequestError {
  const names = changed.map(({ account, rule }) => `${rule} of ${account}`);
  const are = changed.length === 1 ? 'is' : 'are';
  return new RequestError(
    'changed',
    `${changed.length} of ${plural(asked, 'alert')} ${are} another incident or severity now: ${listFirst(names)}. Look at them again; the others are done.`,
  );
}

/** The silences, and the form with what was given before. */
export function showSilences(context: WebContext, given: GivenSilence): Response {
  return show(context, {
    title: 'Silences · lowwater',
    content: renderSilences(context.var.visit, given),
    current: 'silences',
    scripts: ['live.js'],
    status: given.problem === null ? 200 : 400,
  });
}
