import { dayMs, hourMs } from './time.ts';

const jitterShare = 0.25;

const firstRetryMs = 15_000;

interface BackoffInput {
  /** The number of such outcomes in a row, at least 1. */
  readonly strikes: number;
  readonly initialMs: number;
  readonly maxMs: number;
  /** In [0, 1]. */
  readonly jitterFraction: number;
  readonly intervalMs: number;
  /** Null when the response named none. */
  readonly retryAfterMs: number | null;
}

/**
 * The wait after the n-th `rate_limited` in a row (the group of accounts that share a secret) or the
 * n-th `auth_failed` (the account), in whole milliseconds: `min(max, initial · 2^(n-1))` plus up to 25 %
 * jitter, and never less than the poll interval or the response's `Retry-After`.
 */
export function backoffDelay(input: BackoffInput): number {
  const { strikes, initialMs, maxMs, jitterFraction, intervalMs, retryAfterMs } = input;
  const waitMs = Math.min(maxMs, doubled(initialMs, strikes));
  return Math.max(Math.ceil(waitMs * (1 + jitterShare * jitterFraction)), intervalMs, retryAfterMs ?? 0);
}

/** The wait after an account's n-th other failure in a row: `min(interval, 15 s · 2^(n-1))` in milliseconds; `failures` is at least 1. */
export function failureDelay(input: { readonly failures: number; readonly intervalMs: number }): number {
  return Math.min(input.intervalMs, doubled(firstRetryMs, input.failures));
}

/** `first · 2^(count-1)`. Infinity for a count that grew for years: the callers take a minimum. */
function doubled(first: number, count: number): number {
  return first * 2 ** (Math.max(1, count) - 1);
}

/** The longest wait that a receiver of messages may ask for: a message lives for a day and is tried again within it. */
export const maxRetryAfterMs = hourMs;

/** The longest wait that a provider may ask for: a wrong header must not silence an account for years. */
export const maxProviderWaitMs = dayMs;

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850Date = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads a `Retry-After` header (RFC 9110, 10.2.3): whole seconds, or a date in one of the three forms of HTTP.
 *
 * `now` is the wall clock in milliseconds. The result is milliseconds from now, at most `maxMs`. Null when
 * the value is neither, negative, or a date already past: the caller's own backoff holds then.
 */
export function parseRetryAfter(value: string, now: number, maxMs = maxRetryAfterMs): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, maxMs);
  const at = parseHttpDate(text);
  return at === null || at < now ? null : Math.min(at - now, maxMs);
}

/** A date in one of the three forms of HTTP (RFC 9110, 5.6.7); null for anything else. */
export function parseHttpDate(text: string): number | null {
  const isZoned = imfFixdate.test(text) || rfc850Date.test(text);
  if (!isZoned && !asctimeDate.test(text)) return null;
  // The obsolete asctime form names no zone; HTTP says that it is GMT.
  const at = Date.parse(isZoned ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : at;
}

/** A proxy joins two headers by a comma (RFC 9110, 5.3), but a date contains a comma too. */
const betweenValues = /,(?!\s*\d\d[ -][A-Z])/;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The longest wait in milliseconds; null if no header says anything useful. A date counts from the answer's own `Date`, because clocks are off. */
export function readRetryAfter(
  headers: Headers,
  { now, maxMs }: { readonly now: number; readonly maxMs: number },
): number | null {
  const { date, 'retry-after': texts = [] } = headers;
  const since = parseHttpDate([date].flat()[0] ?? '') ?? now;
  const each = [texts].flat().flatMap((text) => text.split(betweenValues));
  const waits = each.flatMap((text) => parseRetryAfter(text, since, maxMs) ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

const fewAccounts = 100;
const quickStartMs = 2000;
/** With more accounts, the first polls are spread over at most this long … */
const maxSpreadMs = 30_000;
/** … and at most one in this time, so that they are no burst. */
const sweepStepMs = 4;
/**
 * Later polls that lie closer than this share an instant, at most `maxTogether`: five with 1,000 accounts every 20 s. Compared with five,
 * two together cost 1.2 times the processor time and single polls 1.6 times, because the process wakes for each; five leave half a
 * millisecond later (`bench/pipeline.ts --only steady`).
 */
const nearMs = 100;
const maxTogether = 5;

/** When an account is first polled, and the phase of its later polls. Milliseconds from the start. */
export interface FirstPoll {
  readonly firstMs: number;
  readonly phaseMs: number;
}

/**
 * Few accounts start within two seconds and keep that phase. Many are swept once, as fast as is not a burst,
 * so that problems show early; their later polls are spread over the whole interval, half an interval after
 * the first at the earliest.
 */
export function firstPolls(intervalsMs: readonly number[]): readonly FirstPoll[] {
  const count = intervalsMs.length;
  return intervalsMs.map((intervalMs, index) => {
    const place = index / count;
    if (count <= fewAccounts) {
      const firstMs = place * Math.min(quickStartMs, intervalMs);
      return { firstMs, phaseMs: firstMs };
    }
    const firstMs = place * Math.min(maxSpreadMs, intervalMs, count * sweepStepMs);
    const together = polledTogether(count, intervalMs);
    const laterMs = ((index - (index % together)) / count) * intervalMs;
    return { firstMs, phaseMs: nextOnGrid(laterMs, intervalMs, firstMs + intervalMs / 2) };
  });
}

export function polledTogether(count: number, intervalMs: number): number {
  return Math.min(maxTogether, Math.max(1, Math.floor((nearMs * count) / intervalMs)));
}

/** The first instant strictly after `now` on the grid `phase + k · interval`, never before the phase itself. */
export function nextOnGrid(phase: number, intervalMs: number, now: number): number {
  if (now < phase) return phase;
  return phase + (Math.floor((now - phase) / intervalMs) + 1) * intervalMs;
}
