import type { Micros } from '../domain/money.ts';
import { type AnnouncedRun, farOff, tookOf } from '../domain/operator.ts';

export function announcedIn(
  { startsAt, endsAt, amountMicros }: AnnouncedRun,
  from: number,
  to: number,
): Micros {
  const ms = Math.min(endsAt, to) - Math.max(startsAt, from);
  return ms <= 0 ? 0 : (amountMicros * ms) / (endsAt - startsAt);
}

/** With what is still to come of it at an instant: as much of its time as is left says, but no more than it did not take yet. */
export function restOf(run: AnnouncedRun, at: number): AnnouncedRun {
  const byTime = announcedIn(run, at, run.endsAt);
  const left = Math.max(0, run.amountMicros - tookOf(run));
  return byTime <= left ? run : { ...run, amountMicros: (run.amountMicros * left) / byTime };
}

/** The part of spending beyond the usual that runs may have: as much as they have not taken yet, and half more. */
export function mostOf(runs: readonly AnnouncedRun[], from: number, to: number): Micros {
  return runs
    .filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from)
    .reduce((sum, run) => sum + Math.max(0, (1 + farOff) * run.amountMicros - tookOf(run)), 0);
}

/** The spending of runs that may come between two instants: by its share of their time, and all of them at once. */
export function announcedBetween(runs: readonly AnnouncedRun[], from: number, to: number) {
  const open = runs.filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from);
  return {
    byTime: open.reduce((sum, run) => sum + announcedIn(run, from, to), 0),
    all: open.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
  };
}
