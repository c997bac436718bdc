const bars = '▁▂▃▄▅▆▇█';

/**
 * Values over time as one line of Unicode bars, lowest to highest value of the line. Each column shows the
 * last value of its share of the time; a column without a value repeats nothing and stays blank. Values that
 * are all equal lie in the middle. Empty when there are no points. `points` are oldest first; `since` is
 * inclusive, `until` exclusive, in milliseconds.
 */
export function drawSparkline(order: {
  readonly points: readonly { readonly at: number; readonly value: number }[];
  readonly since: number;
  readonly until: number;
  readonly width: number;
}): string {
  const { points, since, until, width } = order;
  const columns = new Array<number | null>(width).fill(null);
  for (const { at, value } of points) {
    const column = Math.floor(((at - since) / (until - since)) * width);
    if (column >= 0 && column < width) columns[column] = value;
  }
  const shown = columns.filter((value) => value !== null);
  if (shown.length === 0) return '';
  const lowest = shown.reduce((least, value) => Math.min(least, value));
  const highest = shown.reduce((most, value) => Math.max(most, value));
  return columns.map((value) => (value === null ? ' ' : barOf(value, lowest, highest))).join('');
}

function barOf(value: number, lowest: number, highest: number): string {
  if (lowest === highest) return bars.charAt(3);
  const step = Math.round(((value - lowest) / (highest - lowest)) * (bars.length - 1));
  return bars.charAt(step);
}
