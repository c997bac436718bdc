import { hourMs } from '../domain/duration.ts';
import type { ProviderEntry } from '../domain/provider-entry.ts';
import type { OutcomeKind, PollRecord } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { Calendar } from '../ports/clock.ts';

/**
 * What a long pause between two polls stands for. `unread`: nobody could read the account (all that a list of
 * readings can say); `unwatched`: lowwater was not running, because it would have stored the polls that
 * failed.
 */
export type GapReading = 'unread' | 'unwatched';

/** How often an account was polled. `polled`: false where readings are pushed, of which no failed one is ever stored. */
export interface PollPlan {
  readonly polled: boolean;
  readonly poll: AccountSettings['poll'];
  readonly calendar: Calendar;
  readonly backoff: ProviderEntry['backoff'];
  readonly intervalMs: number;
}

/** A poll may come late by this share of the interval before it counts as missing. */
const lateShare = 1.5;
/** The random part of a backoff. */
const jitter = 1.25;
/** A provider may ask for a day, but that is rarer than a daemon that is stopped while an account cannot be read. */
const usualRetryAfterMs = hourMs;

/** A provider that answers so may be left alone for long: it asks for it, or it names a time. */
const waitingOutcomes: ReadonlySet<OutcomeKind> = new Set(['rate_limited', 'auth_failed', 'http_error']);

/** From when on polls were missing between two that are there; null when none was. */
export function missingSince(last: PollRecord, nextAt: number, plan: PollPlan): number | null {
  if (nextAt - last.at <= plan.intervalMs) return null;
  const since = watchedUntil(last, plan);
  return nextAt - since > plan.intervalMs * lateShare ? since : null;
}

/**
 * Until when a daemon that runs need not poll again: the run after a rest of a cron expression, the end of the longest backoff
 * where the outcome is one that is waited for. Other failures are tried again before the schedule comes to them.
 */
export function watchedUntil(last: PollRecord, plan: PollPlan): number {
  return waitingOutcomes.has(last.outcome) ? last.at + maxWait(plan) : dueAfter(last.at, plan);
}

function dueAfter(at: number, { poll, calendar, intervalMs }: PollPlan): number {
  const regular = at + intervalMs;
  if (poll.kind === 'every') return regular;
  return Math.max(regular, calendar.next(poll.cron, poll.timezone, at) ?? regular);
}

/** A daemon that backs off polls no later than this after a poll that failed. */
export function maxWait({ backoff, intervalMs }: PollPlan): number {
  return Math.max(intervalMs, backoff.maxMs * jitter, usualRetryAfterMs);
}
