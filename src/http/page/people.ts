import type { AuditEntry } from '../../domain/operator.ts';
import { onStorageError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Html, html } from '../../wording/html.ts';
import { sayMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { addressOf, isSecure } from '../access.ts';
import { pageOfList, pageOfTime } from '../api/input.ts';
import { known, RequestError, refusals } from '../refusal.ts';
import { keptLengthMs, type Session } from '../session.ts';
import type { WebContext } from '../web-env.ts';
import { live } from './live.ts';
import { momentAndAge, subjectLink, table, unknown } from './markup.ts';
import { pager } from './pager.ts';
import { common, type Frame, pages, type Scope, withQuery } from './words.ts';

const maxAgentLength = 200;

const says = phrases('people', {
  sessionsLead:
    'Browsers that are signed in. A session goes on while it is used; a new token ends all of them.',
  nobody: 'Nobody is signed in.',
  browser: 'Browser',
  may: 'May',
  from: 'From',
  used: 'Used',
  ends: 'Ends',
  unnamed: 'unnamed',
  own: 'this browser',
  viewer: 'look',
  operator: 'look and act',
  auditLead:
    'What people did on pages, by the API and on the command line. Names come from the trusted proxy, else from what they typed.',
  nothing: 'Nobody has done anything yet.',
  actions: 'Actions',
  who: 'Who',
  action: 'Action',
  details: 'Details',
  when: 'When',
  api: 'By the API',
});

const acts = phrases('act', {
  acknowledge: 'acknowledge',
  'cancel-expected': 'cancel expected',
  'end-session': 'end session',
  'expect-spending': 'expect spending',
  'expect-top-up': 'expect top up',
  'expire-silence': 'expire silence',
  'extend-silence': 'extend silence',
  'hand-over': 'hand over',
  poll: 'poll',
  'renew-calendar-key': 'renew calendar key',
  report: 'report',
  silence: 'silence',
  unacknowledge: 'unacknowledge',
});

/** Gives the browser a new or longer session, and stores it for the list. */
export function keepSession(context: WebContext, session: Session): void {
  const { site } = context.var;
  const { incoming } = context.env;
  if (site.sessions === null) return;
  context.header('set-cookie', site.sessions.cookieOf(session, isSecure(site, incoming)), { append: true });
  const agent = cleanText(incoming.headers['user-agent'] ?? '', maxAgentLength);
  const { id, role, endsAt } = session;
  const from = addressOf(site, incoming);
  context.var.views.recordSession({ id, role, endsAt, usedAt: context.get('now'), from, agent });
}

const sessionsAPage = 50;

/** The signed-in browsers, each with a button that ends its session. */
export async function renderSessions(scope: Scope): Promise<Html> {
  const listed = known(scope.views).sessions();
  const sessions = listed.filter(({ endsAt }) => endsAt > scope.now);
  const cursor = scope.query.get('cursor') || null;
  const { items, nextCursor } = pageOfList(sessions, { limit: sessionsAPage, cursor }, ({ id }) => id);
  const rows = items.map(({ id, role, from, agent, usedAt, endsAt }) => {
    const browser = agent || say(says.unnamed, scope);
    return html`<tr data-key="${id}"><th scope="row"><bdi>${browser}</bdi>${id === scope.session && html` <span class="sub">${say(says.own, scope)}</span>`}</th><td data-label="${say(says.may, scope)}">${say(says[role], scope)}</td><td data-label="${say(says.from, scope)}">${from}</td><td data-label="${say(says.used, scope)}">${momentAndAge(usedAt, scope)}</td><td data-label="${say(says.ends, scope)}">${momentAndAge(endsAt, scope)}</td>
<td data-label="${say(common.change, scope)}"><form method="post" action="/sessions/${encodeURIComponent(id)}/end"><input type="hidden" name="back" value="/sessions"><button class="quiet">${say(common.end, scope)}<span class="hidden"> ${browser}, ${from}, ${sayMoment(usedAt, scope)}</span></button></form></td></tr>`;
  });
  return html`<h1>${say(pages.sessions, scope)}</h1><p class="lead">${say(says.sessionsLead, scope)}</p>
${live('sessions', sessions.length === 0 ? html`<p class="empty">${say(says.nobody, scope)}</p>` : table(say(pages.sessions, scope), 'cards compact', html`<th scope="col">${say(says.browser, scope)}</th><th scope="col">${say(says.may, scope)}</th><th scope="col">${say(says.from, scope)}</th><th scope="col">${say(says.used, scope)}</th><th scope="col">${say(says.ends, scope)}</th><th scope="col">${say(common.change, scope)}</th>`, rows))}
${pager((place) => withQuery('/sessions', { cursor: place }), { cursor, nextCursor }, scope)}`;
}

/** Ends a listed session. The list does not store for how long a copy of its cookie would be valid, so the longest time is assumed. */
export async function endListedSession(context: WebContext, id: string, by: string): Promise<void> {
  const { views, now } = context.var;
  const sessions = known(views).sessions();
  if (!sessions.some((session) => session.id === id))
    throw new RequestError('not_found', refusals.noSession());
  await endSession(context, { id, endsAt: now + keptLengthMs }, by);
}

/** Ends a session here even if the order cannot be stored: nobody stays signed in because a database does not answer. */
export async function endSession(
  { var: { site, door } }: WebContext,
  { id, endsAt }: Pick<Session, 'id' | 'endsAt'>,
  by = '',
): Promise<void> {
  site.views.endSession(id);
  await door.give({ kind: 'end-session', id, endsAt }, by).catch(onStorageError(null));
}

const actionsAPage = 100;

/** The audit, with person, instant and address of each order: newest first. */
export async function renderAudit(scope: Scope): Promise<Html> {
  const { views, query } = scope;
  const cursor = query.get('cursor') || null;
  const { items, nextCursor } = await pageOfTime(
    { limit: actionsAPage, cursor },
    async ({ limit, before }) => known(views).audit({ since: 0, before, limit }),
    ({ at }) => at,
  );
  const names = new Map(views.choices().accounts);
  return html`<h1>${say(pages.audit, scope)}</h1><p class="lead">${say(says.auditLead, scope)}</p>
${live(
  'audit',
  items.length === 0
    ? html`<p class="empty">${say(says.nothing, scope)}</p>`
    : table(
        say(says.actions, scope),
        'cards compact',
        html`<th scope="col">${say(says.who, scope)}</th><th scope="col">${say(says.action, scope)}</th><th scope="col">${say(common.account, scope)}</th><th scope="col">${say(common.rule, scope)}</th><th scope="col">${say(says.details, scope)}</th><th scope="col">${say(says.when, scope)}</th><th scope="col">${say(says.from, scope)}</th>`,
        items.map((entry) => actionRow(entry, names, scope)),
      ),
)}
${pager((place) => withQuery('/audit', { cursor: place }), { cursor, nextCursor }, scope)}
<p class="download"><a href="/api/v1/audit">${say(says.api, scope)}</a></p>`;
}

function actionRow(
  { at, by, from, action, account, rule, detail }: AuditEntry,
  names: ReadonlyMap<string, string>,
  frame: Frame,
): Html {
  const act = ownOf(acts, action);
  return html`<tr><th scope="row"><bdi>${by}</bdi></th><td data-label="${say(says.action, frame)}">${act === undefined ? action.replaceAll('-', ' ') : say(act, frame)}</td><td data-label="${say(common.account, frame)}">${account === null ? unknown(frame) : subjectLink(account, names)}</td>
<td data-label="${say(common.rule, frame)}">${rule === null ? unknown(frame) : html`<code>${rule}</code>`}</td><td data-label="${say(says.details, frame)}"><bdi>${detail}</bdi></td><td data-label="${say(says.when, frame)}">${momentAndAge(at, frame)}</td><td data-label="${say(says.from, frame)}">${from ?? unknown(frame)}</td></tr>`;
}
