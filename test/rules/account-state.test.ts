import { describe, expect, test } from 'vitest';
import { outcomeKinds } from '../../src/domain/reading.ts';
import type { AccountFacts } from '../../src/rules/evaluation.ts';
import { isReadAt, stale } from '../../src/rules/stale.ts';
import {
  authFailedRule,
  currencyRule,
  factsAfter,
  factsNoon,
  hourMs,
  minuteMs,
  readingAt,
  staleRule,
  verdict,
} from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

describe('currency', () => {
  test.each<[string, AccountFacts, string]>([
    ['the configured currency is fine', factsAfter([readingAt(0, 1)]), 'ok'],
    ['another currency is critical', factsAfter([readingAt(0, 1, { currency: 'USD' })]), 'critical'],
    ['letter case makes no other currency', factsAfter([readingAt(0, 1, { currency: 'cny' })]), 'ok'],
    [
      'without a configured currency there is no verdict',
      factsAfter([readingAt(0, 1)], { currency: null }),
      'unknown',
    ],
    ['before the first reading there is no verdict', factsAfter([]), 'unknown'],
  ])('%s', (_, facts, expected) => {
    expect(verdict(evaluate(currencyRule, facts, null))).toBe(expected);
  });

  test('the value names what was read and the threshold what was configured', () => {
    const facts = factsAfter([readingAt(0, 1, { currency: '<script>' })]);
    expect(evaluate(currencyRule, facts, null)).toMatchObject({
      value: { unit: 'text', text: '<script>' },
      threshold: { unit: 'text', text: 'CNY' },
    });
  });
});

describe('auth-failed', () => {
  test.each(outcomeKinds.map((outcome) => [outcome] as const))('after %s', (outcome) => {
    const expected = { auth_failed: 'critical', ok: 'ok' }[outcome as string] ?? 'unknown';
    expect(verdict(evaluate(authFailedRule, factsAfter([readingAt(0, 1)], { outcome }), null))).toBe(
      expected,
    );
  });

  test('before the first poll there is no verdict', () => {
    expect(verdict(evaluate(authFailedRule, factsAfter([]), null))).toBe('unknown');
  });
});

test('a reading of before a pause of lowwater is not of now, though the pause was no staleness', () => {
  const facts = factsAfter([readingAt(0, 1)], { readSince: factsNoon, unwatchedMs: 2 * hourMs });
  expect(isReadAt(facts, factsNoon + 14 * minuteMs)).toBe(true);
  expect(isReadAt(facts, factsNoon + 2 * hourMs)).toBe(false);
});

test.each([
  ['shorter than the usual bound ends the reading when it fires', { afterMs: 8 * minuteMs }, 8 * minuteMs],
  ['with a `for` ends it when that is over', { afterMs: 6 * minuteMs, forMs: 5 * minuteMs }, 11 * minuteMs],
  ['longer than the usual bound keeps no old reading', { afterMs: hourMs }, 15 * minuteMs],
  ['that fires between two good polls takes no good reading away', { afterMs: minuteMs }, 15 * minuteMs],
])('a reading is of now until it is stale, and an `after` %s', (_, rule, untilMs) => {
  const facts = factsAfter([readingAt(0, 1)], { rules: [staleRule(rule)] });
  expect(isReadAt(facts, factsNoon + untilMs - 1)).toBe(true);
  expect(isReadAt(facts, factsNoon + untilMs)).toBe(false);
});

test('a clock that is set back keeps no reading of now longer than three polls of time that passed', () => {
  const facts = factsAfter([readingAt(0, 1)], { unwatchedMs: -8 * hourMs });
  expect(isReadAt(facts, factsNoon - 8 * hourMs + 14 * minuteMs)).toBe(true);
  expect(isReadAt(facts, factsNoon - 8 * hourMs + 15 * minuteMs)).toBe(false);
});

describe('stale', () => {
  const read = { readSince: factsNoon, unwatchedMs: 0, outcome: 'timeout' } as const;

  test.each<[string, number | null, number, Partial<AccountFacts>, string]>([
    ['three intervals are stale', null, 15 * minuteMs, {}, 'warning'],
    ['a millisecond less is not', null, 15 * minuteMs - 1, {}, 'ok'],
    ['short intervals wait two minutes', null, 2 * minuteMs - 1, { pollIntervalMs: 1000 }, 'ok'],
    ['short intervals are stale after two minutes', null, 2 * minuteMs, { pollIntervalMs: 1000 }, 'warning'],
    ['a configured time counts alone', hourMs, hourMs - 1, {}, 'ok'],
    ['a configured time is stale at its end', hourMs, hourMs, {}, 'warning'],
    ['downtime of lowwater itself is no staleness', hourMs, 2 * hourMs, { unwatchedMs: hourMs + 1 }, 'ok'],
    ['a clock that was set back is no staleness', hourMs, -2 * hourMs, {}, 'ok'],
  ])('%s', (_, afterMs, ageMs, over, expected) => {
    const facts = factsAfter([readingAt(0, 1)], { ...read, now: factsNoon + ageMs, ...over });
    expect(verdict(evaluate(staleRule({ afterMs }), facts, null))).toBe(expected);
  });

  test('what fires ends with a reading only, not with a longer `after` of an edited configuration', () => {
    const rule = staleRule({ afterMs: 2 * hourMs });
    const failed = { ...factsAfter([readingAt(0, 1)]), now: factsNoon + hourMs, outcome: 'timeout' } as const;
    expect(verdict(evaluate(rule, failed, 'warning'))).toBe('warning');
    expect(verdict(evaluate(rule, { ...failed, outcome: 'ok' }, 'warning'))).toBe('ok');
  });

  test('an account that was never read becomes stale from the time it was first watched', () => {
    const facts = factsAfter([], { ...read, now: factsNoon + 15 * minuteMs });
    expect(verdict(evaluate(staleRule(), facts, null))).toBe('warning');
  });

  test.each([
    [2, 'ok'],
    [3, 'warning'],
  ])(
    'of an account that was never read, after %i failed polls in a row: %s',
    (consecutiveFailures, expected) => {
      const facts = factsAfter([], {
        outcome: 'network_error',
        consecutiveFailures,
        now: factsNoon + minuteMs,
      });
      expect(verdict(evaluate(staleRule(), { ...facts, readSince: factsNoon }, null))).toBe(expected);
      const patient = staleRule({ afterMs: hourMs });
      expect(verdict(evaluate(patient, { ...facts, readSince: factsNoon }, null))).toBe('ok');
    },
  );

  test('the instant it begins is the first one at which it is breached', () => {
    const facts = factsAfter([readingAt(0, 1)], { ...read, unwatchedMs: 7 * minuteMs });
    const dueAt = stale.dueAt?.(staleRule(), facts) ?? 0;
    expect(verdict(evaluate(staleRule(), { ...facts, now: dueAt - 1 }, null))).toBe('ok');
    expect(verdict(evaluate(staleRule(), { ...facts, now: dueAt }, null))).toBe('warning');
  });
});
