import { dayMs, weekMs } from '../domain/duration.ts';
import { newNotification } from '../domain/outbox.ts';
import type { ReportSettings } from '../domain/settings.ts';
import { putNotification } from '../engine/queue.ts';
import { type MonitorState, writeNote } from '../engine/state.ts';

/** Clocks are set back by a day or a zone, hardly by more; a note further ahead than this is not believed. */
const maxStepBackMs = 3 * dayMs;

/**
 * Sends the reports that are due: each at most once per run of its cron expression, and one for all runs that
 * were missed. When a report last went out is stored with it, so that a restart repeats none.
 */
export function sendDueReports(state: MonitorState, now: number): void {
  for (const report of state.settings.reports) {
    const note = `report:${report.id}`;
    const last = lastRun(state, report, now);
    // A report that is new in the configuration begins with its next run.
    const runAt = last === null ? null : dueRun(state, report, last, now);
    if (last === null || runAt !== null) writeNote(state, note, String(runAt ?? now));
    if (runAt !== null) sendReport(state, { report, until: runAt, now });
  }
}

/** When the next report is due; Infinity when there is none. */
export function nextReportAt(state: MonitorState): number {
  let next = Number.POSITIVE_INFINITY;
  for (const report of state.settings.reports) {
    const last = state.notes.get(`report:${report.id}`);
    const at = last === undefined ? 0 : nextRun(state, report, Number(last.value));
    next = Math.min(next, at ?? next);
  }
  return next;
}

/** Puts a report over the period that ends at `until` on the queue of each of its channels. */
function sendReport(
  state: MonitorState,
  { report, until, now }: { readonly report: ReportSettings; readonly until: number; readonly now: number },
): void {
  for (const channel of report.channels) {
    const period = { id: report.id, since: periodStart(state, report, until), until };
    putNotification(
      state,
      newNotification({ id: state.random.id(), channel, items: [], report: period, now, dueAt: now }),
    );
  }
}

/** The period of a report begins at the run before; a week earlier where there was none. */
export function periodStart(
  state: Pick<MonitorState, 'calendar'>,
  report: ReportSettings,
  until: number,
): number {
  return state.calendar.previous(report.cron, report.timezone, until - 1) ?? until - weekMs;
}

/**
 * The run that the report last went out for; null for a new one. A note from far ahead was written by a clock
 * that was wrong: it must not keep the report back until then. A clock that was set back by less keeps the
 * report from going out twice.
 */
function lastRun(state: MonitorState, report: ReportSettings, now: number): number | null {
  const note = state.notes.get(`report:${report.id}`);
  if (note === undefined) return null;
  const last = Number(note.value);
  return last <= now + maxStepBackMs ? last : null;
}

/** The newest run in (last, now]; null when there was none. A clock that was set back brings none again. */
function dueRun(state: MonitorState, report: ReportSettings, last: number, now: number): number | null {
  const next = nextRun(state, report, last);
  if (next === null || next > now) return null;
  return Math.max(next, state.calendar.previous(report.cron, report.timezone, now) ?? next);
}

/**
 * What `nextRun` found last for each report. Every tick asks, and a calendar takes longer to answer than a
 * poll does.
 */
const knownRuns = new WeakMap<ReportSettings, { readonly after: number; readonly at: number | null }>();

function nextRun(state: MonitorState, report: ReportSettings, after: number): number | null {
  const known = knownRuns.get(report);
  if (known?.after === after) return known.at;
  const at = state.calendar.next(report.cron, report.timezone, after);
  knownRuns.set(report, { after, at });
  return at;
}
