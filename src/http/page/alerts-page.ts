import { createHash } from 'node:crypto';
import type { Incident } from '../../domain/alert.ts';
import { plural } from '../../domain/plain-text.ts';
import { severities } from '../../domain/severity.ts';
import type { AlertView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { pageOfList, pageOfTime } from '../api/input.ts';
import { accountsOf, alertCard, careOf, careWords, sortAlerts } from './alerts.ts';
import {
  alertName,
  durationField,
  maxChoices,
  options,
  personFields,
  pickedName,
  severityOptions,
  textChoice,
} from './forms.ts';
import { incidentTable } from './incidents.ts';
import { live } from './live.ts';
import { addressOf, ifReadable, mentionsAll, type Visit } from './words.ts';

const incidentsAPage = 100;
const incidentsLookedAt = 1_000;

/** Every alert that is open, or that was, with filters whose addresses can be shared. */
export async function renderAlerts(visit: Visit): Promise<Html> {
  const query = readAlertQuery(visit.query);
  const found = query.state === 'past' ? await pastSection(visit, query) : await openSection(visit, query);
  return html`<h1>Alerts</h1>
${filterForm(query, visit)}
${live('alerts', found)}`;
}

const exactFilters = [
  ['account', 'accounts'],
  ['rule', 'rules'],
  ['label', 'labels'],
] as const;

/** Of thousands only those are shown that a search finds. */
function filterForm(query: AlertQuery, visit: Visit): Html {
  const choices = visit.views.choices();
  const { q, severity, care, account, rule, label } = query;
  const set = [q, severity, care, account, rule, label].filter(Boolean).length;
  return html`<details class="fold"><summary>Filter${(set > 0 || query.state !== 'open') && html` · ${query.state}${set > 0 && `, ${plural(set, 'filter')}`}`}</summary><form class="panel filter-form" method="get" action="/alerts" role="search" aria-label="Filter alerts">
<label>Find <input type="search" name="q" value="${query.q}" maxlength="200" placeholder="name, id, rule or label=value"></label>
<label>State <select name="state">${options(Object.entries({ open: 'open', firing: 'firing', pending: 'pending', past: 'past incidents' }), query.state)}</select></label>
<label>Severity <select name="severity">${severityOptions(query.severity, visit)}</select></label>
<label>Owner <select name="care">${options([['', 'anyone'], ...Object.entries(careWords)], query.care ?? '')}</select></label>
${exactFilters.map(([name, kind]) => (choices[kind].length <= maxChoices || query[name] !== '') && textChoice(name, choices[kind], { chosen: query[name] }, visit))}
<button>Filter</button> <a href="/alerts">Show all that are open</a></form></details>`;
}

async function openSection(visit: Visit, query: AlertQuery): Promise<Html> {
  const { views } = visit;
  const page = pageOfAlerts(await views.alerts({ all: false }), query);
  const { alerts, matching, nextCursor } = page;
  if (matching === 0)
    return html`<p class="empty">No open alert is like this. <a href="/alerts">Show all that are open</a>, or <a href="/alerts?state=past">past incidents</a>.</p>`;
  const back = writeAlertQuery(query);
  const accounts = await accountsOf(views, alerts);
  // Ticked for the form below the list, which the forms within the list must not be part of.
  const picker = (alert: AlertView): Html =>
    html`<label class="pick"><input type="checkbox" form="bulk" name="alert" value="${pickedName(alert)}"><span class="hidden">Choose ${alert.rule} of ${alert.accountName}</span></label>`;
  return html`<section aria-labelledby="found-heading"><h2 id="found-heading">${plural(matching, 'alert')}${alerts.length < matching && html`, ${alerts.length} on this page`}</h2>
<ul class="alerts picked">${alerts.map((alert) =>
    alertCard(alert, accounts.get(alert.account) ?? null, visit, { back, pick: picker(alert) }),
  )}</ul>
${pager(query, nextCursor)}
${bulkForm(page, query, { back, visit })}</section>`;
}

function bulkForm(
  { matching, digest }: AlertPage,
  query: AlertQuery,
  { back, visit }: { readonly back: string; readonly visit: Visit },
): Html {
  return html`<form id="bulk" class="panel" method="post" action="/alerts/many"><h3>Many at once</h3>
<input type="hidden" name="back" value="${back}"><input type="hidden" name="query" value="${writeAlertQuery({ ...query, cursor: null })}"><input type="hidden" name="seen-all" value="${digest}">
<label><input type="checkbox" name="all" value="yes"> All ${matching} that match, not only the ticked ones</label>
${personFields(visit)}
${durationField(visit)}
<button name="do" value="acknowledge">Acknowledge</button> <button name="do" value="silence" class="quiet">Silence for this time</button></form>`;
}

function pastSection(visit: Visit, query: AlertQuery): Promise<Html> {
  const { views } = visit;
  return ifReadable(async () => {
    const page = await pageOfTime(
      { limit: incidentsAPage, cursor: query.cursor ?? undefined },
      async ({ limit, before: until }) => {
        const of = query.account === '' ? {} : { account: query.account };
        const isWanted = (incident: Incident): boolean =>
          (incident.event || incident.resolvedAt !== null) &&
          selects(query, { ...incident, severity: incident.worstSeverity });
        // More are looked at until enough are found: those that match may lie behind thousands of others.
        for (let looked = Math.max(limit, incidentsLookedAt); ; looked *= 4) {
          const incidents = await views.incidents({ ...of, until, limit: looked });
          const wanted = incidents.filter(isWanted);
          if (wanted.length >= limit || incidents.length < looked) return wanted.slice(0, limit);
        }
      },
      ({ firedAt }) => firedAt,
    );
    return html`${incidentTable(page.items, null, visit, { names: true })}${pager(query, page.nextCursor)}`;
  });
}

function pager(query: AlertQuery, nextCursor: string | null): Html | null {
  if (nextCursor === null && query.cursor === null) return null;
  return html`<nav class="pager" aria-label="Pages of alerts">${query.cursor !== null && html`<a href="${writeAlertQuery({ ...query, cursor: null })}">First page</a> `}${
    nextCursor !== null && html`<a href="${writeAlertQuery({ ...query, cursor: nextCursor })}">Next page</a>`
  }</nav>`;
}

const states = ['open', 'firing', 'pending', 'past'] as const;

/** What the address of the alerts page asks for. Null and empty texts ask for everything. */
type AlertQuery = ReturnType<typeof readAlertQuery>;

type AlertPage = ReturnType<typeof pageOfAlerts>;

/** As much as a phone shows within a few screens; what many have in common is done at once below the list. */
const pageSize = 20;
const maxTextLength = 200;

/** Reads the query of the page's address. What it does not know it takes for absent: a link never breaks. */
export function readAlertQuery(query: URLSearchParams) {
  const text = (name: string): string => (query.get(name) ?? '').slice(0, maxTextLength).trim();
  return {
    state: states.find((state) => state === query.get('state')) ?? 'open',
    severity: severities.find((severity) => severity === query.get('severity')) ?? null,
    /** Who has it. */
    care: Object.keys(careWords).find((care) => care === query.get('care')) ?? null,
    /** Words that all must stand in account, name, rule or labels. */
    q: text('q'),
    account: text('account'),
    rule: text('rule'),
    /** As `team=identity`. */
    label: text('label'),
    cursor: query.get('cursor') || null,
  };
}

/** The query as an address again; what is as usual is left out. */
function writeAlertQuery({ state, ...rest }: AlertQuery): string {
  return addressOf('/alerts', { state: state === 'open' ? null : state, ...rest });
}

/** What the query selects of the open alerts, worst first. */
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
  const place = { limit: pageSize, cursor: query.cursor ?? undefined };
  const { items, nextCursor } = pageOfList(selected, place, alertName);
  return { alerts: items, matching: selected.length, digest: digestOf(selected), nextCursor };
}

/** Changes when another alert matches, or one of them is another incident or of another severity. */
export function digestOf(alerts: readonly AlertView[]): string {
  return createHash('sha256').update(alerts.map(pickedName).join(' ')).digest('base64url').slice(0, 16);
}

/** Whether account, rule, severity and label are those asked for, of an alert or of a past incident. */
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
