import { type Chart, findTopUps, type IncidentBand, layChart, type TopUp } from '../../chart/chart.ts';
import { isSameCurrency, type Micros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { Balance, PollRecord, Reading } from '../../domain/reading.ts';
import { dayMs, instantOfWall } from '../../domain/time.ts';
import type { WeekAgo } from '../../spending/interval.ts';
import type { Views } from '../../views/create-views.ts';
import type { AccountView } from '../../views/views.ts';
import { phrases } from '../../wording/phrase.ts';
import { parseInstant } from '../api/input.ts';
import { RequestError, refusals } from '../refusal.ts';
import { common, type Frame } from './words.ts';

const says = phrases('range', {
  week: '7 days',
  month: '30 days',
  quarter: '90 days',
  year: '1 year',
});

export const chartRanges = [
  { name: '24h', label: common.day, ms: dayMs },
  { name: '7d', label: says.week, ms: 7 * dayMs },
  { name: '30d', label: says.month, ms: 30 * dayMs },
  { name: '90d', label: says.quarter, ms: 90 * dayMs },
  { name: '1y', label: says.year, ms: 365 * dayMs },
] as const;

type ChartRange = (typeof chartRanges)[number];

/** The usual range is a week, because it shows the rhythm of spending. */
const usualRange = chartRanges[1];

/** The time that a chart shows, from `since` (included) to `until` (excluded). */
export interface ChartSpan {
  readonly since: number;
  readonly until: number;
  /** The chosen range up to now; null if two dates were given. */
  readonly preset: ChartRange | null;
}

/** The span from `since` to `until` (named by `names`; a date means its whole day), else a range up to now, else a week. Throws `RequestError`. */
export function readSpan(
  { range, since, until }: Partial<Record<'range' | 'since' | 'until', string | null | undefined>>,
  frame: Frame,
  names: readonly [string, string] = ['since', 'until'],
): ChartSpan {
  const { now } = frame;
  if (!since && !until) {
    const preset = chartRanges.find(({ name }) => name === range) ?? usualRange;
    return { since: now - preset.ms, until: now + 1, preset };
  }
  const ends = readDay(until, names[1], frame, 1) ?? now + 1;
  const begins = readDay(since, names[0], frame, 0) ?? ends - usualRange.ms;
  if (begins >= Math.min(ends, now)) {
    const problem = refusals.since({ until: names[1] });
    throw new RequestError('bad_request', refusals.field({ name: names[0], problem }));
  }
  return { since: begins, until: ends, preset: null };
}

function readDay(text: string | null | undefined, name: string, frame: Frame, days: number): number | null {
  if (!text) return null;
  const at = parseInstant(text, name, frame.now);
  if (at === null || !/^\d{4}-\d\d-\d\d$/.test(text)) return at;
  return instantOfWall(at + days * dayMs, frame.timezone);
}

/** The shortest span: a chart of less would show nothing but noise. */
const leastSpanMs = 60_000;
const usualPoints = 800;
const aheadShare = 0.25;
const leastGapShare = 1 / 500;
const maxIncidents = 200;

interface ChartQuery {
  readonly account: AccountView;
  readonly span: ChartSpan;
  readonly balance: Balance;
  readonly now: number;
  readonly points?: number;
}

type ChartViews = Pick<Views, 'polls' | 'incidents' | 'silenced' | 'weekAgo' | 'coming'>;

/**
 * The chart of one balance: for the picture drawn here, for the one that the script draws, and for
 * the table next to them. It contains only readings in the account's present currency, because two currencies have no common
 * scale.
 */
export async function buildChart(views: ChartViews, query: ChartQuery): Promise<Chart> {
  const { account, span, balance, now } = query;
  const until = Math.min(span.until, now);
  const polls = await views.polls(account.id, span.since, until + 1, { timesOnce: true });
  const since = span.preset === null ? span.since : beginning(polls, span.since, until);
  const readings = polls.flatMap(({ reading }) =>
    reading !== null &&
    ownOf(reading.balances, balance) !== undefined &&
    isSameCurrency(reading.currency, account.currency ?? '')
      ? [reading]
      : [],
  );
  const muted = await views.silenced({ account: account.id, balance, since, until });
  return layChart({
    since,
    until,
    now,
    readings,
    balance,
    polls,
    intervalMs: account.pollIntervalMs,
    leastGapMs: (until - since) * leastGapShare,
    maxPoints: query.points ?? usualPoints,
    thresholds: ownOf(account.thresholds, balance) ?? {},
    runway: ownOf(account.runways, balance) ?? null,
    aheadShare,
    incidents: await findIncidents(views, query),
    silences: muted.map(({ startsAt, endsAt }) => ({ from: startsAt, to: endsAt })),
    coming: views.coming(account.id, balance),
    ...(until < now ? {} : lookBack(views.weekAgo(account.id, balance), readings, query)),
  });
}

/** The first poll of an account younger than half the range: hours would be lost in an empty year. */
function beginning(polls: readonly PollRecord[], since: number, until: number): number {
  const first = polls[0]?.at ?? since;
  return first > (since + until) / 2 ? Math.min(first, until - leastSpanMs) : since;
}

/** The balance as it was predicted, in straight lines from step to step. A top-up since then lifts the line from when it came. */
function lookBack(
  weekAgo: WeekAgo | null,
  readings: readonly Reading[],
  { account, balance }: ChartQuery,
): Pick<Chart, 'predicted' | 'hindsight'> {
  const lowest = Math.min(
    ownOf(account.runways, balance)?.emptyMicros ?? 0,
    ownOf(readings.at(-1)?.balances, balance) ?? 0,
  );
  const clamp = (value: Micros): Micros => Math.round(Math.max(value, lowest));
  const steps = (weekAgo?.steps ?? []).flatMap(({ at, excess }) => {
    const came = ownOf(readings.findLast((reading) => reading.at <= at)?.balances, balance);
    return came === undefined ? [] : [{ at, came, value: came + excess }];
  });
  const topUps = findTopUps(readings, balance);
  const line = steps.flatMap((step, index): readonly Step[] => {
    const before = steps[index - 1];
    return before === undefined ? [step] : [...liftedBetween(before, step, topUps), step];
  });
  const last = steps.at(-1);
  return {
    predicted: line.map(({ at, value }) => ({ at, value: clamp(value) })),
    hindsight:
      last !== undefined && last.at === weekAgo?.steps.at(-1)?.at
        ? { at: last.at, predicted: clamp(last.value), came: last.came }
        : null,
  };
}

interface Step {
  readonly at: number;
  readonly value: Micros;
}

function liftedBetween(from: Step, to: Step, topUps: readonly TopUp[]): readonly Step[] {
  const between = topUps.filter(({ at }) => at > from.at && at <= to.at);
  const risen = between.reduce((sum, { rise }) => sum + rise, 0);
  const slope = (to.value - risen - from.value) / (to.at - from.at);
  let lifted = 0;
  return between.flatMap(({ at, rise }) => {
    const value = from.value + slope * (at - from.at) + lifted;
    lifted += rise;
    return [
      { at: at - 1, value },
      { at, value: value + rise },
    ];
  });
}

async function findIncidents(
  views: Pick<Views, 'incidents'>,
  { account, span: { since, until }, balance, now }: ChartQuery,
): Promise<readonly IncidentBand[]> {
  const incidents = await views.incidents({ account: account.id, since, until, limit: maxIncidents });
  return incidents
    .filter((incident) => !incident.event && (incident.balance === null || incident.balance === balance))
    .map(({ firedAt: from, resolvedAt, worstSeverity: severity, rule }) => ({
      from,
      to: resolvedAt ?? now,
      severity,
      rule,
    }));
}
