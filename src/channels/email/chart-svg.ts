import { formatShortMoment } from '../../domain/moment.ts';
import { formatMicros, formatMoney, type Micros } from '../../domain/money.ts';
import { cutText } from '../../domain/plain-text.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import type { ChartInput } from './chart-input.ts';
import { type ChartScale, chartScale } from './chart-scale.ts';
import { escapeHtml } from './html.ts';

/** Size in CSS pixels. Small, so that its text is still readable when a phone shows it 330 pixels wide. */
const chartSize = { width: 360, height: 208 } as const;

/** An end further away than a year is no news, and its date would want a year. */
const longestTold = 300 * 24 * 60 * 60 * 1000;

const lineColour = '#1d4f91';
const topUpColour = '#157a3d';
const thresholdColours: Readonly<Record<Severity, string>> = {
  critical: '#c4231a',
  warning: '#b35c00',
  info: '#2e6fbe',
};
const shades: Readonly<Record<Severity, string>> = {
  critical: '#fde3e1',
  warning: '#fdeed6',
  info: '#e2eefb',
};

/** A chart as SVG. Drawn on white of its own: mails are read on dark backgrounds too. */
export function renderChartSvg(input: ChartInput): string {
  const scale = chartScale(input);
  const { width, height } = chartSize;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text({ x: 10, y: 18, label: cutText(input.title, 24), colour: '#1f2328', size: 12 }),
    endLabel(input),
    shadeOf(input, scale),
    ...gridOf(scale),
    ...timesOf(scale),
    ...thresholdsOf(input, scale),
    fanOf(input, scale),
    nowLine(input, scale),
    ...projectionOf(input, scale),
    `<path d="${pathOf(input, scale)}" fill="none" stroke="${lineColour}" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/>`,
    ...topUpsOf(input, scale),
    lastPoint(input, scale),
    '</svg>',
  ].join('');
}

/** When the balance ends, beside the title, where no line crosses it. */
function endLabel(input: ChartInput): string {
  if (input.emptyAt === null || input.emptyAt <= input.now || input.emptyAt > input.now + longestTold)
    return '';
  const label = `empty about ${formatShortMoment(input.emptyAt, input.timezone)}`;
  return text({ x: chartSize.width - 10, y: 18, label, colour: thresholdColours.critical, anchor: 'end' });
}

function gridOf(scale: ChartScale): readonly string[] {
  return scale.ticks.flatMap((tick) => {
    const y = round(scale.y(tick));
    const colour = tick === 0 ? '#6e7781' : '#e3e6ea';
    return [
      line({ x1: scale.left, y1: y, x2: scale.right, y2: y, colour }),
      text({ x: scale.left - 5, y: y + 4, label: shortMoney(tick), colour: '#57606a', anchor: 'end' }),
    ];
  });
}

function timesOf(scale: ChartScale): readonly string[] {
  return scale.labels.map(({ at, label }) =>
    text({ x: round(scale.x(at)), y: scale.bottom + 16, label, colour: '#57606a', anchor: 'middle' }),
  );
}

function shadeOf(input: ChartInput, scale: ChartScale): string {
  if (input.alert === null) return '';
  const from = clamp(scale.x(input.alert.from), scale.left, scale.right);
  const to = clamp(scale.x(input.alert.to), scale.left, scale.right);
  const width = Math.max(2, to - from);
  return `<rect x="${round(from)}" y="${scale.top}" width="${round(width)}" height="${round(scale.bottom - scale.top)}" fill="${shades[input.alert.severity]}"/>`;
}

function thresholdsOf(input: ChartInput, scale: ChartScale): readonly string[] {
  const taken: number[] = [];
  // The worst first: when two labels would overlap, its own stays.
  return severities.toReversed().flatMap((severity) => {
    const threshold = input.thresholds[severity];
    if (threshold === undefined || threshold < scale.lowest || threshold > scale.highest) return [];
    const y = round(scale.y(threshold));
    const colour = thresholdColours[severity];
    const label = taken.every((other) => Math.abs(other - y) > 11)
      ? [text({ x: scale.right + 4, y: y + 4, label: shortMoney(threshold), colour })]
      : [];
    taken.push(y);
    return [line({ x1: scale.left, y1: y, x2: scale.right, y2: y, colour, dash: '5 3' }), ...label];
  });
}

function nowLine(input: ChartInput, scale: ChartScale): string {
  const x = round(scale.x(input.now));
  return line({ x1: x, y1: scale.top, x2: x, y2: scale.bottom, colour: '#afb8c1', dash: '1 2' });
}

/** Between the early and the late end, as far as the picture goes: level where no late end can be told. */
function fanOf(input: ChartInput, scale: ChartScale): string {
  const last = input.points.at(-1);
  const earliest = input.forecast?.earliest ?? null;
  if (last === undefined || earliest === null || input.emptyAt === null) return '';
  if (input.emptyAt <= last.at || last.value <= 0) return '';
  const early = Math.max(earliest, input.now, last.at + 1);
  const late = Math.max(input.forecast?.latest ?? Number.POSITIVE_INFINITY, early);
  const corner = (at: number, end: number): string => {
    const value = last.value * (1 - Math.min(1, (at - last.at) / (end - last.at)));
    return `${round(scale.x(at))} ${round(scale.y(value))}`;
  };
  const [low, far] = [Math.min(early, scale.until), Math.min(late, scale.until)];
  const corners = [corner(last.at, late), corner(far, late), corner(far, early), corner(low, early)];
  return `<path d="M${corners.join('L')}Z" fill="${lineColour}" fill-opacity="0.16"/>`;
}

function projectionOf(input: ChartInput, scale: ChartScale): readonly string[] {
  const last = input.points.at(-1);
  if (last === undefined || input.emptyAt === null || input.emptyAt <= last.at || last.value <= 0) return [];
  const end = Math.min(input.emptyAt, scale.until);
  const share = (end - last.at) / (input.emptyAt - last.at);
  const value = last.value * (1 - share);
  const x2 = round(scale.x(end));
  const y2 = round(scale.y(value));
  const dashes = line({
    x1: round(scale.x(last.at)),
    y1: round(scale.y(last.value)),
    x2,
    y2,
    colour: lineColour,
    dash: '3 4',
    width: 1.8,
  });
  if (input.emptyAt > scale.until) return [dashes];
  return [dashes, `<circle cx="${x2}" cy="${y2}" r="3.2" fill="#ffffff" stroke="#c4231a" stroke-width="2"/>`];
}

function pathOf(input: ChartInput, scale: ChartScale): string {
  return input.points
    .map(({ at, value }, index) => `${index === 0 ? 'M' : 'L'}${round(scale.x(at))} ${round(scale.y(value))}`)
    .join('');
}

/** Rises that can be seen; the largest few carry their amount. */
function topUpsOf(input: ChartInput, scale: ChartScale): readonly string[] {
  const least = (scale.highest - scale.lowest) / 100;
  const rises = input.points.flatMap(({ at, value }, index) => {
    const before = input.points[index - 1];
    return before !== undefined && value - before.value > least
      ? [{ at, value, rise: value - before.value }]
      : [];
  });
  const labelled = new Set(rises.toSorted((one, other) => other.rise - one.rise).slice(0, 3));
  return rises.flatMap((rise) => {
    const x = round(scale.x(rise.at));
    const y = round(scale.y(rise.value));
    const mark = `<path d="M${x} ${round(y - 11)}l-4.5 8h9z" fill="${topUpColour}"/>`;
    if (!labelled.has(rise)) return [mark];
    const right = x > scale.right - 44;
    return [
      mark,
      text({
        x: right ? x - 7 : x + 7,
        y: y - 4,
        label: `+${shortMoney(roundToDigits(rise.rise))}`,
        colour: topUpColour,
        ...(right ? { anchor: 'end' } : {}),
      }),
    ];
  });
}

function lastPoint(input: ChartInput, scale: ChartScale): string {
  const last = input.points.at(-1);
  if (last === undefined) return '';
  const x = round(scale.x(last.at));
  const y = round(scale.y(last.value));
  return `<circle cx="${x}" cy="${y}" r="3.4" fill="${lineColour}"/>`;
}

/** Whole numbers stay short; `12k`, `3.5M`, `9bn` where digits would not fit. */
function shortMoney(value: Micros): string {
  const units = Math.abs(value) / 1_000_000;
  if (units >= 1_000_000_000) return `${formatMicros(roundTo(value / 1_000_000_000, 10_000))}bn`;
  if (units >= 1_000_000) return `${formatMicros(roundTo(value / 1_000_000, 10_000))}M`;
  if (units >= 10_000) return `${formatMicros(roundTo(value / 1000, 100_000))}k`;
  return Number.isInteger(units) ? formatMicros(value) : formatMoney(roundTo(value, 10_000));
}

/** Two digits are enough for a rise: between two readings it was lessened by what was spent meanwhile. */
function roundToDigits(value: Micros): Micros {
  return roundTo(value, 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1));
}

function roundTo(value: Micros, step: Micros): Micros {
  return Math.round(value / step) * step;
}

function text(order: {
  readonly x: number;
  readonly y: number;
  readonly label: string;
  readonly colour: string;
  readonly size?: number;
  readonly anchor?: string;
}): string {
  const size = order.size === undefined ? '' : ` font-size="${order.size}"`;
  const anchor = order.anchor === undefined ? '' : ` text-anchor="${order.anchor}"`;
  return `<text x="${round(order.x)}" y="${round(order.y)}" fill="${order.colour}" stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"${size}${anchor}>${escapeHtml(order.label)}</text>`;
}

function line(order: {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly colour: string;
  readonly dash?: string;
  readonly width?: number;
}): string {
  const dash = order.dash === undefined ? '' : ` stroke-dasharray="${order.dash}"`;
  return `<line x1="${order.x1}" y1="${order.y1}" x2="${order.x2}" y2="${order.y2}" stroke="${order.colour}" stroke-width="${order.width ?? 1}"${dash}/>`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
