import { type Chart, roomyAmounts } from '../../chart/chart.ts';
import { edgeOf, type LinePoint, pathThrough, type Stretch, unreadStretches } from '../../chart/line.ts';
import { linear, timeTicks, valueTicks } from '../../chart/scale.ts';
import { formatMicros, type Micros } from '../../domain/money.ts';
import { Html, html } from '../../wording/html.ts';
import { severityWord } from './words.ts';

/** Shares of the picture's height that the plot keeps clear for labels. */
const top = 6;
const bottom = 10;
const grid = 1000;
/** Incidents and silences are rails along the foot, where they hide neither the line nor the fan. */
const railHeight = 2.5;

/**
 * The chart as a picture that needs no script. It has no fixed shape: positions are shares of the box, so
 * that lines stretch with the page while letters keep their size. `timezone` is that of the time axis.
 */
export function drawChart(chart: Chart, words: string, timezone: string): Html {
  const scale = createScale(chart);
  const { x, y } = scale;
  const band = ({ from, to }: Stretch, kind: string, height = 100 - bottom, lift = 0): Html =>
    html`<rect class="${kind}"${kind === 'not-read' && html` fill="url(#not-read)"`} x="${x(from)}%" y="${100 - bottom - height - lift}%" width="${percent(x(to) - x(from), 0.3)}%" height="${height}%"/>`;
  return html`<svg class="chart-svg" role="img" aria-label="${words}">
${chart.incidents.map((incident) => band(incident, `shade ${incident.severity}`, railHeight, railHeight))}
${unreadStretches(chart.points, Math.min(chart.now, chart.until)).map((stretch) => band(stretch, 'not-read'))}
${chart.silences.map((stretch) => band(stretch, 'silenced', railHeight))}
${scale.ticks.map(
  (tick) =>
    html`<line class="grid" x1="0" x2="100%" y1="${y(tick)}%" y2="${y(tick)}%"/><text class="tick" x="4" y="${y(tick)}%" dy="-4">${formatMicros(tick)}</text>`,
)}
${timeTicks({ since: chart.since, until: chart.until, timezone, count: 6 }).map(({ at, label }) => timeTick(x(at), label))}
${chart.thresholds.map(
  ({ severity, value }) =>
    html`<line class="threshold ${severity}" x1="0" x2="100%" y1="${y(value)}%" y2="${y(value)}%"/><text class="threshold-name ${severity}" x="100%" dx="-4" y="${y(value)}%" dy="-4" text-anchor="end">${severityWord(severity).toLowerCase()} ${formatMicros(value)}</text>`,
)}
${chart.now <= chart.until && html`<line class="now" x1="${x(chart.now)}%" x2="${x(chart.now)}%" y1="0" y2="${100 - bottom}%"/>`}
<svg x="0" y="0" width="100%" height="100%" viewBox="0 0 ${grid} ${grid}" preserveAspectRatio="none">
<path class="fan" d="${linePath(edgeOf(chart.fan), scale)}"/>
<path class="line" d="${linePath(chart.points, scale)}"/>
<path class="foretold" d="${linePath(chart.predicted, scale)}"/>
<path class="projection" d="${linePath(chart.projection, scale)}"/>
</svg>
${chart.topUps.map(({ at, value }) => html`<circle class="top-up" cx="${x(at)}%" cy="${y(value)}%" r="4"/>`)}
</svg>`;
}

interface Scale {
  readonly x: (at: number) => number;
  readonly y: (value: Micros) => number;
  readonly ticks: readonly Micros[];
}

function createScale(chart: Chart): Scale {
  const { lowest, highest } = roomyAmounts(chart);
  const across = linear(chart.since, chart.until, 0, 100);
  const down = linear(highest, lowest, top, 100 - bottom);
  return {
    x: (at) => percent(across(at), 0),
    y: (value) => percent(down(value), 0),
    ticks: valueTicks(lowest, highest, 4),
  };
}

function linePath(points: readonly LinePoint[], { x, y }: Scale): Html {
  return new Html(pathThrough(points, (at, value) => `${(x(at) * grid) / 100} ${(y(value) * grid) / 100}`));
}

function timeTick(x: number, label: string): Html | null {
  // A label at the very edge would be cut off.
  if (x < 3 || x > 97) return null;
  return html`<line class="grid upright" x1="${x}%" x2="${x}%" y1="0" y2="${100 - bottom}%"/><text class="tick" x="${x}%" y="100%" dy="-8" text-anchor="middle">${label}</text>`;
}

function percent(value: number, least: number): number {
  return Math.max(least, Math.round(value * 100) / 100);
}
