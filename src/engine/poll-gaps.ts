import type { Calendar } from '../domain/ports.ts';
import type { PollSchedule } from '../domain/settings.ts';

/** Runs of a cron expression that are looked at for its usual interval. */
const sampledRuns = 6;
/** `stale` waits for this many polls. */
const gapRuns = 3;
/** Of an expression that hardly ever runs. */
const fallbackMs = 86_400_000;

/** The usual time between two polls; for a cron expression the shortest of its next few. */
export function pollInterval(calendar: Calendar, schedule: PollSchedule, now: number): number {
  if (schedule.kind === 'every') return schedule.everyMs;
  let shortest = Number.POSITIVE_INFINITY;
  let at = now;
  for (let run = 0; run < sampledRuns; run++) {
    const next = calendar.next(schedule.cron, schedule.timezone, at);
    if (next === null) break;
    if (run > 0) shortest = Math.min(shortest, next - at);
    at = next;
  }
  return Number.isFinite(shortest) ? shortest : fallbackMs;
}

/**
 * The mean gap of the three polls that are due after an instant. A cron expression that rests overnight has
 * long gaps in the evening: an account is not stale because nobody was meant to ask.
 */
export function pollGap(calendar: Calendar, schedule: PollSchedule, after: number): number {
  if (schedule.kind === 'every') return schedule.everyMs;
  let at = after;
  for (let run = 0; run < gapRuns; run++)
    at = calendar.next(schedule.cron, schedule.timezone, at) ?? at + fallbackMs;
  return (at - after) / gapRuns;
}
