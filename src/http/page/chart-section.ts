import { formatMoment } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import { type Balance, balances } from '../../domain/reading.ts';
import type { AccountView, LiveViews } from '../../views/views.ts';
import { balanceLabel } from '../../wording/balance-wording.ts';
import { wordLasting } from '../../wording/quantity-wording.ts';
import { type Html, html } from '../html.ts';
import {
  buildChart,
  type Chart,
  type ChartRange,
  chartRanges,
  readBalance,
  readRange,
} from './chart-model.ts';
import { drawChart } from './chart-svg.ts';
import { accountPath } from './forms.ts';
import type { Frame } from './words.ts';

const tableRows = 40;

/** The chart of one balance: drawn here, drawn again by the script with a cursor, and as a table. */
export function chartSection(
  views: LiveViews,
  account: AccountView,
  query: URLSearchParams,
  frame: Frame,
): Html {
  const range = readRange(query);
  const balance = readBalance(query);
  const chart = buildChart(views, { account, range, balance, now: frame.now });
  const data = `/api/v1${accountPath(account.id)}/chart?range=${range.name}&balance=${balance}`;
  const words = describeChart(chart, { account, range, balance, frame });
  return html`<section aria-labelledby="chart-heading" class="chart-section"><div class="section-head"><h2 id="chart-heading">${balanceLabel(balance)} balance, ${range.label}</h2>
<div class="choices">${rangeLinks(account, { range, balance })}${balanceLinks(account, { range, balance })}</div></div>
<figure class="chart" data-chart="${data}" data-label="${words}" data-timezone="${frame.timezone}"><div class="chart-box">${drawChart(chart, words, frame.timezone)}</div>
<figcaption>${legend(chart)}<p>${words}</p></figcaption></figure>
<details class="table-of-chart"><summary>The chart as a table</summary>${chartTable(chart, frame)}</details></section>`;
}

function rangeLinks(
  account: AccountView,
  shown: { readonly range: ChartRange; readonly balance: Balance },
): Html {
  return html`<nav class="filters" aria-label="Range">${chartRanges.map((range) =>
    choice(
      `${accountPath(account.id)}?range=${range.name}&balance=${shown.balance}#chart-heading`,
      range.label,
      range === shown.range,
    ),
  )}</nav>`;
}

function balanceLinks(
  account: AccountView,
  shown: { readonly range: ChartRange; readonly balance: Balance },
): Html {
  return html`<nav class="filters" aria-label="Balance">${balances.map((balance) =>
    choice(
      `${accountPath(account.id)}?range=${shown.range.name}&balance=${balance}#chart-heading`,
      balanceLabel(balance),
      balance === shown.balance,
    ),
  )}</nav>`;
}

function choice(path: string, word: string, current: boolean): Html {
  return current
    ? html`<a href="${path}" aria-current="true">${word}</a>`
    : html`<a href="${path}">${word}</a>`;
}

/** What the picture shows, in words. */
function describeChart(
  chart: Chart,
  shown: {
    readonly account: AccountView;
    readonly range: ChartRange;
    readonly balance: Balance;
    readonly frame: Frame;
  },
): string {
  const values = chart.points.flatMap(([, value]) => (value === null ? [] : [value]));
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return `No reading in the last ${shown.range.label}.`;
  const money = (value: number): string => formatAmount(Math.round(value * 1_000_000), chart.currency);
  const parts = [
    `From ${money(first)} to ${money(last)}, lowest ${money(values.reduce((least, value) => Math.min(least, value)))}, highest ${money(values.reduce((most, value) => Math.max(most, value)))}.`,
  ];
  if (chart.topUps.length > 0)
    parts.push(`${chart.topUps.length === 1 ? 'One top-up' : `${chart.topUps.length} top-ups`}.`);
  const outlook = shown.account.outlooks[shown.balance];
  if (chart.projection.length > 0) {
    parts.push(
      `It ${wordLasting(outlook, shown.frame)}${chart.fan.length > 0 ? ', four times in five' : ''}.`,
    );
  }
  return parts.join(' ');
}

function legend(chart: Chart): Html {
  const entries = [
    ['line', 'balance', chart.points.length > 0],
    ['projection', 'projection', chart.projection.length > 0],
    ['fan', 'between which it lies four times in five', chart.fan.length > 0],
    ['threshold', 'thresholds', chart.thresholds.length > 0],
    ['top-up', 'top-up', chart.topUps.length > 0],
    ['shade', 'incident', chart.incidents.length > 0],
    ['gap', 'not read', chart.points.some(([, value]) => value === null)],
  ] as const;
  return html`<ul class="legend">${entries
    .filter(([, , present]) => present)
    .map(([key, word]) => html`<li><span class="key ${key}" aria-hidden="true"></span>${word}</li>`)}</ul>`;
}

/** Evenly chosen points: the exact ones are in the API. Gaps and the last point always stay. */
function chartTable(chart: Chart, frame: Frame): Html {
  const step = Math.max(1, Math.ceil(chart.points.length / tableRows));
  const rows = chart.points.filter(([, value], index) => {
    return value === null || index % step === 0 || index === chart.points.length - 1;
  });
  if (rows.length === 0) return html`<p class="empty">No reading in this range.</p>`;
  return html`<div class="scroll" role="group" aria-label="Readings" tabindex="0"><table><thead><tr><th scope="col">Time</th><th scope="col" class="number">${balanceLabel(chart.balance)} balance</th></tr></thead><tbody>${rows
    .toReversed()
    .map(
      ([at, value]) =>
        html`<tr><td>${formatMoment(at, frame)}</td><td class="number">${value === null ? 'not read' : formatAmount(Math.round(value * 1_000_000), chart.currency)}</td></tr>`,
    )}</tbody></table></div>`;
}
