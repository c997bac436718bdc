import { dayMs, hourMs } from './duration.ts';
/**
 * The longest that a receiver of messages is obeyed: a message lives for a day and is tried again within it.
 */
export const maxRetryAfterMs = hourMs;

/** The longest that the provider is obeyed: a wrong header must not silence an account for years. */
export const maxProviderWaitMs = dayMs;

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850Date = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Reads a `Retry-After` header (RFC 9110, 10.2.3): whole seconds, or a date in one of the three forms of HTTP.
 *
 * `now` is the wall clock in milliseconds. The result is milliseconds from now, at most `maxMs`. Null where
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
  // The obsolete asctime form names no zone; HTTP says that it is GMT.
  const dated = asctimeDate.test(text) ? `${text} GMT` : text;
  if (dated === text && !imfFixdate.test(text) && !rfc850Date.test(text)) return null;
  const at = Date.parse(dated);
  return Number.isNaN(at) ? null : at;
}

/** Headers as Node gives them: names in lower case, some values several times. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * What an answer asks to wait, in milliseconds, at most `maxMs`; null where it says nothing useful. A date counts from the answer's
 * own `Date`: the clock of who wrote it may be hours off.
 */
export function readRetryAfter(
  headers: Headers,
  { now, maxMs }: { readonly now: number; readonly maxMs: number },
): number | null {
  const text = firstOf(headers['retry-after']);
  if (text === undefined) return null;
  return parseRetryAfter(text, parseHttpDate(firstOf(headers['date']) ?? '') ?? now, maxMs);
}

function firstOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
