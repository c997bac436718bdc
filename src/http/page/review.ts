import { dayMs, isoText } from '../../domain/time.ts';
import { type Review, reviewTime } from '../../views/review.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { sayDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { readAlertQuery, selects } from './alerts-page.ts';
import { type ChartSpan, chartRanges } from './chart-model.ts';
import { askedSpan, changed } from './chart-section.ts';
import { costSection } from './cost-forecast.ts';
import { choiceLink, options, textChoice } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { unknown } from './markup.ts';
import { spendingSection } from './review-spending.ts';
import { common, mentionsAll, type Scope, withQuery } from './words.ts';

const shownIncidents = 200;

const says = phrases('review', {
  title: 'Review',
  incidentsCsv: 'Incidents as CSV',
  spendingCsv: 'Spending as CSV',
  count: '{count, plural, one {# incident} other {# incidents}}',
  cut: 'There were more: only the newest are counted. Choose a shorter time.',
  newest: 'The newest {shown} of {all}; all are in the CSV.',
  time: 'Time',
  reviewed: 'What is reviewed',
  filterOf: 'Filter · {count, plural, one {# filter} other {# filters}}',
  findWhat: 'name, id, rule or label=value',
  acknowledgedBy: 'Acknowledged by',
  groupBy: 'Spending by',
  commonest: 'the most common label',
  remove: 'Remove filters',
  noneOpen: 'none still open',
  open: '{count} still open',
  acknowledging: 'Time to acknowledge',
  acknowledged: 'middle of {count} acknowledged of {all}',
  resolving: 'Time to resolve',
  middle: 'middle of {count}',
  belowZero: 'Below zero',
  together: 'all balances together, from each reading to the next',
  forecasts: 'Forecasts',
  off: '{percent} % off',
  noForecasts: 'none came due in the last two weeks',
  forecastsOf: '3 days ahead, middle of {count}, last two weeks',
});

type ReviewQuery = ReturnType<typeof readReviewQuery>;

/** `from` and `to`: dates, instants or durations ago; a week up to now if absent. */
export const reviewEnds = ['from', 'to'] as const;

/** The filters of the page, and its span. */
export function readReviewQuery(query: URLSearchParams, span: ChartSpan) {
  return {
    span,
    filters: readAlertQuery(query),
    /** Part of the name of the person who acknowledged; empty for anybody. */
    person: (query.get('person') ?? '').trim().slice(0, 100),
    groupBy: query.get('by') || null,
  };
}

export function reviewOf({ views, now, timezone }: Scope, query: ReviewQuery): Promise<Review> {
  const { span, filters, person, groupBy } = query;
  return reviewTime(views, {
    since: span.since,
    until: Math.min(span.until, now + 1),
    timezone,
    groupBy,
    wantsAccount: wantsAccountOf(query),
    wantsIncident: (incident) =>
      selects(filters, { ...incident, severity: incident.worstSeverity }) &&
      mentionsAll(person, [incident.acknowledgement?.by ?? ''], {}),
  });
}

function wantsAccountOf({ filters }: ReviewQuery): (account: AccountView) => boolean {
  const onAccounts = { ...filters, severity: null, rule: '' };
  return ({ id, name: accountName, labels }) =>
    selects(onAccounts, { account: id, accountName, rule: '', severity: 'info', labels });
}

/** The events of a time, how fast people reacted, and the spending compared with an equally long time before. */
export async function renderReview(scope: Scope): Promise<Html> {
  const asked = askedSpan(scope, reviewEnds);
  const query = readReviewQuery(scope.query, asked.span);
  const review = await reviewOf(scope, query);
  const shown = review.incidents.slice(0, shownIncidents);
  const { span, filters, person, groupBy: by } = query;
  const { q, account, rule, label, severity } = filters;
  const csv = (of: string | null): string =>
    withQuery('/api/v1/review.csv', {
      range: span.preset?.name ?? null,
      // As instants: a reader with another time zone would read the page's days differently.
      ...(span.preset === null ? { from: isoText(review.since), to: isoText(review.until) } : {}),
      ...{ q, account, rule, label, severity, person, by, of },
    });
  return html`<div class="section-head"><h1>${say(says.title, scope)}</h1><p class="download"><a href="${csv(null)}" download>${say(says.incidentsCsv, scope)}</a> · <a href="${csv('spending')}" download>${say(says.spendingCsv, scope)}</a></p></div>
${filterForm(scope, query, asked)}
${tiles(review, scope)}
${spendingSection(review, scope)}
${await costSection(scope, { label: review.groupBy, wantsAccount: wantsAccountOf(query) })}
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">${say(says.count, { count: review.incidents.length }, scope)}</h2>
${review.isCut && html`<p class="note unread">${say(says.cut, scope)}</p>`}
${await incidentTable(shown, scope, { names: true })}
${shown.length < review.incidents.length && html`<p class="soft">${say(says.newest, { shown: shown.length, all: review.incidents.length }, scope)}</p>`}</section>`;
}

function filterForm(
  scope: Scope,
  { span, filters, person, groupBy }: ReviewQuery,
  { days: [since, until], problem }: ReturnType<typeof askedSpan>,
): Html {
  const choices = scope.views.choices();
  const ranges = chartRanges.filter(({ ms }) => ms > dayMs);
  const link = (range: string) => `/review?${changed(scope, { range, from: null, to: null })}`;
  const { q, account, rule, label } = filters;
  const labels = new Set(choices.labels.map(([pair]) => pair.slice(0, pair.indexOf('='))));
  const keys = [...labels].map((key) => [key, key] as const);
  const set = [q, account, rule, label, person, groupBy].filter(Boolean).length;
  return html`<nav class="filters" aria-label="${say(says.time, scope)}">${ranges.map((range) => choiceLink(link(range.name), say(range.label, scope), range === span.preset))}</nav>
<form class="search range review" method="get" action="/review" role="search" aria-label="${say(says.reviewed, scope)}">
<label>${say(common.from, scope)} <input type="date" name="from" value="${since}" required></label>
<label>${say(common.to, scope)} <input type="date" name="to" value="${until}" required></label>
<button>${say(common.show, scope)}</button>${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
<details class="fold"${set > 0 && html` open`}><summary>${set > 0 ? say(says.filterOf, { count: set }, scope) : say(common.filter, scope)}</summary><div class="filter-form">
<label>${say(common.find, scope)} <input type="search" name="q" value="${filters.q}" maxlength="200" placeholder="${say(says.findWhat, scope)}"></label>
${textChoice('account', choices.accounts, { chosen: filters.account }, scope)}
${textChoice('rule', choices.rules, { chosen: filters.rule }, scope)}
${textChoice('label', choices.labels, { chosen: filters.label }, scope)}
<label>${say(says.acknowledgedBy, scope)} <input name="person" value="${person}" maxlength="100"></label>
<label>${say(says.groupBy, scope)} <select name="by">${options([['', say(says.commonest, scope)], ...keys], groupBy ?? '')}</select></label>
<a href="/review">${say(says.remove, scope)}</a></div></details></form>`;
}

function tiles(review: Review, scope: Scope): Html {
  const { incidents, open, acknowledged, acknowledgeMs, resolveMs, spending, forecasts } = review;
  const tile = (name: string, value: Html | string | number, detail: string): Html =>
    html`<section class="tile"><h2>${name}</h2><p class="big">${value}</p><p class="soft">${detail}</p></section>`;
  const lasting = (ms: number | null) => (ms === null ? unknown(scope) : sayDuration(ms, scope));
  const below = spending?.belowZeroMs ?? null;
  return html`<div class="tiles">${tile(say(common.incidents, scope), incidents.length, open === 0 ? say(says.noneOpen, scope) : say(says.open, { count: open }, scope))}
${tile(say(says.acknowledging, scope), lasting(acknowledgeMs), say(says.acknowledged, { count: acknowledged, all: incidents.length }, scope))}
${tile(say(says.resolving, scope), lasting(resolveMs), say(says.middle, { count: incidents.length - open }, scope))}
${tile(say(says.belowZero, scope), below === 0 ? say(common.never, scope) : lasting(below), say(says.together, scope))}
${tile(say(says.forecasts, scope), forecasts === null ? unknown(scope) : say(says.off, { percent: Math.round(forecasts.medianError * 100) }, scope), forecasts === null ? say(says.noForecasts, scope) : say(says.forecastsOf, { count: forecasts.count }, scope))}</div>`;
}
