const bars = '▁▂▃▄▅▆▇█';

/**
 * Values as one line of Unicode bars, lowest to highest. Each column shows the last value in its share of the time, or a blank if there is
 * none; equal values are drawn in the middle. `points` are oldest first; [since, until) in milliseconds.
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
