import type { Muted, Refusal } from '../../domain/operator.ts';
import { type Matcher, mutesEverything } from '../../domain/rule.ts';
import { isoText, localText, parseLocalText } from '../../domain/time.ts';
import type { Wanted } from '../../engine/orders.ts';
import type { Views } from '../../views/create-views.ts';
import { type SilenceView, silenceKey } from '../../views/silences.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html, listHtml, sayHtml } from '../../wording/html.ts';
import { sayMoment } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { findAccount, pageOfList, parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { known, RequestError } from '../refusal.ts';
import {
  durationField,
  hidden,
  personFields,
  problemAt,
  readPerson,
  readSeen,
  severityOptions,
  textChoice,
} from './forms.ts';
import { live } from './live.ts';
import { accountLink, badge, headlineOf, ifReadable, moment, momentAndAge, table } from './markup.ts';
import { pager } from './pager.ts';
import { zoneOfForm } from './time-zone.ts';
import { accountPath, common, type Frame, pages, type Scope, stateWord, withQuery } from './words.ts';

const says = phrases('silences', {
  lead: 'While a silence is active, matching alerts change their state and nothing is sent. What still fires when it ends is sent then.',
  new: 'New silence',
  newLead:
    'What it would mute is shown before it begins. Silences that come back, for maintenance, stand in the configuration under {key}.',
  show: 'Show what it would mute',
  none: 'Nothing is silenced. An alert can be silenced where it stands, or several by the form below.',
  mutes: 'Mutes',
  from: 'From',
  until: 'Until',
  by: 'By',
  active: 'Active',
  planned: 'Planned',
  later: 'then {moments}',
  more: 'and {count} more: {active} active, {planned} planned',
  ofAccount: 'Those that concern {account}.',
  all: 'All silences',
  extend: 'Extend by 2 h',
  extendWhat: 'for the silence of {matcher} until {moment}',
  configured: 'from the configuration',
  endWhat: 'the silence of {matcher} until {moment}',
  begins: 'Begins, {timezone} (empty: now)',
  orUntil: 'Or until, {timezone}',
  everything: 'Mute every alert of every account (only where nothing above is chosen)',
  noTime: 'Give a day and a time.',
  question: 'Silence {matcher}?',
  nothingSent: 'Nothing at all would be sent, about any account.',
  window: 'From {start} until {end}.',
  noAlerts: 'No alert that fires now would fall silent',
  alerts:
    '{count, plural, one {# alert that fires now would fall silent} other {# alerts that fire now would fall silent}}',
  accounts: 'It is about {count, plural, one {# account} other {# accounts}}',
});

const matching = phrases('matcher', {
  all: 'every alert',
  account: 'account {values}',
  provider: 'provider {values}',
  currency: 'currency {values}',
  rule: 'rule {values}',
  severity: 'severity {values}',
  or: '{first} or {second}',
  not: 'not ({matcher})',
});

/** Reads `account otp or marketing, severity critical, team identity`; without keys, `every alert`. */
export function sayMatcher(
  { account, provider, currency, rule, severity, labels, not }: Matcher,
  reader: Listener,
): string {
  const either = (values: readonly string[]): string =>
    values.reduce((first, second) => say(matching.or, { first, second }, reader));
  const parts = [
    account && say(matching.account, { values: either(account) }, reader),
    provider && say(matching.provider, { values: either(provider) }, reader),
    currency && say(matching.currency, { values: either(currency) }, reader),
    rule && say(matching.rule, { values: either(rule) }, reader),
    severity &&
      say(matching.severity, { values: either(severity.map((each) => saySeverity(each, reader))) }, reader),
    ...Object.entries(labels ?? {}).map(([name, values]) => `${name} ${either(values)}`),
    not && say(matching.not, { matcher: sayMatcher(not, reader) }, reader),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? say(matching.all, reader) : reader.language.list(parts);
}

/** All silences and a form for a new one. `given`: a form that was refused and needs a change. */
export async function renderSilences(scope: Scope, given: GivenSilence): Promise<Html> {
  const { views } = scope;
  const silences = await ifReadable(async () => silencePage(scope), scope);
  return html`<h1>${say(pages.silences, scope)}</h1>
<p class="lead">${say(says.lead, scope)}</p>
${live('silences', silences)}
<section aria-labelledby="new-heading"><h2 id="new-heading">${say(says.new, scope)}</h2>
<p class="lead">${sayHtml(says.newLead, { key: html`<code>silences</code>` }, scope)}</p>
<form class="panel" method="post" action="/silences"><input type="hidden" name="back" value="/silences">
${silenceFields(views.choices(), given, scope)}
<button>${say(says.show, scope)}</button></form></section>`;
}

const silencesAPage = 100;

/** A page of up to a hundred silences: of all, or of the account that the address names. */
async function silencePage(scope: Scope): Promise<Html> {
  const { query, views } = scope;
  const id = query.get('account');
  const account = id ? await findAccount(views, id) : null;
  const found = known(views).silences(account?.id);
  const addressOf = (cursor: string | null) =>
    withQuery('/silences', { account: account?.id ?? null, cursor });
  const pageAt = (cursor: string | null) => pageOfList(found, { limit: silencesAPage, cursor }, silenceKey);
  const asked = query.get('cursor') || null;
  // The silences of the last page may be over: then it begins again.
  const cursor = pageAt(asked).items.length > 0 ? asked : null;
  const { items, nextCursor } = pageAt(cursor);
  return html`${account !== null && html`<p>${sayHtml(says.ofAccount, { account: accountLink(account) }, scope)} <a href="/silences">${say(says.all, scope)}</a></p>`}
${silenceTable(items, scope, addressOf(cursor))}${pager(addressOf, { cursor, nextCursor }, scope)}`;
}

const shownPlanned = 10;
/** The most active silences that are shown, more than anybody has. The rest is only counted, as on top of each page. */
const shownActive = 100;

/** The silences that concern an account: active ones first, and the number of those that are not shown. */
export function accountSilences(account: AccountView, scope: Scope): Html | null {
  const all = scope.views.silences(account.id);
  if (all.length === 0) return null;
  const active = all.filter((silence) => silence.active).length;
  const shown = Math.min(active, shownActive) + shownPlanned;
  const count = all.length - shown;
  const activeToo = Math.max(0, active - shown);
  const more = () => say(says.more, { count, active: activeToo, planned: count - activeToo }, scope);
  return html`<section aria-labelledby="silences-heading"><h2 id="silences-heading">${say(pages.silences, scope)}</h2>${silenceTable(all.slice(0, shown), scope, accountPath(account.id))}${
    count > 0 && html`<p><a href="${withQuery('/silences', { account: account.id })}">${more()}</a></p>`
  }</section>`;
}

function silenceTable(silences: readonly SilenceView[], frame: Frame, back: string): Html {
  if (silences.length === 0) return html`<p class="empty">${say(says.none, frame)}</p>`;
  const head = html`<th scope="col">${say(common.state, frame)}</th><th scope="col">${say(says.mutes, frame)}</th><th scope="col">${say(says.from, frame)}</th><th scope="col">${say(says.until, frame)}</th><th scope="col">${say(says.by, frame)}</th><th scope="col">${say(common.comment, frame)}</th><th scope="col">${say(common.change, frame)}</th>`;
  const rows = silences.map((silence) => silenceRow(silence, frame, back));
  return table(say(pages.silences, frame), 'cards', head, rows);
}

function silenceRow(silence: SilenceView, frame: Frame, back: string): Html {
  const { match, active, startsAt, endsAt, by, comment, laterStarts } = silence;
  const later = laterStarts.map((at) => moment(at, frame));
  return html`<tr data-key="${silence.id}"><td data-label="${say(common.state, frame)}">${active ? badge('silence', say(says.active, frame)) : badge('pending', say(says.planned, frame))}</td><th scope="row">${sayMatcher(match, frame)}</th>
<td data-label="${say(says.from, frame)}">${momentAndAge(startsAt, frame)}${later.length > 0 && html`<span class="sub">${sayHtml(says.later, { moments: listHtml(later, frame) }, frame)}</span>`}</td>
<td data-label="${say(says.until, frame)}">${momentAndAge(endsAt, frame)}</td>
<td class="by" data-label="${say(says.by, frame)}"><bdi>${by}</bdi></td><td data-label="${say(common.comment, frame)}"><bdi>${comment}</bdi></td>
<td data-label="${say(common.change, frame)}"><div class="acts">${extendForm(silence, back, frame)}${endSilenceForm(silence, back, frame)}</div></td></tr>`;
}

function extendForm(silence: SilenceView, back: string, frame: Frame): Html | null {
  if (silence.id === null) return null;
  return html`<form method="post" action="/silences/${encodeURIComponent(silence.id)}/extend"><input type="hidden" name="back" value="${back}"><input type="hidden" name="for" value="2h"><input type="hidden" name="seen-ends" value="${silence.endsAt}"><button class="quiet">${say(says.extend, frame)}<span class="hidden"> ${say(says.extendWhat, nameSilence(silence, frame), frame)}</span></button></form>`;
}

/** The button that ends a silence; none for a configured one, which is ended in the configuration. */
export function endSilenceForm(silence: SilenceView, back: string, frame: Frame): Html {
  if (silence.id === null) return html`<span class="soft">${say(says.configured, frame)}</span>`;
  return html`<form method="post" action="/silences/${encodeURIComponent(silence.id)}/expire"><input type="hidden" name="back" value="${back}"><button class="quiet">${say(common.end, frame)}<span class="hidden"> ${say(says.endWhat, nameSilence(silence, frame), frame)}</span></button></form>`;
}

/** The name of a silence for a screen reader. Several silences may have the same match: their ends tell their buttons apart. */
function nameSilence({ match, endsAt }: SilenceView, frame: Frame) {
  return { matcher: sayMatcher(match, frame), moment: sayMoment(endsAt, frame) };
}

type SilenceOrder = Omit<Wanted<'silence'>, 'kind'>;

const named = 20;

type Field = 'account' | 'rule' | 'label' | 'starts' | 'ends' | 'everything';

export interface GivenSilence {
  readonly form: URLSearchParams;
  readonly problem: { readonly field: Field; readonly words: string } | null;
}

export const nothingGiven: GivenSilence = { form: new URLSearchParams(), problem: null };

function silenceFields(
  choices: ReturnType<Views['choices']>,
  { form, problem }: GivenSilence,
  scope: Scope,
): Html {
  const { now } = scope;
  const timezone = zoneOfForm(form, scope);
  const of = (name: Field) => ({
    chosen: form.get(name) ?? '',
    problem: problem?.field === name ? problem.words : undefined,
  });
  const moment = (name: 'starts' | 'ends', label: string): Html => {
    const { chosen, problem: words } = of(name);
    const wrong = words === undefined ? null : problemAt(name, words);
    return html`<label>${label} <input type="datetime-local" name="${name}" value="${chosen}" min="${localText(now, timezone)}"${wrong?.attributes}>${wrong?.words}</label>`;
  };
  const everything = of('everything');
  return html`${hidden('zone', timezone)}${textChoice('account', choices.accounts, of('account'), scope)}
${textChoice('rule', choices.rules, of('rule'), scope)}
${textChoice('label', choices.labels, of('label'), scope)}
<label>${say(common.severity, scope)} <select name="severity">${severityOptions(form.get('severity'), scope)}</select></label>
${moment('starts', say(says.begins, { timezone }, scope))}
${durationField(scope, form.get('for') ?? undefined)}
${moment('ends', say(says.orUntil, { timezone }, scope))}
${personFields(scope, form)}
<label><input type="checkbox" name="everything" value="yes"${everything.chosen === 'yes' && html` checked`}> ${say(says.everything, scope)}${everything.problem !== undefined && problemAt('everything', everything.problem).words}</label>`;
}

/** The order that a form holds, or the field that is wrong and why. */
export function readSilenceForm(
  form: URLSearchParams,
  frame: Frame,
): SilenceOrder | NonNullable<GivenSilence['problem']> {
  const { now } = frame;
  const timezone = zoneOfForm(form, frame);
  const instantOf = (text: string | null) => (text ? parseLocalText(text, timezone) : undefined);
  const startsAt = instantOf(form.get('starts')) ?? (form.get('starts') ? null : now);
  const endsAt = instantOf(form.get('ends'));
  if (startsAt === null) return { field: 'starts', words: say(says.noTime, frame) };
  if (endsAt === null) return { field: 'ends', words: say(says.noTime, frame) };
  const order = parseInput(silenceOrderSchema, {
    match: readMatch(form),
    ...(form.get('everything') === 'yes' ? { everything: true } : {}),
    startsAt: isoText(startsAt),
    ...(endsAt === undefined ? { for: form.get('for') ?? '' } : { endsAt: isoText(endsAt) }),
    ...readPerson(form),
  });
  const { seen } = readSeen(form);
  const { account = '', rule = '' } = readMatch(form);
  try {
    return { ...readSilenceOrder(order, now), ...(seen && { seen: { account, rule, ...seen } }) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { field: 'ends', words: sayAgain(error.message, frame) };
  }
}

function readMatch(form: URLSearchParams): { readonly account?: string; readonly rule?: string } {
  const keys = ['account', 'rule', 'severity'].flatMap((key) => {
    const value = form.get(key)?.trim() ?? '';
    return value === '' ? [] : [[key, value]];
  });
  const [label = '', ...value] = (form.get('label') ?? '').trim().split('=');
  return { ...Object.fromEntries(keys), ...(label === '' ? {} : { labels: { [label]: value.join('=') } }) };
}

export function fieldOf(about: Refusal['about']): Field {
  if (about === 'window') return 'ends';
  return about === 'account' || about === 'rule' ? about : 'everything';
}

/** Asks for confirmation before a silence begins: it shows the firing alerts that it would mute, and the accounts that it is about. */
export async function renderSilenceQuestion(
  scope: Scope,
  order: SilenceOrder,
  { muted, form }: { readonly muted: Muted; readonly form: URLSearchParams },
): Promise<Html> {
  const alerts = await alertsNamed(scope, muted);
  const kept = [...form].filter(([name]) => name !== 'confirmed' && name !== 'change');
  return html`<section class="panel question"><h1>${say(says.question, { matcher: sayMatcher(order.match, scope) }, scope)}</h1>
${mutesEverything(order.match) && html`<p class="problem">${say(says.nothingSent, scope)}</p>`}
<p>${sayHtml(says.window, { start: momentAndAge(order.startsAt, scope), end: momentAndAge(order.endsAt, scope) }, scope)}</p>
${alerts}${accountsNamed(scope, muted)}
<form method="post" action="/silences">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="acts"><button name="confirmed" value="yes">${say(common.silence, scope)}</button> <button class="quiet" name="change" value="yes">${say(common.change, scope)}</button></div></form></section>`;
}

async function alertsNamed(scope: Scope, { alerts }: Muted): Promise<Html> {
  if (alerts.length === 0) return html`<h2>${say(says.noAlerts, scope)}</h2>`;
  const more = alerts.length - named;
  const first = alerts.slice(0, named);
  const shown = await Promise.all(first.map(({ account, rule }) => scope.views.alert(account, rule)));
  return html`<h2>${say(says.alerts, { count: alerts.length }, scope)}</h2>
<ul>${shown.map(
    (alert) =>
      alert !== null &&
      html`<li>${badge(alert.severity, stateWord(alert.severity, scope))} ${headlineOf(alert, scope)}</li>`,
  )}</ul>${more > 0 && html`<p>${say(common.more, { count: more }, scope)}</p>`}`;
}

function accountsNamed(scope: Scope, { accounts }: Muted): Html {
  const more = accounts.length - named;
  const names = new Map(scope.views.choices().accounts);
  return html`<h2>${say(says.accounts, { count: accounts.length }, scope)}</h2>
<ul>${accounts.slice(0, named).map((id) => html`<li>${accountLink({ id, name: names.get(id) ?? id })}</li>`)}</ul>${more > 0 && html`<p>${say(common.more, { count: more }, scope)}</p>`}`;
}
