import type { Runway } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import type { Ladder } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { ladderSteps } from '../rules/ladder.ts';
import { minTopUpMicros } from '../rules/top-up.ts';
import { thin } from '../spending/thin.ts';
import { createGapFinder } from '../spending/usual-interval.ts';

/** An instant and the balance then; null begins a stretch without readings. */
export interface LinePoint {
  readonly at: number;
  readonly value: Micros | null;
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A chart as page, mail and terminal draw it. Instants are milliseconds since 1970, amounts millionths. */
export interface Chart extends Ahead {
  readonly since: number;
  /** The end of the picture: after `now` if something is predicted, before it if only the past is shown. */
  readonly until: number;
  readonly now: number;
  readonly points: readonly LinePoint[];
  /** Thresholds that do not flatten the line, the worst first. */
  readonly thresholds: readonly Level[];
  readonly topUps: readonly TopUp[];
  readonly incidents: readonly IncidentBand[];
  /** Stretches in which all alerts of the balance were muted, or some of them. */
  readonly silences: readonly Stretch[];
  /** The line that was predicted a week ago, with the top-ups since then. */
  readonly predicted: readonly LinePoint[];
  /** When the balance is empty, by the forecast; null if unknown. */
  readonly emptyAt: number | null;
  /** Events known to come: a top-up that was ordered, and what a monthly run takes (below zero). */
  readonly coming: readonly { readonly at: number; readonly micros: Micros }[];
  /** The end of the `predicted` line, with the actual balance then; null if it is not shown. */
  readonly hindsight: { readonly at: number; readonly predicted: Micros; readonly came: Micros } | null;
}

export interface Level {
  readonly severity: Severity;
  readonly value: Micros;
}

export interface TopUp {
  readonly at: number;
  readonly rise: Micros;
  readonly value: Micros;
}

export interface IncidentBand extends Stretch {
  readonly severity: Severity;
  readonly rule: string;
}

/** The input of a chart, in one currency, oldest first. `until` is the end of the past that is shown: `now`, or earlier. */
export interface ChartOrder
  extends Pick<Chart, 'since' | 'until' | 'now'>,
    Partial<Pick<Chart, 'incidents' | 'silences' | 'predicted' | 'hindsight' | 'coming'>> {
  readonly readings: readonly Reading[];
  readonly balance: Balance;
  /** The usual time between readings: a much longer time without one is a gap. */
  readonly intervalMs: number;
  /** All polls, if known: failed ones make a gap too. */
  readonly polls?: Iterable<Polled>;
  /** A narrower gap could not be seen, and would only break the line. */
  readonly leastGapMs?: number;
  /** The most points to which the readings are thinned; all of them when absent. */
  readonly maxPoints?: number;
  readonly thresholds: Ladder<Micros>;
  /** The balance's forecast; null shows nothing of the future. */
  readonly runway?: Runway | null;
  /** The longest future that is shown, as a share of the past. */
  readonly aheadShare?: number;
}

interface Polled {
  readonly at: number;
  readonly reading: Reading | null;
}

/** The share of the future that is shown if nothing is predicted. */
const leastAhead = 0.02;
const maxTopUps = 60;
/** A line would lie flat if a threshold were further away than this share of its amount, and than its own height. */
const flatShare = 0.4;

export function layChart(order: ChartOrder): Chart {
  const { since, until, now, readings, balance, runway = null } = order;
  const spanMs = until - since;
  const shown = thin(readings, order.maxPoints ?? Number.POSITIVE_INFINITY);
  const points = breakAtGaps(shown, balance, findGaps(order));
  const last = readings.at(-1);
  const farthest = now + spanMs * (order.aheadShare ?? 0);
  const from = last && { at: last.at, value: amountOf(last, balance) };
  const ahead = from === undefined || until < now ? nothing : lookAhead(runway, from, now, farthest);
  const coming = (order.coming ?? []).filter(({ at }) => until >= now && at > now && at <= farthest);
  const future = [...coming, ...ahead.projection, ...ahead.fan].map(({ at }) => at);
  const end = Math.max(now + spanMs * leastAhead, ...future);
  const rises = findTopUps(readings, balance);
  const largest = new Set(rises.toSorted((left, right) => right.rise - left.rise).slice(0, maxTopUps));
  return {
    since,
    until: until < now ? until : end,
    now,
    points,
    thresholds: nearLevels(order.thresholds, valuesOf(points)),
    topUps: rises.filter((topUp) => largest.has(topUp)),
    incidents: cutTo(order, order.incidents ?? []),
    silences: cutTo(order, order.silences ?? []),
    predicted: (order.predicted ?? []).filter(({ at }) => at >= since && at <= until),
    hindsight: order.hindsight ?? null,
    emptyAt: runway?.emptyAt ?? null,
    coming,
    ...ahead,
  };
}

function cutTo<Band extends Stretch>({ since, until }: ChartOrder, bands: readonly Band[]): readonly Band[] {
  return bands
    .map((band) => ({ ...band, from: Math.max(band.from, since), to: Math.min(band.to, until) }))
    .filter(({ from, to }) => to > since && from <= until);
}

/** Stretches without a reading, oldest first: long times between two readings, or since the last; and from a failed poll to the next good one. */
function findGaps({ readings, polls, until, intervalMs, leastGapMs = 0 }: ChartOrder): readonly Stretch[] {
  const gaps: Stretch[] = [];
  const isGap = createGapFinder(intervalMs);
  let readAt: number | null = null;
  let blindFrom: number | null = null;
  const read = (at: number): void => {
    if (readAt !== null && isGap(at - readAt)) blindFrom = readAt + 1;
    if (blindFrom !== null) gaps.push({ from: blindFrom, to: at });
    blindFrom = null;
    readAt = at;
  };
  for (const { at, reading } of polls ?? readings.map((each) => ({ at: each.at, reading: each }))) {
    if (reading === null) blindFrom ??= at;
    else read(at);
  }
  read(until);
  return gaps.filter(({ from, to }) => to - from >= leastGapMs);
}

/** The points of one balance, oldest first, broken at the gaps. */
function breakAtGaps(
  readings: readonly Reading[],
  balance: Balance,
  gaps: readonly Stretch[],
): readonly LinePoint[] {
  const points: LinePoint[] = [];
  let next = 0;
  for (const reading of readings) {
    for (let gap = gaps[next]; gap !== undefined && gap.from < reading.at; gap = gaps[next]) {
      points.push({ at: gap.from, value: null });
      next += 1;
    }
    points.push({ at: reading.at, value: amountOf(reading, balance) });
  }
  const open = gaps[next];
  if (open !== undefined) points.push({ at: open.from, value: null });
  return points;
}

/** The lowest and the highest amount that is drawn; null for an empty chart. */
export function amountsOf(
  chart: Pick<Chart, 'points' | 'thresholds'> & Partial<Ahead & Pick<Chart, 'predicted'>>,
): { readonly lowest: Micros; readonly highest: Micros } | null {
  const { points, thresholds, projection = [], fan = [], predicted = [] } = chart;
  return extremesOf([
    ...valuesOf(points),
    ...thresholds.map(({ value }) => value),
    ...projection.map(({ value }) => value),
    ...fan.map(({ low }) => low),
    ...valuesOf(predicted),
  ]);
}

/** `amountsOf` with room above and below, and from zero if that is near. */
export function roomyAmounts(chart: Chart): { readonly lowest: Micros; readonly highest: Micros } {
  const { lowest, highest } = amountsOf(chart) ?? { lowest: 0, highest: 1_000_000 };
  const margin = (highest - lowest) * 0.06 || Math.max(1_000_000, Math.abs(highest) * 0.1);
  return { lowest: lowest >= 0 && lowest < margin ? 0 : lowest - margin, highest: highest + margin };
}

/** The thresholds within sight of the line, and the nearest in any case. */
function nearLevels(ladder: Ladder<Micros>, values: readonly Micros[]): readonly Level[] {
  const levels = ladderSteps(ladder).map(({ severity, threshold }) => ({ severity, value: threshold }));
  const drawn = extremesOf(values);
  if (drawn === null) return levels;
  const { lowest, highest } = drawn;
  const distance = ({ value }: Level): number => Math.max(lowest - value, value - highest, 0);
  const nearest = Math.min(...levels.map(distance));
  const sight = Math.max(highest - lowest, flatShare * Math.abs(highest), nearest);
  return levels.filter((level) => distance(level) <= sight);
}

/** Rises that are larger than noise, oldest first. */
export function findTopUps(readings: readonly Reading[], balance: Balance): readonly TopUp[] {
  const topUps: TopUp[] = [];
  let previous: Reading | undefined;
  for (const reading of readings) {
    const rise = previous === undefined ? 0 : amountOf(reading, balance) - amountOf(previous, balance);
    if (rise >= minTopUpMicros) topUps.push({ at: reading.at, rise, value: amountOf(reading, balance) });
    previous = reading;
  }
  return topUps;
}

function valuesOf(points: readonly LinePoint[]): readonly Micros[] {
  return points.flatMap(({ value }) => (value === null ? [] : [value]));
}

function extremesOf(values: readonly Micros[]): { readonly lowest: Micros; readonly highest: Micros } | null {
  if (values.length === 0) return null;
  return {
    lowest: values.reduce((least, value) => Math.min(least, value)),
    highest: values.reduce((most, value) => Math.max(most, value)),
  };
}

/** The predicted course of a balance: the median and its 80 % range. */
interface Ahead {
  readonly projection: readonly { readonly at: number; readonly value: Micros }[];
  readonly fan: readonly { readonly at: number; readonly low: Micros; readonly high: Micros }[];
}

const nothing: Ahead = { projection: [], fan: [] };

/** A straight line down to empty, or as far as `farthest`; the upper edge of the fan is level if no late end is known. */
function lookAhead(
  runway: Runway | null,
  last: Ahead['projection'][number],
  now: number,
  farthest: number,
): Ahead {
  const emptyAt = runway?.emptyAt ?? null;
  if (runway === null || emptyAt === null || emptyAt <= now) return nothing;
  const left = last.value - runway.emptyMicros;
  const valueAt = (at: number, end: number): Micros =>
    last.value - left * (at >= end ? 1 : (at - last.at) / (end - last.at));
  const end = Math.min(emptyAt, farthest);
  const projection = [last, { at: end, value: valueAt(end, emptyAt) }];
  const { earliest = null, latest = null } = runway.forecast ?? {};
  if (earliest === null) return { projection, fan: [] };
  const early = Math.max(earliest, now);
  const late = latest ?? Number.POSITIVE_INFINITY;
  const corners = [last.at, Math.min(early, farthest), Math.min(late, farthest)];
  const fan = [...new Set(corners)].map((at) => ({ at, low: valueAt(at, early), high: valueAt(at, late) }));
  return { projection, fan };
}
