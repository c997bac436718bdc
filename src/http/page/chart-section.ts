import { amountsOf, type Chart } from '../../chart/chart.ts';
import { onStorageError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { capital } from '../../domain/plain-text.ts';
import { type Balance, type BalanceDefinition, unitOf } from '../../domain/reading.ts';
import { dayMs, isoDay, isoText, momentParts, weekMs } from '../../domain/time.ts';
import { ladderSteps } from '../../rules/ladder.ts';
import { nameWeekday } from '../../rules/spending-facts.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { joinSentences } from '../../wording/lists.ts';
import { sayMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import {
  balanceLabel,
  sayAmount,
  sayBalance,
  sayLabel,
  sayRunwayClause,
} from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { RequestError } from '../refusal.ts';
import { buildChart, type ChartSpan, chartRanges, readSpan } from './chart-model.ts';
import { drawChart, sayThreshold } from './chart-picture.ts';
import { choiceLink } from './forms.ts';
import { live } from './live.ts';
import { table, unreadable } from './markup.ts';
import { accountPath, common, type Scope } from './words.ts';

const tableRows = 40;

const says = phrases('accountChart', {
  heading: '{balance}, {span}',
  and: '{one} and {other}',
  csv: 'Download as CSV',
  csvHolds: 'every reading of this time, exactly as read',
  fromTo: '{from} to {to}',
  range: 'Range',
  balance: 'Balance',
  both: 'Both',
  all: 'All',
  words: '{balance}: {words}',
  asTableOf: 'The chart{hidden} as a table',
  of: 'of the {balance}',
  nothing: 'No reading in this time.',
  nothingInLast: 'No reading in the last {span}.',
  course: 'From {first} to {last}, lowest {lowest}, highest {highest}.',
  topUps: '{count, plural, one {One top-up.} other {# top-ups.}}',
  projected: 'It {lasts}.',
  projectedRange: 'It {lasts}, 80 % range.',
  hindsight: 'Last {weekday}’s forecast said {predicted} for {moment}; it was {came}.',
  off: 'Off the chart: {thresholds}.',
  empty: 'No reading in this range.',
  notRead: 'not read',
});
const legends = phrases('legend', {
  line: 'balance',
  projection: 'projection',
  fan: '80 % range',
  threshold: 'thresholds',
  'top-up': 'top-up',
  coming: 'expected top-up or monthly run',
  foretold: 'predicted a week ago',
  shade: 'incident',
  silenced: 'silenced',
  gap: 'not read',
});

interface Shown {
  readonly account: AccountView;
  readonly span: ChartSpan;
  readonly scope: Scope;
}

/** The charts of one balance or of all: as pictures made here, for the script that draws them again with a cursor, and as tables. */
export async function chartSection(scope: Scope, account: AccountView): Promise<Html> {
  const asked = askedSpan(scope, ['since', 'until']);
  const { span } = asked;
  const shown = { account, span, scope };
  const wanted = readBalances(scope.query, account);
  const figures = await Promise.all(wanted.map(({ id }) => chartFigure(id, shown)));
  // A range up to now moves on while the page is open.
  const since = span.preset === null ? datesOf(span) : `since=${span.preset.ms / dayMs}d`;
  return html`<section aria-labelledby="chart-heading" class="chart-section"><div class="section-head"><h2 id="chart-heading">${capital(say(says.heading, { balance: balancesWords(wanted, scope), span: spanWords(shown) }, scope))}</h2>
<div class="choices">${rangeLinks(shown)}${balanceLinks(shown, wanted)}</div></div>
${rangeForm(shown, asked)}
${figures}
<p class="download"><a href="/api/v1${accountPath(account.id)}/history.csv?${since}" data-csv download>${say(says.csv, scope)}</a> <span class="soft">${say(says.csvHolds, scope)}</span></p></section>`;
}

type AskedSpan = ReturnType<typeof askedSpan>;

/** The span that the address asks for. If it cannot be read, the problem is shown next to the fields, which keep their text, with the usual span. */
export function askedSpan(scope: Scope, names: readonly [string, string]) {
  const [range, since, until] = ['range', ...names].map((name) => scope.query.get(name));
  try {
    const span = readSpan({ range, since, until }, scope, names);
    const days = [span.since, Math.min(span.until - 1, scope.now)].map((at) => isoDay(at, scope.timezone));
    return { span, days, problem: null };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { span: readSpan({}, scope), days: [since, until], problem: sayAgain(error.message, scope) };
  }
}

function readBalances(query: URLSearchParams, { balances }: AccountView): readonly BalanceDefinition[] {
  const wanted = query.get('balance');
  if (wanted === 'both') return balances;
  const one = balances.find(({ id }) => id === wanted);
  return one === undefined ? balances.slice(0, 1) : [one];
}

function balancesWords(wanted: readonly BalanceDefinition[], scope: Scope): string {
  const [only, ...others] = wanted;
  if (others.length === 0) return sayBalance(only?.label ?? '', scope);
  const labels = wanted.map(({ label }) => sayLabel(label, scope));
  const names = labels.reduce((one, other) => say(says.and, { one, other }, scope));
  return sayBalance(names, scope);
}

function spanWords({ span, scope }: Shown): string {
  if (span.preset !== null) return say(span.preset.label, scope);
  const to = sayMoment(Math.min(span.until, scope.now), scope);
  return say(says.fromTo, { from: sayMoment(span.since, scope), to }, scope);
}

function rangeLinks({ account, span: { preset }, scope }: Shown): Html {
  const link = (range: (typeof chartRanges)[number]): Html => {
    const query = changed(scope, { range: range.name, since: null, until: null });
    const path = `${accountPath(account.id)}?${query}#chart-heading`;
    return choiceLink(path, say(range.label, scope), range === preset);
  };
  return html`<nav class="filters" aria-label="${say(says.range, scope)}">${chartRanges.map(link)}</nav>`;
}

function balanceLinks(
  { account: { id: account, balances }, scope }: Shown,
  wanted: readonly BalanceDefinition[],
): Html | null {
  if (balances.length < 2) return null;
  const link = (balance: string, word: string, current: boolean): Html =>
    choiceLink(`${accountPath(account)}?${changed(scope, { balance })}#chart-heading`, word, current);
  const each = balances.map(({ id, label }) =>
    link(id, sayLabel(label, scope), wanted.length === 1 && wanted[0]?.id === id),
  );
  return html`<nav class="filters" aria-label="${say(says.balance, scope)}">${each}${link('both', say(balances.length === 2 ? says.both : says.all, scope), wanted.length > 1)}</nav>`;
}

/** The query with some of its parameters replaced, and without the result of the last form. */
export function changed({ query }: Scope, words: Readonly<Record<string, string | null>>): string {
  const next = new URLSearchParams(query);
  for (const [name, word] of Object.entries({ ...words, done: null })) {
    if (word === null) next.delete(name);
    else next.set(name, word);
  }
  return next.toString();
}

function rangeForm({ account, scope }: Shown, { days: [since, until], problem }: AskedSpan): Html {
  const today = isoDay(scope.now, scope.timezone);
  const balance = scope.query.get('balance');
  return html`<form class="search range" method="get" action="${accountPath(account.id)}#chart-heading">${balance !== null && html`<input type="hidden" name="balance" value="${balance}">`}
<label>${say(common.from, scope)} <input type="date" name="since" value="${since}" max="${today}" required></label>
<label>${say(common.to, scope)} <input type="date" name="until" value="${until}" max="${today}" required></label>
<button class="quiet">${say(common.show, scope)}</button>${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}</form>`;
}

function datesOf({ since, until }: ChartSpan): string {
  return `since=${isoText(since)}&until=${isoText(until)}`;
}

/** The figure's parts exist even while the database cannot be read: an open page then says so, instead of showing an old picture. */
async function chartFigure(balance: Balance, shown: Shown): Promise<Html> {
  const { account, span, scope } = shown;
  const chart = await buildChart(scope.views, { account, span, balance, now: scope.now }).catch(
    onStorageError(null),
  );
  const time = span.preset === null ? datesOf(span) : `range=${span.preset.name}`;
  const name = sayBalance(balanceLabel(balance, account.balances), scope);
  const words = chart === null ? '' : describeChart(chart, balance, shown);
  const picture = chart && drawChart(chart, say(says.words, { balance: name, words }, scope), scope);
  const caption = chart === null ? unreadable(scope) : html`${legend(chart, scope)}<p>${words}</p>`;
  const rows = chart === null ? unreadable(scope) : chartTable(chart, balance, shown);
  return html`<figure class="chart" data-chart="/api/v1${accountPath(account.id)}/chart?balance=${balance}" data-time="${time}" data-label="${name}" data-timezone="${scope.timezone}"><div class="chart-box">${picture}</div>
${live(`chart-${balance}`, caption, { tag: 'figcaption' })}</figure>
<details class="table-of-chart"><summary>${sayHtml(says.asTableOf, { hidden: html`<span class="hidden"> ${say(says.of, { balance: name }, scope)}</span>` }, scope)}</summary>${live(`table-${balance}`, rows)}</details>`;
}

function describeChart(chart: Chart, balance: Balance, shown: Shown): string {
  const { account, scope } = shown;
  const values = chart.points.flatMap(({ value }) => (value === null ? [] : [value]));
  const [first, last] = [values[0], values.at(-1)];
  const range = amountsOf({ points: chart.points, thresholds: [] });
  const { preset } = shown.span;
  if (first === undefined || last === undefined || range === null)
    return preset === null
      ? say(says.nothing, scope)
      : say(says.nothingInLast, { span: say(preset.label, scope) }, scope);
  const money = (value: number): string => sayAmount(value, { ...scope, currency: unitOf(account, balance) });
  const ends = { first: money(first), last: money(last) };
  const extremes = { lowest: money(range.lowest), highest: money(range.highest) };
  const parts = [say(says.course, { ...ends, ...extremes }, scope)];
  if (chart.topUps.length > 0) parts.push(say(says.topUps, { count: chart.topUps.length }, scope));
  const lasts = sayRunwayClause(ownOf(account.runways, balance) ?? null, scope);
  if (chart.projection.length > 0)
    parts.push(say(chart.fan.length > 0 ? says.projectedRange : says.projected, { lasts }, scope));
  const { hindsight } = chart;
  if (hindsight !== null) {
    const { weekdayIndex } = momentParts(hindsight.at - weekMs, scope.timezone);
    const weekday = sayAgain(nameWeekday(weekdayIndex), scope);
    const amounts = { predicted: money(hindsight.predicted), came: money(hindsight.came) };
    const moment = sayMoment(hindsight.at, scope);
    parts.push(say(says.hindsight, { weekday, moment, ...amounts }, scope));
  }
  const all = ladderSteps(ownOf(account.thresholds, balance) ?? {});
  const far = all.filter(({ severity }) => !chart.thresholds.some((level) => level.severity === severity));
  const names = far.map(({ severity, threshold }) => sayThreshold(severity, money(threshold), scope));
  if (far.length > 0) parts.push(say(says.off, { thresholds: scope.language.list(names) }, scope));
  return joinSentences(parts);
}

function legend(chart: Chart, scope: Scope): Html {
  const entries = [
    ['line', chart.points.length > 0],
    ['projection', chart.projection.length > 0],
    ['fan', chart.fan.length > 0],
    ['threshold', chart.thresholds.length > 0],
    ['top-up', chart.topUps.length > 0],
    ['coming', chart.coming.length > 0],
    ['foretold', chart.predicted.length > 0],
    ['shade', chart.incidents.length > 0],
    ['silenced', chart.silences.length > 0],
    ['gap', chart.points.some(({ value }) => value === null)],
  ] as const;
  return html`<ul class="legend">${entries
    .filter(([, present]) => present)
    .map(
      ([sign]) =>
        html`<li><span class="key ${sign}" aria-hidden="true"></span>${say(legends[sign], scope)}</li>`,
    )}</ul>`;
}

/** Evenly chosen points, because the CSV has all of them. Gaps and the last point are always among them. */
function chartTable(chart: Chart, balance: Balance, { account, scope }: Shown): Html {
  const step = Math.max(1, Math.ceil(chart.points.length / tableRows));
  const rows = chart.points.filter(({ value }, index) => {
    return value === null || index % step === 0 || index === chart.points.length - 1;
  });
  if (rows.length === 0) return html`<p class="empty">${say(says.empty, scope)}</p>`;
  const name = capital(sayBalance(balanceLabel(balance, account.balances), scope));
  return table(
    name,
    '',
    html`<th scope="col">${say(common.time, scope)}</th><th scope="col" class="number">${name}</th>`,
    rows
      .toReversed()
      .map(
        ({ at, value }) =>
          html`<tr><td>${sayMoment(at, scope)}</td><td class="number">${value === null ? say(says.notRead, scope) : sayAmount(value, { ...scope, currency: unitOf(account, balance) })}</td></tr>`,
      ),
  );
}
