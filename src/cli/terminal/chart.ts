import { linear, roundedRange, type ValueRange } from '../../chart/scale.ts';
import { type Canvas, createCanvas } from './braille.ts';
import { displayWidth, padToWidth } from './display-width.ts';
import type { Style } from './style.ts';
import { formatInstant } from './time.ts';

export interface ChartPoint {
  readonly at: number;
  readonly value: number;
}

export interface ChartOrder {
  /** Oldest first. */
  readonly points: readonly ChartPoint[];
  readonly since: number;
  readonly until: number;
  /** In which the times below the curve are. */
  readonly timezone: string;
  /** Columns and lines of the whole drawing, labels included. */
  readonly width: number;
  readonly height: number;
  /** A longer pause between two points is left blank. */
  readonly longestPauseMs: number;
  /** Drawn as dotted lines where they are not far from the curve. */
  readonly thresholds: readonly number[];
  readonly formatValue: (value: number) => string;
  readonly style: Style;
}

/**
 * Values over time as a curve of braille dots with labelled axes. Every low and every high of a column is
 * kept. Lines without ends.
 */
export function drawChart(order: ChartOrder): string[] {
  const plotRows = Math.max(3, order.height - 2);
  const scale = chooseScale(order, plotRows);
  const labelWidth = Math.max(...scale.ticks.map((tick) => displayWidth(order.formatValue(tick))), 1);
  const columns = Math.max(10, order.width - labelWidth - 2);
  const canvas = createCanvas(columns, plotRows);
  drawCurve(canvas, order, scale);
  const labels = labelRows(order, scale, plotRows);
  const thresholds = thresholdRows(order, scale, plotRows);
  const plot = canvas.lines().map((line, row) => {
    const label = padToWidth(labels.get(row) ?? '', labelWidth, 'right');
    const axis = labels.has(row) ? '┤' : '│';
    return `${order.style.dim(`${label} ${axis}`)}${thresholds.has(row) ? drawThreshold(line, order.style) : line}`;
  });
  return [...plot, ...timeAxis(order, labelWidth, columns)];
}

/** From a round value below everything to a round one above, with steps of 1, 2 or 5 times a power of ten. */
function chooseScale({ points, thresholds }: ChartOrder, rows: number): ValueRange {
  const values = points.map((point) => point.value);
  let least = values.reduce((left, right) => Math.min(left, right), Number.POSITIVE_INFINITY);
  let most = values.reduce((left, right) => Math.max(left, right), Number.NEGATIVE_INFINITY);
  if (!Number.isFinite(least)) [least, most] = [0, 1];
  // A threshold near the curve belongs into the picture; one far away would flatten the curve.
  const reach = Math.max(most - least, Math.abs(most) / 10, 1);
  for (const value of thresholds) {
    if (value >= least - reach && value <= most + reach)
      [least, most] = [Math.min(least, value), Math.max(most, value)];
  }
  if (most === least) most = least + (Math.abs(least) || 1);
  return roundedRange(least, most, Math.max(2, Math.floor(rows / 3)));
}

function drawCurve(canvas: Canvas, order: ChartOrder, scale: ValueRange): void {
  const across = linear(order.since, order.until, 0, canvas.dotsWide);
  const down = linear(scale.highest, scale.lowest, 0, canvas.dotsHigh - 1);
  const toX = (at: number) => Math.floor(across(at));
  const toY = (value: number) => Math.round(down(value));
  let before: ChartPoint | null = null;
  for (const point of order.points) {
    const y = toY(point.value);
    const x = toX(point.at);
    if (before === null || point.at - before.at > order.longestPauseMs) {
      canvas.drawColumn(x, y, y);
    } else {
      // A balance stays as it was until the reading that says otherwise.
      const held = toY(before.value);
      for (let between = toX(before.at) + 1; between < x; between++) canvas.drawColumn(between, held, held);
      canvas.drawColumn(x, Math.min(held, y), Math.max(held, y));
    }
    before = point;
  }
}

function labelRows({ formatValue }: ChartOrder, scale: ValueRange, rows: number): Map<number, string> {
  return new Map(scale.ticks.map((tick) => [rowOf(tick, scale, rows), formatValue(tick)]));
}

function thresholdRows({ thresholds }: ChartOrder, scale: ValueRange, rows: number): Set<number> {
  const inside = thresholds.filter((value) => value >= scale.lowest && value <= scale.highest);
  return new Set(inside.map((value) => rowOf(value, scale, rows)));
}

function rowOf(value: number, scale: ValueRange, rows: number): number {
  const y = Math.round(linear(scale.highest, scale.lowest, 0, rows * 4 - 1)(value));
  return Math.min(rows - 1, y >> 2);
}

/** A dotted line behind the curve. */
function drawThreshold(line: string, style: Style): string {
  return line.replace(/ +/g, (blank) => style.red('┄'.repeat(blank.length)));
}

function timeAxis(
  { since, until, timezone, style }: ChartOrder,
  labelWidth: number,
  columns: number,
): string[] {
  const indent = ' '.repeat(labelWidth + 1);
  const times = [since, (since + until) / 2, until].map((at) =>
    formatInstant(at, timezone, { seconds: until - since < 600_000 }),
  );
  const shorten =
    timeForms.find((form) => form(times[0] ?? '').length * 2 < columns) ??
    ((time: string) => time.slice(5, 10));
  const [left, middle, right] = times.map(shorten) as [string, string, string];
  const free = columns - left.length - right.length;
  const between = free >= middle.length + 4 ? padMiddle(middle, free) : ' '.repeat(Math.max(1, free));
  return [style.dim(`${indent}└${'─'.repeat(columns)}`), style.dim(`${indent} ${left}${between}${right}`)];
}

/** From the whole time to the day alone, for what a narrow terminal has room for. */
const timeForms: readonly ((time: string) => string)[] = [
  (time) => time,
  (time) => time.slice(5),
  (time) => time.slice(5, 16),
];

function padMiddle(text: string, width: number): string {
  const before = Math.floor((width - text.length) / 2);
  return ' '.repeat(before) + text + ' '.repeat(width - text.length - before);
}
