import { Cron } from 'croner';
import { getOrMake } from '../domain/get-or-make.ts';
import type { Calendar } from '../ports/clock.ts';

/** `no-wildcard`: without `*` in its time fields it runs once per local day when clocks go back, after a gap forward. */
const options = { fixedTimeRule: 'no-wildcard', mode: '5-part' } as const;

/** Parsing costs a hundred lookups, and a configuration names few expressions. */
const parsed = new Map<string, Cron>();
/** By expression, the last moment that was asked for, in seconds: a turn asks of one, for each of thousands of alerts. */
const asked = new Map<string, { readonly second: number; readonly run: number | null }>();

export const cronCalendar: Calendar = {
  next: (cron, timezone, after) => parse(cron, timezone).nextRun(new Date(after))?.getTime() ?? null,
  previous(cron, timezone, before) {
    const key = `${timezone} ${cron}`;
    const second = Math.floor(before / 1000);
    const known = asked.get(key);
    if (known?.second === second) return known.run;
    // croner's previous runs are strictly before the reference, in whole seconds; ours includes it.
    const [last] = parse(cron, timezone).previousRuns(1, new Date((second + 1) * 1000));
    const run = last?.getTime() ?? null;
    asked.set(key, { second, run });
    return run;
  },
};

function parse(cron: string, timezone: string): Cron {
  return getOrMake(parsed, `${timezone} ${cron}`, () => new Cron(cron, { ...options, timezone }));
}
