import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import type { Severity } from '../../src/domain/severity.ts';
import type { AccountFacts } from '../../src/rules/evaluation.ts';
import { wouldNotFire } from '../../src/rules/registry.ts';
import {
  authFailedRule,
  belowRule,
  currencyRule,
  dayMs,
  dropRule,
  factsAfter,
  factsNoon,
  hourMs,
  idleRule,
  minuteMs,
  negativeRule,
  readingAt,
  runwayRule,
  staleRule,
  steady,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

const low = factsAfter([readingAt(0, 42.1)]);
const overdrawn = factsAfter([readingAt(0, -18.383)]);
const recovering = factsAfter([readingAt(0, 52)]);
const burning = factsAfter(steady({ from: 360, perHour: 10, until: 24 * 60 }));
const drained = factsAfter(steady({ from: 230, perHour: 10, until: 24 * 60 }));
const spending = factsAfter(steady({ from: 400, perHour: 120, until: 60 }));
const still = factsAfter(steady({ from: 400, perHour: 0, until: 90 }));
const stale = factsAfter([readingAt(0, 1)], { now: factsNoon + 20 * minuteMs, readSince: factsNoon });
const single = belowRule({ thresholds: { critical: units(50) } });
const share = { kind: 'share', share: 0.25 } as const;

const notified: readonly [string, Rule, AccountFacts, Severity | null, string][] = [
  ['a low balance', belowRule(), low, null, 'It would not fire with a threshold of 42.10 CNY or less.'],
  [
    'few credits',
    belowRule(),
    factsAfter([readingAt(0, 42, { currency: 'credits' })], { currency: null }),
    null,
    'It would not fire with a threshold of 42 credits or less.',
  ],
  [
    'a balance that hysteresis holds',
    single,
    recovering,
    'critical',
    'The balance is back at the threshold; with a hysteresis of 2.00 CNY or less it would have resolved.',
  ],
  [
    'an overdraft',
    negativeRule(),
    overdrawn,
    null,
    'Its threshold is always zero; a rule of type "below" with a threshold of -18.383 CNY or less would not fire.',
  ],
  [
    'an overdraft that hysteresis holds',
    negativeRule({ hysteresisMicros: units(100) }),
    low,
    'critical',
    'The balance is no longer negative; with a hysteresis of 42.10 CNY or less it would have resolved.',
  ],
  ['a short runway', runwayRule(), burning, null, 'It would not fire with "within" of 12h or shorter.'],
  [
    'a runway that holds below 1.2 times its threshold',
    runwayRule({ thresholds: { warning: 11 * hourMs } }),
    burning,
    'warning',
    'The runway is past "within" again; it resolves at 1.2 times of it, so with "within" of 10h or shorter it would have resolved.',
  ],
  [
    'a balance under the floor',
    runwayRule(),
    drained,
    null,
    'The balance is at its floor or under it; it would not fire with a floor below -730.00 CNY.',
  ],
  ['a drop', dropRule(), spending, null, 'It would not fire with "by" of 120.00 CNY or more.'],
  ['a drop by share', dropRule({ by: share }), spending, null, 'It would not fire with "by" of 30% or more.'],
  ['idleness', idleRule(), still, null, 'It would not fire with a "window" longer than 1h30m.'],
  [
    'a top-up',
    topUpRule(),
    factsAfter([readingAt(0, 1), readingAt(5, 501)]),
    null,
    'It would not notify with "atLeast" of more than 500.00 CNY.',
  ],
  [
    'another currency',
    currencyRule,
    factsAfter([readingAt(0, 1, { currency: 'USD' })]),
    null,
    "It would not fire if the account's currency were configured as USD.",
  ],
  ['staleness', staleRule(), stale, null, 'It would not fire yet with "after" longer than 20m.'],
  [
    'a refused key',
    authFailedRule,
    factsAfter([], { outcome: 'auth_failed' }),
    null,
    'It has no threshold: it fires whenever the provider refuses the key.',
  ],
];

test.each(notified)('%s', (_, rule, facts, firing, sentence) => {
  expect(wouldNotFire(rule, facts, evaluate(rule, facts, firing))).toBe(sentence);
});

test('nothing is said of a rule that does not fire', () => {
  const fine = factsAfter([readingAt(0, 900)]);
  expect(wouldNotFire(belowRule(), fine, evaluate(belowRule(), fine, null))).toBeNull();
  expect(wouldNotFire(dropRule(), fine, evaluate(dropRule(), fine, null))).toBeNull();
});

describe('what is named is true', () => {
  test.each<[string, Rule, AccountFacts]>([
    ['the threshold', belowRule({ thresholds: { critical: units(42.1) } }), low],
    ['the runway', runwayRule({ thresholds: { critical: dayMs / 2 } }), burning],
    ['the floor', runwayRule({ floorMicros: units(-730) - 1 }), drained],
    ['the amount', dropRule({ by: { kind: 'amount', micros: units(120) } }), spending],
    ['the share', dropRule({ by: { kind: 'share', share: 0.3 } }), spending],
    ['the window', idleRule({ windowMs: 1.5 * hourMs + 1 }), still],
    ['the age', staleRule({ afterMs: 20 * minuteMs + 1 }), stale],
  ])('%s would not have fired', (_, rule, facts) => {
    expect(evaluate(rule, facts, null).kind).not.toBe('breached');
  });
});
