import { plural } from './plain-text.ts';

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const weekMs = 7 * dayMs;

const unitMs = { ms: 1, s: secondMs, m: minuteMs, h: hourMs, d: dayMs } as const;

const durationPattern = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Reads `"90s"`, `"5m"`, `"1h30m"`, `"2d"`, `"500ms"`: largest unit first, each at most once. Null for
 * anything else, and past 2^53 ms.
 */
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

/** `"42 minutes of history"`. */
export function describeHistory(ms: number): string {
  return ms < 1 ? 'no history yet' : `${describeDuration(ms)} of history`;
}

const wordedUnits = [
  ['day', unitMs.d],
  ['hour', unitMs.h],
  ['minute', unitMs.m],
  ['second', unitMs.s],
] as const;

/** The two largest units in words: `"3 days 4 hours"`, `"12 seconds"`. */
export function describeDuration(ms: number): string {
  const magnitude = Math.abs(Math.round(ms));
  if (magnitude < 1000) return `${magnitude} ms`;
  const first = wordedUnits.findIndex(([, size]) => magnitude >= size);
  const [name, size] = wordedUnits[first] ?? wordedUnits[3];
  const [nextName, nextSize] = wordedUnits[first + 1] ?? ['', Number.POSITIVE_INFINITY];
  const count = Math.floor(magnitude / size);
  const nextCount = Math.floor((magnitude - count * size) / nextSize);
  const worded = plural(count, name);
  return nextCount === 0 ? worded : `${worded} ${plural(nextCount, nextName)}`;
}
