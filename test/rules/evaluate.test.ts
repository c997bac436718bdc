import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { type Severity, severities, severityRank } from '../../src/domain/severity.ts';
import { ruleKindOf } from '../../src/rules/registry.ts';
import {
  authFailedRule,
  belowRule,
  currencyRule,
  dropRule,
  factsAfter,
  factsNoon,
  idleRule,
  minuteMs,
  negativeRule,
  readingAt,
  runwayRule,
  staleRule,
  steady,
  topUpRule,
} from '../support/account-facts.ts';
import { evaluate, explainRule } from '../support/evaluate.ts';

const rules: readonly Rule[] = [
  belowRule(),
  negativeRule(),
  runwayRule(),
  dropRule(),
  idleRule(),
  topUpRule(),
  currencyRule,
  staleRule(),
  authFailedRule,
];
const moneyRules = rules.slice(0, 6);
const firing = fc.constantFrom<Severity | null>(null, ...severities);

/** 0 is fine, 3 is critical. */
function badness(rule: Rule, facts: Parameters<typeof evaluate>[1], state: Severity | null): number {
  const evaluation = evaluate(rule, facts, state);
  return evaluation.kind === 'breached' ? severityRank(evaluation.severity) + 1 : 0;
}

test.each(moneyRules.filter(({ type }) => type !== 'negative').map((rule) => [rule.type, rule] as const))(
  'a %s rule gives no verdict on a reading in another currency',
  (_, rule) => {
    const dollars = steady({ from: 100, perHour: 90, until: 120 }).map((reading) => ({
      ...reading,
      currency: 'USD',
    }));
    expect(evaluate(rule, factsAfter(dollars), 'critical')).toMatchObject({ kind: 'unknown' });
  },
);

test('below zero is below zero in any currency', () => {
  const facts = factsAfter([readingAt(0, -5, { currency: 'USD' })]);
  expect(evaluate(negativeRule(), facts, null)).toMatchObject({ kind: 'breached', severity: 'critical' });
});

test.each(['CNY', 'cny', 'RMB', ' rmb', 'CNY '])(
  'an account in CNY is judged when it is read in %j',
  (currency) => {
    const facts = factsAfter([readingAt(0, 900, { currency: 'CNY' }), readingAt(5, 42, { currency })]);
    expect(evaluate(belowRule(), facts, null)).toMatchObject({ kind: 'breached', severity: 'critical' });
    expect(evaluate(currencyRule, facts, null)).toMatchObject({ kind: 'ok' });
    expect(facts.log.length).toBe(2);
  },
);

test.each(rules.map((rule) => [rule.type, rule] as const))(
  'a %s rule can be judged and explained before the first poll',
  (_, rule) => {
    const kind = rule.type === 'stale' ? 'ok' : 'unknown';
    expect(explainRule(rule, factsAfter([]), null).kind).toBe(kind);
  },
);

test.each(rules.map((rule) => [rule.type, rule] as const))(
  'the facts of a %s rule have names of their own',
  (_, rule) => {
    const { facts } = explainRule(rule, factsAfter(steady({ from: 500, perHour: 10, until: 24 * 60 })), null);
    const names = facts.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names).size).toBe(names.length);
  },
);

test('the facts tell the previous balance, so that a change of unit is seen', () => {
  const { facts } = explainRule(belowRule(), factsAfter([readingAt(0, 42_100), readingAt(5, 42.1)]), null);
  expect(facts).toContainEqual({
    name: 'previous balance',
    value: { unit: 'money', micros: 42_100_000_000 },
  });
});

test('the previous balance of another currency is not shown', () => {
  const readings = [readingAt(0, 7, { currency: 'EUR' }), readingAt(5, 42.1)];
  const { facts } = explainRule(belowRule(), factsAfter(readings), null);
  expect(facts.map(({ name }) => name)).not.toContain('previous balance');
});

test.each(moneyRules.map((rule) => [rule.type, rule] as const))(
  'a %s rule says the same of the same reading however old it is',
  (_, rule) => {
    const readings = steady({ from: 130, perHour: 90, until: 90 });
    const young = factsAfter(readings);
    const old = factsAfter(readings, { now: young.now + 5 * 60 * minuteMs });
    expect(evaluate(rule, old, null)).toEqual(evaluate(rule, young, null));
  },
);

describe('a higher balance is never a worse severity', () => {
  const balances = fc.integer({ min: -100_000_000, max: 900_000_000 });

  test('below and negative', () => {
    fc.assert(
      fc.property(balances, balances, firing, (one, other, state) => {
        const [lower, higher] = [Math.min(one, other), Math.max(one, other)].map((sms) =>
          factsAfter([{ ...readingAt(0, 0), balances: { sms } }]),
        );
        if (lower === undefined || higher === undefined) return;
        for (const rule of [belowRule(), negativeRule({ hysteresisMicros: 5_000_000 })]) {
          expect(badness(rule, higher, state)).toBeLessThanOrEqual(badness(rule, lower, state));
        }
      }),
    );
  });

  test('runway, with the same spending', () => {
    const falls = fc.array(fc.integer({ min: 0, max: 9_000_000 }), { minLength: 12, maxLength: 40 });
    fc.assert(
      fc.property(
        falls,
        balances,
        fc.integer({ min: 0, max: 900_000_000 }),
        firing,
        (steps, from, more, state) => {
          const [lower, higher] = [from, from + more].map((start) => {
            let sms = start;
            return factsAfter(
              steps.map((fall, index) => {
                sms -= fall;
                return { ...readingAt(index * 6, 0), sms };
              }),
            );
          });
          if (lower === undefined || higher === undefined) return;
          expect(badness(runwayRule(), higher, state)).toBeLessThanOrEqual(
            badness(runwayRule(), lower, state),
          );
        },
      ),
    );
  });
});

test('being bad already never makes the verdict better', () => {
  fc.assert(
    fc.property(fc.integer({ min: -100_000_000, max: 900_000_000 }), firing, (sms, state) => {
      const facts = factsAfter([{ ...readingAt(0, 0), balances: { sms } }]);
      expect(badness(belowRule(), facts, state)).toBeGreaterThanOrEqual(badness(belowRule(), facts, null));
    }),
  );
});

test('the same balances read with ten percent of jitter get the same verdicts', () => {
  const walk = fc.array(
    fc.record({
      change: fc.integer({ min: -80_000_000, max: 60_000_000 }),
      jitterMs: fc.integer({ min: -30_000, max: 30_000 }),
    }),
    { minLength: 1, maxLength: 60 },
  );
  fc.assert(
    fc.property(walk, (steps) => {
      let sms = 300_000_000;
      const readings = steps.map(({ change }, index) => {
        sms += change;
        return { at: factsNoon + index * 5 * minuteMs, balances: { sms, voip: 0 }, currency: 'CNY' };
      });
      const jittered = readings.map((reading, index) => ({
        ...reading,
        at: reading.at + (steps[index]?.jitterMs ?? 0),
      }));
      for (const rule of [belowRule(), negativeRule()]) {
        expect(verdicts(rule, jittered)).toEqual(verdicts(rule, readings));
      }
    }),
    { numRuns: 50 },
  );
});

/** The severities that an alert without `for` goes through. */
function verdicts(rule: Rule, readings: Parameters<typeof factsAfter>[0]): (Severity | null)[] {
  let state: Severity | null = null;
  return readings.map((reading) => {
    const evaluation = evaluate(rule, factsAfter([reading]), state);
    state = evaluation.kind === 'breached' ? evaluation.severity : null;
    return state;
  });
}

describe('the shorter way says only what the rule would say', () => {
  const steps = fc.array(
    fc.record({
      change: fc.integer({ min: -40_000_000, max: 60_000_000 }),
      minutes: fc.integer({ min: 1, max: 90 }),
      currency: fc.constantFrom('CNY', 'CNY', 'CNY', 'USD'),
    }),
    { minLength: 1, maxLength: 60 },
  );
  const shortened = [
    ...rules,
    runwayRule({ lookbackMs: null, floorMicros: null }),
    runwayRule({ minimumHistoryGiven: true, minimumHistoryMs: 20 * minuteMs }),
  ].filter((rule) => ruleKindOf(rule).isSurelyOk !== undefined);

  test.each(shortened.map((rule) => [rule.type, rule] as const))('%s', (_, rule) => {
    const account = fc.record({
      start: fc.integer({ min: -50_000_000, max: 900_000_000 }),
      floorMicros: fc.constantFrom(0, -100_000_000),
      laterMs: fc.constantFrom(0, 10 * minuteMs, 100 * minuteMs),
      outcome: fc.constantFrom('ok', 'timeout', 'auth_failed'),
    });
    fc.assert(
      fc.property(steps, account, (moves, { start, floorMicros, laterMs, outcome }) => {
        let sms = start;
        let at = factsNoon;
        const readings = moves.map(({ change, minutes, currency }) => {
          sms += change;
          at += minutes * minuteMs;
          return { at, balances: { sms, voip: 0 }, currency };
        });
        const facts = factsAfter(readings, { floorMicros, outcome, now: at + laterMs, readSince: at });
        if (ruleKindOf(rule).isSurelyOk?.(rule, facts) !== true) return;
        expect(evaluate(rule, facts, null).kind).toMatch(/^(ok|unknown)$/);
      }),
      { numRuns: 500 },
    );
  });
});
