import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AlertView, LiveViews } from '../../views/views.ts';
import type { Guard } from '../access.ts';
import { verifyAcknowledgement } from '../ack-link.ts';
import { findAccount, findAlert } from '../api/find.ts';
import { accept, parseInput } from '../api/input.ts';
import { acknowledgeOrderSchema, readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { type HtmlValue, html } from '../html.ts';
import { isSecure } from '../origin.ts';
import { RequestError } from '../refusal.ts';
import { type Call, callerOf, type WebApp } from '../web-env.ts';
import { renderAccount } from './account.ts';
import { renderAckAnswer, renderAckQuestion } from './ack-link.ts';
import { type Chrome, type LayoutOptions, layOut, type Worst } from './layout.ts';
import { channelTable, messageTable } from './messages.ts';
import { renderNotices } from './notices.ts';
import { renderOverview } from './overview.ts';
import { ifReadable } from './readable.ts';
import { renderSignIn } from './sign-in.ts';
import { renderSilences } from './silences.ts';
import { type Frame, nameOf } from './words.ts';

export interface PageOptions {
  readonly views: LiveViews;
  readonly guard: Guard;
  readonly ackKey: Buffer;
  readonly timezone: string;
}

const listedMessages = 200;

/** What a form did, as the page after it says. The address names one of these, never the words themselves. */
const doneWords: ReadonlyMap<string, string> = new Map([
  ['acknowledged', 'Acknowledged. Reminders and escalation stop until it resolves or gets worse.'],
  ['silenced', 'Silenced.'],
  ['expired', 'The silence has ended.'],
  ['polled', 'Polled.'],
  ['poll-failed', 'Polled, but the balance could not be read.'],
]);

/** Pages that ask nobody to sign in. */
export function addOpenPages(app: WebApp, options: PageOptions): void {
  app.get('/sign-in', (call) => showSignIn(options, call));
  app.post('/sign-in', (call) => signIn(options, call));
  app.post('/sign-out', (call) => signOut(options, call));
  app.get('/ack', (call) => askAcknowledge(options, call));
  app.post('/ack', (call) => acknowledgeByLink(options, call));
}

/** The pages, and the forms on them. Every page is complete without a script. */
export function addPages(app: WebApp, options: PageOptions): void {
  app.get('/', (call) => showOverview(options, call));
  app.get('/accounts/:id', (call) => showAccount(options, call));
  app.get('/silences', (call) => showSilences(options, call));
  app.get('/messages', (call) => showMessages(options, call));
  app.post('/alerts/:account/:rule/acknowledge', (call) => acknowledge(options, call));
  app.post('/silences', (call) => silence(options, call));
  app.post('/silences/:id/expire', (call) => expireSilence(options, call));
  app.post('/accounts/:id/poll', (call) => pollNow(options, call));
}

function showOverview(options: PageOptions, call: Call): Response {
  const content = renderOverview(options.views, queryOf(call), frameOf(options, call));
  return show(options, call, { title: 'lowwater', content, current: 'overview', scripts: ['live.js'] });
}

function showAccount(options: PageOptions, call: Call): Response {
  const account = findAccount(options.views, call.req.param('id') ?? '');
  return show(options, call, {
    title: `${nameOf(account.name)} · lowwater`,
    content: renderAccount(options.views, account, queryOf(call), frameOf(options, call)),
    current: null,
    scripts: ['live.js', 'chart.js'],
    styles: ['uplot.css'],
  });
}

function showSilences(options: PageOptions, call: Call): Response {
  const content = renderSilences(options.views, frameOf(options, call));
  return show(options, call, {
    title: 'Silences · lowwater',
    content,
    current: 'silences',
    scripts: ['live.js'],
  });
}

function showMessages(options: PageOptions, call: Call): Response {
  const { views } = options;
  const frame = frameOf(options, call);
  const content = html`<h1>Messages</h1><div data-live="messages">${ifReadable(() => messageTable(views, views.notifications(listedMessages), frame))}</div>
<section aria-labelledby="channels-heading"><h2 id="channels-heading">Channels</h2><div data-live="channels">${channelTable(views.channels(), frame)}</div></section>`;
  return show(options, call, {
    title: 'Messages · lowwater',
    content,
    current: 'messages',
    scripts: ['live.js'],
  });
}

async function acknowledge({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const { account = '', rule = '' } = call.req.param();
  accept(views.acknowledge({ account, rule, ...readPerson(form) }));
  return sendBack(call, form, 'acknowledged');
}

async function silence({ views }: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const match = Object.fromEntries(
    ['account', 'rule', 'severity'].flatMap((key) => {
      const value = form.get(key)?.trim() ?? '';
      return value === '' ? [] : [[key, value]];
    }),
  );
  const order = parseInput(silenceOrderSchema, { match, for: form.get('for') ?? '', ...readPerson(form) });
  accept(views.silence(readSilenceOrder(order, call.get('now'))));
  return sendBack(call, form, 'silenced');
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

function showSignIn(options: PageOptions, call: Call): Response {
  const next = readOwnPath(call.req.query('next'));
  if (call.get('signedIn')) return call.redirect(next, 303);
  return show(options, call, {
    title: 'Sign in · lowwater',
    content: renderSignIn(next, null),
    chrome: null,
  });
}

async function signIn(options: PageOptions, call: Call): Promise<Response> {
  const { sessions, attempts, settings } = options.guard;
  const form = await readForm(call);
  const next = readOwnPath(form.get('next') ?? undefined);
  if (sessions === null) return call.redirect(next, 303);
  if (sessions.isToken(form.get('token') ?? '')) {
    call.header('set-cookie', sessions.open(isSecure(call.env.incoming.headers, settings)));
    return call.redirect(next, 303);
  }
  const seconds = await attempts.recordFailure(callerOf(call).address);
  const content = renderSignIn(
    next,
    seconds === null
      ? 'That is not the token.'
      : `That is not the token. Answers are slow for ${seconds} seconds.`,
  );
  const status = seconds === null ? 401 : 429;
  return show(options, call, { title: 'Sign in · lowwater', content, chrome: null, status });
}

/** The session ends here, and the browser forgets its cookie. */
function signOut({ guard: { sessions, settings } }: PageOptions, call: Call): Response {
  if (sessions !== null) {
    const { headers } = call.env.incoming;
    call.header('set-cookie', sessions.close(headers.cookie, isSecure(headers, settings)));
  }
  return call.redirect('/sign-in', 303);
}

function askAcknowledge(options: PageOptions, call: Call): Response {
  const query = queryOf(call);
  const found = findLinked(options, query, call.get('now'));
  if (found.kind === 'answer') return showAnswer(options, call, found);
  const content = renderAckQuestion(found.alert, query, frameOf(options, call));
  return show(options, call, { title: 'Acknowledge · lowwater', content, chrome: null });
}

async function acknowledgeByLink(options: PageOptions, call: Call): Promise<Response> {
  const form = await readForm(call);
  const found = findLinked(options, form, call.get('now'));
  if (found.kind === 'answer') return showAnswer(options, call, found);
  const { account, rule } = found.alert;
  accept(options.views.acknowledge({ account, rule, ...readPerson(form) }));
  return showAnswer(options, call, {
    heading: 'Acknowledged',
    words: html`<bdi>${found.alert.summary}</bdi>. Reminders and escalation stop until it resolves or gets worse.`,
    status: 200,
  });
}

interface LinkAnswer {
  readonly heading: string;
  readonly words: HtmlValue;
  readonly status: ContentfulStatusCode;
}

/** The alert that a signed link speaks of, or the answer when there is nothing to acknowledge (any more). */
function findLinked(
  { views, ackKey }: PageOptions,
  query: URLSearchParams,
  now: number,
): { readonly kind: 'alert'; readonly alert: AlertView } | ({ readonly kind: 'answer' } & LinkAnswer) {
  const verified = verifyAcknowledgement(ackKey, query, now);
  if (verified.kind === 'forged') {
    return {
      kind: 'answer',
      heading: 'This link is not valid',
      words: 'It is incomplete or was changed.',
      status: 403,
    };
  }
  if (verified.kind === 'expired') {
    return {
      kind: 'answer',
      heading: 'This link has expired',
      words: 'Acknowledge on the page instead.',
      status: 403,
    };
  }
  const { account, rule, incident } = verified.grant;
  const alert = findAlert(views, account, rule);
  if (alert === null || alert.incident !== incident) {
    return {
      kind: 'answer',
      heading: 'Already over',
      words: 'The incident that this link speaks of has ended.',
      status: 200,
    };
  }
  if (alert.acknowledged !== null) {
    const words = html`<bdi>${alert.acknowledged.by}</bdi> has it: <bdi>${alert.summary}</bdi>`;
    return { kind: 'answer', heading: 'Already acknowledged', words, status: 200 };
  }
  return { kind: 'alert', alert };
}

function showAnswer(options: PageOptions, call: Call, { heading, words, status }: LinkAnswer): Response {
  const content = renderAckAnswer(heading, html`${words}`);
  return show(options, call, { title: `${heading} · lowwater`, content, chrome: null, status });
}

interface Shown extends Pick<LayoutOptions, 'title' | 'content' | 'scripts' | 'styles'> {
  readonly current?: Chrome['current'];
  readonly chrome?: null;
  readonly status?: ContentfulStatusCode;
}

function show(
  options: PageOptions,
  call: Call,
  { current = null, chrome, status = 200, ...shown }: Shown,
): Response {
  const done = doneWords.get(call.req.query('done') ?? '');
  const frame = frameOf(options, call);
  const whole = { ...shown, frame, ...(done === undefined ? {} : { done }) };
  if (chrome === null) return call.html(layOut({ ...whole, chrome }).markup, status);
  const { views, guard } = options;
  const needs = needsOf(views);
  const notices = renderNotices(views, guard.settings, frame, withoutDone(call));
  const { markup } = layOut({
    ...whole,
    title: needs.title === null ? shown.title : `${needs.title} · ${shown.title}`,
    worst: needs.worst,
    chrome: { current, canSignOut: guard.sessions !== null, version: views.status().version, notices },
  });
  return call.html(markup, status);
}

/** What title and tab show on every page: how many alerts need somebody, or that not all is known. */
function needsOf(views: LiveViews): { readonly worst: Worst; readonly title: string | null } {
  const urgent = [...views.firing()].filter(
    ({ acknowledged, silenced, inhibited }) => !acknowledged && !silenced && !inhibited,
  );
  for (const worst of ['critical', 'warning', 'info'] as const) {
    const count = urgent.filter(({ severity }) => severity === worst).length;
    if (count > 0) return { worst, title: `${count} ${worst}` };
  }
  const { accounts, unread } = views.counts();
  if (accounts > unread && unread === 0) return { worst: null, title: null };
  return { worst: 'unsure', title: `${unread} not read` };
}

/** The address of this page, to come back to. */
function withoutDone(call: Call): string {
  if (call.req.method !== 'GET') return '/';
  const url = new URL(call.req.url);
  url.searchParams.delete('done');
  return url.pathname + url.search;
}

function frameOf({ timezone }: PageOptions, call: Call): Frame {
  return { now: call.get('now'), timezone };
}

function readPerson(form: URLSearchParams): { readonly by: string; readonly comment: string } {
  const { by = '', comment = '' } = parseInput(acknowledgeOrderSchema, {
    by: form.get('by') ?? '',
    comment: form.get('comment') ?? '',
  });
  return { by: by.trim() === '' ? 'page' : by.trim(), comment: comment.trim() };
}

/** Back to the page that showed the form, which then says what was done. */
function sendBack(call: Call, form: URLSearchParams, done: string): Response {
  const url = new URL(readOwnPath(form.get('back') ?? undefined), 'http://own');
  url.searchParams.set('done', done);
  return call.redirect(url.pathname + url.search, 303);
}

/** A path of this server; anything that could lead elsewhere becomes the overview. */
function readOwnPath(text: string | undefined): string {
  if (text === undefined || !text.startsWith('/') || text.length > 2_000) return '/';
  const url = URL.parse(text, 'http://own');
  if (url === null || url.origin !== 'http://own') return '/';
  // Dots that were resolved, as in `/..//name`, can leave two slashes in front, and those name a host.
  const path = url.pathname + url.search;
  return /^\/(?![/\\])/.test(path) ? path : '/';
}

function queryOf(call: Call): URLSearchParams {
  return new URL(call.req.url).searchParams;
}

async function readForm({ req }: Call): Promise<URLSearchParams> {
  const type = (req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new RequestError('unsupported_media_type', 'The body must be application/x-www-form-urlencoded.');
  return new URLSearchParams(await req.text());
}
