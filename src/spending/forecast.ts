import { firstWhere } from '../domain/first-where.ts';
import type { Micros } from '../domain/money.ts';
import type { AnnouncedRun } from '../domain/operator.ts';
import type { Forecast } from '../domain/quantity.ts';
import { hourMs, secondMs } from '../domain/time.ts';
import { announcedIn } from './announced.ts';
import type { BalanceState } from './balance-state.ts';
import { type ExpectedRun, plannedRuns, weeklyRuns } from './expected-runs.ts';
import { spreadAhead } from './interval.ts';
import { driftOf, levelAhead, levelOf } from './level.ts';
import { farthestHours, hoursPerWeek, type LocalWeek } from './local-week.ts';
import { usualWeek } from './profile.ts';
import { isSparse, unspendable } from './silence.ts';

/** Nobody plans further ahead. */
const maxWeeks = 260;

/** The predicted spending from the beginning of an hour on: `sums[k]` within k hours, without announced runs. */
export interface Walk {
  readonly startsAt: number;
  readonly sums: Float32Array;
  /** The spending of a week beyond the walk. */
  readonly weekly: Micros;
  /** Whether the weeks beyond the walk have the shape of its last one: false with expected runs, one of which may lie in it. */
  readonly isShaped: boolean;
  readonly announced: readonly AnnouncedRun[];
}

/**
 * One walk over the hours ahead, cumulative: `spent(h + k) = usual(h + k) · (D + (L − D) · e^(−k/48))`, L the level, D the drift.
 * It serves every reading of the hour. `sums` is filled and returned as part of the walk.
 */
export function walkAhead(
  state: BalanceState,
  order: Pick<Walk, 'startsAt' | 'sums' | 'announced'> & {
    readonly week: LocalWeek;
    readonly runs: readonly ExpectedRun[];
  },
): Walk {
  const { startsAt, week, runs, announced, sums } = order;
  const slots = week.slotsFrom(startsAt);
  const level = levelOf(state);
  const drift = driftOf(state);
  const usual = usualWeek(state);
  // Spending clipped off a sparse balance is no event: its traffic comes in clumps.
  const clumps = isSparse(state) ? state.clipped : 0;
  let sum = 0;
  sums[0] = 0;
  for (let hour = 0; hour < farthestHours; hour++) {
    sum += (usual[slots[hour] ?? 0] ?? 0) * levelAhead(level, drift, hour) + clumps;
    sums[hour + 1] = sum;
  }
  const weekly = (sums[farthestHours] ?? 0) - (sums[farthestHours - hoursPerWeek] ?? 0) + weeklyRuns(runs);
  const days = farthestHours / 24;
  for (const { at, hours, micros } of plannedRuns(runs, week, { now: startsAt, days, announced })) {
    const first = Math.round((at - startsAt) / hourMs);
    const passed = Math.min(hours, Math.max(0, -first));
    for (let hour = Math.max(0, first) + 1; hour <= farthestHours; hour++)
      sums[hour] = (sums[hour] ?? 0) + (micros * (Math.min(hours, hour - first) - passed)) / hours;
  }
  return { startsAt, sums, weekly, isShaped: runs.length === 0, announced };
}

/** When `left`, which was there at `at`, is spent. `at` is not before the walk's start. */
export function predict(
  state: BalanceState,
  walk: Walk,
  { left, at }: { readonly left: Micros; readonly at: number },
): Omit<Forecast, 'basis'> {
  const since = (at - walk.startsAt) / hourMs;
  if (left <= 0) return { emptyAt: at, earliest: at, latest: at };
  const before = sumAt(walk, since) - Math.min(left, keptOf(state));
  const instant = (factor: number): number | null => {
    const hours = hoursUntil(walk, before + left * factor);
    return hours === null ? null : Math.max(at, walk.startsAt + hours * hourMs);
  };
  const emptyAt = instant(1);
  const spread = spreadAhead(state, emptyAt === null ? farthestHours : (emptyAt - at) / hourMs);
  return { emptyAt, earliest: instant(Math.exp(-spread)), latest: instant(Math.exp(spread)) };
}

/** Less than a message takes cannot be spent: where little is sent, this much of what is left does not count. */
function keptOf(state: BalanceState): Micros {
  return isSparse(state) ? unspendable(state) : 0;
}

/** Whether `left` lasts longer than `forMs`, as `predict` says; a fast path. */
export function lastsLonger(
  state: BalanceState,
  walk: Walk,
  { left, at, forMs }: { readonly left: Micros; readonly at: number; readonly forMs: number },
): boolean {
  // A second more: predictions are not exact to the millisecond.
  return left > 0 && expectedFrom(walk, at, forMs + secondMs) < left - Math.min(left, keptOf(state));
}

/** The spending within a time from `at` on, which is not before the walk's start. */
export function expectedFrom(walk: Walk, at: number, withinMs: number): Micros {
  const since = at - walk.startsAt;
  return sumAt(walk, (since + withinMs) / hourMs) - sumAt(walk, since / hourMs);
}

/** The least amount that lasts this long, as `predict` says: with just what is spent before a quiet time, the end is where that time begins. */
export function neededFrom(state: BalanceState, walk: Walk, at: number, forMs: number): Micros {
  const expected = expectedFrom(walk, at, forMs);
  const endsQuietly = expected === expectedFrom(walk, at, forMs - secondMs);
  return expected === 0 ? 0 : expected + keptOf(state) + (endsQuietly ? 1 : 0);
}

/** The usual spending and that of announced runs, within so many hours. */
export function sumAt(walk: Walk, hours: number): Micros {
  const { startsAt, announced } = walk;
  // A fast path: forecasts ask this dozens of times a reading.
  if (announced.length === 0) return usualAt(walk, hours);
  const to = startsAt + hours * hourMs;
  return announced.reduce((sum, run) => sum + announcedIn(run, startsAt, to), usualAt(walk, hours));
}

/** Beyond the walk every week takes as much as its last one. */
function usualAt(walk: Walk, hours: number): Micros {
  const { sums, weekly } = walk;
  if (hours > farthestHours) {
    const weeks = (hours - farthestHours) / hoursPerWeek;
    if (!walk.isShaped) return (sums[farthestHours] ?? 0) + weeks * weekly;
    return usualAt(walk, hours - Math.ceil(weeks) * hoursPerWeek) + Math.ceil(weeks) * weekly;
  }
  const whole = Math.min(farthestHours - 1, Math.max(0, Math.floor(hours)));
  const from = sums[whole] ?? 0;
  return from + (hours - whole) * ((sums[whole + 1] ?? 0) - from);
}

/** The number of hours after which `sumAt` reaches an amount; null past five years. */
function hoursUntil(walk: Walk, amount: Micros): number | null {
  const isPastWalk = sumAt(walk, farthestHours) < amount;
  const most = isPastWalk ? farthestHours + maxWeeks * hoursPerWeek : farthestHours;
  if (isPastWalk && sumAt(walk, most) < amount) return null;
  const least = isPastWalk ? farthestHours : 0;
  const high = firstWhere(least + 1, most, (hour) => sumAt(walk, hour) >= amount);
  // Within an hour it grows evenly.
  const before = sumAt(walk, high - 1);
  const after = sumAt(walk, high);
  return high - 1 + (after > before ? (amount - before) / (after - before) : 1);
}
