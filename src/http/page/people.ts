import { displayName } from '../../domain/alert.ts';
import type { AuditEntry } from '../../domain/operator.ts';
import { onStorageError } from '../../domain/operator-error.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Html, html } from '../../wording/html.ts';
import { addressOf, isSecure } from '../access.ts';
import { pageOfList, pageOfTime } from '../api/input.ts';
import { RequestError } from '../refusal.ts';
import { keptLengthMs, type Session } from '../session.ts';
import type { WebContext } from '../web-env.ts';
import { live } from './live.ts';
import { accountLink, type Frame, momentAndAge, table, unknown, type Visit } from './words.ts';

const maxAgentLength = 200;

/** Gives the browser a session, new or longer, and keeps it for the list. */
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

/** Browsers that are signed in, each with the button that ends it. */
export async function renderSessions(visit: Visit): Promise<Html> {
  const sessions = visit.views.sessions().filter(({ endsAt }) => endsAt > visit.now);
  const cursor = visit.query.get('cursor') || undefined;
  const page = pageOfList(sessions, { limit: sessionsAPage, cursor }, ({ id }) => id);
  const rows = page.items.map(
    ({ id, role, from, agent, usedAt, endsAt }) =>
      html`<tr><th scope="row"><bdi>${agent === '' ? 'unnamed' : agent}</bdi></th><td data-label="May">${role === 'viewer' ? 'look' : 'look and act'}</td><td data-label="From">${from}</td><td data-label="Used">${momentAndAge(usedAt, visit)}</td><td data-label="Ends">${momentAndAge(endsAt, visit)}</td>
<td data-label="Change it"><form method="post" action="/sessions/${encodeURIComponent(id)}/end"><input type="hidden" name="back" value="/sessions"><button class="quiet">End now</button></form></td></tr>`,
  );
  return html`<h1>Sessions</h1><p class="lead">Browsers that are signed in. A session goes on while it is used; a new token ends all of them.</p>
${live('sessions', sessions.length === 0 ? html`<p class="empty">Nobody is signed in.</p>` : html`<div class="scroll" role="group" aria-label="Sessions" tabindex="0"><table class="cards compact"><thead><tr><th scope="col">Browser</th><th scope="col">May</th><th scope="col">From</th><th scope="col">Used</th><th scope="col">Ends</th><th scope="col">Change it</th></tr></thead><tbody>${rows}</tbody></table></div>`)}
${page.nextCursor !== null && html`<nav class="pager" aria-label="Pages of sessions"><a href="/sessions?${new URLSearchParams({ cursor: page.nextCursor }).toString()}">Next page</a></nav>`}`;
}

/** Ends a listed session. How long a copy of its cookie would go on is not stored: the longest time is taken. */
export async function endListedSession(context: WebContext, id: string, by: string): Promise<void> {
  const { views, now } = context.var;
  if (!views.sessions().some((session) => session.id === id))
    throw new RequestError('not_found', 'There is no such session.');
  await endSession(context, { id, endsAt: now + keptLengthMs }, by);
}

/** Ended here whether or not the order can be stored: nobody stays signed in because a database does not answer. */
export async function endSession(
  { var: { site, door } }: WebContext,
  { id, endsAt }: Pick<Session, 'id' | 'endsAt'>,
  by = '',
): Promise<void> {
  site.views.endSession(id);
  await door.give({ kind: 'end-session', id, endsAt }, by).catch(onStorageError(null));
}

const actionsAPage = 100;

/** Who did what, when, from where: newest first. */
export async function renderAudit(visit: Visit): Promise<Html> {
  const { views, query } = visit;
  const cursor = query.get('cursor') || undefined;
  const page = await pageOfTime(
    { limit: actionsAPage, cursor },
    async ({ limit, before }) => views.audit({ since: 0, before, limit }),
    ({ at }) => at,
  );
  const names = new Map(views.choices().accounts);
  const next = new URLSearchParams({ cursor: page.nextCursor ?? '' });
  return html`<h1>Audit</h1><p class="lead">What people did on pages, by the API and on the command line. Names come from the trusted proxy, else from what they typed.</p>
${live(
  'audit',
  page.items.length === 0
    ? html`<p class="empty">Nobody has done anything yet.</p>`
    : table(
        'Actions',
        'cards compact',
        html`<th scope="col">Who</th><th scope="col">Action</th><th scope="col">Account</th><th scope="col">Rule</th><th scope="col">Details</th><th scope="col">When</th><th scope="col">From</th>`,
        page.items.map((entry) => actionRow(entry, names, visit)),
      ),
)}
<nav class="pager" aria-label="Pages of actions">${cursor !== undefined && html`<a href="/audit">Newest</a> `}${page.nextCursor !== null && html`<a href="/audit?${next.toString()}">Older</a>`}</nav>
<p class="download"><a href="/api/v1/audit">By the API</a></p>`;
}

function actionRow(
  { at, by, from, action, account, rule, detail }: AuditEntry,
  names: ReadonlyMap<string, string>,
  frame: Frame,
): Html {
  const known = names.get(account ?? '');
  const subject =
    account === null || known === undefined
      ? html`<bdi>${account === null ? '' : displayName(account)}</bdi>`
      : accountLink({ id: account, name: known });
  return html`<tr><th scope="row"><bdi>${by}</bdi></th><td data-label="Action">${action.replaceAll('-', ' ')}</td><td data-label="Account">${account === null ? unknown() : subject}</td>
<td data-label="Rule">${rule === null ? unknown() : html`<code>${rule}</code>`}</td><td data-label="Details"><bdi>${detail}</bdi></td><td data-label="When">${momentAndAge(at, frame)}</td><td data-label="From">${from ?? unknown()}</td></tr>`;
}
