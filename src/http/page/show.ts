import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ownOf } from '../../domain/own.ts';
import { isShortToken, shortTokenAdvice } from '../../domain/secret.ts';
import { severities } from '../../domain/severity.ts';
import type { Wanted } from '../../engine/orders.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { SilenceView } from '../../views/silences.ts';
import type { FiringView } from '../../views/views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { asSentence } from '../../wording/lists.ts';
import { type Phrase, phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { type ErrorCode, RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { needsSomebody } from './alerts.ts';
import { takeDone } from './cookies.ts';
import { readPerson } from './forms.ts';
import { type Chrome, type LayoutOptions, layOut, type PageName, type Worst } from './layout.ts';
import { icon, momentAndAge } from './markup.ts';
import { languageForm } from './reader-language.ts';
import { endSilenceForm, sayMatcher } from './silences.ts';
import { zoneForm } from './time-zone.ts';
import { common, type Frame, type Scope } from './words.ts';

/** The result of a form, said on the next page. The address names one of these keys, never the words themselves. */
const doneWords = phrases('done', {
  acknowledged: 'Acknowledged. Reminders and escalation stop until it resolves or gets worse.',
  held: 'Somebody has acknowledged it already: nothing was changed.',
  'held-many': 'Somebody has acknowledged all of them already: nothing was changed.',
  'given-back': 'Acknowledgement removed. Reminders and escalation go on.',
  'acknowledged-many': 'Acknowledged: all of them.',
  partly: 'Some had already ended; the rest are done.',
  none: 'Nothing selected.',
  silenced: 'Silenced.',
  ordered: 'Ordered. The alerts of this balance are acknowledged, and the money is expected.',
  announced: 'Announced: forecast, payments and budget know of it.',
  cancelled: 'Cancelled: this is no longer expected.',
  calendar: 'The calendar has a new address.',
  ended: 'The session has ended.',
  expired: 'The silence has ended.',
  extended: 'The silence lasts longer.',
  zone: 'Saved for this browser.',
  polled: 'Polled.',
  'poll-failed': 'Polled, but the balance could not be read.',
});

const says = phrases('show', {
  problem: 'lowwater has a problem',
  count: '{count} {severity}',
  notRead: '{count} not read',
  ending: '{count} may be empty within a day',
  countSilenced: '{count} {severity} silenced',
  silences: '{count, plural, one {# silence} other {# silences}}',
  problems: 'Problems of lowwater',
  attention: 'lowwater itself needs attention',
  whatIsSilenced: 'What is silenced',
  silenced: 'Silenced',
  until: '{what} until {moment}, by {by}',
  untilSaying: '{what} until {moment}, by {by}: {comment}',
});

interface Shown extends Pick<LayoutOptions, 'title' | 'content' | 'scripts' | 'styles' | 'isStill'> {
  readonly current?: PageName | null;
  /** The number of accounts that may be empty within a day without an alert, if the page has counted them already. */
  readonly ending?: number | undefined;
  readonly chrome?: null;
  readonly status?: ContentfulStatusCode | undefined;
}

/** Answers with a whole page. */
export async function show(
  context: WebContext,
  { current = null, ending, chrome, status = 200, ...shown }: Shown,
): Promise<Response> {
  const { views, scope } = context.var;
  const done = ownOf<Phrase<unknown>>(doneWords, takeDone(context) ?? '');
  const whole = { ...shown, frame: scope, ...(done === undefined ? {} : { done: say(done, scope) }) };
  if (chrome === null) return context.html(layOut({ ...whole, chrome }).markup, status);
  const needs = await needsOf(views, scope, ending);
  const title = needs.title === null ? shown.title : `${needs.title} · ${shown.title}`;
  const { markup } = layOut({ ...whole, title, worst: needs.worst, chrome: chromeOf(context, current) });
  const { sessions } = context.var.site;
  const isViewer = sessions?.roleOfSession(context.req.header('cookie')) === 'viewer';
  return context.html(isViewer ? withoutOrders(markup) : markup, status);
}

/** The page without the forms that a viewer may not send. */
function withoutOrders(markup: string): string {
  return markup
    .replaceAll(/<details class="act".*?<\/details>/gs, '')
    .replaceAll(
      /<form(?=[^>]* method="post")(?![^>]* action="\/(?:time-zone|language|sign-out)")[^>]*>.*?<\/form>/gs,
      '',
    )
    .replaceAll(/<label class="pick">.*?<\/label>/gs, '');
}

function chromeOf(context: WebContext, current: PageName | null): Chrome {
  const { views, scope, site } = context.var;
  const { token } = site.settings;
  const short = token !== null && isShortToken(token) ? [`server.token ${shortTokenAdvice}.`] : [];
  const { problems: own, version } = views.status();
  const active = views.silences().filter((silence) => silence.active);
  const back = withoutDone(context);
  return {
    current,
    canSignOut: site.sessions !== null,
    version,
    notices: html`${problems([...own, ...short], scope)}${muted(active, scope, back)}`,
    zone: html`${zoneForm(scope, site.timezone, back)}${languageForm(scope.language, back)}`,
  };
}

/** The number of alerts that need attention; if none, the reasons why that is no all-clear. Problems of lowwater are always named. */
async function needsOf(
  views: LiveViews,
  scope: Frame,
  counted?: number,
): Promise<{ readonly worst: Worst; readonly title: string | null }> {
  const isUrgent = (): boolean => [...views.firing()].some(needsSomebody);
  const ending = counted ?? (isUrgent() ? 0 : (await views.summary(0)).endingSoon);
  // All else is read after the count, which lets other work run: an alert may have fired meanwhile.
  const firing = [...views.firing()];
  const urgent = countWorst(firing.filter(needsSomebody));
  const broken = views.status().problems.length > 0 ? say(says.problem, scope) : null;
  if (urgent !== null) {
    const { severity } = urgent;
    const worst = severity === 'info' && broken !== null ? 'unsure' : severity;
    return { worst, title: listWords([sayWorst(says.count, urgent, scope), broken], scope) };
  }
  const { accounts, unread: notRead } = views.counts();
  const muted = countWorst(firing.filter(({ silenced }) => silenced));
  const silences = views.silences().filter(({ active }) => active).length;
  const title = listWords(
    [
      broken,
      accounts === 0 || notRead > 0 ? say(says.notRead, { count: notRead }, scope) : null,
      ending > 0 ? say(says.ending, { count: ending }, scope) : null,
      muted === null ? null : sayWorst(says.countSilenced, muted, scope),
      muted === null && silences > 0 ? say(says.silences, { count: silences }, scope) : null,
    ],
    scope,
  );
  return { worst: title === null ? null : 'unsure', title };
}

/** The worst severity among these alerts and how many have it; null if there are no alerts. */
function countWorst(alerts: readonly FiringView[]) {
  const severity = severities.findLast((known) => alerts.some((alert) => alert.severity === known));
  if (severity === undefined) return null;
  return { severity, count: alerts.filter((alert) => alert.severity === severity).length };
}

function sayWorst(
  phrase: typeof says.count,
  { severity, count }: NonNullable<ReturnType<typeof countWorst>>,
  scope: Frame,
): string {
  return say(phrase, { count, severity: saySeverity(severity, scope) }, scope);
}

function listWords(words: readonly (string | null)[], { language }: Frame): string | null {
  return language.list(words.filter((word) => word !== null)) || null;
}

function withoutDone(context: WebContext): string {
  if (context.req.method !== 'GET') return '/';
  const url = new URL(context.req.url);
  url.searchParams.delete('done');
  return url.pathname + url.search;
}

const shownSilences = 5;

function problems(sentences: readonly string[], frame: Frame): Html | null {
  if (sentences.length === 0) return null;
  return html`<section class="problems" aria-label="${say(says.problems, frame)}"><h2>${icon('warning')}${say(says.attention, frame)}</h2><ul>${sentences.map(
    (sentence) => html`<li>${sayAgain(sentence, frame)}</li>`,
  )}</ul></section>`;
}

function muted(active: readonly SilenceView[], frame: Frame, back: string): Html | null {
  if (active.length === 0) return null;
  const widestFirst = active.toSorted((left, right) => keys(left) - keys(right));
  const more = active.length - shownSilences;
  return html`<section class="muted" aria-label="${say(says.whatIsSilenced, frame)}"><h2>${icon('silence')}${say(says.silenced, frame)}</h2><ul>${widestFirst
    .slice(0, shownSilences)
    .map(
      (silence) =>
        html`<li data-key="${silence.id}"><span>${mutedWords(silence, frame)}</span>${endSilenceForm(silence, back, frame)}</li>`,
    )}</ul>${more > 0 && html`<p><a href="/silences">${say(common.more, { count: more }, frame)}</a></p>`}</section>`;
}

function mutedWords({ match, endsAt, by, comment }: SilenceView, frame: Frame): Html {
  const given = {
    what: html`<strong>${sayMatcher(match, frame)}</strong>`,
    moment: momentAndAge(endsAt, frame),
    by: html`<bdi>${by}</bdi>`,
  };
  return comment === ''
    ? sayHtml(says.until, given, frame)
    : sayHtml(says.untilSaying, { ...given, comment: html`<q>${comment}</q>` }, frame);
}

/** The number of keys that narrow the silence down: with none it mutes everything. */
function keys({ match }: SilenceView): number {
  const { labels = {}, ...own } = match;
  return Object.values(own).filter((key) => key !== undefined).length + Object.keys(labels).length;
}

interface AskedAgain {
  readonly heading: string;
  /** The form's fields, filled with what was typed, after a refusal of this kind. */
  readonly fields: (refusal: ErrorCode) => Html;
  readonly back: string;
  readonly chrome?: null;
}

/** Executes the order of a form on the page Pay, and returns null. If the form is refused, it is shown again with the reason. */
export async function giveOrAskAgain(
  context: WebContext,
  form: URLSearchParams,
  read: (form: URLSearchParams, scope: Scope) => Wanted,
  { heading, fields, back, ...place }: AskedAgain,
): Promise<Response | null> {
  const { scope, door } = context.var;
  try {
    await door.give(read(form, scope), readPerson(form).by);
    return null;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const title = `${heading} · lowwater`;
    const content = html`<section class="panel question"><h1>${heading}</h1>
<p class="problem" role="alert">${asSentence(sayAgain(error.message, scope))}</p>${fields(error.code)}<p><a href="${back}">${say(common.back, scope)}</a></p></section>`;
    return show(context, { title, content, current: 'pay', ...place, status: error.status });
  }
}
