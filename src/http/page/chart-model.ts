import { isSameCurrency } from '../../domain/currency.ts';
import { type Balance, balances, type PollRecord, type Reading } from '../../domain/reading.ts';
import { ladderSteps } from '../../rules/ladder.ts';
import { leastTopUpMicros } from '../../rules/top-up.ts';
import { thin } from '../../spending/thin.ts';
import { GapFinder } from '../../spending/usual-interval.ts';
import type { AccountView, Views } from '../../views/views.ts';
import type { ChartJson } from '../api/chart-schema.ts';

const dayMs = 86_400_000;
const microsPerUnit = 1_000_000;
/** A chart of less would show nothing but noise. */
const leastSpanMs = 60_000;
const drawnPoints = 800;
const drawnTopUps = 60;
/** A gap narrower than this share of the chart could not be seen, and would only tear the line. */
const leastGapShare = 1 / 500;

export const chartRanges = [
  { name: '24h', label: '24 hours', ms: dayMs },
  { name: '7d', label: '7 days', ms: 7 * dayMs },
  { name: '30d', label: '30 days', ms: 30 * dayMs },
  { name: '1y', label: '1 year', ms: 365 * dayMs },
] as const;

export type ChartRange = (typeof chartRanges)[number];

export interface ChartQuery {
  readonly account: AccountView;
  readonly range: ChartRange;
  readonly balance: Balance;
  readonly now: number;
}

export type Chart = ChartJson;

/**
 * What the chart of one balance shows, for the picture drawn here, for the one that the script draws, and for
 * the table beside them. Only readings in the account's present currency: two currencies have no common
 * scale.
 */
export function buildChart(views: Pick<Views, 'polls' | 'incidents'>, query: ChartQuery): Chart {
  const { account, range, balance, now } = query;
  const polls = views.polls(account.id, now - range.ms, now + 1);
  const since = beginning(polls, { now, rangeMs: range.ms });
  const spanMs = now - since;
  const readings = polls.flatMap(({ reading }) =>
    reading !== null && isSameCurrency(reading.currency, account.currency ?? '') ? [reading] : [],
  );
  const gaps = findGaps(polls, {
    until: now,
    intervalMs: account.pollIntervalMs,
    leastMs: spanMs * leastGapShare,
  });
  const { projection, fan } = project(query, spanMs);
  return {
    account: account.id,
    balance,
    currency: account.currency,
    since,
    until: Math.max(now + spanMs * 0.02, projection.at(-1)?.[0] ?? 0, fan.at(-1)?.[0] ?? 0),
    now,
    points: breakAtGaps(thin(readings, drawnPoints), gaps, balance),
    thresholds: ladderSteps(account.thresholds[balance]).map(({ severity, threshold }) => ({
      severity,
      value: toUnits(threshold),
    })),
    topUps: findTopUps(readings, balance),
    incidents: shadeIncidents(views, query, since),
    projection,
    fan,
  };
}

/** The stretches of a chart in which nothing was read, from one instant to another. */
export function unreadSpans({
  points,
  now,
}: Chart): readonly { readonly from: number; readonly to: number }[] {
  return points.flatMap(([from, value], index) =>
    value === null ? [{ from, to: points[index + 1]?.[0] ?? now }] : [],
  );
}

/** The balance asked for in an address; the SMS balance otherwise. */
export function readBalance(query: URLSearchParams): Balance {
  return balances.find((balance) => balance === query.get('balance')) ?? 'sms';
}

/** The range asked for in an address; a week otherwise, which shows the rhythm of spending. */
export function readRange(query: URLSearchParams): ChartRange {
  return chartRanges.find(({ name }) => name === (query.get('range') ?? '7d')) ?? chartRanges[1];
}

/**
 * The start of the range; of an account that is younger than half of it, its first poll: hours would be lost
 * in an empty year.
 */
function beginning(
  polls: readonly PollRecord[],
  { now, rangeMs }: { readonly now: number; readonly rangeMs: number },
): number {
  const first = polls[0]?.at ?? now - rangeMs;
  return first > now - rangeMs / 2 ? Math.min(first, now - leastSpanMs) : now - rangeMs;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Stretches without a reading: failed polls up to the next that worked, and times without any poll. */
function findGaps(
  polls: readonly PollRecord[],
  limits: { readonly until: number; readonly intervalMs: number; readonly leastMs: number },
): readonly Gap[] {
  const gaps: Gap[] = [];
  const finder = new GapFinder(limits.intervalMs);
  let readAt: number | null = null;
  let blindFrom: number | null = null;
  for (const { at, reading } of polls) {
    if (reading === null) {
      blindFrom ??= at;
      continue;
    }
    if (readAt !== null && finder.isGap(at - readAt)) blindFrom ??= readAt + 1;
    if (blindFrom !== null) gaps.push({ from: blindFrom, to: at });
    blindFrom = null;
    readAt = at;
  }
  if (blindFrom !== null) gaps.push({ from: blindFrom, to: limits.until });
  return gaps.filter(({ from, to }) => to - from >= limits.leastMs);
}

function breakAtGaps(
  readings: readonly Reading[],
  gaps: readonly Gap[],
  balance: Balance,
): [number, number | null][] {
  const points: [number, number | null][] = [];
  let next = 0;
  for (const reading of readings) {
    for (let gap = gaps[next]; gap !== undefined && gap.from < reading.at; gap = gaps[next]) {
      points.push([gap.from, null]);
      next += 1;
    }
    points.push([reading.at, toUnits(reading[balance])]);
  }
  const open = gaps[next];
  if (open !== undefined) points.push([open.from, null]);
  return points;
}

function findTopUps(readings: readonly Reading[], balance: Balance): Chart['topUps'] {
  const topUps: Chart['topUps'] = [];
  let previous: Reading | undefined;
  for (const reading of readings) {
    const rise = previous === undefined ? 0 : reading[balance] - previous[balance];
    if (rise >= leastTopUpMicros) {
      topUps.push({ at: reading.at, amount: toUnits(rise), value: toUnits(reading[balance]) });
    }
    previous = reading;
  }
  if (topUps.length <= drawnTopUps) return topUps;
  const largest = new Set(topUps.toSorted((left, right) => right.amount - left.amount).slice(0, drawnTopUps));
  return topUps.filter((topUp) => largest.has(topUp));
}

function shadeIncidents(
  views: Pick<Views, 'incidents'>,
  query: ChartQuery,
  since: number,
): Chart['incidents'] {
  const { account, balance, now } = query;
  return views
    .incidents({ account: account.id, since, limit: 200 })
    .filter((incident) => !incident.event && (incident.balance === null || incident.balance === balance))
    .map((incident) => ({
      from: Math.max(incident.firedAt, since),
      to: incident.resolvedAt ?? now,
      severity: incident.worstSeverity,
      rule: incident.rule,
    }))
    .filter(({ from, to }) => to > since && from <= now);
}

/**
 * From the newest reading down to empty, or a quarter of the chart ahead: the middle of what is foretold, and the fan
 * between its early and its late end. Nothing where nothing is foretold.
 */
function project({ account, balance, now }: ChartQuery, spanMs: number): Pick<Chart, 'projection' | 'fan'> {
  const { reading, outlooks, emptyMicros } = account;
  const { emptyAt = null, forecast = null } = outlooks[balance] ?? {};
  if (reading === null || emptyAt === null || emptyAt <= now) return { projection: [], fan: [] };
  const farthest = now + spanMs / 4;
  const value = toUnits(reading[balance]);
  const left = value - toUnits(emptyMicros);
  // Straight down to empty at `end`, where it stays.
  const leftAt = (at: number, end: number): number =>
    value - left * (at >= end ? 1 : (at - reading.at) / (end - reading.at));
  const end = Math.min(emptyAt, farthest);
  const projection: Chart['projection'] = [
    [reading.at, value],
    [end, leftAt(end, emptyAt)],
  ];
  if (forecast?.earliest == null) return { projection, fan: [] };
  const earliest = Math.max(forecast.earliest, now);
  const latest = forecast.latest ?? Number.POSITIVE_INFINITY;
  const corners = [Math.min(earliest, farthest), Math.min(latest, farthest)];
  const fan = [...new Set([reading.at, ...corners])].map((at): [number, number, number] => [
    at,
    leftAt(at, earliest),
    leftAt(at, latest),
  ]);
  return { projection, fan };
}

function toUnits(micros: number): number {
  return micros / microsPerUnit;
}
