const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Round numbers between two values, about `count` of them. */
export function niceTicks(lowest: number, highest: number, count: number): readonly number[] {
  const span = highest - lowest;
  if (!(span > 0)) return [lowest];
  const rough = span / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude >= rough) ?? 10) * magnitude;
  const ticks: number[] = [];
  for (let index = Math.ceil(lowest / step); index * step <= highest; index += 1) ticks.push(index * step);
  return ticks;
}

const minuteMs = 60_000;
const steps = [
  ...[10_000, 30_000, minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs],
  ...[hourMs, 2 * hourMs, 4 * hourMs, 6 * hourMs, 12 * hourMs, dayMs, 2 * dayMs, 7 * dayMs],
];

/** Instants for the time axis, in UTC, and what to write at them. */
export function timeTicks(
  since: number,
  until: number,
): readonly { readonly at: number; readonly label: string }[] {
  const span = until - since;
  if (span > 120 * dayMs) return monthTicks(since, until);
  const step = steps.find((size) => span / size <= 7) ?? 7 * dayMs;
  const ticks: { at: number; label: string }[] = [];
  for (let at = Math.ceil(since / step) * step; at <= until; at += step) {
    ticks.push({ at, label: step < minuteMs ? seconds(at) : step < dayMs ? clock(at) : day(at) });
  }
  return ticks;
}

function monthTicks(
  since: number,
  until: number,
): readonly { readonly at: number; readonly label: string }[] {
  const ticks: { at: number; label: string }[] = [];
  const start = new Date(since);
  for (let month = start.getUTCMonth() + 1; ; month += 2) {
    const at = Date.UTC(start.getUTCFullYear(), month, 1);
    if (at > until) return ticks;
    ticks.push({ at, label: monthNames[new Date(at).getUTCMonth()] ?? '' });
  }
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function seconds(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}

function day(at: number): string {
  const date = new Date(at);
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]}`;
}
