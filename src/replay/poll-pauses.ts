import type { Calendar } from '../domain/ports.ts';
import type { PollRecord } from '../domain/reading.ts';
import type { AccountSettings, ProviderSettings } from '../domain/settings.ts';
import { pollInterval } from '../engine/poll-gaps.ts';

/**
 * What a long pause between two polls stands for. `unread`: nobody could read the account (all that a list of
 * readings can say); `unwatched`: lowwater was not running, because it would have stored the polls that
 * failed.
 */
export type GapReading = 'unread' | 'unwatched';

/** How often an account was to be polled. */
export interface PollPlan {
  readonly poll: AccountSettings['poll'];
  readonly calendar: Calendar;
  readonly backoff: ProviderSettings['backoff'];
  readonly intervalMs: number;
}

/** A poll may come late by this share of the interval before it counts as missing. */
const lateShare = 1.5;
/** The random part of a backoff. */
const jitter = 1.25;
/** The most that a `Retry-After` can ask for. */
const longestRetryAfterMs = 3_600_000;

/**
 * The usual time between the polls of a history: the account's own, or the middle one of the pauses between
 * them where that is longer. An hourly export of an account that is now polled every five minutes is no
 * series of gaps.
 */
export function usualInterval(
  history: { readonly account: AccountSettings; readonly polls: readonly PollRecord[] },
  calendar: Calendar,
): number {
  const { account, polls } = history;
  const configuredMs = pollInterval(calendar, account.poll, polls[0]?.at ?? 0);
  if (polls.length < 3) return configuredMs;
  const pauses = new Float64Array(polls.length - 1);
  for (let index = 1; index < polls.length; index++) {
    pauses[index - 1] = (polls[index]?.at ?? 0) - (polls[index - 1]?.at ?? 0);
  }
  return Math.max(configuredMs, pauses.sort()[pauses.length >> 1] ?? 0);
}

/** From when on polls were missing between two that are there; null when none was. */
export function waitOf(pause: {
  readonly last: PollRecord;
  readonly next: PollRecord;
  readonly gaps: GapReading;
  readonly schedule: PollPlan;
}): { readonly kind: GapReading; readonly since: number } | null {
  const { last, next, gaps, schedule } = pause;
  const since = last.outcome === 'ok' ? dueAfter(last.at, schedule) : last.at + longestWait(schedule);
  return next.at - since > schedule.intervalMs * lateShare ? { kind: gaps, since } : null;
}

function dueAfter(at: number, { poll, calendar, intervalMs }: PollPlan): number {
  const regular = at + intervalMs;
  if (poll.kind === 'every') return regular;
  return Math.max(regular, calendar.next(poll.cron, poll.timezone, at) ?? regular);
}

/** A daemon that backs off polls no later than this after a poll that failed. */
function longestWait({ backoff, intervalMs }: PollPlan): number {
  return Math.max(intervalMs, backoff.maxMs * jitter, longestRetryAfterMs);
}
