import { hourMs } from '../domain/duration.ts';
import type { ProviderEntry } from '../domain/provider-entry.ts';
import type { OutcomeKind, PollRecord } from '../domain/reading.ts';
import type { AccountSettings } from '../domain/settings.ts';
import type { Calendar } from '../ports/clock.ts';
import type { SurveyedPast } from './past.ts';

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

/** What happens next to an account. */
export type FeedStep =
  /** A poll ended: `poll`. */
  | 'poll'
  /** A poll was due, and nobody could read the account until the next one. */
  | 'unread'
  /** Nobody watched for `forMs` from here on. */
  | 'unwatched'
  /** Nothing more is known. */
  | 'end';

/** The past of one account as steps in the order of time, of which one is at hand: a cursor, so that none is allocated again. */
export class Feed {
  readonly past: SurveyedPast;
  /** What happens next, and when; read by others, and changed here alone. */
  step: FeedStep = 'poll';
  at: number;
  /** Of a step `poll`. */
  poll: PollRecord;
  /** Of a step `unwatched`. */
  forMs = 0;
  readonly #plan: PollPlan;
  readonly #parts: AsyncIterator<readonly PollRecord[]>;
  /** The polls at hand, and the place of the next one. */
  #part: readonly PollRecord[] = [];
  #place = 0;
  #allRead = false;
  #pastPause = false;
  #waited = false;

  private constructor(
    past: SurveyedPast,
    plan: PollPlan,
    parts: AsyncIterator<readonly PollRecord[]>,
    first: PollRecord,
  ) {
    this.past = past;
    this.#plan = plan;
    this.#parts = parts;
    this.poll = first;
    this.at = first.at;
  }

  static async open(past: SurveyedPast, plan: PollPlan): Promise<Feed> {
    const parts = past.polls()[Symbol.asyncIterator]();
    const [first, ...part] = (await nextPart(parts)) ?? [];
    if (first === undefined) throw new Error('an account that was surveyed has a poll');
    const feed = new Feed(past, plan, parts, first);
    feed.#part = part;
    return feed;
  }

  /** Whether `advance` may be called: what comes next is at hand. */
  get ready(): boolean {
    return this.#allRead || this.#place < this.#part.length;
  }

  /** Reads on. */
  async fill(): Promise<void> {
    const part = await nextPart(this.#parts);
    this.#part = part ?? [];
    this.#place = 0;
    this.#allRead = part === null;
  }

  /**
   * The account was watched although it was not polled, because it had to wait: the step `unwatched` at hand moves to
   * where no wait is as long. False when it was moved before.
   */
  wait(): boolean {
    if (this.#waited) return false;
    this.#waited = true;
    const waitMs = Math.min(this.forMs, maxWait(this.#plan));
    this.at += waitMs;
    this.forMs -= waitMs;
    return true;
  }

  /** Goes to the next step; false when there is none. To be called when it is `ready`. */
  advance(): boolean {
    if (this.step === 'end') return false;
    if (this.#pastPause) {
      this.#pastPause = false;
      this.#take('poll', this.poll.at);
      return true;
    }
    const next = this.#part[this.#place++];
    if (next === undefined) {
      this.#take('end', this.#endsAt());
      return true;
    }
    const since = missingSince(this.poll, next.at, this.#plan);
    this.poll = next;
    if (since === null) {
      this.#take('poll', next.at);
    } else {
      this.#pastPause = true;
      this.#waited = false;
      this.forMs = next.at - since;
      // Of what is pushed, a pause does not show whether lowwater ran: it is taken for a pause of who pushes.
      this.#take(this.#plan.polled ? this.past.gaps : 'unread', since);
    }
    return true;
  }

  #take(step: FeedStep, at: number): void {
    this.step = step;
    this.at = at;
  }

  /** The end of what is known is no silence: the account was watched until it had to be polled again at the most. */
  #endsAt(): number {
    const { until } = this.past;
    const { at } = this.poll;
    if (until === null) return at;
    return Math.max(at, this.#plan.polled ? Math.min(until, watchedUntil(this.poll, this.#plan)) : until);
  }
}

/** The next polls, one at least; null when all were given. */
async function nextPart(parts: AsyncIterator<readonly PollRecord[]>): Promise<readonly PollRecord[] | null> {
  for (;;) {
    const { value, done } = await parts.next();
    if (done === true) return null;
    if (value.length > 0) return value;
  }
}

/**
 * The feeds of all accounts as one, soonest first and at one instant in the order given: sorted, and the account that was just read is
 * put back where its next step belongs.
 */
export class MergedFeeds {
  readonly #sorted: Entry[];

  constructor(feeds: readonly Feed[]) {
    this.#sorted = feeds.map((feed, place) => ({ feed, place })).sort(compare);
  }

  /** The feed that has the next step; null when all have ended. */
  get first(): Feed | null {
    return this.#sorted[0]?.feed ?? null;
  }

  /** After the first feed's step moved in time. */
  moved(): void {
    const [first, second] = this.#sorted;
    if (first === undefined || second === undefined || compare(first, second) < 0) return;
    this.#sorted.shift();
    let low = 1;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#sorted[middle];
      if (other !== undefined && compare(other, first) < 0) low = middle + 1;
      else high = middle;
    }
    this.#sorted.splice(low, 0, first);
  }

  /** Takes the step of the first feed away. */
  advance(): void {
    if (this.first?.advance() === true) this.moved();
    else this.#sorted.shift();
  }
}

type Entry = { readonly feed: Feed; readonly place: number };

function compare(left: Entry, right: Entry): number {
  return left.feed.at - right.feed.at || left.place - right.place;
}

/** From when on polls were missing between two that are there; null when none was. */
function missingSince(last: PollRecord, nextAt: number, plan: PollPlan): number | null {
  if (nextAt - last.at <= plan.intervalMs) return null;
  const since = watchedUntil(last, plan);
  return nextAt - since > plan.intervalMs * lateShare ? since : null;
}

/**
 * Until when a daemon that runs need not poll again: the run after a rest of a cron expression, the end of the longest backoff
 * where the outcome is one that is waited for. Other failures are tried again before the schedule comes to them.
 */
function watchedUntil(last: PollRecord, plan: PollPlan): number {
  return waitingOutcomes.has(last.outcome) ? last.at + maxWait(plan) : dueAfter(last.at, plan);
}

function dueAfter(at: number, { poll, calendar, intervalMs }: PollPlan): number {
  const regular = at + intervalMs;
  if (poll.kind === 'every') return regular;
  return Math.max(regular, calendar.next(poll.cron, poll.timezone, at) ?? regular);
}

/** A daemon that backs off polls no later than this after a poll that failed. */
function maxWait({ backoff, intervalMs }: PollPlan): number {
  return Math.max(intervalMs, backoff.maxMs * jitter, usualRetryAfterMs);
}
