import type { AlertView, LiveViews } from '../../views/views.ts';
import type { Guard } from '../access.ts';
import { requireAttempt } from '../access.ts';
import { verifyAcknowledgement } from '../ack-link.ts';
import { accept, parseInput, parseSilenceOrder } from '../api/input.ts';
import { findAccount, findAlert } from '../api/routes.ts';
import { acknowledgeOrderSchema } from '../api/schema.ts';
import type { Call } from '../call.ts';
import { type HtmlValue, html } from '../html.ts';
import { isSecure } from '../origin.ts';
import { type Reply, RequestError, sendOn, sendPage } from '../reply.ts';
import type { Route } from '../router.ts';
import type { Sessions } from '../session.ts';
import { renderAccount } from './account.ts';
import { renderAckAnswer, renderAckQuestion } from './ack-link.ts';
import { type Chrome, type LayoutOptions, layOut } from './layout.ts';
import { channelTable, messageTable } from './messages.ts';
import { renderOverview } from './overview.ts';
import { ifReadable } from './readable.ts';
import { renderSignIn } from './sign-in.ts';
import { renderSilences } from './silences.ts';
import { nameOf } from './words.ts';

export interface PageOptions {
  readonly views: LiveViews;
  readonly guard: Guard;
  readonly ackKey: Buffer;
  readonly timezone: string;
}

const listedMessages = 200;

/** What a form did, as the page after it says. The address names one of these, never the words themselves. */
const doneWords: Readonly<Record<string, string>> = {
  acknowledged: 'Acknowledged. Reminders and escalation stop until it resolves or gets worse.',
  silenced: 'Silenced.',
  expired: 'The silence has ended.',
  polled: 'Polled.',
  'poll-failed': 'Polled, but the balance could not be read.',
};

/** The pages, and the forms on them. Every page is complete without a script. */
export function createPageRoutes(options: PageOptions): readonly Route[] {
  const page = (pattern: string, handle: Route['handle']): Route => ({
    method: 'GET',
    pattern,
    access: 'page',
    handle,
  });
  const form = (pattern: string, handle: Route['handle']): Route => ({
    method: 'POST',
    pattern,
    access: 'page',
    handle,
  });
  const open = (method: 'GET' | 'POST', pattern: string, handle: Route['handle']): Route => {
    return { method, pattern, access: 'open', handle };
  };
  return [
    page('/', (call) => showOverview(options, call)),
    page('/accounts/{id}', (call) => showAccount(options, call)),
    page('/silences', (call) => showSilences(options, call)),
    page('/messages', (call) => showMessages(options, call)),
    form('/alerts/{account}/{rule}/acknowledge', (call) => acknowledge(options, call)),
    form('/silences', (call) => silence(options, call)),
    form('/silences/{id}/expire', (call) => expireSilence(options, call)),
    form('/accounts/{id}/poll', (call) => pollNow(options, call)),
    open('GET', '/sign-in', (call) => showSignIn(options, call)),
    open('POST', '/sign-in', (call) => signIn(options, call)),
    open('POST', '/sign-out', (call) => signOut(options, call)),
    open('GET', '/ack', (call) => askAcknowledge(options, call)),
    open('POST', '/ack', (call) => acknowledgeByLink(options, call)),
  ];
}

function showOverview(options: PageOptions, call: Call): Reply {
  const { title, content } = renderOverview(options.views, call.query, frameOf(options, call));
  return show(options, call, { title, content, current: 'overview', scripts: ['live.js'] });
}

function showAccount(options: PageOptions, call: Call): Reply {
  const account = findAccount(options.views, call);
  return show(options, call, {
    title: `${nameOf(account.name)} · lowwater`,
    content: renderAccount(options.views, account, call.query, frameOf(options, call)),
    current: null,
    scripts: ['live.js', 'chart.js'],
    styles: ['uplot.css'],
  });
}

function showSilences(options: PageOptions, call: Call): Reply {
  const content = renderSilences(options.views, frameOf(options, call));
  return show(options, call, {
    title: 'Silences · lowwater',
    content,
    current: 'silences',
    scripts: ['live.js'],
  });
}

function showMessages(options: PageOptions, call: Call): Reply {
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

async function acknowledge({ views }: PageOptions, { params, readForm }: Call): Promise<Reply> {
  const form = await readForm();
  const { account = '', rule = '' } = params;
  accept(views.acknowledge({ account, rule, ...readPerson(form) }));
  return sendBack(form, 'acknowledged');
}

async function silence({ views }: PageOptions, { readForm, now }: Call): Promise<Reply> {
  const form = await readForm();
  const match = Object.fromEntries(
    ['account', 'rule', 'severity'].flatMap((key) => {
      const value = form.get(key)?.trim() ?? '';
      return value === '' ? [] : [[key, value]];
    }),
  );
  accept(views.silence(parseSilenceOrder({ match, for: form.get('for') ?? '', ...readPerson(form) }, now)));
  return sendBack(form, 'silenced');
}

async function expireSilence({ views }: PageOptions, { params, readForm }: Call): Promise<Reply> {
  const form = await readForm();
  accept(views.expireSilence(params.id ?? ''));
  return sendBack(form, 'expired');
}

async function pollNow({ views }: PageOptions, call: Call): Promise<Reply> {
  const form = await call.readForm();
  const { outcome } = accept(await views.pollNow(findAccount(views, call).id));
  return sendBack(form, outcome === 'ok' ? 'polled' : 'poll-failed');
}

function showSignIn(options: PageOptions, call: Call): Reply {
  const next = readOwnPath(call.query.get('next'));
  if (call.signedIn) return sendOn(next);
  return show(options, call, {
    title: 'Sign in · lowwater',
    content: renderSignIn(next, null),
    chrome: null,
  });
}

async function signIn(options: PageOptions, call: Call): Promise<Reply> {
  const { sessions, attempts, settings } = options.guard;
  const form = await call.readForm();
  const next = readOwnPath(form.get('next'));
  if (sessions === null) return sendOn(next);
  requireAttempt(attempts, call.address);
  if (sessions.isToken(form.get('token') ?? '')) {
    return sendOn(next, { 'set-cookie': sessions.open(isSecure(call.headers, settings)) });
  }
  attempts.recordFailure(call.address);
  const content = renderSignIn(next, 'That is not the token.');
  return show(options, call, { title: 'Sign in · lowwater', content, chrome: null, status: 401 });
}

function signOut({ guard }: PageOptions, call: Call): Reply {
  const sessions: Sessions | null = guard.sessions;
  return sendOn(
    '/sign-in',
    sessions === null ? {} : { 'set-cookie': sessions.close(isSecure(call.headers, guard.settings)) },
  );
}

function askAcknowledge(options: PageOptions, call: Call): Reply {
  const found = findLinked(options, call.query, call.now);
  if (found.kind === 'answer') return showAnswer(options, call, found);
  const content = renderAckQuestion(found.alert, call.query, frameOf(options, call));
  return show(options, call, { title: 'Acknowledge · lowwater', content, chrome: null });
}

async function acknowledgeByLink(options: PageOptions, call: Call): Promise<Reply> {
  const form = await call.readForm();
  const found = findLinked(options, form, call.now);
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
  readonly status: number;
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

function showAnswer(options: PageOptions, call: Call, { heading, words, status }: LinkAnswer): Reply {
  const content = renderAckAnswer(heading, html`${words}`);
  return show(options, call, { title: `${heading} · lowwater`, content, chrome: null, status });
}

interface Shown extends Pick<LayoutOptions, 'title' | 'content' | 'scripts' | 'styles'> {
  readonly current?: Chrome['current'];
  readonly chrome?: null;
  readonly status?: number;
}

function show(
  options: PageOptions,
  call: Call,
  { current = null, chrome, status = 200, ...shown }: Shown,
): Reply {
  const done = doneWords[call.query.get('done') ?? ''];
  const { sessions } = options.guard;
  return sendPage(
    layOut({
      ...shown,
      frame: frameOf(options, call),
      chrome:
        chrome === null
          ? null
          : { current, canSignOut: sessions !== null, version: options.views.status().version },
      ...(done === undefined ? {} : { done }),
    }),
    status,
  );
}

function frameOf({ timezone }: PageOptions, { now }: Call): LayoutOptions['frame'] {
  return { now, timezone };
}

function readPerson(form: URLSearchParams): { readonly by: string; readonly comment: string } {
  const { by = '', comment = '' } = parseInput(acknowledgeOrderSchema, {
    by: form.get('by') ?? '',
    comment: form.get('comment') ?? '',
  });
  return { by: by.trim() === '' ? 'page' : by.trim(), comment: comment.trim() };
}

/** Back to the page that showed the form, which then says what was done. */
function sendBack(form: URLSearchParams, done: string): Reply {
  const url = new URL(readOwnPath(form.get('back')), 'http://own');
  url.searchParams.set('done', done);
  return sendOn(url.pathname + url.search);
}

/** A path of this server; anything that could lead elsewhere becomes the overview. */
function readOwnPath(text: string | null): string {
  if (text === null || !text.startsWith('/') || text.length > 2_000) return '/';
  const url = URL.parse(text, 'http://own');
  if (url === null) throw new RequestError('bad_request', 'The address to return to cannot be read.');
  return url.origin === 'http://own' ? url.pathname + url.search : '/';
}
