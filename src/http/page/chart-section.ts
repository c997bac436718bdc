import { amountsOf, type Chart, roomyAmounts } from '../../chart/chart.ts';
import { drawSvg, type SvgLook } from '../../chart/draw-svg.ts';
import { valueTicks } from '../../chart/scale.ts';
import { dayMs, weekMs } from '../../domain/duration.ts';
import { formatMoment, isoDay, isoText, weekdayOf } from '../../domain/moment.ts';
import { formatAmount, formatMicros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { type Balance, type BalanceDefinition, unitOf } from '../../domain/reading.ts';
import { ladderSteps } from '../../rules/ladder.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { balanceLabel, balanceName, sayRunwayClause } from '../../wording/quantity-wording.ts';
import { RequestError } from '../refusal.ts';
import { buildChart, type ChartSpan, chartRanges, readSpan } from './chart-model.ts';
import { choiceLink } from './forms.ts';
import { live } from './live.ts';
import { accountPath, severityWord, type Visit } from './words.ts';

const tableRows = 40;

interface Shown {
  readonly account: AccountView;
  readonly span: ChartSpan;
  readonly visit: Visit;
}

/** The charts of one balance or both: drawn here, drawn again by the script with a cursor, and as tables. */
export async function chartSection(visit: Visit, account: AccountView): Promise<Html> {
  const { query } = visit;
  const { span, problem } = spanOf(visit);
  const shown = { account, span, visit };
  const wanted = readBalances(query, account);
  const path = accountPath(account.id);
  const figures = await Promise.all(wanted.map(({ id }) => chartFigure(id, shown)));
  return html`<section aria-labelledby="chart-heading" class="chart-section"><div class="section-head"><h2 id="chart-heading">${balanceName(wanted.map(({ label }) => label).join(' and '))}, ${spanWords(shown)}</h2>
<div class="choices">${rangeLinks(path, span, query)}${balanceLinks(account, wanted, query)}</div></div>
${rangeForm(shown, query, problem)}
${figures}
<p class="download"><a href="/api/v1${path}/history.csv?${exportQuery(span)}" data-csv download>Download as CSV</a> <span class="soft">every reading of this time, exactly as read</span></p></section>`;
}

/** A part of the address that cannot be read is named next to the fields, and the usual time is shown. */
function spanOf(visit: Visit): { readonly span: ChartSpan; readonly problem: string | null } {
  const [range, since, until] = ['range', 'since', 'until'].map((name) => visit.query.get(name));
  try {
    return { span: readSpan({ range, since, until }, visit), problem: null };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { span: readSpan({}, visit), problem: error.message };
  }
}

function readBalances(query: URLSearchParams, { balances }: AccountView): readonly BalanceDefinition[] {
  const wanted = query.get('balance');
  if (wanted === 'both') return balances;
  const one = balances.find(({ id }) => id === wanted);
  return one === undefined ? balances.slice(0, 1) : [one];
}

function spanWords({ span, visit }: Shown): string {
  if (span.preset !== null) return span.preset.label;
  return `${formatMoment(span.since, visit)} to ${formatMoment(Math.min(span.until, visit.now), visit)}`;
}

function rangeLinks(path: string, { preset }: ChartSpan, query: URLSearchParams): Html {
  const link = (range: (typeof chartRanges)[number]): Html => {
    const words = { range: range.name, since: null, until: null };
    return choiceLink(`${path}?${changed(query, words)}`, range.label, range === preset);
  };
  return html`<nav class="filters" aria-label="Range">${chartRanges.map(link)}</nav>`;
}

function balanceLinks(
  { id: account, balances }: AccountView,
  wanted: readonly BalanceDefinition[],
  query: URLSearchParams,
): Html | null {
  if (balances.length < 2) return null;
  const link = (value: string, word: string, current: boolean): Html =>
    choiceLink(`${accountPath(account)}?${changed(query, { balance: value })}`, word, current);
  const each = balances.map(({ id, label }) => link(id, label, wanted.length === 1 && wanted[0]?.id === id));
  return html`<nav class="filters" aria-label="Balance">${each}${link('both', balances.length === 2 ? 'Both' : 'All', wanted.length > 1)}</nav>`;
}

/** The address with some of its words replaced, without what a form has just done. */
function changed(query: URLSearchParams, words: Readonly<Record<string, string | null>>): string {
  const next = new URLSearchParams(query);
  for (const [name, word] of Object.entries({ ...words, done: null })) {
    if (word === null) next.delete(name);
    else next.set(name, word);
  }
  return `${next}#chart-heading`;
}

function rangeForm({ account, span, visit }: Shown, query: URLSearchParams, problem: string | null): Html {
  const today = isoDay(visit.now, visit.timezone);
  const since = isoDay(span.since, visit.timezone);
  const until = isoDay(Math.min(span.until - 1, visit.now), visit.timezone);
  const balance = query.get('balance');
  return html`<form class="search range" method="get" action="${accountPath(account.id)}#chart-heading">${balance !== null && html`<input type="hidden" name="balance" value="${balance}">`}
<label>From <input type="date" name="since" value="${since}" max="${today}" required></label>
<label>to <input type="date" name="until" value="${until}" max="${today}" required></label>
<button class="quiet">Show</button>${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}</form>`;
}

/** A range up to now stays one while the page is open. */
function exportQuery({ since, until, preset }: ChartSpan): string {
  if (preset !== null) return `since=${preset.ms / dayMs}d`;
  return `since=${isoText(since)}&until=${isoText(until)}`;
}

async function chartFigure(balance: Balance, shown: Shown): Promise<Html> {
  const { account, span, visit } = shown;
  const chart = await buildChart(visit.views, { account, span, balance, now: visit.now });
  const dates = `since=${isoText(span.since)}&until=${isoText(span.until)}`;
  const time = span.preset === null ? dates : `range=${span.preset.name}`;
  const words = describeChart(chart, balance, shown);
  const label = balanceLabel(balance, account.balances);
  const name = balanceName(label);
  return html`<figure class="chart" data-chart="/api/v1${accountPath(account.id)}/chart?balance=${balance}" data-time="${time}" data-label="${name}: ${words}" data-timezone="${visit.timezone}"><div class="chart-box">${drawChart(chart, `${name}: ${words}`, visit.timezone)}</div>
${live(`chart-${balance}`, html`${legend(chart)}<p>${words}</p>`, { tag: 'figcaption' })}</figure>
<details class="table-of-chart"><summary>The chart<span class="hidden"> of the ${name}</span> as a table</summary>${live(`table-${balance}`, chartTable(chart, balance, shown))}</details>`;
}

function describeChart(chart: Chart, balance: Balance, shown: Shown): string {
  const { account, visit } = shown;
  const values = chart.points.flatMap(({ value }) => (value === null ? [] : [value]));
  const [first, last] = [values[0], values.at(-1)];
  const range = amountsOf({ points: chart.points, thresholds: [] });
  const { preset } = shown.span;
  if (first === undefined || last === undefined || range === null)
    return preset === null ? 'No reading in this time.' : `No reading in the last ${preset.label}.`;
  const money = (value: number): string => formatAmount(value, unitOf(account, balance));
  const parts = [
    `From ${money(first)} to ${money(last)}, lowest ${money(range.lowest)}, highest ${money(range.highest)}.`,
  ];
  if (chart.topUps.length > 0)
    parts.push(`${chart.topUps.length === 1 ? 'One top-up' : `${chart.topUps.length} top-ups`}.`);
  const clause = sayRunwayClause(ownOf(account.runways, balance) ?? null, visit);
  if (chart.projection.length > 0) parts.push(`It ${clause}${chart.fan.length > 0 ? ', 80 % range' : ''}.`);
  const { hindsight } = chart;
  if (hindsight !== null) {
    const made = weekdayOf(hindsight.at - weekMs, visit.timezone);
    parts.push(
      `Last ${made}’s forecast said ${money(hindsight.predicted)} for ${formatMoment(hindsight.at, visit)}; it was ${money(hindsight.came)}.`,
    );
  }
  const all = ladderSteps(ownOf(account.thresholds, balance) ?? {});
  const far = all.filter(({ severity }) => !chart.thresholds.some((level) => level.severity === severity));
  const names = far.map(
    ({ severity, threshold }) => `${severityWord(severity).toLowerCase()} ${money(threshold)}`,
  );
  if (far.length > 0) parts.push(`Off the chart: ${names.join(', ')}.`);
  return parts.join(' ');
}

function legend(chart: Chart): Html {
  const entries = [
    ['line', 'balance', chart.points.length > 0],
    ['projection', 'projection', chart.projection.length > 0],
    ['fan', '80 % range', chart.fan.length > 0],
    ['threshold', 'thresholds', chart.thresholds.length > 0],
    ['top-up', 'top-up', chart.topUps.length > 0],
    ['coming', 'expected top-up or monthly run', chart.coming.length > 0],
    ['foretold', 'predicted a week ago', chart.predicted.length > 0],
    ['shade', 'incident', chart.incidents.length > 0],
    ['silenced', 'silenced', chart.silences.length > 0],
    ['gap', 'not read', chart.points.some(({ value }) => value === null)],
  ] as const;
  return html`<ul class="legend">${entries
    .filter(([, , present]) => present)
    .map(([key, word]) => html`<li><span class="key ${key}" aria-hidden="true"></span>${word}</li>`)}</ul>`;
}

/** Evenly chosen points: all of them are in the CSV. Gaps and the last point always stay. */
function chartTable(chart: Chart, balance: Balance, { account, visit }: Shown): Html {
  const step = Math.max(1, Math.ceil(chart.points.length / tableRows));
  const rows = chart.points.filter(({ value }, index) => {
    return value === null || index % step === 0 || index === chart.points.length - 1;
  });
  if (rows.length === 0) return html`<p class="empty">No reading in this range.</p>`;
  return html`<div class="scroll" role="group" aria-label="Readings" tabindex="0"><table><thead><tr><th scope="col">Time</th><th scope="col" class="number">${balanceLabel(balance, account.balances)} balance</th></tr></thead><tbody>${rows
    .toReversed()
    .map(
      ({ at, value }) =>
        html`<tr><td>${formatMoment(at, visit)}</td><td class="number">${value === null ? 'not read' : formatAmount(value, unitOf(account, balance))}</td></tr>`,
    )}</tbody></table></div>`;
}

/** Shares of the page's box, so that lines stretch with it; colours come from its style sheet. */
const look: SvgLook = {
  unit: '%',
  plot: { left: 0, right: 100, top: 6, bottom: 90 },
  paint: (part, severity) =>
    `class="${part}${severity === undefined ? '' : ` ${severity}`}"${part === 'not-read' ? ' fill="url(#not-read)"' : ''}`,
  places: {
    tick: 'x="4" dy="-4"',
    time: 'y="100%" dy="-8"',
    threshold: 'x="100%" dx="-4" dy="-4" text-anchor="end"',
  },
  lineHeight: 6,
  nameThreshold: ({ severity, value }) => `${severityWord(severity).toLowerCase()} ${formatMicros(value)}`,
  times: 6,
};

/** The chart as a picture that needs no script. `timezone` is that of the time axis. */
export function drawChart(chart: Chart, words: string, timezone: string): Html {
  const { lowest, highest } = roomyAmounts(chart);
  const amounts = { lowest, highest, ticks: valueTicks(lowest, highest, 4) };
  return html`<svg class="chart-svg" role="img" aria-label="${words}">${drawSvg(chart, { look, amounts, timezone })}</svg>`;
}
