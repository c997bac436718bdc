import type { Matcher } from './rule.ts';
import type { Severity } from './severity.ts';
import { dayMs, hourMs, weekMs } from './time.ts';

export interface Escalation {
  readonly afterMs: number;
  readonly channels: readonly string[];
}

/** Which alerts go to which channels. The first matching route wins unless it says `continue`. */
export interface Route {
  readonly match: Matcher;
  readonly channels: readonly string[];
  /** Null: by the severity of the incident (`repeatEveryBySeverity`). */
  readonly repeatEveryMs: number | null;
  readonly groupWaitMs: number;
  readonly escalate: Escalation | null;
  readonly continue: boolean;
  /** True: people are mentioned in all messages except reminders; `reminders`: in those too. */
  readonly mention: boolean | 'reminders';
}

export const defaultRepeatEveryMs = 4 * hourMs;
/** Time between reminders if a route does not say. */
export const repeatEveryBySeverity: Readonly<Record<Severity, number>> = {
  info: Number.POSITIVE_INFINITY,
  warning: dayMs,
  critical: defaultRepeatEveryMs,
};
export const defaultGroupWaitMs = 5000;

/** Longer silences are taken for mistakes. */
export const maxSilenceMs = 366 * dayMs;

/** How long a silence or an announced run is kept after its end: a clock that ran past it may be set back. */
export const keptAfterEndMs = weekMs;

/** A time-bounded mute of matching alerts, made by a person. */
export interface Silence {
  readonly id: string;
  readonly match: Matcher;
  readonly startsAt: number;
  readonly endsAt: number;
  /** A person ended it: a clock that is set back does not bring it back. */
  readonly expired?: true;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly comment: string;
}

/** A silence that recurs; the calendar port calculates its windows. */
export interface RecurringSilence {
  readonly match: Matcher;
  readonly cron: string;
  readonly timezone: string;
  readonly durationMs: number;
  readonly comment: string;
}
