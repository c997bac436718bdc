import { Cron } from 'croner';
import { getOrMake } from '../domain/get-or-make.ts';
import type { Calendar } from '../ports/clock.ts';

/** `no-wildcard`: without `*` in its time fields, an expression runs once on a day when clocks go back, and after the gap when they go forward. */
const options = { fixedTimeRule: 'no-wildcard', mode: '5-part' } as const;

/** Parsed expressions: parsing costs a hundred lookups, and a configuration has few expressions. */
const parsed = new Map<string, Cron>();
/** The last question and its answer by expression: one turn asks about one instant for each of thousands of alerts. */
const asked = new Map<string, { readonly second: number; readonly run: number | null }>();

export const cronCalendar: Calendar = {
  next: (cron, timezone, after) => parse(cron, timezone).nextRun(new Date(after))?.getTime() ?? null,
  previous(cron, timezone, before) {
    const key = `${timezone} ${cron}`;
    const second = Math.floor(before / 1000);
    const known = asked.get(key);
    if (known?.second === second) return known.run;
    // croner's previous runs are strictly before the reference, in whole seconds. Here, a run at the reference counts too.
    const [last] = parse(cron, timezone).previousRuns(1, new Date((second + 1) * 1000));
    const run = last?.getTime() ?? null;
    asked.set(key, { second, run });
    return run;
  },
};

function parse(cron: string, timezone: string): Cron {
  return getOrMake(parsed, `${timezone} ${cron}`, () => new Cron(cron, { ...options, timezone }));
}
