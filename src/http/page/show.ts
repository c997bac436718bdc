import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { ownOf } from '../../domain/own.ts';
import { isShortToken, shortTokenAdvice } from '../../domain/secret.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { FiringView, SilenceView } from '../../views/views.ts';
import { Html, type HtmlValue, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { type Phrase, phrases } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { sayHtml } from '../../wording/say-html.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { assetPath } from '../assets.ts';
import type { WebContext } from '../web-env.ts';
import { needsSomebody } from './alerts.ts';
import { choiceLink, takeDone } from './forms.ts';
import { live } from './live.ts';
import { languageForm } from './reader-language.ts';
import { scriptWords } from './script-words.ts';
import { endSilenceForm, sayMatcher } from './silences.ts';
import { zoneForm } from './time-zone.ts';
import { type Frame, icon, moment, momentAndAge } from './words.ts';

/** The deed of a form, as the page after it says. The address names one of these, never the words themselves. */
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
  more: 'and {count} more',
  skip: 'Skip to content',
  asOf: 'as of {moment}.',
  asOfIn: 'as of {moment}, times in {zone}.',
  sessions: 'Sessions',
  audit: 'Audit',
  metrics: 'Metrics',
  pages: 'Pages',
  signOut: 'Sign out',
});
const pages = phrases('pages', {
  overview: 'Overview',
  alerts: 'Alerts',
  pay: 'Pay',
  silences: 'Silences',
  review: 'Review',
  messages: 'Messages',
});

interface Shown extends Pick<LayoutOptions, 'title' | 'content' | 'scripts' | 'styles' | 'isStill'> {
  readonly current?: PageName | null;
  readonly chrome?: null;
  readonly status?: ContentfulStatusCode | undefined;
}

/** Answers with a whole page. */
export async function show(
  context: WebContext,
  { current = null, chrome, status = 200, ...shown }: Shown,
): Promise<Response> {
  const { views, scope } = context.var;
  const done = ownOf<Phrase<unknown>>(doneWords, takeDone(context) ?? '');
  const whole = { ...shown, frame: scope, ...(done === undefined ? {} : { done: say(done, scope) }) };
  if (chrome === null) return context.html(layOut({ ...whole, chrome }).markup, status);
  const needs = await needsOf(views, scope);
  const title = needs.title === null ? shown.title : `${needs.title} · ${shown.title}`;
  const framed = { ...whole, title, worst: needs.worst, chrome: chromeOf(context, current) };
  const { markup } = layOut(framed);
  return context.html(mayAct(context) ? markup : withoutOrders(markup), status);
}

/** A viewer sees no form that it may not send. */
function withoutOrders(markup: string): string {
  return markup
    .replaceAll(/<details class="act">.*?<\/details>/gs, '')
    .replaceAll(
      /<form(?=[^>]* method="post")(?![^>]* action="\/(?:time-zone|language|sign-out)")[^>]*>.*?<\/form>/gs,
      '',
    )
    .replaceAll(/<label class="pick">.*?<\/label>/gs, '');
}

function mayAct({ var: { site }, req }: WebContext): boolean {
  return site.sessions === null || site.sessions.roleOfSession(req.header('cookie')) !== 'viewer';
}

/** The frame around the content of every page for a person who is signed in. */
function chromeOf(context: WebContext, current: PageName | null) {
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
    // Facts that nobody may overlook: problems of lowwater itself, and silences.
    items: html`${problems([...own, ...short], scope)}${muted(active, scope, back)}`,
    zone: html`${zoneForm(scope, site.timezone, back)}${languageForm(scope.language, back)}`,
  };
}

/** The number of alerts that need attention; else why their absence is no all-clear. Problems of lowwater always stand there. */
async function needsOf(
  views: LiveViews,
  scope: Frame,
): Promise<{ readonly worst: Worst; readonly title: string | null }> {
  const firing = [...views.firing()];
  const urgent = countWorst(firing.filter(needsSomebody));
  const broken = views.status().problems.length > 0 ? say(says.problem, scope) : null;
  if (urgent !== null) {
    const { severity } = urgent;
    const worst = severity === 'info' && broken !== null ? 'unsure' : severity;
    return { worst, title: listWords([sayWorst(says.count, urgent, scope), broken], scope) };
  }
  const { accounts, failing, waiting, endingSoon } = await views.summary(0);
  const unread = failing + waiting;
  const muted = countWorst(firing.filter(({ silenced }) => silenced));
  const silences = views.silences().filter(({ active }) => active).length;
  const title = listWords(
    [
      broken,
      accounts === 0 || unread > 0 ? say(says.notRead, { count: unread }, scope) : null,
      endingSoon > 0 ? say(says.ending, { count: endingSoon }, scope) : null,
      muted === null ? null : sayWorst(says.countSilenced, muted, scope),
      muted === null && silences > 0 ? say(says.silences, { count: silences }, scope) : null,
    ],
    scope,
  );
  return { worst: title === null ? null : 'unsure', title };
}

/** The number of the worst severity among these; null where there are none. */
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
        html`<li><span>${mutedWords(silence, frame)}</span>${endSilenceForm(silence, back, frame)}</li>`,
    )}</ul>${more > 0 && html`<p><a href="/silences">${say(says.more, { count: more }, frame)}</a></p>`}</section>`;
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

/** The number of keys that narrow it down: none mutes everything. */
function keys({ match }: SilenceView): number {
  const { labels = {}, ...own } = match;
  return Object.values(own).filter((key) => key !== undefined).length + Object.keys(labels).length;
}

interface LayoutOptions {
  readonly title: string;
  readonly content: HtmlValue;
  readonly frame: Frame;
  /** Null on pages for people who are not signed in: no way into the others is shown. */
  readonly chrome: Chrome | null;
  readonly done?: HtmlValue;
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly worst?: Worst;
  /** Its content is as of when it was asked for: only the frame around it is kept fresh. */
  readonly isStill?: boolean;
  readonly reload?: boolean;
}

/** A page of the navigation. */
export type PageName = (typeof navigated)[number];

type Chrome = ReturnType<typeof chromeOf>;

/** The worst severity that needs somebody; `unsure` where not all is known, null where nothing is to be said. */
export type Worst = Severity | 'unsure' | null;

/** The whole document around the content of a page. */
export function layOut(options: LayoutOptions): Html {
  const { title, content, frame, chrome, done, worst = null, reload = false } = options;
  const { scripts = [], styles = [], isStill = false } = options;
  const at = moment(frame.now, frame);
  const asOf = isStill ? html`<span data-live="as-of">${at}</span>` : live('as-of', at, { tag: 'span' });
  const iconPath = assetPath(worst === null || worst === 'info' ? 'icon.svg' : `icon-${worst}.svg`);
  return html`<!doctype html>
<html lang="${frame.language.id}" data-now="${frame.now}"${(chrome !== null || scripts.length > 0) && html` data-words="${scriptWords(frame.language)}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${reload && html`<meta http-equiv="refresh" content="0">`}
${live('title', title, { tag: 'title', attributes: html`data-icon="${iconPath}"` })}
<link rel="icon" href="${iconPath}" type="image/svg+xml">
${[...styles, 'lowwater.css'].map((name) => html`<link rel="stylesheet" href="${assetPath(name)}">\n`)}
${[...scripts, ...(chrome === null ? [] : ['keys.js'])].map((name) => html`<script type="module" src="${assetPath(name)}"></script>\n`)}
</head>
<body>
<p id="lost" class="lost-banner" role="alert" data-icon="${assetPath('icon-unsure.svg')}" hidden></p>
${sprite}
<a class="skip" href="#main">${say(says.skip, frame)}</a>
<header class="top"><div class="wrap">
<a class="brand" href="/"><svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><use href="#i-mark"/></svg>lowwater</a>
${chrome !== null && navigation(chrome, frame)}
</div></header>
<main id="main" class="wrap" tabindex="-1">
${chrome !== null && live('notices', chrome.items)}
${done !== undefined && html`<p class="done" role="status">${done}</p>`}
${content}
</main>
<footer class="wrap">
<p>${chrome !== null && html`lowwater ${chrome.version} · `}${chrome === null ? sayHtml(says.asOfIn, { moment: asOf, zone: frame.timezone }, frame) : sayHtml(says.asOf, { moment: asOf }, frame)} <span id="connection" role="status"></span></p>
${chrome?.zone}
${chrome !== null && html`<p>${chrome.canSignOut && html`<a href="/sessions">${say(says.sessions, frame)}</a> · `}<a href="/audit">${say(says.audit, frame)}</a> · <a href="/api/v1/openapi.json">API</a> · <a href="/metrics">${say(says.metrics, frame)}</a></p>`}
</footer>
</body>
</html>
`;
}

function navigation({ current, canSignOut }: Chrome, frame: Frame): Html {
  const link = (page: PageName): Html =>
    choiceLink(page === 'overview' ? '/' : `/${page}`, say(pages[page], frame), page === current, 'page');
  return html`<nav aria-label="${say(says.pages, frame)}">${navigated.map(link)}</nav>
${canSignOut && html`<form class="sign-out" method="post" action="/sign-out"><button class="quiet">${say(says.signOut, frame)}</button></form>`}`;
}

const navigated = ['overview', 'alerts', 'pay', 'silences', 'review', 'messages'] as const;

/** Every icon, once. They differ in shape, not only in colour. */
const sprite = new Html(`<svg class="sprite" width="0" height="0" aria-hidden="true" focusable="false">
<pattern id="not-read" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="8"/></pattern>
<symbol id="i-mark" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5c73"/><path d="M5 12.5c2.8-2.6 5.2-2.6 8 0s5.2 2.6 8 0 4.4-2.3 6-1" fill="none" stroke="#9adcf0" stroke-width="2.6" stroke-linecap="round"/><path d="M5 19.500h22" stroke="#ffd479" stroke-width="2.6" stroke-linecap="round" stroke-dasharray="3.5 4.2"/><path d="M5 25.500h22" stroke="#9adcf0" stroke-width="2.6" stroke-linecap="round" opacity=".45"/></symbol>
<symbol id="i-critical" viewBox="0 0 16 16"><path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor"/><path d="M8 4.200v4.600M8 11.200v.6" stroke="var(--surface)" stroke-width="2" stroke-linecap="round"/></symbol>
<symbol id="i-warning" viewBox="0 0 16 16"><path d="M8 1.2 15.3 14.500H.7z" fill="currentColor" stroke="currentColor" stroke-linejoin="round"/><path d="M8 6v3.700M8 12v.3" stroke="var(--surface)" stroke-width="1.8" stroke-linecap="round"/></symbol>
<symbol id="i-info" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="currentColor"/><path d="M8 7.400v4.200M8 4.300v.3" stroke="var(--surface)" stroke-width="2" stroke-linecap="round"/></symbol>
<symbol id="i-good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m4.8 8.2 2.3 2.3 4.2-4.7" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="i-pending" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M8 4v4.200l2.8 1.7" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></symbol>
<symbol id="i-unread" viewBox="0 0 16 16"><path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M3 14 13 2" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></symbol>
<symbol id="i-neutral" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="3 2.3"/></symbol>
<symbol id="i-silence" viewBox="0 0 16 16"><path d="M3 11.500V7a5 5 0 0 1 10 0v4.500zM6.5 13.800h3" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/><path d="m2 1.5 12 13" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></symbol>
<symbol id="i-person" viewBox="0 0 16 16"><circle cx="8" cy="5" r="3" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M2.5 14c.6-3 2.7-4.5 5.5-4.500s4.9 1.5 5.5 4.5" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></symbol>
</svg>`);
