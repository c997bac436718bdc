import { createHash } from 'node:crypto';
import type { Incident } from '../../domain/alert.ts';
import { severities } from '../../domain/severity.ts';
import { sortAlerts } from '../../views/sort-alerts.ts';
import type { AlertView } from '../../views/views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { pageOfList, pageOfTime } from '../api/input.ts';
import { accountsOf, alertCard, careOf, cares, groupByCause, sayCare } from './alerts.ts';
import {
  alertName,
  type CardAlerts,
  durationField,
  maxChoices,
  options,
  personFields,
  pickedNames,
  severityOptions,
  textChoice,
} from './forms.ts';
import { incidentTable } from './incidents.ts';
import { live } from './live.ts';
import { ifReadable } from './markup.ts';
import { pager } from './pager.ts';
import { common, mentionsAll, pages, type Scope, withQuery } from './words.ts';

const incidentsAPage = 100;
const incidentsLookedAt = 1_000;

const says = phrases('alertsPage', {
  filters: ', {count, plural, one {# filter} other {# filters}}',
  filterAlerts: 'Filter alerts',
  findWhat: 'name, id, rule or label=value',
  pastIncidents: 'past incidents',
  owner: 'Owner',
  anyone: 'anyone',
  showAll: 'Show all that are open',
  none: 'No open alert is like this. {open}, or {past}.',
  choose: 'Choose {rule} of {account}',
  onThisPage: ', {count} on this page',
  many: 'Many at once',
  all: 'All {count} that match, not only the ticked ones',
  silence: 'Silence for this time',
});

const stateSays = phrases('alertState', { open: 'open', firing: 'firing', pending: 'pending', past: 'past' });

/** The open alerts or the past ones, with filters whose addresses can be shared. */
export async function renderAlerts(scope: Scope): Promise<Html> {
  const query = readAlertQuery(scope.query);
  const found = query.state === 'past' ? await pastSection(scope, query) : await openSection(scope, query);
  return html`<h1>${say(pages.alerts, scope)}</h1>
${filterForm(query, scope)}
${live('alerts', found)}`;
}

const exactFilters = [
  ['account', 'accounts'],
  ['rule', 'rules'],
  ['label', 'labels'],
] as const;

/** The form for filters. A field with too many choices is left out unless it is in use: the search finds those. */
function filterForm(query: AlertQuery, scope: Scope): Html {
  const choices = scope.views.choices();
  const { q, severity, care, account, rule, label } = query;
  const set = [q, severity, care, account, rule, label].filter(Boolean).length;
  return html`<details class="fold"><summary>${say(common.filter, scope)}${(set > 0 || query.state !== 'open') && html` · ${say(stateSays[query.state], scope)}${set > 0 && say(says.filters, { count: set }, scope)}`}</summary><form class="panel filter-form" method="get" action="/alerts" role="search" aria-label="${say(says.filterAlerts, scope)}">
<label>${say(common.find, scope)} <input type="search" name="q" value="${query.q}" maxlength="200" placeholder="${say(says.findWhat, scope)}"></label>
<label>${say(common.state, scope)} <select name="state">${options(
    states.map((state) => [state, say(state === 'past' ? says.pastIncidents : stateSays[state], scope)]),
    query.state,
  )}</select></label>
<label>${say(common.severity, scope)} <select name="severity">${severityOptions(query.severity, scope)}</select></label>
<label>${say(says.owner, scope)} <select name="care">${options([['', say(says.anyone, scope)], ...cares.map((care) => [care, sayCare(care, scope)] as const)], query.care ?? '')}</select></label>
${exactFilters.map(([name, kind]) => (choices[kind].length <= maxChoices || query[name] !== '') && textChoice(name, choices[kind], { chosen: query[name] }, scope))}
<button>${say(common.filter, scope)}</button> <a href="/alerts">${say(says.showAll, scope)}</a></form></details>`;
}

async function openSection(scope: Scope, query: AlertQuery): Promise<Html> {
  const { views } = scope;
  const page = pageOfAlerts(await views.alerts({ all: false }), query);
  const { cards, shown, matching, nextCursor } = page;
  if (matching === 0)
    return html`<p class="empty">${sayHtml(
      says.none,
      {
        open: html`<a href="/alerts">${say(says.showAll, scope)}</a>`,
        past: html`<a href="/alerts?state=past">${say(says.pastIncidents, scope)}</a>`,
      },
      scope,
    )}</p>`;
  const back = writeAlertQuery(query);
  const firsts = cards.map(([first]) => first);
  const accounts = await accountsOf(views, firsts);
  // The tick boxes belong to the form below the list: HTML does not allow the forms in the list to be inside it.
  const picker = (card: CardAlerts): Html => {
    const [alert] = card;
    return html`<label class="pick"><input type="checkbox" form="bulk" name="alert" value="${pickedNames(card)}"><span class="hidden">${say(says.choose, { rule: alert.rule, account: alert.accountName }, scope)}</span></label>`;
  };
  return html`<section aria-labelledby="found-heading"><h2 id="found-heading">${say(common.alerts, { count: matching }, scope)}${shown < matching && say(says.onThisPage, { count: shown }, scope)}</h2>
<ul class="alerts picked">${cards.map((card) => alertCard(card, accounts, scope, { back, pick: picker(card) }))}</ul>
${pagerOf(query, nextCursor, scope)}
${bulkForm(page, query, scope)}</section>`;
}

function bulkForm(
  { matching, digest }: ReturnType<typeof pageOfAlerts>,
  query: AlertQuery,
  scope: Scope,
): Html {
  return html`<form id="bulk" class="panel" method="post" action="/alerts/many"><h3>${say(says.many, scope)}</h3>
<input type="hidden" name="back" value="${writeAlertQuery(query)}"><input type="hidden" name="query" value="${writeAlertQuery({ ...query, cursor: null })}"><input type="hidden" name="seen-all" value="${digest}">
<label><input type="checkbox" name="all" value="yes"> ${say(says.all, { count: matching }, scope)}</label>
${personFields(scope)}
${durationField(scope)}
<button name="do" value="acknowledge">${say(common.acknowledge, scope)}</button> <button name="do" value="silence" class="quiet">${say(says.silence, scope)}</button></form>`;
}

function pastSection(scope: Scope, query: AlertQuery): Promise<Html> {
  const { views } = scope;
  return ifReadable(async () => {
    const page = await pageOfTime(
      { limit: incidentsAPage, cursor: query.cursor },
      async ({ limit, before: until }) => {
        const of = query.account === '' ? {} : { account: query.account };
        const isWanted = (incident: Incident): boolean =>
          (incident.event || incident.resolvedAt !== null) &&
          selects(query, { ...incident, severity: incident.worstSeverity });
        // Looks at more incidents until enough match: thousands of others may come before them.
        for (let looked = Math.max(limit, incidentsLookedAt); ; looked *= 4) {
          const incidents = await views.incidents({ ...of, until, limit: looked });
          const wanted = incidents.filter(isWanted);
          if (wanted.length >= limit || incidents.length < looked) return wanted.slice(0, limit);
        }
      },
      ({ firedAt }) => firedAt,
    );
    return html`${await incidentTable(page.items, scope, { names: true })}${pagerOf(query, page.nextCursor, scope)}`;
  }, scope);
}

function pagerOf(query: AlertQuery, nextCursor: string | null, scope: Scope): Html | null {
  const { cursor } = query;
  return pager((place) => writeAlertQuery({ ...query, cursor: place }), { cursor, nextCursor }, scope);
}

const states = ['open', 'firing', 'pending', 'past'] as const;

/** The query of the alerts page's address. Null and empty texts mean everything. */
type AlertQuery = ReturnType<typeof readAlertQuery>;

/** The number of alerts that a phone shows within a few screens: the actions on many alerts are below the list. */
const pageSize = 20;
const maxTextLength = 200;

/** Reads the query of the page's address. Unknown values count as absent, so that a link never breaks. */
export function readAlertQuery(query: URLSearchParams) {
  const text = (name: string): string => (query.get(name) ?? '').slice(0, maxTextLength).trim();
  return {
    state: states.find((state) => state === query.get('state')) ?? 'open',
    severity: severities.find((severity) => severity === query.get('severity')) ?? null,
    /** The person or reason that takes care of the alert. */
    care: cares.find((care) => care === query.get('care')) ?? null,
    /** Words that must all occur in account, name, rule or labels. */
    q: text('q'),
    account: text('account'),
    rule: text('rule'),
    /** A label such as `team=identity`. */
    label: text('label'),
    cursor: query.get('cursor') || null,
  };
}

/** The query as an address, without its default values. */
function writeAlertQuery({ state, ...rest }: AlertQuery): string {
  return withQuery('/alerts', { state: state === 'open' ? null : state, ...rest });
}

/** Open alerts that the query selects, worst first. */
export function selectAlerts(alerts: readonly AlertView[], query: AlertQuery): readonly AlertView[] {
  return sortAlerts(
    alerts.filter(
      (alert) =>
        (query.state === 'open' || alert.state === query.state) &&
        (query.care === null || careOf(alert) === query.care) &&
        selects(query, alert),
    ),
  );
}

function pageOfAlerts(alerts: readonly AlertView[], query: AlertQuery) {
  const selected = selectAlerts(alerts, query);
  const place = { limit: pageSize, cursor: query.cursor };
  const { items: cards, nextCursor } = pageOfList(groupByCause(selected), place, ([alert]) =>
    alertName(alert),
  );
  return {
    cards,
    shown: cards.flat().length,
    matching: selected.length,
    digest: digestOf(selected),
    nextCursor,
  };
}

/** Changes when other alerts match, or when one of them has another incident or severity; not with who has them. */
export function digestOf(alerts: readonly AlertView[]): string {
  const names = pickedNames(alerts.map((alert) => ({ ...alert, acknowledged: null })));
  return createHash('sha256').update(names).digest('base64url').slice(0, 16);
}

/** Whether account, rule, severity and label of an alert or a past incident match the query. */
export function selects(
  query: AlertQuery,
  it: Pick<AlertView, 'account' | 'accountName' | 'rule' | 'severity' | 'labels'>,
): boolean {
  const [key = '', ...value] = query.label.split('=');
  return (
    (query.severity === null || it.severity === query.severity) &&
    mentionsAll(query.q, [it.account, it.accountName, it.rule], it.labels) &&
    (query.account === '' || it.account === query.account) &&
    (query.rule === '' || it.rule === query.rule) &&
    (query.label === '' || (Object.hasOwn(it.labels, key) && it.labels[key] === value.join('=')))
  );
}
