import type { AccountState } from '../domain/reading.ts';
import type { PollSchedule } from '../domain/settings.ts';
import { dayMs } from '../domain/time.ts';
import type { Calendar } from '../ports/clock.ts';

const sampledRuns = 6;
const gapRuns = 3;
/** The gap for an expression that hardly ever runs. */
const fallbackMs = dayMs;

/** The poll interval; for a cron expression the shortest of its next few. */
export function pollInterval(calendar: Calendar, schedule: PollSchedule, now: number): number {
  if (schedule.kind === 'every') return schedule.everyMs;
  return nextRuns(calendar, schedule, { after: now, count: sampledRuns }).shortest;
}

/**
 * The mean gap of the three polls that were due after the last reading, or after an account was first seen, and never less
 * than lies between two of them. A cron expression that rests overnight has long gaps in the evening: an account is not stale if
 * no poll was due. Time in which nobody watched is left out, so that a daemon that died before the rest and
 * starts again in it waits for the same polls as any other.
 */
export function pollGap(
  calendar: Calendar,
  schedule: PollSchedule,
  { reading, firstSeenAt, unwatchedMs }: Pick<AccountState, 'reading' | 'firstSeenAt' | 'unwatchedMs'>,
): number {
  if (schedule.kind === 'every') return schedule.everyMs;
  const after = (reading?.at ?? firstSeenAt) + unwatchedMs;
  const { shortest, last } = nextRuns(calendar, schedule, { after, count: gapRuns });
  return Math.max((last - after) / gapRuns, shortest);
}

/** The shortest time between two of the next runs, and the last of them. */
function nextRuns(
  calendar: Calendar,
  { cron, timezone }: Extract<PollSchedule, { kind: 'cron' }>,
  { after, count }: { readonly after: number; readonly count: number },
): { readonly shortest: number; readonly last: number } {
  let shortest = Number.POSITIVE_INFINITY;
  let last = after;
  for (let run = 0; run < count; run++) {
    const next = calendar.next(cron, timezone, last) ?? last + fallbackMs;
    if (run > 0) shortest = Math.min(shortest, next - last);
    last = next;
  }
  return { shortest, last };
}
