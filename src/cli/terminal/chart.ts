import { amountsOf, type Chart, type ChartOrder, layChart } from '../../chart/chart.ts';
import { linear, roundedRange, type ValueRange } from '../../chart/scale.ts';
import type { Style } from './output.ts';
import { displayWidth, formatInstant, padToWidth } from './text.ts';

interface TerminalChart {
  /** The data of the chart. Thresholds are drawn as dotted lines. */
  readonly chart: Pick<Chart, 'since' | 'until' | 'points' | 'thresholds'>;
  /** The time zone of the times below the curve. */
  readonly timezone: string;
  /** Columns and lines of the whole drawing, labels included. */
  readonly width: number;
  readonly height: number;
  readonly formatValue: (value: number) => string;
  readonly style: Style;
}

/** Values over time as a curve of braille dots. Keeps every low and every high of a column. */
export function drawChart(order: TerminalChart): string[] {
  const plotRows = Math.max(3, order.height - 2);
  const scale = chooseScale(order, plotRows);
  const labelWidth = Math.max(...scale.ticks.map((tick) => displayWidth(order.formatValue(tick))), 1);
  const columns = Math.max(10, order.width - labelWidth - 2);
  const cells = Array.from({ length: plotRows }, () => new Uint8Array(columns));
  drawCurve(cells, columns, order, scale);
  const labels = new Map(scale.ticks.map((tick) => [rowOf(tick, scale, plotRows), order.formatValue(tick)]));
  const thresholds = new Set(order.chart.thresholds.map(({ value }) => rowOf(value, scale, plotRows)));
  const plot = cells.map((patterns, row) => {
    const line = Array.from(patterns, brailleCharacter).join('');
    const label = padToWidth(labels.get(row) ?? '', labelWidth, 'right');
    const axis = labels.has(row) ? '┤' : '│';
    return `${order.style.dim(`${label} ${axis}`)}${thresholds.has(row) ? drawThreshold(line, order.style) : line}`;
  });
  return [...plot, ...timeAxis(order, labelWidth, columns)];
}

/** The past of a balance in one currency, without thinning. `intervalMs`: the usual time between its readings. */
export function layPast(
  past: Pick<ChartOrder, 'since' | 'until' | 'readings' | 'balance' | 'thresholds'>,
  intervalMs: number,
): Chart {
  const { until } = past;
  return { ...layChart({ ...past, now: until, intervalMs }), until };
}

/** From a round value below all values to a round one above, with steps of 1, 2 or 5 times a power of ten. */
function chooseScale({ chart }: TerminalChart, rows: number): ValueRange {
  const { lowest, highest } = amountsOf(chart) ?? { lowest: 0, highest: 1 };
  const most = highest === lowest ? lowest + (Math.abs(lowest) || 1) : highest;
  return roundedRange(lowest, most, Math.max(2, Math.floor(rows / 3)));
}

/** Draws dots, two wide and four high in each cell, counted from the top left. */
function drawCurve(
  cells: readonly Uint8Array[],
  columns: number,
  { chart }: TerminalChart,
  scale: ValueRange,
): void {
  const across = linear(chart.since, chart.until, 0, columns * 2);
  const down = linear(scale.highest, scale.lowest, 0, cells.length * 4 - 1);
  const draw = (x: number, top: number, bottom: number): void => {
    for (let y = top; y <= bottom; y++) {
      const row = cells[y >> 2];
      // Dots outside the picture are left out: writing outside a byte array has no effect.
      if (row !== undefined) row[x >> 1] = (row[x >> 1] ?? 0) | (dots[y & 3]?.[x & 1] ?? 0);
    }
  };
  let before: { readonly x: number; readonly y: number } | null = null;
  for (const { at, value } of chart.points) {
    if (value === null) {
      before = null;
      continue;
    }
    const [x, y] = [Math.floor(across(at)), Math.round(down(value))];
    // A balance stays the same until the next reading.
    const held = before?.y ?? y;
    for (let between = (before?.x ?? x) + 1; between < x; between++) draw(between, held, held);
    draw(x, Math.min(held, y), Math.max(held, y));
    before = { x, y };
  }
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
  const [from, to] =
    timeParts.find((part) => (times[0] ?? '').slice(...part).length * 2 < columns) ?? justDay;
  const [left = '', middle = '', right = ''] = times.map((time) => time.slice(from, to));
  const free = columns - left.length - right.length;
  const between = free >= middle.length + 4 ? padMiddle(middle, free) : ' '.repeat(Math.max(1, free));
  return [style.dim(`${indent}└${'─'.repeat(columns)}`), style.dim(`${indent} ${left}${between}${right}`)];
}

/** Ranges of `2026-11-20 14:03:59`, from all of it down to the day alone, for narrow terminals. */
const justDay = [5, 10] as const;
const timeParts = [[0, 19], [5, 19], [5, 16], justDay] as const;

function padMiddle(text: string, width: number): string {
  const before = Math.floor((width - text.length) / 2);
  return ' '.repeat(before) + text + ' '.repeat(width - text.length - before);
}

/** Dots of a braille character by row from the top and column, Unicode block U+2800. */
const dots = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

function brailleCharacter(pattern: number): string {
  return pattern === 0 ? ' ' : String.fromCodePoint(0x2800 + pattern);
}
