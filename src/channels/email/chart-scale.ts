import type { Micros } from '../../core/money.ts';
import { severities } from '../../core/severity.ts';
import type { ChartInput } from './chart-svg.ts';

const dayMs = 24 * 60 * 60 * 1000;
const pastMs = 7 * dayMs;
const futureMs = 3.5 * dayMs;

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
  /** Local midnights with a label. */
  readonly days: readonly number[];
  x(at: number): number;
  y(value: Micros): number;
}

/** Seven days back, and as far ahead as the projection needs, at most half as much. */
export function chartScale(input: ChartInput): ChartScale {
  const since = input.now - pastMs;
  const until = input.now + aheadMs(input);
  const { lowest, highest, ticks } = amountsOf(input);
  return {
    ...plot,
    since,
    until,
    lowest,
    highest,
    ticks,
    days: midnightsBetween({ since, until, timezone: input.timezone }),
    x: (at) => plot.left + ((at - since) / (until - since)) * (plot.right - plot.left),
    y: (value) => plot.bottom - ((value - lowest) / (highest - lowest)) * (plot.bottom - plot.top),
  };
}

function aheadMs(input: ChartInput): number {
  if (input.emptyAt === null || input.emptyAt <= input.now) return 0.2 * dayMs;
  return Math.min((input.emptyAt - input.now) * 1.08, futureMs);
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

/** At most four local midnights, evenly apart. Days of 23 or 25 hours shift none by more than an hour, which nobody can see here. */
function midnightsBetween(order: {
  readonly since: number;
  readonly until: number;
  readonly timezone: string;
}): readonly number[] {
  const first = order.since + dayMs - timeOfDayMs(order.since, order.timezone);
  const all: number[] = [];
  for (let at = first; at <= order.until; at += dayMs) all.push(at);
  const every = Math.ceil(all.length / 4);
  return all.filter((_, index) => index % every === 0);
}

function timeOfDayMs(at: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string): number =>
    Number(parts.find((candidate) => candidate.type === type)?.value ?? 0);
  return (part('hour') * 60 + part('minute')) * 60_000;
}
