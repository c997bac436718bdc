import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffDelay, failureDelay } from '../../src/domain/backoff.ts';

const base = { initialMs: 30_000, maxMs: 3_600_000, jitterFraction: 0, intervalMs: 1000, retryAfterMs: null };

describe('after a rate limit or a refused secret', () => {
  test.each([
    ['the first wait is the initial one', { strikes: 1 }, 30_000],
    ['the second doubles', { strikes: 2 }, 60_000],
    ['the fifth doubles four times', { strikes: 5 }, 480_000],
    ['the eighth reaches the maximum', { strikes: 8 }, 3_600_000],
    ['years of strikes stay at the maximum', { strikes: 5000 }, 3_600_000],
    ['full jitter adds a quarter', { strikes: 1, jitterFraction: 1 }, 37_500],
    ['jitter comes on top of the maximum', { strikes: 20, jitterFraction: 1 }, 4_500_000],
    ['never less than the poll interval', { strikes: 1, intervalMs: 300_000 }, 300_000],
    ['never less than Retry-After', { strikes: 1, retryAfterMs: 120_000 }, 120_000],
    ['a shorter Retry-After changes nothing', { strikes: 1, retryAfterMs: 5000 }, 30_000],
  ])('%s', (_name, input, delayMs) => {
    expect(backoffDelay({ ...base, ...input })).toBe(delayMs);
  });

  test('jitter stays within a quarter of the wait, in whole milliseconds', () => {
    const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fraction, (strikes, jitterFraction) => {
        const plainMs = backoffDelay({ ...base, strikes });
        const delayMs = backoffDelay({ ...base, strikes, jitterFraction });
        expect(delayMs).toBeGreaterThanOrEqual(plainMs);
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeLessThanOrEqual(plainMs * 1.25);
      }),
    );
  });
});

test.each([
  ['the first failure is tried again after 15 seconds', 1, 15_000],
  ['the second after 30', 2, 30_000],
  ['the fifth after four minutes', 5, 240_000],
  ['later ones at the interval', 6, 300_000],
  ['after years still at the interval', 100_000, 300_000],
])('%s', (_name, failures, delayMs) => {
  expect(failureDelay({ failures, intervalMs: 300_000 })).toBe(delayMs);
});

test('a failure never waits longer than a short interval', () => {
  expect(failureDelay({ failures: 1, intervalMs: 2000 })).toBe(2000);
});
