import { dayMs } from '../../domain/duration.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { formatShortMoment, isoDay, isoText, roughDuration } from '../../domain/moment.ts';
import { currencyCode, formatAmount, type Micros } from '../../domain/money.ts';
import { plural } from '../../domain/plain-text.ts';
import { type GroupSpent, type Review, reviewTime, type Spent } from '../../views/review.ts';
import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { readAlertQuery, selects } from './alerts-page.ts';
import { chartRanges, readSpan } from './chart-model.ts';
import { choiceLink, options, textChoice } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { accountLink, table, unknown, type Visit } from './words.ts';

const shownIncidents = 200;
const shownAccounts = 30;
const shownGroups = 6;

type ReviewQuery = ReturnType<typeof readReviewQuery>;

/** Reads `from` and `to` (dates, instants or durations ago; a week up to now where absent), and the filters. Throws `RequestError`. */
export function readReviewQuery(visit: Visit) {
  const { query } = visit;
  const [range, since, until] = ['range', 'from', 'to'].map((name) => query.get(name));
  return {
    span: readSpan({ range, since, until }, visit),
    filters: readAlertQuery(query),
    /** Part of the name of who acknowledged; empty for anybody. */
    person: (query.get('person') ?? '').trim().slice(0, 100),
    groupBy: query.get('by') || null,
  };
}

export function reviewOf({ views, now, timezone }: Visit, query: ReviewQuery): Promise<Review> {
  const { span, filters, person, groupBy } = query;
  const name = person.toLowerCase();
  const onAccounts = { ...filters, severity: null, rule: '' };
  return reviewTime(views, {
    since: span.since,
    until: Math.min(span.until, now + 1),
    timezone,
    groupBy,
    wantsAccount: ({ id, name: accountName, labels }) =>
      selects(onAccounts, { account: id, accountName, rule: '', severity: 'info', labels }),
    wantsIncident: (incident) =>
      selects(filters, { ...incident, severity: incident.worstSeverity }) &&
      (name === '' || (incident.acknowledgement?.by.toLowerCase().includes(name) ?? false)),
  });
}

/** What happened in a time, how fast people were, and what was spent, compared with as long a time before it. */
export async function renderReview(visit: Visit): Promise<Html> {
  const query = readReviewQuery(visit);
  const review = await reviewOf(visit, query);
  const shown = review.incidents.slice(0, shownIncidents);
  const kept = new URLSearchParams(visit.query);
  if (query.span.preset === null) {
    // The days of the page's zone, which another may not read so.
    kept.set('from', isoText(review.since));
    kept.set('to', isoText(review.until));
  }
  return html`<div class="section-head"><h1>Review</h1><p class="download"><a href="/api/v1/review.csv?${kept.toString()}" download>Incidents as CSV</a> · <a href="/api/v1/review.csv?${kept.toString()}&of=spending" download>Spending as CSV</a></p></div>
${filterForm(visit, query)}
${tiles(review)}
${spendingSection(review)}
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">${plural(review.incidents.length, 'incident')}</h2>
${review.isCut && html`<p class="note unread">There were more: only the newest are counted. Choose a shorter time.</p>`}
${incidentTable(shown, null, visit, { names: true })}
${shown.length < review.incidents.length && html`<p class="soft">The newest ${shown.length} of ${review.incidents.length}; all are in the CSV.</p>`}</section>`;
}

function filterForm(visit: Visit, { span, filters, person, groupBy }: ReviewQuery): Html {
  const choices = visit.views.choices();
  const ranges = chartRanges.filter(({ ms }) => ms > dayMs);
  const link = (name: string): string => {
    const to = new URLSearchParams(visit.query);
    for (const gone of ['from', 'to', 'done']) to.delete(gone);
    to.set('range', name);
    return `/review?${to.toString()}`;
  };
  const until = Math.min(span.until - 1, visit.now);
  const { q, account, rule, label } = filters;
  const set = [q, account, rule, label, person, groupBy].filter(Boolean).length;
  return html`<nav class="filters" aria-label="Time">${ranges.map((range) => choiceLink(link(range.name), say(range.label, visit), range === span.preset))}</nav>
<form class="search range review" method="get" action="/review" role="search" aria-label="What is reviewed">
<label>From <input type="date" name="from" value="${isoDay(span.since, visit.timezone)}" required></label>
<label>to <input type="date" name="to" value="${isoDay(until, visit.timezone)}" required></label>
<button>Show</button>
<details class="fold"${set > 0 && html` open`}><summary>Filter${set > 0 && ` · ${plural(set, 'filter')}`}</summary><div class="filter-form">
<label>Find <input type="search" name="q" value="${filters.q}" maxlength="200" placeholder="name, id, rule or label=value"></label>
${textChoice('account', 'Account', choices.accounts, { chosen: filters.account })}
${textChoice('rule', 'Rule', choices.rules, { chosen: filters.rule })}
${textChoice('label', 'Label', choices.labels, { chosen: filters.label })}
<label>Acknowledged by <input name="person" value="${person}" maxlength="100"></label>
<label>Spending by <select name="by">${options([['', 'the most common label'], ...labelKeys(choices.labels)], groupBy ?? '')}</select></label>
<a href="/review">Remove filters</a></div></details></form>`;
}

function labelKeys(labels: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...new Set(labels.map(([label]) => label.slice(0, label.indexOf('='))))].map((key) => [key, key]);
}

function tiles(review: Review): Html {
  const { incidents, open, acknowledged, acknowledgeMs, resolveMs, spending, forecasts } = review;
  const tile = (name: string, value: Html | string | number, detail: string): Html =>
    html`<section class="tile"><h2>${name}</h2><p class="big">${value}</p><p class="soft">${detail}</p></section>`;
  const lasting = (ms: number | null) => (ms === null ? unknown() : roughDuration(ms));
  const below = spending?.belowZeroMs ?? null;
  const isKnown = below !== 0 || review.unknown.length === 0;
  return html`<div class="tiles">${tile('Incidents', incidents.length, open === 0 ? 'none still open' : `${open} still open`)}
${tile('Time to acknowledge', lasting(acknowledgeMs), `middle of ${acknowledged} acknowledged of ${incidents.length}`)}
${tile('Time to resolve', lasting(resolveMs), `middle of ${incidents.length - open}`)}
${tile('Below zero', below === 0 && isKnown ? 'never' : lasting(isKnown ? below : null), 'all balances together, from each reading to the next')}
${tile('Forecasts', forecasts === null ? unknown() : `${Math.round(forecasts.medianError * 100)} % off`, forecasts === null ? 'none came due in the last two weeks' : `3 days ahead, middle of ${forecasts.count}, last two weeks`)}</div>`;
}

function spendingSection(review: Review): Html {
  // One team has one colour in all charts.
  const colours = new Map<string, number>();
  const { spending, unknown: missing } = review;
  if (spending === null)
    return html`<section><h2>Spending</h2><p class="note unread">There is too much history to add up at once. Choose an account or a label, or a shorter time.</p></section>`;
  const currencies = [...new Set(spending.groups.map(({ currency }) => currencyCode(currency)))];
  const more = spending.accounts.length - shownAccounts;
  return html`<section aria-labelledby="spending-heading"><h2 id="spending-heading">Spending${review.groupBy !== null && html` by ${review.groupBy}`}</h2>
${missing.length > 0 && html`<p class="note unread">${plural(missing.length, 'account')} without a reading in this time: not in the sums.</p>`}
${spending.groups.length === 0 && html`<p class="empty">Nothing was read in this time.</p>`}
${currencies.map((code) => {
  const own = spending.groups.filter(({ currency }) => currencyCode(currency) === code);
  return html`${stackedChart(own, review.days, colours)}${spentTable(`Spending in ${code}`, own, ({ group }) => (group === '' ? html`<span class="soft">none</span>` : html`<bdi>${group}</bdi>`))}`;
})}
${spending.accounts.length > 0 && html`<details><summary>By account</summary>${spentTable('Spending by account', spending.accounts.slice(0, shownAccounts), ({ account }) => accountLink(account))}${more > 0 && html`<p class="soft">and ${more} more, in the CSV</p>`}</details>`}</section>`;
}

function spentTable<Row extends Spent>(label: string, rows: readonly Row[], name: (row: Row) => Html): Html {
  const head = html`<th scope="col">Of</th><th scope="col" class="number">Spent</th><th scope="col" class="number">Before</th><th scope="col" class="number">Change</th>`;
  const cells = rows.map((row) => {
    const { spent, before, currency } = row;
    return html`<tr><th scope="row">${name(row)}</th><td class="number" data-label="Spent">${formatAmount(spent, currency)}</td><td class="number" data-label="Before">${before === null ? unknown() : formatAmount(before, currency)}</td><td class="number" data-label="Change">${changeWords(spent, before)}</td></tr>`;
  });
  return table(label, 'cards compact', head, cells);
}

function changeWords(spent: Micros, before: Micros | null): Html | string {
  if (before === null || before === 0) return unknown();
  const percent = Math.round(((spent - before) / before) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

/** Bars of a day or more, one upon another by label; the smallest labels are one. The table next to it says the same. */
function stackedChart(
  groups: readonly GroupSpent[],
  days: Review['days'],
  colours: Map<string, number>,
): Html | null {
  const [first] = groups;
  if (first === undefined || first.buckets.length < 2) return null;
  const rest = groups.slice(shownGroups);
  const series = groups
    .slice(0, shownGroups)
    .filter(({ spent }) => spent > 0)
    .map(({ group, buckets }) => ({ name: group || 'none', buckets }));
  if (rest.length > 0)
    series.push({
      name: `${rest.length} more`,
      buckets: first.buckets.map((_, at) => rest.reduce((sum, { buckets }) => sum + (buckets[at] ?? 0), 0)),
    });
  const totals = first.buckets.map((_, at) =>
    series.reduce((sum, { buckets }) => sum + (buckets[at] ?? 0), 0),
  );
  const colourOf = (name: string): number => getOrMake(colours, name, () => colours.size % 7);
  const top = Math.max(...totals, 1);
  const width = 100 / totals.length;
  const heights = totals.map(() => 0);
  const bars = series.map(({ name, buckets }) =>
    buckets.map((micros, at) => {
      const height = (micros / top) * 88;
      heights[at] = (heights[at] ?? 0) + height;
      return (
        micros > 0 &&
        html`<rect class="s${colourOf(name)}" x="${share(at * width + width * 0.1)}" y="${share(90 - (heights[at] ?? 0))}" width="${share(width * 0.8)}" height="${share(height)}"/>`
      );
    }),
  );
  const stepMs = Date.parse(days[1] ?? '') - Date.parse(days[0] ?? '');
  const isDaily = stepMs === dayMs;
  const words = `Spending each ${isDaily ? 'day' : roughDuration(stepMs)}, at most ${formatAmount(top, first.currency)}`;
  const labelled = [0, Math.floor(totals.length / 2), totals.length - 1];
  return html`<figure class="chart"><div class="chart-box low"><svg class="chart-svg stack" role="img" aria-label="${words}">${bars}
${labelled.map((at) => html`<text class="tick" x="${share((at + 0.5) * width)}" y="100%" dy="-4" text-anchor="middle">${formatShortMoment(Date.parse(days[at] ?? ''), 'UTC').slice(0, -' 00:00'.length)}</text>`)}</svg></div>
<figcaption><ul class="legend">${series.map(({ name }) => html`<li><span class="key stack s${colourOf(name)}" aria-hidden="true"></span><bdi>${name}</bdi></li>`)}</ul><p>${words}.</p></figcaption></figure>`;
}

function share(value: number): string {
  return `${Math.round(value * 100) / 100}%`;
}
