import { plural } from '../../domain/plain-text.ts';
import type { AlertView, LiveViews } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { pageOfTime } from '../api/paging.ts';
import {
  type AlertPage,
  type AlertQuery,
  pageOfAlerts,
  readAlertQuery,
  selects,
  writeAlertQuery,
} from './alert-list.ts';
import { accountsOf, alertCard } from './alerts.ts';
import {
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
import { ifReadable } from './readable.ts';
import type { Frame } from './words.ts';

const incidentsAPage = 100;
const incidentsLookedAt = 1_000;

/** Every alert that is open, or that was, with filters whose addresses can be shared. */
export async function renderAlerts(views: LiveViews, address: URLSearchParams, frame: Frame): Promise<Html> {
  const query = readAlertQuery(address);
  const found =
    query.state === 'past' ? await pastSection(views, query, frame) : await openSection(views, query, frame);
  return html`<h1>Alerts</h1>
${filterForm(query, views.choices())}
${live('alerts', found)}`;
}

const cares = {
  '': 'anyone',
  nobody: 'nobody yet',
  acknowledged: 'acknowledged',
  silenced: 'silenced',
  covered: 'inhibited by a worse one',
};

const exactFilters = [
  ['account', 'Account', 'accounts'],
  ['rule', 'Rule', 'rules'],
  ['label', 'Label', 'labels'],
] as const;

/** Of thousands only those are shown that a search finds. */
function filterForm(query: AlertQuery, choices: ReturnType<LiveViews['choices']>): Html {
  const set = [query.q, query.severity, query.care, query.account, query.rule, query.label].filter(
    Boolean,
  ).length;
  return html`<details class="fold"><summary>Filter${(set > 0 || query.state !== 'open') && html` · ${query.state}${set > 0 && `, ${plural(set, 'filter')}`}`}</summary><form class="panel filter-form" method="get" action="/alerts" role="search" aria-label="Filter alerts">
<label>Find <input type="search" name="q" value="${query.q}" maxlength="200" placeholder="name, id, rule or label=value"></label>
<label>State <select name="state">${options(Object.entries({ open: 'open', firing: 'firing', pending: 'pending', past: 'past incidents' }), query.state)}</select></label>
<label>Severity <select name="severity">${severityOptions(query.severity)}</select></label>
<label>Owner <select name="care">${options(Object.entries(cares), query.care ?? '')}</select></label>
${exactFilters.map(([name, label, kind]) => (choices[kind].length <= maxChoices || query[name] !== '') && textChoice(name, label, choices[kind], { chosen: query[name] }))}
<button>Filter</button> <a href="/alerts">Show all that are open</a></form></details>`;
}

async function openSection(views: LiveViews, query: AlertQuery, frame: Frame): Promise<Html> {
  const page = pageOfAlerts(await views.alerts({ all: false }), query);
  const { alerts, matching, nextCursor } = page;
  if (matching === 0)
    return html`<p class="empty">No open alert is like this. <a href="/alerts">Show all that are open</a>, or <a href="/alerts?state=past">past incidents</a>.</p>`;
  const back = writeAlertQuery(query);
  const accounts = await accountsOf(views, alerts);
  return html`<section aria-labelledby="found-heading"><h2 id="found-heading">${plural(matching, 'alert')}${alerts.length < matching && html`, ${alerts.length} on this page`}</h2>
<ul class="alerts picked">${alerts.map((alert) =>
    alertCard(alert, accounts.get(alert.account) ?? null, frame, { back, pick: picker(alert) }),
  )}</ul>
${pager(query, nextCursor)}
${bulkForm(page, query, back)}</section>`;
}

/** Ticked for the form below the list, which the forms within the list must not be part of. */
function picker(alert: AlertView): Html {
  return html`<label class="pick"><input type="checkbox" form="bulk" name="alert" value="${pickedName(alert)}"><span class="hidden">Choose ${alert.rule} of ${alert.accountName}</span></label>`;
}

function bulkForm({ matching, digest }: AlertPage, query: AlertQuery, back: string): Html {
  return html`<form id="bulk" class="panel" method="post" action="/alerts/many"><h3>Many at once</h3>
<input type="hidden" name="back" value="${back}"><input type="hidden" name="query" value="${writeAlertQuery({ ...query, cursor: null })}"><input type="hidden" name="seen-all" value="${digest}">
<label><input type="checkbox" name="all" value="yes"> All ${matching} that match, not only the ticked ones</label>
${personFields()}
${durationField()}
<button name="do" value="acknowledge">Acknowledge</button> <button name="do" value="silence" class="quiet">Silence for this time</button></form>`;
}

function pastSection(views: LiveViews, query: AlertQuery, frame: Frame): Promise<Html> {
  return ifReadable(async () => {
    const page = await pageOfTime(
      { limit: incidentsAPage, cursor: query.cursor ?? undefined },
      async ({ limit, before }) => {
        const incidents = await views.incidents({
          ...(query.account === '' ? {} : { account: query.account }),
          until: before,
          limit: Math.max(limit, incidentsLookedAt),
        });
        return incidents
          .filter(
            (incident) =>
              (incident.event || incident.resolvedAt !== null) &&
              selects(query, { ...incident, severity: incident.worstSeverity }),
          )
          .slice(0, limit);
      },
      ({ firedAt }) => firedAt,
    );
    return html`${incidentTable(page.items, null, frame, { names: true })}${pager(query, page.nextCursor)}`;
  });
}

function pager(query: AlertQuery, nextCursor: string | null): Html | null {
  if (nextCursor === null && query.cursor === null) return null;
  return html`<nav class="pager" aria-label="Pages of alerts">${query.cursor !== null && html`<a href="${writeAlertQuery({ ...query, cursor: null })}">First page</a> `}${
    nextCursor !== null && html`<a href="${writeAlertQuery({ ...query, cursor: nextCursor })}">Next page</a>`
  }</nav>`;
}
