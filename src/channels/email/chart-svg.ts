import { type Chart, roomyAmounts } from '../../chart/chart.ts';
import { edgeOf, pathThrough } from '../../chart/line.ts';
import { linear, roundedRange, type TimeTick, timeTicks, valueTicks } from '../../chart/scale.ts';
import { dayMs } from '../../domain/duration.ts';
import type { Forecast } from '../../domain/forecast.ts';
import { formatShortMoment } from '../../domain/moment.ts';
import { formatMicros, formatMoney, type Micros } from '../../domain/money.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Severity } from '../../domain/severity.ts';
import { escapeHtml } from '../../wording/html.ts';

/** A chart as a mail shows it. */
export interface MailChart {
  /** `SMS balance in CNY`; free of control characters. */
  readonly title: string;
  readonly timezone: string;
  /** When the balance is empty; null where nobody can say. */
  readonly emptyAt: number | null;
  /** The interval that it stands in; null where nobody knows how far off it may be. */
  readonly forecast: Forecast | null;
  readonly chart: Chart;
}

/** Size in CSS pixels. Small, so that its text is still readable when a phone shows it 330 pixels wide. */
const chartSize = { width: 360, height: 208 } as const;

const plot = { left: 44, right: 318, top: 32, bottom: 182 } as const;
const maxLabels = 4;
const maxTicks = 4;

/** An end further away than a year is no news, and its date would want a year. */
const maxNotifiedItems = 300 * dayMs;

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
export function renderChartSvg(mail: MailChart): string {
  const { chart } = mail;
  const scale = scaleOf(mail);
  const { width, height } = chartSize;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans" font-size="11">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text({ x: 10, y: 18, label: cutText(mail.title, 24), colour: '#1f2328', size: 12 }),
    endLabel(mail),
    ...chart.incidents.map((band) => shadeOf(band, scale)),
    ...gridOf(scale),
    ...timesOf(scale),
    ...thresholdsOf(chart, scale),
    fanOf(chart, scale),
    nowLine(chart, scale),
    ...projectionOf(mail, scale),
    `<path d="${pathOf(chart.points, scale)}" fill="none" stroke="${lineColour}" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"/>`,
    ...topUpsOf(chart, scale),
    lastPoint(chart, scale),
    '</svg>',
  ].join('');
}

/** Where instants and amounts lie in the picture, and which of them are labelled. */
interface Scale {
  readonly lowest: Micros;
  readonly highest: Micros;
  readonly ticks: readonly Micros[];
  readonly labels: readonly TimeTick[];
  x(at: number): number;
  y(value: Micros): number;
}

/** From zero, or below it where the balance is negative, to a round amount. */
function scaleOf({ chart, timezone }: MailChart): Scale {
  const { since, until } = chart;
  const amounts = roomyAmounts(chart);
  const lowest = Math.min(0, amounts.lowest);
  const { highest } = roundedRange(lowest, amounts.highest, maxTicks);
  return {
    lowest,
    highest,
    ticks: valueTicks(lowest, highest, maxTicks),
    labels: timeTicks({ since, until, timezone, count: maxLabels }),
    x: linear(since, until, plot.left, plot.right),
    y: linear(lowest, highest, plot.bottom, plot.top),
  };
}

/** `21 Nov 14:00–19:00`, or `21 Nov – 24 Nov` where it may be on several days: there is no room for more, and the mail says it whole. */
function wordShortEnd(emptyAt: number, { forecast, timezone, chart: { now } }: MailChart): string {
  const { earliest = null, latest = null } = forecast ?? {};
  if (earliest === null) return `about ${formatShortMoment(emptyAt, timezone)}`;
  const [from, to] = [Math.max(earliest, now), latest].map((at) =>
    at === null || at > now + maxNotifiedItems ? null : formatShortMoment(at, timezone),
  );
  if (from == null) return `about ${formatShortMoment(emptyAt, timezone)}`;
  if (to == null) return `${from} or later`;
  const [fromDay, toDay] = [from, to].map((moment) => moment.slice(0, -' 00:00'.length));
  return fromDay === toDay ? `${from}–${to.slice(-'00:00'.length)}` : `${fromDay} – ${toDay}`;
}

/** When the balance ends, next to the title, where no line crosses it. */
function endLabel(mail: MailChart): string {
  const {
    emptyAt,
    chart: { now },
  } = mail;
  if (emptyAt === null || emptyAt <= now || emptyAt > now + maxNotifiedItems) return '';
  const label = `empty ${wordShortEnd(emptyAt, mail)}`;
  return text({ x: chartSize.width - 10, y: 18, label, colour: thresholdColours.critical, anchor: 'end' });
}

function gridOf(scale: Scale): readonly string[] {
  return scale.ticks.flatMap((tick) => {
    const y = round(scale.y(tick));
    const colour = tick === 0 ? '#6e7781' : '#e3e6ea';
    return [
      line({ x1: plot.left, y1: y, x2: plot.right, y2: y, colour }),
      text({ x: plot.left - 5, y: y + 4, label: shortMoney(tick), colour: '#57606a', anchor: 'end' }),
    ];
  });
}

function timesOf(scale: Scale): readonly string[] {
  return scale.labels.map(({ at, label }) =>
    text({ x: round(scale.x(at)), y: plot.bottom + 16, label, colour: '#57606a', anchor: 'middle' }),
  );
}

function shadeOf({ from, to, severity }: Chart['incidents'][number], scale: Scale): string {
  const x = scale.x(from);
  const width = Math.max(2, scale.x(to) - x);
  return `<rect x="${round(x)}" y="${plot.top}" width="${round(width)}" height="${plot.bottom - plot.top}" fill="${shades[severity]}"/>`;
}

function thresholdsOf({ thresholds }: Chart, scale: Scale): readonly string[] {
  const taken: number[] = [];
  // The worst comes first: when two labels would overlap, its own stays.
  return thresholds.flatMap(({ severity, value }) => {
    const y = round(scale.y(value));
    const colour = thresholdColours[severity];
    const label = taken.every((other) => Math.abs(other - y) > 11)
      ? [text({ x: plot.right + 4, y: y + 4, label: shortMoney(value), colour })]
      : [];
    taken.push(y);
    return [line({ x1: plot.left, y1: y, x2: plot.right, y2: y, colour, dash: '5 3' }), ...label];
  });
}

function nowLine({ now }: Chart, scale: Scale): string {
  const x = round(scale.x(now));
  return line({ x1: x, y1: plot.top, x2: x, y2: plot.bottom, colour: '#afb8c1', dash: '1 2' });
}

function fanOf({ fan }: Chart, scale: Scale): string {
  if (fan.length === 0) return '';
  return `<path d="${pathOf(edgeOf(fan), scale)}Z" fill="${lineColour}" fill-opacity="0.16"/>`;
}

function projectionOf({ chart, emptyAt }: MailChart, scale: Scale): readonly string[] {
  const [from, to] = chart.projection;
  if (from === undefined || to === undefined) return [];
  const [x1, y1, x2, y2] = [scale.x(from.at), scale.y(from.value), scale.x(to.at), scale.y(to.value)].map(
    round,
  );
  const dashes = `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${lineColour}" stroke-width="1.8" stroke-dasharray="3 4"/>`;
  if (emptyAt !== to.at) return [dashes];
  return [dashes, `<circle cx="${x2}" cy="${y2}" r="3.2" fill="#ffffff" stroke="#c4231a" stroke-width="2"/>`];
}

function pathOf(points: Chart['points'], scale: Scale): string {
  return pathThrough(points, (at, value) => `${round(scale.x(at))} ${round(scale.y(value))}`);
}

/** Rises that can be seen; the largest few carry their amount. */
function topUpsOf({ topUps }: Chart, scale: Scale): readonly string[] {
  const least = (scale.highest - scale.lowest) / 100;
  const rises = topUps.filter(({ rise }) => rise > least);
  const labelled = new Set(rises.toSorted((one, other) => other.rise - one.rise).slice(0, 3));
  return rises.flatMap((topUp) => {
    const x = round(scale.x(topUp.at));
    const y = round(scale.y(topUp.value));
    const mark = `<path d="M${x} ${round(y - 11)}l-4.5 8h9z" fill="${topUpColour}"/>`;
    if (!labelled.has(topUp)) return [mark];
    const right = x > plot.right - 44;
    return [
      mark,
      text({
        x: right ? x - 7 : x + 7,
        y: y - 4,
        label: `+${shortMoney(roundToDigits(topUp.rise))}`,
        colour: topUpColour,
        ...(right ? { anchor: 'end' } : {}),
      }),
    ];
  });
}

function lastPoint({ points }: Chart, scale: Scale): string {
  const last = points.findLast(({ value }) => value !== null);
  if (last === undefined || last.value === null) return '';
  return `<circle cx="${round(scale.x(last.at))}" cy="${round(scale.y(last.value))}" r="3.4" fill="${lineColour}"/>`;
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
}): string {
  const dash = order.dash === undefined ? '' : ` stroke-dasharray="${order.dash}"`;
  return `<line x1="${order.x1}" y1="${order.y1}" x2="${order.x2}" y2="${order.y2}" stroke="${order.colour}" stroke-width="1"${dash}/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
