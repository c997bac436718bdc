import { expect, test } from 'vitest';
import type { Severity } from '../../src/domain/severity.ts';
import { factsAfter, negativeRule, readingAt, units, verdict } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

const plain = negativeRule();
const withHysteresis = negativeRule({ hysteresisMicros: units(5) });

test.each<[string, typeof plain, number, Severity | null, string]>([
  ['zero is fine', plain, 0, null, 'ok'],
  ['a millionth below zero is critical', plain, -0.000001, null, 'critical'],
  ['an overdraft is a valid balance and fires', plain, -18.383, null, 'critical'],
  ['without hysteresis it resolves at zero', plain, 0, 'critical', 'ok'],
  ['with hysteresis it holds below it', withHysteresis, 4.999999, 'critical', 'critical'],
  ['with hysteresis it resolves at it', withHysteresis, 5, 'critical', 'ok'],
  ['hysteresis does not make a small balance fire', withHysteresis, 1, null, 'ok'],
])('%s', (_, rule, balance, firing, expected) => {
  expect(verdict(evaluate(rule, factsAfter([readingAt(0, balance)]), firing))).toBe(expected);
});

test('below zero is below zero in another currency as well', () => {
  const facts = factsAfter([readingAt(0, -5, { currency: 'USD' })]);
  expect(verdict(evaluate(plain, facts, null))).toBe('critical');
});

test.each([
  [-499.99, 'warning', 0],
  [-500, 'critical', -500],
  [-620, 'critical', -500],
])('with a credit of 500 a balance of %d is %s', (balance, severity, threshold) => {
  const facts = factsAfter([readingAt(0, balance)], { floorMicros: units(-500) });
  expect(evaluate(negativeRule({ severity: 'warning' }), facts, null)).toMatchObject({
    severity,
    threshold: { unit: 'money', micros: units(threshold) },
  });
});

test('a credit in money does not say when minutes are used up', () => {
  const balances = [{ id: 'sms', label: 'Calls', alertsBelowZero: true, unit: 'minutes' }];
  const facts = factsAfter([readingAt(0, -620)], { floorMicros: units(-500), balances });
  expect(verdict(evaluate(negativeRule({ severity: 'warning' }), facts, null))).toBe('warning');
});
