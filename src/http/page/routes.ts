import { type Html, html, sayHtml } from '../../wording/html.ts';
import { joinSentences } from '../../wording/lists.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { isSecure, peerOf } from '../access.ts';
import { findAccount } from '../api/input.ts';
import { calendarMediaType, isCalendarKey, writeCalendar } from '../calendar.ts';
import { known, RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { renderAccount } from './account.ts';
import { acknowledgeByLink, askAcknowledge } from './ack-link.ts';
import { addActions, showSilences } from './actions.ts';
import { renderAlerts } from './alerts-page.ts';
import { readForm, readOwnPath } from './forms.ts';
import type { PageName } from './layout.ts';
import { renderMessages } from './messages.ts';
import { renderOverview } from './overview.ts';
import { renderPay } from './pay.ts';
import { endSession, keepSession, renderAudit, renderSessions } from './people.ts';
import { isOfOpenPage } from './reader-language.ts';
import { renderReview } from './review.ts';
import { show } from './show.ts';
import { nothingGiven } from './silences.ts';
import { renderTimeZone, zoneOf } from './time-zone.ts';
import { addTrialPage } from './trial.ts';
import { nameOf, pages, type Scope, titleOf } from './words.ts';

/** The addresses, with their queries, of pages that are kept fresh. */
export const pagePaths =
  /^\/(?:accounts\/[^/?]+|alerts|silences|messages|pay|review|audit|sessions|time-zone)?(?:\/[^?]*)?(?:\?|$)/;

type RenderPage = (scope: Scope) => Promise<Html | { readonly content: Html; readonly ending: number }>;

const pageRoutes: readonly (readonly [path: string, PageName | 'audit' | 'sessions', RenderPage])[] = [
  ['/', 'overview', renderOverview],
  ['/alerts', 'alerts', renderAlerts],
  ['/pay', 'pay', renderPay],
  ['/review', 'review', renderReview],
  ['/messages', 'messages', renderMessages],
  ['/audit', 'audit', renderAudit],
  ['/sessions', 'sessions', renderSessions],
];

/** Adds the pages that need no signing in. */
export function addOpenPages(app: WebApp): void {
  app.get('/sign-in', showSignIn);
  app.post('/sign-in', signIn);
  app.post('/sign-out', signOut);
  app.get('/pay.ics', showCalendar);
  app.get('/a/:link', (context) =>
    askAcknowledge(context, new URLSearchParams({ link: context.req.param('link') })),
  );
  app.get('/ack', (context) => askAcknowledge(context));
  app.post('/ack', acknowledgeByLink);
}

/** Adds the pages and the forms on them. Every page works without a script. */
export function addPages(app: WebApp): void {
  addActions(app);
  app.get('/time-zone', showTimeZone);
  addTrialPage(app);
  app.get('/accounts/:id', showAccount);
  app.get('/silences', (context) => showSilences(context, nothingGiven));
  for (const [path, name, render] of pageRoutes) {
    app.get(path, async (context) => {
      const { scope } = context.var;
      const isStill = name === 'review';
      const rendered = isStill && isOfOpenPage(context) ? html`` : await render(scope);
      const page = 'ending' in rendered ? rendered : { content: rendered };
      const title = name === 'overview' ? 'lowwater' : titleOf(name, scope);
      const current = name === 'audit' || name === 'sessions' ? null : name;
      return show(context, { title, ...page, current, scripts: ['live.js'], isStill });
    });
  }
}

async function showAccount(context: WebContext): Promise<Response> {
  const { views, scope } = context.var;
  const account = await findAccount(views, context.req.param('id') ?? '');
  const content = await renderAccount(scope, account);
  const assets = { scripts: ['live.js', 'chart.js'], styles: ['uplot.css'] };
  return show(context, { title: `${nameOf(account.name)} · lowwater`, content, ...assets });
}

function showTimeZone(context: WebContext): Promise<Response> {
  const back = readOwnPath(context.req.query('back'));
  const { site, scope } = context.var;
  const content = renderTimeZone(zoneOf(context, ''), site.timezone, back, scope);
  return show(context, { title: titleOf('timeZone', scope), content, scripts: ['live.js'] });
}

/** Answers calendars, which cannot sign in: the key in the address grants access. */
async function showCalendar(context: WebContext): Promise<Response> {
  const { scope, signedIn, site } = context.var;
  const { calendarKey = null } = scope;
  // A standby that has read nothing does not know the key.
  if (!signedIn && calendarKey === null) known(scope.views);
  if (!signedIn && !isCalendarKey(context.req.query('key') ?? '', calendarKey)) {
    const slowed = await site.attempts.recordFailure(peerOf(context.env.incoming));
    const why = say(says.badCalendar, scope);
    throw new RequestError(slowed === null ? 'forbidden' : 'too_many_attempts', why, slowed?.headers ?? {});
  }
  const body = await writeCalendar({ ...scope, timezone: site.timezone }, site.database() ?? 'local');
  return context.body(body, 200, { 'content-type': calendarMediaType });
}

async function showSignIn(context: WebContext): Promise<Response> {
  const { scope, site, signedIn } = context.var;
  const next = readOwnPath(context.req.query('next'));
  if (signedIn) return context.redirect(next, 303);
  const why = site.sessions?.whyOver(context.req.header('cookie')) ?? null;
  const given = (['undone', 'unkept'] as const).filter((key) => context.req.query(key) !== undefined);
  const reasons = [...given, ...(why === null ? [] : [why])];
  const problem = joinSentences(reasons.map((reason) => say(says[reason], scope))) || null;
  const content = renderSignIn(next, problem, scope);
  return show(context, { title: titleOf('signIn', scope), content, chrome: null });
}

async function signIn(context: WebContext): Promise<Response> {
  const { sessions, attempts } = context.var.site;
  const form = await readForm(context);
  const next = readOwnPath(form.get('next') ?? undefined);
  if (sessions === null) return context.redirect(next, 303);
  const role = sessions.roleOf(form.get('token') ?? '');
  if (role !== null) {
    keepSession(context, sessions.open(role, { isKept: form.get('keep') === 'yes' }));
    return context.redirect(next, 303);
  }
  const slowed = await attempts.recordFailure(peerOf(context.env.incoming));
  const { scope } = context.var;
  const problem =
    slowed === null ? say(says.wrong, scope) : say(says.wrongAndSlow, { seconds: slowed.seconds }, scope);
  const content = renderSignIn(next, problem, scope);
  for (const [name, value] of Object.entries(slowed?.headers ?? {})) context.header(name, value);
  const status = slowed === null ? 401 : 429;
  return show(context, { title: titleOf('signIn', scope), content, chrome: null, status });
}

/** Ends the session here, and makes the browser forget its cookie. */
async function signOut(context: WebContext): Promise<Response> {
  const { site } = context.var;
  const { incoming } = context.env;
  const session = site.sessions?.read(incoming.headers.cookie) ?? null;
  if (session !== null) await endSession(context, session);
  for (const cookie of site.sessions?.forget(isSecure(site, incoming)) ?? [])
    context.header('set-cookie', cookie, { append: true });
  return context.redirect('/sign-in', 303);
}

const says = phrases('signIn', {
  token: 'Token',
  keep: 'Stay signed in for 30 days from the last use, instead of 12 hours',
  where: 'The token is {key} of the configuration.',
  replaced: 'The token was replaced since you signed in, so your session has ended. Give the new one.',
  ended: 'Your session was ended.',
  undone: 'Nothing was done, because nobody was signed in. Sign in and do it again.',
  unkept:
    'The token is right, but this browser did not keep the session. Allow cookies for this address, and use https where server.publicUrl does.',
  wrong: 'That is not the token.',
  wrongAndSlow: 'That is not the token. Answers are slow for {seconds} seconds.',
  badCalendar: 'This calendar address is not valid (any more). Take the present one from the page Pay.',
});

/** The page on which people enter the token. `problem`: why the last try failed. */
function renderSignIn(next: string, problem: string | null, scope: Scope): Html {
  return html`<section class="panel narrow"><h1>${say(pages.signIn, scope)}</h1>
${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
<input class="hidden" type="text" name="username" value="lowwater" autocomplete="username" tabindex="-1" aria-hidden="true">
<label>${say(says.token, scope)} <input type="password" name="token" required autocomplete="current-password" autofocus></label>
<label><input type="checkbox" name="keep" value="yes"> ${say(says.keep, scope)}</label>
<button>${say(pages.signIn, scope)}</button></form>
<p class="soft">${sayHtml(says.where, { key: html`<code>server.token</code>` }, scope)}</p></section>`;
}
