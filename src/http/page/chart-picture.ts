import { type Chart, roomyAmounts } from '../../chart/chart.ts';
import { drawSvg, type SvgLook } from '../../chart/draw-svg.ts';
import { valueTicks } from '../../chart/scale.ts';
import { formatMicros } from '../../domain/money.ts';
import type { Severity } from '../../domain/severity.ts';
import { type Html, html } from '../../wording/html.ts';
import { sayDay } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import type { Frame } from './words.ts';

const says = phrases('accountChart', { threshold: '{severity} {amount}' });

/** Lengths are shares of the page's box, so that lines stretch with it. Colours come from the style sheet. */
const look: Omit<SvgLook, 'nameThreshold' | 'nameDay' | 'figure'> = {
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
  times: 6,
};

export function sayThreshold(severity: Severity, amount: string, reader: Listener): string {
  return say(says.threshold, { severity: saySeverity(severity, reader), amount }, reader);
}

/** The chart as a picture that needs no script. */
export function drawChart(chart: Chart, words: string, frame: Pick<Frame, 'language' | 'timezone'>): Html {
  const nameThreshold: SvgLook['nameThreshold'] = ({ severity, value }) =>
    sayThreshold(severity, frame.language.figure(formatMicros(value)), frame);
  const { lowest, highest } = roomyAmounts(chart);
  const amounts = { lowest, highest, ticks: valueTicks(lowest, highest, 4) };
  return html`<svg class="chart-svg" role="img" aria-label="${words}">${drawSvg(chart, { look: { ...look, nameThreshold, nameDay: (month, day) => sayDay(month, day, frame), figure: frame.language.figure }, amounts, timezone: frame.timezone })}</svg>`;
}
