import { firstWhere } from '../domain/first-where.ts';
import type { ProviderEntry } from '../domain/provider-entry.ts';
import type { OutcomeKind, PollRecord } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import { hourMs } from '../domain/time.ts';
import type { Calendar } from '../ports/clock.ts';
import type { SurveyedPast } from './past.ts';

/** The pace at which an account was polled. `polled`: false when readings are pushed: then no failed poll is ever stored. */
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

/** After these outcomes a provider may be left alone for long: it asks for that, or it names a time. */
const waitingOutcomes: ReadonlySet<OutcomeKind> = new Set(['rate_limited', 'auth_failed', 'http_error']);

/** A time from `at` on without polls of an account that was meant to be polled. */
export interface Pause {
  /** `unread`: it could not be read. `unwatched`: nobody watched. */
  readonly kind: 'unread' | 'unwatched';
  at: number;
  forMs: number;
  /** The part of it that may be a wait: the account was watched then, although it was not polled. */
  waitMs: number;
}

/** The next event of an account: a poll ended, polls were missing, or nothing more is known. */
export type StreamStep = PollRecord | Pause | { readonly kind: 'end'; readonly at: number };

type Steps = AsyncGenerator<readonly StreamStep[], undefined>;

/** The past of one account as steps in the order of time, many at a time. */
async function* stepsOf(past: SurveyedPast, plan: PollPlan): Steps {
  // A pause in pushed readings does not show whether lowwater ran: it counts as a pause of whoever pushes.
  const kind = plan.polled ? past.gaps : 'unread';
  let last: PollRecord | null = null;
  for await (const part of past.polls()) {
    const steps: StreamStep[] = [];
    for (const poll of part) {
      const at = last === null ? null : missingSince(last, poll.at, plan);
      if (at !== null) {
        const forMs = poll.at - at;
        steps.push({ kind, at, forMs, waitMs: Math.min(forMs, maxWait(plan)) });
      }
      steps.push(poll);
      last = poll;
    }
    if (steps.length > 0) yield steps;
  }
  if (last !== null) yield [{ kind: 'end', at: endOf(last, past, plan) }];
}

/** The end of what is known is no gap: the account counts as watched at most until it had to be polled again. */
function endOf(last: PollRecord, { until }: SurveyedPast, plan: PollPlan): number {
  if (until === null) return last.at;
  return Math.max(last.at, plan.polled ? Math.min(until, watchedUntil(last, plan)) : until);
}

export type PollStream = Awaited<ReturnType<typeof openStream>>;

/** A cursor over the steps of one account. If several have a step at one instant, the one of the lowest rank is first. */
export async function openStream(past: SurveyedPast, plan: PollPlan, rank: number) {
  const parts = stepsOf(past, plan);
  /** The steps at hand, and the index of the step after next. */
  let part = (await parts.next()).value ?? [];
  let nextStep = 1;
  let isAllRead = false;
  const [first] = part;
  if (first === undefined) throw new Error('an account that was surveyed has a poll');
  const stream = {
    past,
    rank,
    /** The next event; changed by `advance` alone. */
    step: first,
    /** Whether `advance` may be called: what comes after the next step is at hand. */
    get ready(): boolean {
      return isAllRead || nextStep < part.length;
    },
    /** Reads the next part. */
    async fill(): Promise<void> {
      const { value, done } = await parts.next();
      part = value ?? [];
      nextStep = 0;
      isAllRead = done === true;
    },
    /** Goes to the next step; false when there is none. To be called when it is `ready`. */
    advance(): boolean {
      const next = part[nextStep++];
      if (next !== undefined) stream.step = next;
      return next !== undefined;
    },
  };
  return stream;
}

/** The streams, soonest step first; a stream that was just read is put back where its next step belongs. */
export function mergeStreams(streams: readonly PollStream[]) {
  const sorted = streams.toSorted(compare);

  /** To be called after the first stream's step moved in time. */
  function moved(): void {
    const [first, second] = sorted;
    if (first === undefined || second === undefined || compare(first, second) < 0) return;
    sorted.shift();
    const to = firstWhere(1, sorted.length, (index) => {
      const other = sorted[index];
      return other === undefined || compare(other, first) >= 0;
    });
    sorted.splice(to, 0, first);
  }

  return {
    /** The stream that has the next step; null when all have ended. */
    get first(): PollStream | null {
      return sorted[0] ?? null;
    },
    moved,
    /** Removes the step of the first stream. */
    advance(): void {
      if (sorted[0]?.advance() === true) moved();
      else sorted.shift();
    },
  };
}

function compare(left: PollStream, right: PollStream): number {
  return left.step.at - right.step.at || left.rank - right.rank;
}

/** From when on polls were missing between two that are there; null when none was. */
function missingSince(last: PollRecord, nextAt: number, plan: PollPlan): number | null {
  if (nextAt - last.at <= plan.intervalMs) return null;
  const since = watchedUntil(last, plan);
  return nextAt - since > plan.intervalMs * lateShare ? since : null;
}

/**
 * Until when a daemon that runs need not poll again: until the run after a rest of a cron expression, or until the end of the longest
 * backoff if the outcome is one that is waited for. Other failures are tried again before the schedule comes to them.
 */
function watchedUntil(last: PollRecord, plan: PollPlan): number {
  const { poll, calendar, intervalMs } = plan;
  if (waitingOutcomes.has(last.outcome)) return last.at + maxWait(plan);
  const regular = last.at + intervalMs;
  if (poll.kind === 'every') return regular;
  return Math.max(regular, calendar.next(poll.cron, poll.timezone, last.at) ?? regular);
}

/** The longest wait of a daemon that backs off after a poll that failed. */
function maxWait({ backoff, intervalMs }: PollPlan): number {
  return Math.max(intervalMs, backoff.maxMs * jitter, usualRetryAfterMs);
}
