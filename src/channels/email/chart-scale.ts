import type { Micros } from '../../domain/money.ts';
import { severities } from '../../domain/severity.ts';
import type { ChartInput } from './chart-svg.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const longestPastMs = 7 * dayMs;
/** A line of a few readings is stretched no further than this. */
const shortestPastMs = 10 * minuteMs;
/** What is shown of the future, as shares of the past that is shown. */
const farthestShare = 0.5;
const emptyShare = 0.03;
/** Distances between labels of the time axis below a day. */
const hourSteps = [
  2 * minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  30 * minuteMs,
  hourMs,
  3 * hourMs,
  6 * hourMs,
  12 * hourMs,
];
const mostLabels = 4;

const plot = { left: 44, right: 318, top: 32, bottom: 182 } as const;

/** Where instants and amounts lie in the picture. */
export interface ChartScale {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly since: number;
  readonly until: number;
  readonly lowest: Micros;
  readonly highest: Micros;
  /** Amounts with a grid line. */
  readonly ticks: readonly Micros[];
  /** Instants with a label: local midnights, or times of day where less than two days are shown. */
  readonly labels: readonly { readonly at: number; readonly form: 'day' | 'time' }[];
  x(at: number): number;
  y(value: Micros): number;
}

/**
 * Seven days back, less for an account that is younger, and as far ahead as the projection needs, at most
 * half as much.
 */
export function chartScale(input: ChartInput): ChartScale {
  const pastMs = pastOf(input);
  const since = input.now - pastMs;
  const until = input.now + aheadMs(input, pastMs);
  const { lowest, highest, ticks } = amountsOf(input);
  return {
    ...plot,
    since,
    until,
    lowest,
    highest,
    ticks,
    labels: labelsBetween({ since, until, timezone: input.timezone }),
    x: (at) => plot.left + ((at - since) / (until - since)) * (plot.right - plot.left),
    y: (value) => plot.bottom - ((value - lowest) / (highest - lowest)) * (plot.bottom - plot.top),
  };
}

function pastOf(input: ChartInput): number {
  const ageMs = input.now - (input.points[0]?.at ?? input.now);
  return Math.min(Math.max(ageMs, shortestPastMs), longestPastMs);
}

function aheadMs(input: ChartInput, pastMs: number): number {
  if (input.emptyAt === null || input.emptyAt <= input.now) return emptyShare * pastMs;
  return Math.min((input.emptyAt - input.now) * 1.08, farthestShare * pastMs);
}

/** From zero, or below where the balance is negative, to above the highest value; thresholds that are near widen it. */
function amountsOf(input: ChartInput): {
  readonly lowest: Micros;
  readonly highest: Micros;
  readonly ticks: readonly Micros[];
} {
  let lowest = 0;
  let highest = 0;
  for (const { value } of input.points) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  for (const severity of severities) {
    const threshold = input.thresholds[severity];
    if (threshold !== undefined && threshold <= highest * 1.4) highest = Math.max(highest, threshold);
  }
  const nearest = Math.min(
    ...severities.map((severity) => input.thresholds[severity] ?? Number.POSITIVE_INFINITY),
  );
  if (Number.isFinite(nearest)) highest = Math.max(highest, nearest);
  if (highest === lowest) highest = lowest + 1_000_000;
  const step = niceStep((highest - lowest) / 4);
  const margin = (highest - lowest) * 0.06;
  // Below zero only as far as the line goes: half a picture of nothing helps nobody.
  const bottom = lowest < 0 ? lowest - margin : 0;
  const top = Math.ceil((highest + margin) / step) * step;
  const ticks: Micros[] = [];
  for (let tick = Math.ceil(bottom / step) * step; tick <= top; tick += step)
    ticks.push(tick === 0 ? 0 : tick);
  return { lowest: bottom, highest: top, ticks };
}

/** 1, 2 or 5 times a power of ten, at least one hundredth of a unit. */
function niceStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 10_000)));
  return power * ([1, 2, 5].find((factor) => factor * power >= atLeast) ?? 10);
}

interface Span {
  readonly since: number;
  readonly until: number;
  readonly timezone: string;
}

/**
 * At most four labels, evenly apart, at local midnights or round local times. Days of 23 or 25 hours shift
 * none by more than an hour, which nobody can see here.
 */
function labelsBetween(span: Span): ChartScale['labels'] {
  const spanMs = span.until - span.since;
  if (spanMs >= 2 * dayMs) {
    const all = instantsBetween(span, dayMs);
    const every = Math.ceil(all.length / mostLabels);
    return all.filter((_, index) => index % every === 0).map((at) => ({ at, form: 'day' }));
  }
  const stepMs = hourSteps.find((step) => spanMs / step <= mostLabels) ?? 12 * hourMs;
  return instantsBetween(span, stepMs).map((at) => ({ at, form: 'time' }));
}

function instantsBetween({ since, until, timezone }: Span, stepMs: number): readonly number[] {
  const first = since + stepMs - (timeOfDayMs(since, timezone) % stepMs);
  const all: number[] = [];
  for (let at = first; at <= until; at += stepMs) all.push(at);
  return all;
}

function timeOfDayMs(at: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string): number =>
    Number(parts.find((candidate) => candidate.type === type)?.value ?? 0);
  return part('hour') * hourMs + part('minute') * minuteMs + part('second') * 1000;
}
