import { dayMs } from '../../domain/duration.ts';
import { instantOfWall } from '../../domain/moment.ts';
import { parseInstant } from '../api/input.ts';
import { RequestError } from '../refusal.ts';

export const chartRanges = [
  { name: '24h', label: '24 hours', ms: dayMs },
  { name: '7d', label: '7 days', ms: 7 * dayMs },
  { name: '30d', label: '30 days', ms: 30 * dayMs },
  { name: '90d', label: '90 days', ms: 90 * dayMs },
  { name: '1y', label: '1 year', ms: 365 * dayMs },
] as const;

type ChartRange = (typeof chartRanges)[number];

/** A week shows the rhythm of spending. */
const usualRange = chartRanges[1];

/** The past that a chart shows, from `since` (included) to `until` (excluded). */
export interface ChartSpan {
  readonly since: number;
  readonly until: number;
  /** The range up to now that was chosen; null of two dates. */
  readonly preset: ChartRange | null;
}

export interface SpanQuery {
  readonly range?: string | null | undefined;
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
}

/**
 * The time asked for in an address: `since` and `until`, of which a date alone is that whole day on the clocks of the zone; else one of the
 * ranges up to now; else a week. Throws `RequestError` with a sentence for the person.
 */
export function readSpan(
  { range, since, until }: SpanQuery,
  frame: { readonly now: number; readonly timezone: string },
): ChartSpan {
  const { now } = frame;
  if (!since && !until) {
    const preset = chartRanges.find(({ name }) => name === range) ?? usualRange;
    return { since: now - preset.ms, until: now + 1, preset };
  }
  const ends = readDay(until, 'until', { ...frame, days: 1 }) ?? now + 1;
  const begins = readDay(since, 'since', { ...frame, days: 0 }) ?? ends - usualRange.ms;
  if (begins >= Math.min(ends, now)) {
    throw new RequestError('bad_request', 'since: it must lie before until, and before now');
  }
  return { since: begins, until: ends, preset: null };
}

function readDay(
  text: string | null | undefined,
  name: string,
  { now, timezone, days }: { readonly now: number; readonly timezone: string; readonly days: number },
): number | null {
  if (!text) return null;
  const at = parseInstant(text, name, now);
  if (at === null || !/^\d{4}-\d\d-\d\d$/.test(text)) return at;
  return instantOfWall(at + days * dayMs, timezone);
}
