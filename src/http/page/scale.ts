import { zoneOffsetMs } from '../../domain/moment.ts';

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

interface Tick {
  readonly at: number;
  readonly label: string;
}

interface Span {
  readonly since: number;
  readonly until: number;
  /** An IANA name. */
  readonly timezone: string;
}

/** Instants for the time axis, round on the clocks of the zone, and what to write at them. */
export function timeTicks(span: Span): readonly Tick[] {
  const length = span.until - span.since;
  if (length > 120 * dayMs) return monthTicks(span);
  const step = steps.find((size) => length / size <= (size < minuteMs ? 4 : 7)) ?? 7 * dayMs;
  const word = step < minuteMs ? seconds : step < dayMs ? clock : day;
  const ticks: Tick[] = [];
  const first = Math.ceil((span.since + zoneOffsetMs(span.since, span.timezone)) / step) * step;
  for (let wall = first; ; wall += step) {
    const at = instantOf(wall, span.timezone);
    if (at > span.until) return ticks;
    if (at >= span.since) ticks.push({ at, label: word(wall) });
  }
}

function monthTicks({ since, until, timezone }: Span): readonly Tick[] {
  const ticks: Tick[] = [];
  const start = new Date(since + zoneOffsetMs(since, timezone));
  for (let month = start.getUTCMonth() + 1; ; month += 2) {
    const wall = Date.UTC(start.getUTCFullYear(), month, 1);
    const at = instantOf(wall, timezone);
    if (at > until) return ticks;
    ticks.push({ at, label: monthNames[new Date(wall).getUTCMonth()] ?? '' });
  }
}

/** The instant at which the zone's clocks show what UTC's clocks show at `wall`. */
function instantOf(wall: number, timezone: string): number {
  const guess = wall - zoneOffsetMs(wall, timezone);
  return wall - zoneOffsetMs(guess, timezone);
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function seconds(wall: number): string {
  return new Date(wall).toISOString().slice(11, 19);
}

function clock(wall: number): string {
  return new Date(wall).toISOString().slice(11, 16);
}

function day(wall: number): string {
  const date = new Date(wall);
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]}`;
}
