import { amountsOf, type Chart, type ChartOrder, layChart } from '../../chart/chart.ts';
import { findGaps } from '../../chart/line.ts';
import { linear, roundedRange, type ValueRange } from '../../chart/scale.ts';
import type { Style } from './output.ts';
import { displayWidth, formatInstant, padToWidth } from './text.ts';

export interface TerminalChart {
  /** Thresholds are dotted lines. */
  readonly chart: Pick<Chart, 'since' | 'until' | 'points' | 'thresholds'>;
  /** In which the times below the curve are. */
  readonly timezone: string;
  /** Columns and lines of the whole drawing, labels included. */
  readonly width: number;
  readonly height: number;
  readonly formatValue: (value: number) => string;
  readonly style: Style;
}

/**
 * Values over time as a curve of braille dots with labelled axes. Every low and every high of a column is
 * kept. Lines without ends.
 */
export function drawChart(order: TerminalChart): string[] {
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

/** The past of a balance in one currency, none of it thinned; `intervalMs` is how far apart its readings usually are. */
export function layPast(
  past: Pick<ChartOrder, 'since' | 'until' | 'readings' | 'balance' | 'thresholds'>,
  intervalMs: number,
): Chart {
  const { readings, until } = past;
  const polls = readings.map((reading) => ({ at: reading.at, reading }));
  const chart = layChart({
    ...past,
    now: until,
    gaps: findGaps(polls, { until, intervalMs, leastMs: 0 }),
    maxPoints: Number.POSITIVE_INFINITY,
    runway: null,
    aheadShare: 0,
    incidents: [],
  });
  return { ...chart, until };
}

/** From a round value below everything to a round one above, with steps of 1, 2 or 5 times a power of ten. */
function chooseScale({ chart }: TerminalChart, rows: number): ValueRange {
  const { lowest, highest } = amountsOf(chart) ?? { lowest: 0, highest: 1 };
  const most = highest === lowest ? lowest + (Math.abs(lowest) || 1) : highest;
  return roundedRange(lowest, most, Math.max(2, Math.floor(rows / 3)));
}

function drawCurve(canvas: Canvas, { chart }: TerminalChart, scale: ValueRange): void {
  const across = linear(chart.since, chart.until, 0, canvas.dotsWide);
  const down = linear(scale.highest, scale.lowest, 0, canvas.dotsHigh - 1);
  let before: { readonly x: number; readonly y: number } | null = null;
  for (const { at, value } of chart.points) {
    if (value === null) {
      before = null;
      continue;
    }
    const [x, y] = [Math.floor(across(at)), Math.round(down(value))];
    // A balance stays as it was until the reading that says otherwise.
    const held = before?.y ?? y;
    for (let between = (before?.x ?? x) + 1; between < x; between++) canvas.drawColumn(between, held, held);
    canvas.drawColumn(x, Math.min(held, y), Math.max(held, y));
    before = { x, y };
  }
}

function labelRows({ formatValue }: TerminalChart, scale: ValueRange, rows: number): Map<number, string> {
  return new Map(scale.ticks.map((tick) => [rowOf(tick, scale, rows), formatValue(tick)]));
}

function thresholdRows({ chart }: TerminalChart, scale: ValueRange, rows: number): Set<number> {
  return new Set(chart.thresholds.map(({ value }) => rowOf(value, scale, rows)));
}

function rowOf(value: number, scale: ValueRange, rows: number): number {
  const y = Math.round(linear(scale.highest, scale.lowest, 0, rows * 4 - 1)(value));
  return Math.min(rows - 1, y >> 2);
}

function drawThreshold(line: string, style: Style): string {
  return line.replace(/ +/g, (blank) => style.red('┄'.repeat(blank.length)));
}

function timeAxis(
  { chart: { since, until }, timezone, style }: TerminalChart,
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

/** Dots of a braille character by column (0, 1) and row from the top (0 to 3), Unicode block U+2800. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** A drawing of dots, two wide and four high in each character. Coordinates count from the top left. */
interface Canvas {
  readonly dotsWide: number;
  readonly dotsHigh: number;
  /** Sets the dots from `top` to `bottom`, both included; what lies outside is left out. */
  drawColumn(x: number, top: number, bottom: number): void;
  /** One text a line, each `columns` characters long, blank where nothing was drawn. */
  lines(): string[];
}

function createCanvas(columns: number, rows: number): Canvas {
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  return {
    dotsWide: columns * 2,
    dotsHigh: rows * 4,
    drawColumn(x, top, bottom) {
      for (let y = Math.max(0, top); y <= Math.min(rows * 4 - 1, bottom); y++) {
        const row = cells[y >> 2];
        const column = x >> 1;
        if (row !== undefined && column >= 0 && column < columns) {
          row[column] = (row[column] ?? 0) | (dots[x & 1 ? 1 : 0][(y & 3) as 0 | 1 | 2 | 3] ?? 0);
        }
      }
    },
    lines: () => cells.map((row) => Array.from(row, brailleCharacter).join('')),
  };
}

function brailleCharacter(pattern: number): string {
  return pattern === 0 ? ' ' : String.fromCodePoint(0x2800 + pattern);
}
