import { linear, roundedRange, type TimeTick, timeTicks, valueTicks } from '../../chart/scale.ts';
import type { Micros } from '../../domain/money.ts';
import { severities } from '../../domain/severity.ts';
import type { ChartInput } from './chart-input.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const longestPastMs = 7 * dayMs;
/** A line of a few readings is stretched no further than this. */
const shortestPastMs = 10 * minuteMs;
/** What is shown of the future, as shares of the past that is shown. */
const farthestShare = 0.5;
const emptyShare = 0.03;
const mostLabels = 4;
const mostTicks = 4;

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
  /** Instants with a label. */
  readonly labels: readonly TimeTick[];
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
    labels: timeTicks({ since, until, timezone: input.timezone, count: mostLabels }),
    x: linear(since, until, plot.left, plot.right),
    y: linear(lowest, highest, plot.bottom, plot.top),
  };
}

function pastOf(input: ChartInput): number {
  const ageMs = input.now - (input.points[0]?.at ?? input.now);
  return Math.min(Math.max(ageMs, shortestPastMs), longestPastMs);
}

function aheadMs(input: ChartInput, pastMs: number): number {
  if (input.emptyAt === null || input.emptyAt <= input.now) return emptyShare * pastMs;
  const end = Math.max(input.emptyAt, input.forecast?.latest ?? 0);
  return Math.min((end - input.now) * 1.08, farthestShare * pastMs);
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
  const margin = (highest - lowest) * 0.06;
  // Below zero only as far as the line goes: half a picture of nothing helps nobody.
  const bottom = lowest < 0 ? lowest - margin : 0;
  const top = roundedRange(bottom, highest + margin, mostTicks).highest;
  return { lowest: bottom, highest: top, ticks: valueTicks(bottom, top, mostTicks) };
}
