import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import { GapFinder } from '../spending/usual-interval.ts';

/** An instant and the balance then; null begins a stretch in which nothing was read. */
export interface LinePoint {
  readonly at: number;
  readonly value: Micros | null;
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * Stretches without a reading, oldest first: failed polls up to the next that worked, and times without any poll that are long by
 * the pace of the account (`intervalMs`). Those shorter than `leastMs` could not be seen, and would only tear the line.
 */
export function findGaps(
  polls: Iterable<{ readonly at: number; readonly reading: Reading | null }>,
  limits: { readonly until: number; readonly intervalMs: number; readonly leastMs: number },
): readonly Stretch[] {
  const gaps: Stretch[] = [];
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

/** One balance of the readings, oldest first, broken at the gaps. */
export function breakAtGaps(
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

/** The stretches in which a line is broken, the last of them up to `now`. */
export function unreadStretches(points: readonly LinePoint[], now: number): readonly Stretch[] {
  return points.flatMap(({ at, value }, index) =>
    value === null ? [{ from: at, to: points[index + 1]?.at ?? now }] : [],
  );
}

/** The upper edge of a fan and back along the lower. */
export function edgeOf(
  fan: readonly { readonly at: number; readonly low: Micros; readonly high: Micros }[],
): readonly LinePoint[] {
  const upper = fan.map(({ at, high }) => ({ at, value: high }));
  const lower = fan.map(({ at, low }) => ({ at, value: low }));
  return [...upper, ...lower.toReversed()];
}

/** The line through points as an SVG path, torn where nothing was read; `place` gives its `x y`. */
export function pathThrough(
  points: readonly LinePoint[],
  place: (at: number, value: Micros) => string,
): string {
  let path = '';
  let pen = 'M';
  for (const { at, value } of points) {
    if (value !== null) path += pen + place(at, value);
    pen = value === null ? 'M' : 'L';
  }
  return path;
}
