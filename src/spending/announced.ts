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

/** The run with what is still to come of it at an instant: the share of the time that is left, but no more than it has not taken yet. */
export function restOf(run: AnnouncedRun, at: number): AnnouncedRun {
  const byTime = announcedIn(run, at, run.endsAt);
  const left = Math.max(0, run.amountMicros - tookOf(run));
  return byTime <= left ? run : { ...run, amountMicros: (run.amountMicros * left) / byTime };
}

/** The most of the spending beyond the usual that may belong to runs: what they have not taken yet, and half of what was announced besides. */
export function mostOf(runs: readonly AnnouncedRun[], from: number, to: number): Micros {
  return runs
    .filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from)
    .reduce((sum, run) => sum + Math.max(0, (1 + farOff) * run.amountMicros - tookOf(run)), 0);
}

/** The spending of runs between two instants: `byTime` by the share of their time, `all` if all of them came at once. */
export function announcedBetween(runs: readonly AnnouncedRun[], from: number, to: number) {
  const open = runs.filter(({ startsAt, endsAt }) => startsAt < to && endsAt > from);
  return {
    byTime: open.reduce((sum, run) => sum + announcedIn(run, from, to), 0),
    all: open.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
  };
}
