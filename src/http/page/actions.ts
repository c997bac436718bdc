import { isRefusal, type SeenAlertName } from '../../domain/operator.ts';
import { parseDuration } from '../../domain/time.ts';
import { type Wanted, wasDoneBefore } from '../../engine/orders.ts';
import type { AlertView } from '../../views/views.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { accept, findAccount, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { endOf } from '../orders.ts';
import { known, RequestError, refusals } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { digestOf, readAlertQuery, selectAlerts } from './alerts-page.ts';
import { announceRun } from './announce-run.ts';
import { readForm, readOwnPath, readPerson, readPicked, readSeen, sendBack } from './forms.ts';
import { orderTopUp } from './order-top-up.ts';
import { endListedSession } from './people.ts';
import { keepLanguageChoice } from './reader-language.ts';
import { show } from './show.ts';
import {
  fieldOf,
  type GivenSilence,
  readSilenceForm,
  renderSilenceQuestion,
  renderSilences,
} from './silences.ts';
import { keepZone } from './time-zone.ts';
import { common, type Scope, titleOf } from './words.ts';

const maxNamed = 10;

const says = phrases('actions', {
  matchChanged:
    'The alerts that match have changed: {count, plural, one {# alert} other {# alerts}} now. Nothing was done; look at them again.',
  listAndMore: '{list} and {more} more',
  someChanged:
    '{count, plural, one {# of {all} is} other {# of {all} are}} another incident or severity now, or with somebody else: {alerts}. Look at them again; the others are done.',
});

type Parameters = Readonly<Record<string, string | undefined>>;

/** Does what a form orders. Returns the key of the words for what was done. */
type Act = (form: URLSearchParams, context: WebContext, parameters: Parameters) => Promise<string>;

/** The actions of the pages' forms. Each redirects to the page that showed the form. */
export function addActions(app: WebApp): void {
  const acts: Readonly<Record<string, Act>> = {
    '/alerts/many': actOnMany,
    '/alerts/:account/:rule/acknowledge': async (form, { var: { door } }, { account = '', rule = '' }) => {
      const { by, comment } = readPerson(form);
      const order = { kind: 'acknowledge', account, rule, comment, ...readSeen(form) } as const;
      return wasDoneBefore(await door.give(order, by)) ? 'held' : 'acknowledged';
    },
    '/alerts/:account/:rule/unacknowledge': async (form, { var: { door } }, { account = '', rule = '' }) => {
      await door.give({ kind: 'unacknowledge', account, rule, ...readSeen(form) }, readPerson(form).by);
      return 'given-back';
    },
    '/pay/cancel': async (form, { var: { door } }) => {
      form.set('back', '/pay');
      const [account = '', id = ''] = ['account', 'id'].map((name) => form.get(name) ?? '');
      await door.give({ kind: 'cancel-expected', account, id }, readPerson(form).by);
      return 'cancelled';
    },
    '/pay/calendar': async (form, { var: { door, site } }) => {
      form.set('back', '/pay');
      const random = site.random.bytes(24).toString('base64url');
      const key = site.sessions?.markKey(random) ?? random;
      await door.give({ kind: 'renew-calendar-key', key }, readPerson(form).by);
      return 'calendar';
    },
    '/silences/:id/extend': async (form, { var: { door } }, { id = '' }) => {
      const byMs = parseDuration(form.get('for') ?? '');
      if (byMs === null || byMs <= 0)
        throw new RequestError('bad_request', refusals.field({ name: 'for', problem: refusals.duration() }));
      const endsAt = form.get('seen-ends');
      const seen = endsAt !== null && { seenEndsAt: Number(endsAt) };
      await door.give({ kind: 'extend-silence', id, byMs, ...seen }, readPerson(form).by);
      return 'extended';
    },
    '/silences/:id/expire': async (form, { var: { door } }, { id = '' }) => {
      await door.give({ kind: 'expire', id }, readPerson(form).by);
      return 'expired';
    },
    '/sessions/:id/end': async (form, context, { id = '' }) => {
      await endListedSession(context, id, readPerson(form).by);
      return 'ended';
    },
    '/language': async (form, context) => {
      keepLanguageChoice(context, form.get('language') ?? '');
      return 'zone';
    },
    '/time-zone': async (form, context) => {
      keepZone(context, form.get('zone') ?? '');
      return 'zone';
    },
    '/accounts/:id/poll': async (form, { var: { door, views } }, { id = '' }) => {
      const { id: account } = await findAccount(views, id);
      const started = await door.give({ kind: 'poll', account }, readPerson(form).by);
      return (await endOf(started)) === 'ok' ? 'polled' : 'poll-failed';
    },
  };
  for (const [path, act] of Object.entries(acts)) {
    app.post(path, async (context) => {
      const form = await readForm(context);
      return sendBack(context, form, await act(form, context, context.req.param()));
    });
  }
  app.post('/silences', silence);
  app.post('/pay/ordered', orderTopUp);
  app.post('/pay/announced', announceRun);
  // The address of a refused form is opened by GET when people come back from signing in.
  for (const path of ['/pay/ordered', '/pay/announced'])
    app.get(path, (context) => context.redirect('/pay', 303));
}

/** Begins a confirmed silence. An unconfirmed one is asked about first, and one with a mistake is shown again with the problem. */
async function silence(context: WebContext): Promise<Response> {
  const { views, scope, door } = context.var;
  const form = await readForm(context);
  if (form.get('change') === 'yes') return showSilences(context, { form, problem: null });
  const order = readSilenceForm(form, scope);
  if ('field' in order) return showSilences(context, { form, problem: order });
  const muted = known(views).wouldMute(order);
  if (isRefusal(muted))
    return showSilences(context, {
      form,
      problem: { field: fieldOf(muted.about), words: sayAgain(muted.why, scope) },
    });
  if (form.get('confirmed') === 'yes') {
    await door.give({ kind: 'silence', ...order }, readPerson(form).by);
    return sendBack(context, form, 'silenced');
  }
  const content = await renderSilenceQuestion(scope, order, { muted, form });
  return show(context, { title: titleOf('silenceQuestion', scope), content, current: 'silences' });
}

async function actOnMany(form: URLSearchParams, context: WebContext): Promise<string> {
  const { scope, door } = context.var;
  const alerts =
    form.get('all') === 'yes' ? await readMatching(scope, form) : form.getAll('alert').flatMap(readPicked);
  if (alerts.length === 0) return 'none';
  const isSilence = form.get('do') === 'silence';
  const isGivenBack = form.get('do') === 'unacknowledge';
  const { by, comment } = readPerson(form);
  const wanted = alerts.map((alert) => {
    if (isSilence) return silenceOf(alert, form, context);
    if (isGivenBack) return { kind: 'unacknowledge', ...nameOf(alert) } as const;
    return { kind: 'acknowledge', ...nameOf(alert), comment } as const;
  });
  const given = await door.giveAll(wanted, by);
  const answers = given.map((answer: object) => (isRefusal(answer) ? answer : null));
  const changed = alerts.filter((_, index) => answers[index]?.refused === 'changed');
  const other = isSilence
    ? answers.find((answer) => answer !== null && answer.refused !== 'changed')
    : undefined;
  if (other != null) accept(other);
  if (changed.length > 0) throw refuseMany(changed, alerts.length, scope);
  const [first] = answers;
  if (first != null && answers.every((answer) => answer !== null)) accept(first);
  if (isSilence) return 'silenced';
  if (isGivenBack) return 'given-back';
  if (given.every(wasDoneBefore)) return 'held-many';
  return answers.every((answer) => answer === null) ? 'acknowledged-many' : 'partly';
}

/** All alerts that the page's filters select, provided that they are still the ones that its reader saw. */
async function readMatching(scope: Scope, form: URLSearchParams): Promise<readonly AlertView[]> {
  const query = new URL(readOwnPath(form.get('query') ?? undefined), 'http://own').searchParams;
  const alerts = selectAlerts(await scope.views.alerts({ all: false }), readAlertQuery(query));
  const seen = form.get('seen-all');
  if (seen === null || seen === digestOf(alerts)) return alerts;
  throw new RequestError('changed', say(says.matchChanged, { count: alerts.length }, scope));
}

function silenceOf(
  alert: SeenAlertName,
  form: URLSearchParams,
  { var: { now } }: WebContext,
): Wanted<'silence'> {
  const { account, rule, seen } = alert;
  const { incident, severity } = seen ?? {};
  const given = { for: form.get('for') ?? '', ...readPerson(form) };
  const input = {
    ...given,
    match: { account, rule },
    ...(seen && { seen: { account, rule, incident, severity } }),
  };
  return { kind: 'silence', ...readSilenceOrder(parseInput(silenceOrderSchema, input), now) };
}

/** The name alone: a matching alert that was not ticked comes with other facts. */
function nameOf({ account, rule, seen }: SeenAlertName): SeenAlertName {
  return { account, rule, ...(seen && { seen }) };
}

function refuseMany(changed: readonly SeenAlertName[], asked: number, scope: Scope): RequestError {
  const names = changed
    .slice(0, maxNamed)
    .map(({ account, rule }) => say(common.ofAccount, { rule, account }, scope));
  const count = changed.length;
  const more = count - names.length;
  const list = scope.language.list(names);
  const alerts = more > 0 ? say(says.listAndMore, { list, more }, scope) : list;
  const all = say(common.alerts, { count: asked }, scope);
  return new RequestError('changed', say(says.someChanged, { count, all, alerts }, scope));
}

/** The page of silences, with the form as it was sent. */
export async function showSilences(context: WebContext, given: GivenSilence): Promise<Response> {
  return show(context, {
    title: titleOf('silences', context.var.scope),
    content: await renderSilences(context.var.scope, given),
    current: 'silences',
    scripts: ['live.js'],
    status: given.problem === null ? 200 : 400,
  });
}
