import type { IncomingHttpHeaders } from 'node:http';
import { parseHttpDate } from '../../domain/backoff.ts';
import { describeDuration, hourMs, secondMs } from '../../domain/duration.ts';
import type { AccountSettings } from '../../domain/settings.ts';

const cronAgeMs = hourMs;

/** How far a live server's clock may be off, or move between answers: its `Date` counts seconds, and clocks differ by some. */
const driftMs = 5 * secondMs;

/**
 * Notices answers that a cache gave instead of the provider (RFC 9111): by `Age`, or by a `Date` longer ago than the poll
 * interval. A provider whose clock is off has an old `Date` too, but one that goes on from answer to answer: it is believed from
 * the second answer on.
 */
export class Freshness {
  /** How far behind this machine the `Date` of each account's last answer was. */
  readonly #behindMs = new WeakMap<AccountSettings, number>();
  /** The last `Date`: all answers of one second have the same. */
  #date: { readonly text: string; readonly at: number | null } = { text: '', at: null };

  /** Why the answer is no present reading; null where it is one. `now` is the wall clock. */
  problemOf(account: AccountSettings, headers: IncomingHttpHeaders, now: number): string | null {
    const maxAgeMs = account.poll.kind === 'every' ? account.poll.everyMs : cronAgeMs;
    const { age, date = '' } = headers;
    const ageMs = age !== undefined && /^\d+$/.test(age) ? Number(age) * secondMs : 0;
    if (ageMs > maxAgeMs) return wordProblem(ageMs);
    if (date !== this.#date.text) this.#date = { text: date, at: parseHttpDate(date) };
    const sentAt = this.#date.at;
    if (sentAt === null) return null;
    const behindMs = now - sentAt;
    const knownMs = this.#behindMs.get(account);
    this.#behindMs.set(account, behindMs);
    if (behindMs - ageMs <= maxAgeMs + driftMs) return null;
    const isWrongClock = knownMs !== undefined && Math.abs(behindMs - knownMs) <= driftMs;
    return isWrongClock ? null : wordProblem(behindMs);
  }
}

function wordProblem(ageMs: number): string {
  return `the answer is ${describeDuration(ageMs)} old by its headers: it comes from a cache in between`;
}
