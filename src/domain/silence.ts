import { dayMs } from './duration.ts';
import type { Matcher } from './rule.ts';

/** Longer silences are taken for mistakes. */
export const maxSilenceMs = 366 * dayMs;

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

/** The calendar port gives its windows. */
export interface RecurringSilence {
  readonly match: Matcher;
  readonly cron: string;
  readonly timezone: string;
  readonly durationMs: number;
  readonly comment: string;
}
