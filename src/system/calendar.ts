import { Cron } from 'croner';
import { getOrMake } from '../domain/get-or-make.ts';
import { dayMs, zoneOffsetMs } from '../domain/time.ts';
import type { Calendar } from '../ports/clock.ts';

/** `no-wildcard`: without `*` in its time fields it runs once per local day when clocks go back, after a gap forward. */
const options = { fixedTimeRule: 'no-wildcard', mode: '5-part' } as const;

/** Parsing costs a hundred lookups, and a configuration names few expressions. */
const parsed = new Map<string, Cron>();

export const cronCalendar: Calendar = {
  next: (cron, timezone, after) => parse(cron, timezone).nextRun(new Date(after))?.getTime() ?? null,
  previous: (cron, timezone, before) =>
    // croner's previous runs are strictly before the reference, in whole seconds; ours includes it.
    parse(cron, timezone)
      .previousRuns(1, new Date((Math.floor(before / 1000) + 1) * 1000))[0]
      ?.getTime() ?? null,
  offsetMs(timezone, at) {
    const day = Math.floor(at / dayMs);
    const begins = offsetAt(timezone, day);
    return begins === offsetAt(timezone, day + 1) ? begins : zoneOffsetMs(at, timezone);
  },
};

/** Zone offsets at the beginning of UTC days: clocks change at most once within one. */
const offsets = new Map<string, Map<number, number>>();
const maxDays = 1000;

function offsetAt(timezone: string, day: number): number {
  const days = getOrMake(offsets, timezone, () => new Map<number, number>());
  if (days.size > maxDays) days.clear();
  return getOrMake(days, day, () => zoneOffsetMs(day * dayMs, timezone));
}

function parse(cron: string, timezone: string): Cron {
  return getOrMake(parsed, `${timezone} ${cron}`, () => new Cron(cron, { ...options, timezone }));
}
