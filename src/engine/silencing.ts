import { type Incident, matchSubject } from '../domain/alert.ts';
import { matches } from '../domain/matcher.ts';
import type { Muted } from '../domain/operator.ts';
import type { Matcher } from '../domain/rule.ts';
import type { RecurringSilence } from '../domain/silence.ts';
import type { Calendar } from '../ports/clock.ts';
import { type MonitorState, scheduleBy } from './state.ts';

/** A stretch of time in which a silence mutes: [startsAt, endsAt). */
export interface SilenceWindow {
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Whether a silence made by a person, or one from the configuration, mutes the subject at `now`. */
export function isSilenced(state: MonitorState, incident: Incident, now: number): boolean {
  const subject = matchSubject(incident);
  for (const silence of state.silences.values()) {
    if (silence.startsAt <= now && now < silence.endsAt && matches(silence.match, subject)) return true;
  }
  return state.settings.silences.some(
    (silence) => matches(silence.match, subject) && currentWindow(state.calendar, silence, now) !== null,
  );
}
export function mutedBy(state: MonitorState, match: Matcher): Muted {
  const firing = [...state.incidents.values()].filter(
    (incident) => incident.resolvedAt === null && matches(match, matchSubject(incident)),
  );
  const { account, labels } = match;
  const about = {
    ...(account === undefined ? {} : { account }),
    ...(labels === undefined ? {} : { labels }),
  };
  return {
    alerts: firing.map((incident) => ({ account: incident.account, rule: incident.rule })),
    accounts: [...state.accounts.values()].flatMap(({ id, settings }) =>
      matches(about, { account: id, labels: settings.labels }) ? [id] : [],
    ),
  };
}

/** The window of a recurring silence that holds `now`; null outside. */
function currentWindow(calendar: Calendar, silence: RecurringSilence, now: number): SilenceWindow | null {
  const window = windowFrom(silence, calendar.previous(silence.cron, silence.timezone, now));
  return window !== null && now < window.endsAt ? window : null;
}

function windowFrom({ durationMs }: RecurringSilence, startsAt: number | null): SilenceWindow | null {
  return startsAt === null ? null : { startsAt, endsAt: startsAt + durationMs };
}

/** The next starts after an instant, at most so many. */
export function laterStarts(
  calendar: Calendar,
  { cron, timezone }: RecurringSilence,
  { after, count }: { readonly after: number; readonly count: number },
): readonly number[] {
  const starts: number[] = [];
  for (let next = calendar.next(cron, timezone, after); next !== null; ) {
    starts.push(next);
    next = starts.length < count ? calendar.next(cron, timezone, next) : null;
  }
  return starts;
}

/** The window of a recurring silence that holds `now`, else the next one; null when none comes. */
export function nextWindow(calendar: Calendar, silence: RecurringSilence, now: number): SilenceWindow | null {
  const next = (): number | null => calendar.next(silence.cron, silence.timezone, now);
  return currentWindow(calendar, silence, now) ?? windowFrom(silence, next());
}

/** So many windows tell as much of a long time as all of them. */
const maxWindows = 400;

/** The windows of a recurring silence that lie in [since, until), at least in part; of a great many the first. */
export function windowsBetween(
  calendar: Calendar,
  silence: RecurringSilence,
  { since, until }: { readonly since: number; readonly until: number },
): readonly SilenceWindow[] {
  const windows: SilenceWindow[] = [];
  for (
    let window = nextWindow(calendar, silence, since);
    window !== null && window.startsAt < until && windows.length < maxWindows;
  ) {
    windows.push(window);
    window = windowFrom(silence, calendar.next(silence.cron, silence.timezone, window.startsAt));
  }
  return windows;
}

/** Wakes the monitor when a silence next begins or ends, and forgets those that are over. */
export function scheduleSilences(state: MonitorState, now: number): void {
  for (const silence of [...state.silences.values()]) {
    if (silence.endsAt > now) {
      scheduleBy(state, 'silences', silence.startsAt > now ? silence.startsAt : silence.endsAt);
    } else {
      state.silences.forget(silence.id);
    }
  }
  for (const silence of state.settings.silences) {
    const window = nextWindow(state.calendar, silence, now);
    if (window !== null)
      scheduleBy(state, 'silences', window.startsAt > now ? window.startsAt : window.endsAt);
  }
}
