import type { Matcher } from './rule.ts';

/** A time-bounded mute of matching alerts, made by a person. */
export interface Silence {
  readonly id: string;
  readonly match: Matcher;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly comment: string;
}

/** A mute that comes back by a cron expression. The windows themselves come from the calendar port. */
export interface RecurringSilence {
  readonly match: Matcher;
  readonly cron: string;
  readonly timezone: string;
  readonly durationMs: number;
  readonly comment: string;
}
