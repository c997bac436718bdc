const jitterShare = 0.25;

const firstRetryMs = 15_000;

/**
 * Inputs of a backoff with jitter. `strikes` counts such outcomes in a row and is at least 1;
 * `jitterFraction` is in [0, 1]; `retryAfterMs` is null where the response named none.
 */
export interface BackoffInput {
  readonly strikes: number;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly jitterFraction: number;
  readonly intervalMs: number;
  readonly retryAfterMs: number | null;
}

/**
 * How long to wait after the n-th `rate_limited` in a row (the group of accounts that share a secret) or the
 * n-th `auth_failed` (the account), in whole milliseconds: `min(max, initial · 2^(n-1))` plus up to 25 %
 * jitter, and never less than the poll interval or the response's `Retry-After`.
 */
export function backoffDelay(input: BackoffInput): number {
  const { strikes, initialMs, maxMs, jitterFraction, intervalMs, retryAfterMs } = input;
  const waitMs = Math.min(maxMs, doubled(initialMs, strikes));
  return Math.max(Math.ceil(waitMs * (1 + jitterShare * jitterFraction)), intervalMs, retryAfterMs ?? 0);
}

/**
 * How long one account waits after its n-th other failure in a row, in milliseconds: `min(interval, 15 s ·
 * 2^(n-1))`. `failures` is at least 1.
 */
export function failureDelay(input: { readonly failures: number; readonly intervalMs: number }): number {
  return Math.min(input.intervalMs, doubled(firstRetryMs, input.failures));
}

/** `first · 2^(count-1)`. Infinity for a count that grew for years: the callers take a minimum. */
function doubled(first: number, count: number): number {
  return first * 2 ** (Math.max(1, count) - 1);
}
