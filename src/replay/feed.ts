import type { PollRecord } from '../domain/reading.ts';
import type { SurveyedPast } from './past.ts';
import { longestWait, missingSince, type PollPlan, watchedUntil } from './poll-pauses.ts';

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

/** The past of one account as steps in the order of time, of which one is at hand: a cursor, so that none is made anew. */
export class Feed {
  readonly past: SurveyedPast;
  readonly #polls: Iterator<PollRecord>;
  readonly #plan: PollPlan;
  #step: FeedStep = 'poll';
  #at: number;
  #poll: PollRecord;
  #forMs = 0;
  #pastPause = false;
  #waited = false;

  constructor(past: SurveyedPast, plan: PollPlan) {
    this.past = past;
    this.#plan = plan;
    this.#polls = past.polls()[Symbol.iterator]();
    const first = this.#polls.next();
    if (first.done === true) throw new Error('an account that was surveyed has a poll');
    this.#poll = first.value;
    this.#at = first.value.at;
  }

  get step(): FeedStep {
    return this.#step;
  }

  get at(): number {
    return this.#at;
  }

  /** Of a step `poll`. */
  get poll(): PollRecord {
    return this.#poll;
  }

  /** Of a step `unwatched`. */
  get forMs(): number {
    return this.#forMs;
  }

  /**
   * The account was watched although it was not polled, because it had to wait: the step `unwatched` at hand moves to
   * where no wait is as long. False when it was moved before.
   */
  wait(): boolean {
    if (this.#waited) return false;
    this.#waited = true;
    const waitMs = Math.min(this.#forMs, longestWait(this.#plan));
    this.#at += waitMs;
    this.#forMs -= waitMs;
    return true;
  }

  /** Goes to the next step; false when there is none. */
  advance(): boolean {
    if (this.#step === 'end') return false;
    if (this.#pastPause) {
      this.#pastPause = false;
      this.#take('poll', this.#poll.at);
      return true;
    }
    const next = this.#polls.next();
    if (next.done === true) {
      this.#take('end', this.#endsAt());
      return true;
    }
    const since = missingSince(this.#poll, next.value.at, this.#plan);
    this.#poll = next.value;
    if (since === null) {
      this.#take('poll', next.value.at);
    } else {
      this.#pastPause = true;
      this.#waited = false;
      this.#forMs = next.value.at - since;
      this.#take(this.past.gaps, since);
    }
    return true;
  }

  #take(step: FeedStep, at: number): void {
    this.#step = step;
    this.#at = at;
  }

  /** The end of what is known is no silence: the account was watched until it had to be polled again at the most. */
  #endsAt(): number {
    const { until } = this.past;
    const { at } = this.#poll;
    return until === null ? at : Math.max(at, Math.min(until, watchedUntil(this.#poll, this.#plan)));
  }
}
