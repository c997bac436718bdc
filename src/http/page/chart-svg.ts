import { type Chart, roomyAmounts } from '../../chart/chart.ts';
import { drawSvg, type SvgLook } from '../../chart/draw-svg.ts';
import { valueTicks } from '../../chart/scale.ts';
import { formatMicros } from '../../domain/money.ts';
import { type Html, html } from '../../wording/html.ts';
import { severityWord } from './words.ts';

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
