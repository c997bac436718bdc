import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AccountView, AlertView, FiringView } from '../../views/views.ts';
import { type Html, type HtmlValue, html } from '../../wording/html.ts';
import { verifyAcknowledgement, verifyLink } from '../ack-link.ts';
import type { WebContext } from '../web-env.ts';
import { accountLinks, summaryOf } from './alerts.ts';
import { personFields, readForm, readPerson, readSeen, seenFields } from './forms.ts';
import { show } from './show.ts';
import { accountPath, age, badge, severityWord } from './words.ts';

interface Linked {
  readonly alert: AlertView;
  /** Null for what is about lowwater itself, or an account that was removed. */
  readonly account: AccountView | null;
}

/**
 * Asks before a link from a message acts: previews of links open them too. The signed query goes along with
 * the form.
 */
export async function askAcknowledge(
  context: WebContext,
  query: URLSearchParams = context.var.visit.query,
): Promise<Response> {
  const { visit } = context.var;
  const found = await findLinked(context, query);
  if (found instanceof Response) return found;
  const { alert } = found;
  const content = html`<section class="panel narrow"><h1>Acknowledge this alert?</h1>
<p>${badge(alert.severity, severityWord(alert.severity))} <strong><bdi>${summaryOf(alert)}</bdi></strong></p>
<p class="soft">rule <code>${alert.rule}</code> · since ${age(alert.since, visit)}</p>
<p>Reminders and escalation stop until it resolves or gets worse.</p>
<form method="post" action="/ack">${[...query].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${seenFields(alert)}${personFields()}<button>Acknowledge</button></form>${whatNext(found)}</section>`;
  return show(context, { title: 'Acknowledge · lowwater', content, chrome: null });
}

export async function acknowledgeByLink(context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const linked = await findLinked(context, form);
  if (linked instanceof Response) return linked;
  const { account, rule, summary } = linked.alert;
  const { by, comment } = readPerson(form);
  await context.var.door.give({ kind: 'acknowledge', account, rule, comment, ...readSeen(form) }, by);
  const words = html`<bdi>${summary}</bdi>. Reminders and escalation stop until it resolves or gets worse.`;
  return showAnswer(context, 'Acknowledged', words, { linked });
}

const forged =
  'It is incomplete, was changed, or was signed with a key that this lowwater no longer has. Acknowledge on the page instead.';

/** The alert that a signed link speaks of, or the answer when there is nothing to acknowledge (any more). */
async function findLinked(context: WebContext, query: URLSearchParams): Promise<Linked | Response> {
  const { views, now, site } = context.var;
  const link = query.get('link');
  const keys = [...views.linkKeys(), site.ackKey];
  const verified = link === null ? verifyAcknowledgement(keys, query, now) : verifyLink(keys, link, now);
  if (verified.kind === 'forged')
    return showAnswer(context, 'This link is not valid', forged, { status: 403 });
  if (verified.kind === 'expired')
    return showAnswer(context, 'This link has expired', 'Acknowledge on the page instead.', { status: 403 });
  const granted = 'grant' in verified ? verified.grant : findGranted(views.firing(), verified.isOf);
  const { account, rule, incident } = granted ?? { account: '', rule: '', incident: null };
  const alert = await views.alert(account, rule);
  if (alert === null || alert.incident !== incident)
    return showAnswer(context, 'Already over', 'The incident that this link speaks of has ended.');
  const linked = { alert, account: await views.account(account) };
  if (alert.acknowledged === null) return linked;
  const words = html`<bdi>${alert.acknowledged.by}</bdi> has it: <bdi>${alert.summary}</bdi>`;
  return showAnswer(context, 'Already acknowledged', words, { linked });
}

function findGranted(firing: Iterable<FiringView>, isOf: (incident: string) => boolean): FiringView | null {
  for (const alert of firing) if (alert.incident !== null && isOf(alert.incident)) return alert;
  return null;
}

/** What came of a link, or why it does nothing; `linked` where there is still something to do. */
function showAnswer(
  context: WebContext,
  heading: string,
  words: HtmlValue,
  { status, linked }: { readonly status?: ContentfulStatusCode; readonly linked?: Linked } = {},
): Response {
  const content = html`<section class="panel narrow"><h1>${heading}</h1><p>${words}</p>${linked && whatNext(linked)}<p><a href="/">Open the overview</a></p></section>`;
  return show(context, { title: `${heading} · lowwater`, content, chrome: null, status });
}

function whatNext({ alert, account }: Linked): Html | null {
  if (account === null) return null;
  const links = accountLinks(account, alert.balance !== null);
  return html`${account.note === null ? null : html`<p><bdi>${account.note}</bdi></p>`}
<p class="act-line">${links.map((link) => html`${link} `)}<a href="${accountPath(account.id)}">Open account</a></p>`;
}
