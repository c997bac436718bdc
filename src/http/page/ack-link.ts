import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { hourMs, weekMs } from '../../domain/time.ts';
import type { AccountView, AlertView, FiringView } from '../../views/views.ts';
import { type Html, type HtmlValue, html, sayHtml } from '../../wording/html.ts';
import { sayAge, sayNearMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { balanceLabel, sayBalance } from '../../wording/quantity-wording.ts';
import { type Granted, verifyAcknowledgement, verifyLink } from '../ack-link.ts';
import { findAccount } from '../api/input.ts';
import { known } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { buildChart, readSpan } from './chart-model.ts';
import { drawChart } from './chart-picture.ts';
import { keepName } from './cookies.ts';
import { hidden, nameField, readForm, readPerson, readSeen, seenFields } from './forms.ts';
import { badge, headlineOf, ifReadable } from './markup.ts';
import { refuseTopUp } from './order-top-up.ts';
import { givenBy, orderedFields } from './ordered.ts';
import { show } from './show.ts';
import { accountLinks, moneyOnItsWay, whenWords } from './to-pay.ts';
import { accountPath, common, type Scope, stateWord, withQuery } from './words.ts';

interface Linked {
  readonly alert: AlertView;
  /** The incident that the link is for. */
  readonly incident: string | null;
  /** Null for an alert about lowwater itself, or about an account that was removed. */
  readonly account: AccountView | null;
  /** When the link's incident ended, if the alert fires again since; else null. */
  readonly earlierEndedAt: number | null;
}

const says = phrases('link', {
  effect: 'Reminders and escalation stop until it resolves or gets worse.',
  acknowledged: 'Acknowledged',
  ordered: 'I ordered it',
  quiet: '{hours, plural, one {# hour quiet} other {# hours quiet}}',
  isQuiet: 'Quiet until {moment}',
  isQuietBefore: '{by} has asked for this already: quiet until {moment}',
  isOrdered: 'Ordered',
  has: '{by} has it, {age}.',
  hasBefore: '{by} has it already',
  nobody: 'Nobody has it yet.',
  open: 'Open account',
  overview: 'Open the overview',
  again:
    'This link is for an earlier incident, which ended {age}. The alert fires again: this is the new one.',
  over: 'Already over',
  overWhy: 'The incident that this link speaks of has ended.',
  expired: 'This link has expired',
  notValid: 'This link is not valid',
  notValidWhy:
    'It is incomplete, was changed, or was signed with a key that this lowwater no longer has. Acknowledge on the page instead.',
  onPage: 'Acknowledge on the page instead.',
});

const quietHours = 2;
/** The parameters that prove a link: the short form, or the long one. */
const signedFields = ['link', 'account', 'rule', 'incident', 'expires', 'signature'];

/** Shows the form and acts only when that is sent: previews of links open the page too. Each form carries the signed query. */
export async function askAcknowledge(
  context: WebContext,
  query: URLSearchParams = context.var.scope.query,
): Promise<Response> {
  const { scope } = context.var;
  const found = await findLinked(context, query);
  if (found instanceof Response) return found;
  const { alert, account, earlierEndedAt } = found;
  const [payment] = account?.payments.filter(({ balance }) => balance === alert.balance) ?? [];
  const signed = html`${[...query].map(([name, value]) => hidden(name, value))}`;
  const has =
    alert.acknowledged === null
      ? say(says.nobody, scope)
      : sayHtml(
          says.has,
          { by: html`<bdi>${alert.acknowledged.by}</bdi>`, age: sayAge(alert.acknowledged.at, scope) },
          scope,
        );
  const links = account === null ? [] : accountLinks(account, alert.balance !== null, scope);
  const content = html`<section class="panel narrow link"><h1>${badge(alert.severity, stateWord(alert.severity, scope))} ${headlineOf(alert, scope)}</h1>
${earlierEndedAt !== null && html`<p role="status">${say(says.again, { age: sayAge(earlierEndedAt, scope) }, scope)}</p>`}
<p>${whenWords(alert, account, scope)}</p>${account !== null && moneyOnItsWay(account, alert.balance, scope)}
<p>${has}</p>
<div class="acts">${links}${
    account !== null &&
    payment !== undefined &&
    html`<details class="act"><summary>${say(says.ordered, scope)}</summary>${orderedFields(account, givenBy(payment, '/'), scope, { action: '/ack', extra: html`${signed}${hidden('do', 'ordered')}` })}</details>`
  }${
    alert.acknowledged === null &&
    html`<form class="sure" method="post" action="/ack">${signed}${seenFields(alert)}${nameField(null, scope)}<button>${say(common.acknowledge, scope)}</button> <button class="quiet" name="do" value="quiet">${say(says.quiet, { hours: quietHours }, scope)}</button><p class="soft">${say(says.effect, scope)}</p></form>`
  }</div>
${account?.note != null && html`<p><bdi>${account.note}</bdi></p>`}
${account !== null && (await weekChart(account, alert, scope))}
<p>${account !== null && html`<a href="${accountPath(account.id)}">${say(says.open, scope)}</a> · `}<a href="/">${say(says.overview, scope)}</a></p></section>`;
  return show(context, { title: `${alert.accountName} · lowwater`, content, chrome: null });
}

/** A week of the balance, if the database can be read. */
async function weekChart(account: AccountView, { balance }: AlertView, scope: Scope): Promise<Html | null> {
  const id = balance ?? account.balances[0]?.id ?? '';
  const query = { account, balance: id, span: readSpan({ range: '7d' }, scope), points: 120, now: scope.now };
  return html`${await ifReadable(async () => {
    const chart = await buildChart(scope.views, query);
    const words = sayBalance(balanceLabel(id, account.balances), scope);
    return html`<div class="chart-box low">${drawChart(chart, words, scope)}</div>`;
  }, scope)}`;
}

export async function acknowledgeByLink(context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const linked = await findLinked(context, form);
  if (linked instanceof Response) return linked;
  const { scope, door } = context.var;
  const { account, rule } = linked.alert;
  // A form that was sent without the page is for the incident of the link.
  const { seen = { incident: linked.incident } } = readSeen(form);
  const headline = headlineOf(linked.alert, scope);
  keepName(context, form.get('by') ?? '');
  if (form.get('do') === 'ordered') {
    const signed = [...form].filter(([name]) => signedFields.includes(name));
    const refused = await refuseTopUp(context, await findAccount(scope.views, account), form, {
      back: withQuery('/ack', Object.fromEntries(signed)),
      action: '/ack',
      extra: html`${signed.map(([name, value]) => hidden(name, value))}${hidden('do', 'ordered')}`,
      chrome: null,
    });
    if (refused !== null) return refused;
    return showAnswer(context, say(says.isOrdered, scope), headline, { linked });
  }
  const { by, comment } = readPerson(form);
  if (form.get('do') === 'quiet') {
    const endsAt = scope.now + quietHours * hourMs;
    const match = { account: [account], rule: context.var.views.rulesHeardIn(linked.alert) };
    const window = { everything: false, startsAt: scope.now, endsAt, comment };
    const order = { kind: 'silence', match, ...window, seen: { account, rule, ...seen } } as const;
    const silence = await door.give(order, by);
    const moment = sayNearMoment(silence.endsAt, scope);
    const heading =
      silence.doneBy === undefined
        ? say(says.isQuiet, { moment }, scope)
        : say(says.isQuietBefore, { by: silence.doneBy, moment }, scope);
    return showAnswer(context, heading, headline, { linked });
  }
  const { doneBy } = await door.give({ kind: 'acknowledge', account, rule, comment, seen }, by);
  const heading =
    doneBy === undefined ? say(says.acknowledged, scope) : say(says.hasBefore, { by: doneBy }, scope);
  const more = say(says.effect, scope);
  return showAnswer(context, heading, headline, { more, linked });
}

/** The alert that a signed link is for, or the answer if there is nothing to acknowledge, or no longer. */
async function findLinked(context: WebContext, query: URLSearchParams): Promise<Linked | Response> {
  const { views, now, site, scope } = context.var;
  const link = query.get('link');
  const keys = [...views.linkKeys(), site.ackKey];
  const verified = link === null ? verifyAcknowledgement(keys, query, now) : verifyLink(keys, link, now);
  if (verified.kind === 'forged') {
    // A standby that has read nothing does not know the database's keys.
    known(views);
    return showAnswer(context, say(says.notValid, scope), say(says.notValidWhy, scope), { status: 403 });
  }
  if (verified.kind === 'expired')
    return showAnswer(context, say(says.expired, scope), say(says.onPage, scope), { status: 403 });
  const { isOf } = verified;
  let open = findGranted(views.firing(), isOf);
  if (open === null) {
    await views.refresh(true);
    open = findGranted(views.firing(), isOf);
  }
  const ended = open === null ? await findEnded(context, isOf) : null;
  const { account, rule } = open ?? ended ?? { account: '', rule: '' };
  const alert = await views.alert(account, rule);
  if (alert === null || alert.state !== 'firing')
    return showAnswer(context, say(says.over, scope), say(says.overWhy, scope));
  const earlierEndedAt = ended?.resolvedAt ?? null;
  const incident = ended?.id ?? open?.incident ?? null;
  return { alert, incident, account: await views.account(account), earlierEndedAt };
}

function findGranted(firing: Iterable<FiringView>, isOf: (granted: Granted) => boolean): FiringView | null {
  for (const alert of firing) {
    const { incident } = alert;
    if (incident !== null && isOf({ ...alert, incident })) return alert;
  }
  return null;
}

/** The link's incident if it ended while the link was valid: its alert may fire again. */
async function findEnded(context: WebContext, isOf: (granted: Granted) => boolean) {
  const { views, now } = context.var;
  const past = await views.incidents({ since: now - weekMs, until: now + 1, limit: maxIncidentsLookedAt });
  return past.find((ended) => ended.resolvedAt !== null && isOf({ ...ended, incident: ended.id })) ?? null;
}

const maxIncidentsLookedAt = 2_000;

/** The result of a link, or why it does nothing. `linked`: given if something is left to do. */
function showAnswer(
  context: WebContext,
  heading: string,
  words: HtmlValue,
  options: { readonly status?: ContentfulStatusCode; readonly linked?: Linked; readonly more?: string } = {},
): Promise<Response> {
  const { status, linked, more } = options;
  const { scope } = context.var;
  const content = html`<section class="panel narrow"><h1>${heading}</h1><p>${words}</p>${more && html`<p>${more}</p>`}${linked && whatNext(linked, scope)}<p><a href="/">${say(says.overview, scope)}</a></p></section>`;
  return show(context, { title: `${heading} · lowwater`, content, chrome: null, status });
}

function whatNext({ alert, account }: Linked, scope: Scope): Html | null {
  if (account === null) return null;
  const links = accountLinks(account, alert.balance !== null, scope);
  return html`${account.note === null ? null : html`<p><bdi>${account.note}</bdi></p>`}
<p class="act-line">${links.map((link) => html`${link} `)}<a href="${accountPath(account.id)}">${say(says.open, scope)}</a></p>`;
}
