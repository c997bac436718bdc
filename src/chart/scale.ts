import { scaleLinear, scaleUtc } from 'd3-scale';
import { dayMs, instantOfWall, minuteMs, zoneOffsetMs } from '../domain/time.ts';

/** The ends of a chart's values, and the round values between that carry a label, lowest first. */
export interface ValueRange {
  readonly lowest: number;
  readonly highest: number;
  readonly ticks: readonly number[];
}

/** Round values from `lowest` to `highest`, about `count` of them: steps of 1, 2 or 5 times a power of ten. */
export function valueTicks(lowest: number, highest: number, count: number): readonly number[] {
  return scaleLinear([lowest, highest], [0, 1]).ticks(count);
}

/** `valueTicks` with both ends moved out to round values. */
export function roundedRange(lowest: number, highest: number, count: number): ValueRange {
  const scale = scaleLinear([lowest, highest], [0, 1]).nice(count);
  const [bottom = lowest, top = highest] = scale.domain();
  return { lowest: bottom, highest: top, ticks: scale.ticks(count) };
}

/** Maps `from` … `to` to `start` … `end`, and continues beyond both. */
export function linear(from: number, to: number, start: number, end: number): (value: number) => number {
  const scale = scaleLinear([from, to], [start, end]);
  return (value) => scale(value);
}

/** `Nov`, `20 Nov`; `month` counts from 0. */
export type NameDay = (month: number, day?: number) => string;

/** An instant of the time axis with its label: a time of day, a day (`20 Nov`) or a month. */
interface TimeTick {
  readonly at: number;
  readonly label: string;
}

/**
 * About `count` instants between two, round on the clocks of the zone (an IANA name). The ticks are chosen on the clock's face, which has no
 * gaps; where the clocks change, a time that does not exist becomes one within an hour of it.
 */
export function timeTicks(span: {
  readonly since: number;
  readonly until: number;
  readonly timezone: string;
  readonly count: number;
  readonly nameDay: NameDay;
}): readonly TimeTick[] {
  const { since, until, timezone, count, nameDay } = span;
  const face = (at: number): number => at + zoneOffsetMs(at, timezone);
  const walls = scaleUtc([face(since), face(until)], [0, 1])
    .ticks(count)
    .map((date) => date.getTime());
  const nameTick = chooseName(walls, nameDay);
  return walls
    .map((wall) => ({ at: instantOfWall(wall, timezone), label: nameTick(new Date(wall)) }))
    .filter(({ at }) => at >= since && at <= until);
}

function chooseName(walls: readonly number[], nameDay: NameDay): (face: Date) => string {
  if (walls.some((wall) => wall % minuteMs !== 0)) return (face) => face.toISOString().slice(11, 19);
  if (walls.some((wall) => wall % dayMs !== 0)) return (face) => face.toISOString().slice(11, 16);
  const firsts = walls.every((wall) => new Date(wall).getUTCDate() === 1);
  return (face) => nameDay(face.getUTCMonth(), firsts ? undefined : face.getUTCDate());
}
