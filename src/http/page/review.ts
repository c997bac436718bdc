import { dayMs } from '../../domain/duration.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { isoDay, isoText, momentParts } from '../../domain/moment.ts';
import { currencyCode, type Micros } from '../../domain/money.ts';
import { explainChanges } from '../../views/explain-changes.ts';
import { type GroupSpent, type Review, reviewTime, type Spent, sumReview } from '../../views/review.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { sayDuration } from '../../wording/moments.ts';
import { saySum } from '../../wording/one-sum-wording.ts';
import { phrases } from '../../wording/phrase.ts';
import { sayAmount, sayBareAmount } from '../../wording/quantity-wording.ts';
import { readAlertQuery, selects } from './alerts-page.ts';
import { chartRanges, readSpan } from './chart-model.ts';
import { costSection } from './cost-forecast.ts';
import { choiceLink, options, textChoice } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { accountLink, mentionsAll, nameOf, table, unknown, type Visit } from './words.ts';

const shownIncidents = 200;
const shownAccounts = 30;
const shownGroups = 6;

const says = phrases('review', {
  title: 'Review',
  incidentsCsv: 'Incidents as CSV',
  spendingCsv: 'Spending as CSV',
  count: '{count, plural, one {# incident} other {# incidents}}',
  cut: 'There were more: only the newest are counted. Choose a shorter time.',
  newest: 'The newest {shown} of {all}; all are in the CSV.',
  time: 'Time',
  reviewed: 'What is reviewed',
  from: 'From',
  to: 'to',
  show: 'Show',
  filter: 'Filter',
  filterOf: 'Filter · {count, plural, one {# filter} other {# filters}}',
  find: 'Find',
  findWhat: 'name, id, rule or label=value',
  acknowledgedBy: 'Acknowledged by',
  groupBy: 'Spending by',
  commonest: 'the most common label',
  remove: 'Remove filters',
  incidents: 'Incidents',
  noneOpen: 'none still open',
  open: '{count} still open',
  acknowledging: 'Time to acknowledge',
  acknowledged: 'middle of {count} acknowledged of {all}',
  resolving: 'Time to resolve',
  middle: 'middle of {count}',
  belowZero: 'Below zero',
  never: 'never',
  together: 'all balances together, from each reading to the next',
  forecasts: 'Forecasts',
  off: '{percent} % off',
  noForecasts: 'none came due in the last two weeks',
  forecastsOf: '3 days ahead, middle of {count}, last two weeks',
  spending: 'Spending',
  spendingBy: 'Spending by {label}',
  tooMuch: 'There is too much history to add up at once. Choose an account or a label, or a shorter time.',
  missing:
    '{count, plural, one {# account without a reading in this time: not in the sums.} other {# accounts without a reading in this time: not in the sums.}}',
  nothingRead: 'Nothing was read in this time.',
  spendingIn: 'Spending in {currency}',
  noLabel: 'none',
  total: 'In one currency: {sum}',
  more: '{amount} more than before, most of it: {names}.',
  less: '{amount} less than before, most of it: {names}.',
  moreOn: '{amount} more than before, most of it: {names}; most on {weekday} ({change}).',
  lessOn: '{amount} less than before, most of it: {names}; most on {weekday} ({change}).',
  byLabel: 'By {label}: {names}.',
  reasons: '{price} by price, {volume} by volume.',
  named: '{name} {change}',
  plus: '+{amount}',
  minus: '−{amount}',
  totalBefore: 'In one currency: {sum}; before {before}',
  byAccount: 'By account',
  spendingByAccount: 'Spending by account',
  moreAccounts: 'and {count} more, in the CSV',
  of: 'Of',
  spent: 'Spent',
  before: 'Before',
  change: 'Change',
  percent: '{percent} %',
  moreGroups: '{count} more',
  eachDay: 'Spending each day, at most {amount}',
  eachTime: 'Spending each {duration}, at most {amount}',
  sentence: '{words}.',
  day: '{day} {month}',
});

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
  return html`<div class="section-head"><h1>${say(says.title, visit)}</h1><p class="download"><a href="/api/v1/review.csv?${kept.toString()}" download>${say(says.incidentsCsv, visit)}</a> · <a href="/api/v1/review.csv?${kept.toString()}&of=spending" download>${say(says.spendingCsv, visit)}</a></p></div>
${filterForm(visit, query)}
${tiles(review, visit)}
${spendingSection(review, visit)}
${await costSection(visit, { label: review.groupBy, wantsAccount: wantsAccountOf(query) })}
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">${say(says.count, { count: review.incidents.length }, visit)}</h2>
${review.isCut && html`<p class="note unread">${say(says.cut, visit)}</p>`}
${incidentTable(shown, null, visit, { names: true })}
${shown.length < review.incidents.length && html`<p class="soft">${say(says.newest, { shown: shown.length, all: review.incidents.length }, visit)}</p>`}</section>`;
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
  return html`<nav class="filters" aria-label="${say(says.time, visit)}">${ranges.map((range) => choiceLink(link(range.name), say(range.label, visit), range === span.preset))}</nav>
<form class="search range review" method="get" action="/review" role="search" aria-label="${say(says.reviewed, visit)}">
<label>${say(says.from, visit)} <input type="date" name="from" value="${isoDay(span.since, visit.timezone)}" required></label>
<label>${say(says.to, visit)} <input type="date" name="to" value="${isoDay(until, visit.timezone)}" required></label>
<button>${say(says.show, visit)}</button>
<details class="fold"${set > 0 && html` open`}><summary>${set > 0 ? say(says.filterOf, { count: set }, visit) : say(says.filter, visit)}</summary><div class="filter-form">
<label>${say(says.find, visit)} <input type="search" name="q" value="${filters.q}" maxlength="200" placeholder="${say(says.findWhat, visit)}"></label>
${textChoice('account', choices.accounts, { chosen: filters.account }, visit)}
${textChoice('rule', choices.rules, { chosen: filters.rule }, visit)}
${textChoice('label', choices.labels, { chosen: filters.label }, visit)}
<label>${say(says.acknowledgedBy, visit)} <input name="person" value="${person}" maxlength="100"></label>
<label>${say(says.groupBy, visit)} <select name="by">${options([['', say(says.commonest, visit)], ...labelKeys(choices.labels)], groupBy ?? '')}</select></label>
<a href="/review">${say(says.remove, visit)}</a></div></details></form>`;
}

function labelKeys(labels: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  return [...new Set(labels.map(([label]) => label.slice(0, label.indexOf('='))))].map((key) => [key, key]);
}

function tiles(review: Review, visit: Visit): Html {
  const { incidents, open, acknowledged, acknowledgeMs, resolveMs, spending, forecasts } = review;
  const tile = (name: string, value: Html | string | number, detail: string): Html =>
    html`<section class="tile"><h2>${name}</h2><p class="big">${value}</p><p class="soft">${detail}</p></section>`;
  const lasting = (ms: number | null) => (ms === null ? unknown(visit) : sayDuration(ms, visit));
  const below = spending?.belowZeroMs ?? null;
  const isKnown = below !== 0 || review.unknown.length === 0;
  return html`<div class="tiles">${tile(say(says.incidents, visit), incidents.length, open === 0 ? say(says.noneOpen, visit) : say(says.open, { count: open }, visit))}
${tile(say(says.acknowledging, visit), lasting(acknowledgeMs), say(says.acknowledged, { count: acknowledged, all: incidents.length }, visit))}
${tile(say(says.resolving, visit), lasting(resolveMs), say(says.middle, { count: incidents.length - open }, visit))}
${tile(say(says.belowZero, visit), below === 0 && isKnown ? say(says.never, visit) : lasting(isKnown ? below : null), say(says.together, visit))}
${tile(say(says.forecasts, visit), forecasts === null ? unknown(visit) : say(says.off, { percent: Math.round(forecasts.medianError * 100) }, visit), forecasts === null ? say(says.noForecasts, visit) : say(says.forecastsOf, { count: forecasts.count }, visit))}</div>`;
}

function spendingSection(review: Review, visit: Visit): Html {
  // One team has one colour in all charts.
  const colours = new Map<string, number>();
  const { spending, unknown: missing } = review;
  if (spending === null)
    return html`<section><h2>${say(says.spending, visit)}</h2><p class="note unread">${say(says.tooMuch, visit)}</p></section>`;
  const currencies = [...new Set(spending.groups.map(({ currency }) => currencyCode(currency)))];
  const more = spending.accounts.length - shownAccounts;
  const total = sumReview(review, visit.views.finance().money);
  return html`<section aria-labelledby="spending-heading"><h2 id="spending-heading">${review.groupBy === null ? say(says.spending, visit) : say(says.spendingBy, { label: review.groupBy }, visit)}</h2>
${total !== null && html`<p class="sums">${sayTotal(total, visit)}</p>`}
${explainChanges(review).map((change) => html`<p>${sayChange(change, review.groupBy, visit)}</p>`)}
${missing.length > 0 && html`<p class="note unread">${say(says.missing, { count: missing.length }, visit)}</p>`}
${spending.groups.length === 0 && html`<p class="empty">${say(says.nothingRead, visit)}</p>`}
${currencies.map((code) => {
  const own = spending.groups.filter(({ currency }) => currencyCode(currency) === code);
  return html`${stackedChart(own, review.days, { colours, visit })}${spentTable(say(says.spendingIn, { currency: code }, visit), own, ({ group }) => (group === '' ? html`<span class="soft">${say(says.noLabel, visit)}</span>` : html`<bdi>${group}</bdi>`), visit)}`;
})}
${spending.accounts.length > 0 && html`<details><summary>${say(says.byAccount, visit)}</summary>${spentTable(say(says.spendingByAccount, visit), spending.accounts.slice(0, shownAccounts), ({ account }) => accountLink(account), visit)}${more > 0 && html`<p class="soft">${say(says.moreAccounts, { count: more }, visit)}</p>`}</details>`}</section>`;
}

function sayTotal({ spent, before }: NonNullable<ReturnType<typeof sumReview>>, visit: Visit): string {
  const sum = saySum(spent, visit);
  if (before === null) return say(says.total, { sum }, visit);
  return say(says.totalBefore, { sum, before: sayAmount(before.micros, { ...visit, ...before }) }, visit);
}

/** `420.00 CNY more than before, most of it: OTP +300.00, News +90.00; most on Fri (+210.00). By team: growth +400.00. +350.00 by price, +70.00 by volume.` */
function sayChange(
  { currency, more, accounts, groups, weekday, reasons }: ReturnType<typeof explainChanges>[number],
  label: string | null,
  visit: Visit,
): string {
  const frame = { ...visit, currency };
  const signed = (micros: Micros): string =>
    say(micros < 0 ? says.minus : says.plus, { amount: sayBareAmount(Math.abs(micros), frame) }, visit);
  const names = accounts.map(({ account, more: own }) =>
    say(says.named, { name: nameOf(account.name), change: signed(own) }, visit),
  );
  const given = { amount: sayAmount(Math.abs(more), frame), names: visit.language.list(names) };
  const most = weekday && {
    weekday: visit.language.weekday(weekday.index),
    change: signed(weekday.more),
  };
  const what =
    most === null
      ? say(more > 0 ? says.more : says.less, given, visit)
      : say(more > 0 ? says.moreOn : says.lessOn, { ...given, ...most }, visit);
  const named = groups.map((group) => {
    const name = group.label === '' ? say(says.noLabel, visit) : nameOf(group.label);
    return say(says.named, { name, change: signed(group.more) }, visit);
  });
  const sentences = [
    what,
    named.length > 0 && say(says.byLabel, { label: label ?? '', names: visit.language.list(named) }, visit),
    reasons && say(says.reasons, { price: signed(reasons.price), volume: signed(reasons.volume) }, visit),
  ];
  return sentences.filter(Boolean).join(' ');
}

function spentTable<Row extends Spent>(
  label: string,
  rows: readonly Row[],
  name: (row: Row) => Html,
  visit: Visit,
): Html {
  const head = html`<th scope="col">${say(says.of, visit)}</th><th scope="col" class="number">${say(says.spent, visit)}</th><th scope="col" class="number">${say(says.before, visit)}</th><th scope="col" class="number">${say(says.change, visit)}</th>`;
  const cells = rows.map((row) => {
    const { spent, before, currency } = row;
    return html`<tr><th scope="row">${name(row)}</th><td class="number" data-label="${say(says.spent, visit)}">${sayAmount(spent, { ...visit, currency })}</td><td class="number" data-label="${say(says.before, visit)}">${before === null ? unknown(visit) : sayAmount(before, { ...visit, currency })}</td><td class="number" data-label="${say(says.change, visit)}">${changeWords(spent, before, visit)}</td></tr>`;
  });
  return table(label, 'cards compact', head, cells);
}

function changeWords(spent: Micros, before: Micros | null, visit: Visit): Html | string {
  if (before === null || before === 0) return unknown(visit);
  const percent = Math.round(((spent - before) / before) * 100);
  return say(says.percent, { percent: `${percent > 0 ? '+' : ''}${percent}` }, visit);
}

/** Bars of a day or more, one upon another by label; the smallest labels are one. The table next to it says the same. */
function stackedChart(
  groups: readonly GroupSpent[],
  days: Review['days'],
  { colours, visit }: { readonly colours: Map<string, number>; readonly visit: Visit },
): Html | null {
  const [first] = groups;
  if (first === undefined || first.buckets.length < 2) return null;
  const rest = groups.slice(shownGroups);
  const series = groups
    .slice(0, shownGroups)
    .filter(({ spent }) => spent > 0)
    .map(({ group, buckets }) => ({ name: group || say(says.noLabel, visit), buckets }));
  if (rest.length > 0)
    series.push({
      name: say(says.moreGroups, { count: rest.length }, visit),
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
  const amount = sayAmount(top, { ...visit, currency: first.currency });
  const words = isDaily
    ? say(says.eachDay, { amount }, visit)
    : say(says.eachTime, { duration: sayDuration(stepMs, visit), amount }, visit);
  const labelled = [0, Math.floor(totals.length / 2), totals.length - 1];
  return html`<figure class="chart"><div class="chart-box low"><svg class="chart-svg stack" role="img" aria-label="${words}">${bars}
${labelled.map((at) => html`<text class="tick" x="${share((at + 0.5) * width)}" y="100%" dy="-4" text-anchor="middle">${sayDay(Date.parse(days[at] ?? ''), visit)}</text>`)}</svg></div>
<figcaption><ul class="legend">${series.map(({ name }) => html`<li><span class="key stack s${colourOf(name)}" aria-hidden="true"></span><bdi>${name}</bdi></li>`)}</ul><p>${say(says.sentence, { words }, visit)}</p></figcaption></figure>`;
}

function sayDay(at: number, visit: Visit): string {
  const { day, monthIndex } = momentParts(at, 'UTC');
  return say(says.day, { day, month: visit.language.month(monthIndex) }, visit);
}

function share(value: number): string {
  return `${Math.round(value * 100) / 100}%`;
}
