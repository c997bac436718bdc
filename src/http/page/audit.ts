import { displayName } from '../../domain/alert.ts';
import type { AuditEntry } from '../../domain/operator.ts';
import type { LiveViews } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { pageOfTime } from '../api/paging.ts';
import { accountPath } from './forms.ts';
import { live } from './live.ts';
import { type Frame, momentAndAge, nameOf, unknown } from './words.ts';

const actionsAPage = 100;

/** Who did what, when, from where: newest first. */
export async function renderAudit(views: LiveViews, query: URLSearchParams, frame: Frame): Promise<Html> {
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
    : html`<div class="scroll" role="group" aria-label="Actions" tabindex="0"><table class="cards compact">
<thead><tr><th scope="col">Who</th><th scope="col">Action</th><th scope="col">Account</th><th scope="col">Rule</th><th scope="col">Details</th><th scope="col">When</th><th scope="col">From</th></tr></thead>
<tbody>${page.items.map((entry) => actionRow(entry, names, frame))}</tbody></table></div>`,
)}
<nav class="pager" aria-label="Pages of actions">${cursor !== undefined && html`<a href="/audit">Newest</a> `}${page.nextCursor !== null && html`<a href="/audit?${next.toString()}">Older</a>`}</nav>
<p class="download"><a href="/api/v1/audit">By the API</a></p>`;
}

function actionRow(
  { at, by, from, action, account, rule, detail }: AuditEntry,
  names: ReadonlyMap<string, string>,
  frame: Frame,
): Html {
  const known = account === null ? undefined : names.get(account);
  const subject =
    known === undefined
      ? html`<bdi>${account === null ? '' : displayName(account)}</bdi>`
      : html`<a href="${accountPath(account ?? '')}"><bdi>${nameOf(known)}</bdi></a>`;
  return html`<tr><th scope="row"><bdi>${by}</bdi></th><td data-label="Action">${action.replaceAll('-', ' ')}</td><td data-label="Account">${account === null ? unknown() : subject}</td>
<td data-label="Rule">${rule === null ? unknown() : html`<code>${rule}</code>`}</td><td data-label="Details"><bdi>${detail}</bdi></td><td data-label="When">${momentAndAge(at, frame)}</td><td data-label="From">${from ?? unknown()}</td></tr>`;
}
