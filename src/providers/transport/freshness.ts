import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { parseHttpDate } from '../../domain/backoff.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import { describeDuration, hourMs, secondMs } from '../../domain/time.ts';

const cronAgeMs = hourMs;

/** `Date` counts whole seconds, and clocks differ by a little. */
const grainMs = 2 * secondMs;

/** How far the `Date` of a server whose clock is off may drift between two answers. */
const driftMs = 5 * secondMs;

/** A good answer as it came. `askedAt` is when it was asked for. Instants are of the wall clock. */
interface Answered {
  readonly headers: IncomingHttpHeaders;
  readonly body: string | null;
  readonly askedAt: number;
  readonly now: number;
}

/** The first answer with its `Date`, and how the last answer with that `Date` was judged. */
interface Known {
  readonly checksum: number;
  readonly sentAt: number | null;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly isBelieved: boolean;
}

/**
 * Notices answers that a cache gave instead of the provider (RFC 9111). It shows by `Age`, by a `Date` longer ago than the present poll
 * interval, or by the same body and `Date` as an answer of more than two seconds before. A provider whose clock is off has an old `Date` too,
 * but its `Date` advances from answer to answer: it is believed from the second answer on.
 */
export class Freshness {
  readonly #known = new WeakMap<AccountSettings, Known>();

  /** The reason why the answer is no present reading; null if it is one. */
  problemOf(account: AccountSettings, answer: Answered): string | null {
    const { headers, askedAt, now } = answer;
    const last = this.#known.get(account);
    const checksum = crc32(answer.body ?? '');
    const sentAt = sentAtOf(headers);
    const isSameDate = sentAt !== null && last?.sentAt === sentAt;
    const isSame = isSameDate && last.checksum === checksum;
    const isRepeated = isSame && askedAt - last.firstAt > grainMs;
    const ageMs = ageOf(headers);
    const maxAgeMs = maxAgeOf(account, now - (last?.lastAt ?? Number.NEGATIVE_INFINITY));
    const behindMs = sentAt === null ? 0 : now - sentAt;
    const goesOn = isSameDate ? last.isBelieved : movesOn(last, sentAt, now);
    const isOld = ageMs > maxAgeMs || (behindMs - ageMs > maxAgeMs + grainMs && !goesOn);
    const isBelieved = !isRepeated && !isOld;
    const firstAt = isSame ? last.firstAt : now;
    this.#known.set(account, { checksum, sentAt, firstAt, lastAt: now, isBelieved });
    if (isOld) {
      const age = describeDuration(Math.max(ageMs, behindMs));
      return `the answer is ${age} old by its headers: it comes from a cache in between`;
    }
    return isRepeated
      ? 'the answer repeats an earlier one, with its Date: it comes from a cache in between'
      : null;
  }
}

/** RFC 9111, 1.2.2: a greater number counts as this one. */
const maxAgeSeconds = 2 ** 31;

/** The age of an answer in milliseconds; the largest if there are several. */
function ageOf({ age }: IncomingHttpHeaders): number {
  if (age === undefined) return 0;
  const ages = String(age)
    .split(',')
    .filter((text) => /^\s*\d+\s*$/.test(text));
  return Math.min(maxAgeSeconds, Math.max(0, ...ages.map(Number))) * secondMs;
}

/** When the answer was sent; the oldest if there are several, because proxies may add their own `Date`. */
function sentAtOf({ date = '' }: IncomingHttpHeaders): number | null {
  if (!Array.isArray(date)) return parseHttpDate(date);
  const dates = date.flatMap((text) => parseHttpDate(text) ?? []);
  return dates.length === 0 ? null : Math.min(...dates);
}

/** The present poll interval: the shorter one if the last answer was only that long ago. */
function maxAgeOf({ poll, nearEmptyMs }: AccountSettings, elapsedMs: number): number {
  const usualMs = poll.kind === 'every' ? poll.everyMs : cronAgeMs;
  const leastMs = poll.kind === 'every' ? (nearEmptyMs ?? usualMs) : 0;
  return Math.min(usualMs, Math.max(leastMs, elapsedMs));
}

/** Whether the `Date` advanced as much as time since the last answer. */
function movesOn(last: Known | undefined, sentAt: number | null, now: number): boolean {
  if (last === undefined || last.sentAt === null || sentAt === null) return false;
  return Math.abs(now - last.firstAt - (sentAt - last.sentAt)) <= driftMs;
}
