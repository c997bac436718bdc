import { plural } from './plain-text.ts';

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;

/** The pause of a watch that the system tells of changes: it finds what was missed. */
export const restMs = 10 * secondMs;

/** The end of a rest that begins now. Rests of one length end at the same instants: one wake-up serves all. */
export function restEnd(now: number, lengthMs = restMs): number {
  return now + lengthMs - (now % lengthMs);
}

const unitMs = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs } as const;

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

/** The largest units, two or so many; none below a second. */
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
