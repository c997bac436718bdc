import { getOrMake } from './get-or-make.ts';
import { plural } from './plain-text.ts';

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;

/** The interval of the checks that go with a watch to which the system reports changes: they find what it missed. */
export const restMs = 10 * secondMs;

/** The end of a pause that begins now. Pauses of one length end at the same instants, so that one wake-up serves all. */
export function restEnd(now: number, lengthMs = restMs): number {
  return now + lengthMs - (now % lengthMs);
}

const unitMs = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs } as const;

/** The longest duration that anybody may give: an instant much further off has no year of four digits. */
export const maxDurationMs = 3650 * dayMs;

const durationPattern = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** `"90s"`, `"1h30m"`, `"500ms"`: largest unit first, each at most once. Null for anything else, and past 2^53 ms. */
export function parseDuration(text: string): number | null {
  const match = durationPattern.exec(text);
  if (match === null || text === '') return null;
  const [, d = '0', h = '0', m = '0', s = '0', ms = '0'] = match;
  const total =
    Number(d) * unitMs.d + Number(h) * unitMs.h + Number(m) * unitMs.m + Number(s) * unitMs.s + Number(ms);
  return Number.isSafeInteger(total) ? total : null;
}

/** The same notation, exact: `5400000` is `"1h30m"`; zero is `"0s"`. */
export function formatDuration(ms: number): string {
  let rest = Math.abs(Math.round(ms));
  if (rest === 0) return '0s';
  const parts: string[] = [];
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(rest / unitMs[unit]);
    rest -= count * unitMs[unit];
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return (ms < 0 ? '-' : '') + parts.join('');
}

export interface DurationPart {
  readonly unit: 'day' | 'hour' | 'minute' | 'second';
  readonly count: number;
}

const units = ['day', 'hour', 'minute', 'second'] as const;
const sizes = { day: unitMs.d, hour: unitMs.h, minute: unitMs.m, second: unitMs.s } as const;

/** The `most` largest units, without those that are 0; none below a second. */
export function durationParts(ms: number, most = 2): readonly DurationPart[] {
  let rest = Math.abs(Math.round(ms));
  const first = units.findIndex((unit) => rest >= sizes[unit]);
  if (first < 0) return [];
  return units.slice(first, first + most).flatMap((unit) => {
    const count = Math.floor(rest / sizes[unit]);
    rest -= count * sizes[unit];
    return count === 0 ? [] : [{ unit, count }];
  });
}

/** The two largest units in words: `"3 days 4 hours"`, `"12 seconds"`. */
export function describeDuration(ms: number): string {
  const parts = durationParts(ms);
  return parts.length === 0
    ? `${Math.abs(Math.round(ms))} ms`
    : parts.map(({ unit, count }) => plural(count, unit)).join(' ');
}

const yearMs = 365 * dayMs;

/** ISO 8601 in UTC. */
export function isoText(at: number): string {
  return new Date(at).toISOString();
}

/** `2026-11-20 14:03` in UTC, for texts that name the zone. */
export function minuteText(at: number): string {
  return isoText(at).slice(0, 16).replace('T', ' ');
}

/** Nobody plans further ahead, and some instants further away have no date. */
const horizonMs = 5 * yearMs;

/** True for an instant so far ahead that a date would suggest false precision. */
export function isBeyondHorizon(at: number, now: number): boolean {
  return at - now > horizonMs;
}

/** The offset of a zone in milliseconds; positive east of UTC. */
export function zoneOffsetMs(at: number, timezone: string): number {
  return offsetOf(zoneAt(at, timezone));
}

function offsetOf(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^UTC([+-])(\d+)(?::(\d+))?$/.exec(zone) ?? [];
  const ahead = Number(hours) * hourMs + Number(minutes) * minuteMs;
  return sign === '-' ? -ahead : ahead;
}

/**
 * The instant of a local time. A time that a clock change skips counts as the time that much later, so that a day whose midnight is skipped
 * begins on that day. A time that occurs twice counts as the first of the two, in every zone.
 */
export function instantOfWall(wall: number, timezone: string): number {
  // No zone changes its clocks twice in two days.
  const early = wall - zoneOffsetMs(wall - dayMs, timezone);
  const late = wall - zoneOffsetMs(wall + dayMs, timezone);
  const shows = (at: number): boolean => at + zoneOffsetMs(at, timezone) === wall;
  return shows(late) && !shows(early) ? late : early;
}

/** Whether `2026-11-20` is a day: `Date.parse` takes the 30th of February for the 2nd of March. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) && isoText(at).startsWith(text);
}

/** `2026-11-20` by the zone's clocks. */
export function isoDay(at: number, timezone: string): string {
  return isoText(at + zoneOffsetMs(at, timezone)).slice(0, 10);
}

/** `2026-11-20 14:03:59` by the zone's clocks, for places that name the zone elsewhere. */
export function zonedText(at: number, timezone: string): string {
  return isoText(at + zoneOffsetMs(at, timezone))
    .slice(0, 19)
    .replace('T', ' ');
}

/** `2026-11-20T02:41` by the zone's clocks, as an input of a page takes it. */
export function localText(at: number, timezone: string): string {
  return isoText(at + zoneOffsetMs(at, timezone)).slice(0, 16);
}

/** The reverse of `localText`; null for other text. */
export function parseLocalText(text: string, timezone: string): number | null {
  const wall = /T\d{2}:\d{2}$/.test(text) && isDay(text.slice(0, 10)) ? Date.parse(`${text}Z`) : Number.NaN;
  return Number.isNaN(wall) ? null : instantOfWall(wall, timezone);
}

/** A duration as exact as a person needs it, cut into its units; none below a second. */
export function roughParts(ms: number): readonly DurationPart[] {
  const magnitude = Math.abs(ms);
  if (magnitude < 1000) return [];
  if (magnitude < 2 * minuteMs) return durationParts(roundTo(magnitude, 1000));
  if (magnitude < 10 * hourMs) return durationParts(roundTo(magnitude, minuteMs));
  if (magnitude < 2 * dayMs) return [{ unit: 'hour', count: Math.round(magnitude / hourMs) }];
  if (magnitude < 10 * dayMs) return durationParts(roundTo(magnitude, hourMs));
  return [{ unit: 'day', count: Math.round(magnitude / dayMs) }];
}

function roundTo(value: number, step: number): number {
  return Math.round(value / step) * step;
}

/** Clock and calendar of a zone. `weekdayIndex` counts from Sunday, `monthIndex` from January, both from 0. */
export function momentParts(at: number, timezone: string) {
  const zone = zoneAt(at, timezone);
  const wall = new Date(at + offsetOf(zone));
  return {
    zone,
    weekdayIndex: wall.getUTCDay(),
    day: `${wall.getUTCDate()}`,
    monthIndex: wall.getUTCMonth(),
    year: `${wall.getUTCFullYear()}`,
    time: `${twoDigits(wall.getUTCHours())}:${twoDigits(wall.getUTCMinutes())}`,
  };
}

function twoDigits(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** Making a formatter costs as much as a thousand uses, and a configuration names few zones. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** The name of an offset, `UTC+8`. UTC itself needs no formatter: the first one takes 12 ms. */
function zoneAt(at: number, timezone: string): string {
  if (timezone === 'UTC') return timezone;
  if (zonesSeen.size > 1000) zonesSeen.clear();
  // Clocks change on a quarter of an hour only (until 2011 those of St John's did at 00:01).
  return getOrMake(zonesSeen, `${timezone} ${Math.floor(at / quarterMs)}`, () => nameZone(at, timezone));
}

const quarterMs = 15 * minuteMs;
const zonesSeen = new Map<string, string>();

function nameZone(at: number, timezone: string): string {
  const name = formatterOf(timezone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  return (name ?? '').replace('GMT', 'UTC').replace(/^UTC[+-]0$/, 'UTC');
}

/** Whether it is a known time zone: an IANA name, or an offset. */
export function isTimeZone(name: string): boolean {
  try {
    return zoneAt(0, name) !== '';
  } catch {
    return false;
  }
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const options = { timeZone: timezone, timeZoneName: 'shortOffset' } as const;
  return getOrMake(formatters, timezone, () => new Intl.DateTimeFormat('en-US', options));
}
