import { hourMs } from './duration.ts';
import type { Matcher } from './rule.ts';

export interface Escalation {
  readonly afterMs: number;
  readonly channels: readonly string[];
}

/** Which alerts go to which channels. The first matching route wins unless it says `continue`. */
export interface Route {
  readonly match: Matcher;
  readonly channels: readonly string[];
  readonly repeatEveryMs: number;
  readonly groupWaitMs: number;
  readonly escalate: Escalation | null;
  readonly continue: boolean;
  /** True: in all messages but reminders. */
  readonly mention: boolean | 'reminders';
}

export const defaultRepeatEveryMs = 4 * hourMs;
export const defaultGroupWaitMs = 5000;
