import { newNotification } from '../domain/outbox.ts';
import type { ReportSettings } from '../domain/settings.ts';
import { dayMs, weekMs } from '../domain/time.ts';
import { keyedDigest } from '../engine/access.ts';
import { putNotification } from '../engine/queue.ts';
import type { MonitorState } from '../engine/state.ts';

/** Clocks are set back by a day or a time zone, hardly more: a note that lies further in the future is ignored. */
const maxStepBackMs = 3 * dayMs;

/** Sends each report at most once per run of its cron expression, and one for all missed runs. The run is stored with it. */
export function sendDueReports(state: MonitorState, now: number): void {
  for (const report of state.settings.reports) {
    const last = lastRun(state, report, now);
    // A new report is sent at its next run for the first time.
    const until = last === null ? null : dueRun(state, report, last, now);
    if (last === null || until !== null) state.notes.write(`report:${report.id}`, String(until ?? now));
    if (until === null) continue;
    const period = { id: report.id, since: periodStart(state, report, until), until };
    for (const channel of report.channels) {
      // The id is the same when a next process repeats a run that was not stored. It differs if a clock that was ahead reached the run before.
      const id = keyedDigest(state, JSON.stringify(['report', report.id, channel, last, until]));
      putNotification(state, newNotification({ id, channel, items: [], report: period, now, dueAt: now }));
    }
  }
}

export function nextReportAt(state: MonitorState): number {
  let next = Number.POSITIVE_INFINITY;
  for (const report of state.settings.reports) {
    const last = state.notes.get(`report:${report.id}`);
    const at = last === undefined ? 0 : nextRun(state, report, Number(last.value));
    next = Math.min(next, at ?? next);
  }
  return next;
}

/** The start of the period: the run before; a week earlier if there was none. */
export function periodStart(
  state: Pick<MonitorState, 'calendar'>,
  report: ReportSettings,
  until: number,
): number {
  return state.calendar.previous(report.cron, report.timezone, until - 1) ?? until - weekMs;
}

/** Null for a new report. A note far in the future is from a wrong clock; one slightly in the future prevents a second report. */
function lastRun(state: MonitorState, report: ReportSettings, now: number): number | null {
  const last = Number(state.notes.get(`report:${report.id}`)?.value ?? Number.NaN);
  return last <= now + maxStepBackMs ? last : null;
}

/** The newest run in (last, now]; null when there was none. */
function dueRun(state: MonitorState, report: ReportSettings, last: number, now: number): number | null {
  const next = nextRun(state, report, last);
  if (next === null || next > now) return null;
  return Math.max(next, state.calendar.previous(report.cron, report.timezone, now) ?? next);
}

/** The next runs, cached: every tick asks for them, and the calendar is slower than a poll. */
const knownRuns = new WeakMap<ReportSettings, { readonly after: number; readonly at: number | null }>();

function nextRun(state: MonitorState, report: ReportSettings, after: number): number | null {
  const known = knownRuns.get(report);
  if (known?.after === after) return known.at;
  const at = state.calendar.next(report.cron, report.timezone, after);
  knownRuns.set(report, { after, at });
  return at;
}
