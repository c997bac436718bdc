import { expect, test } from 'vitest';
import type { Severity } from '../../src/domain/severity.ts';
import { belowRule, factsAfter, readingAt, units, verdict } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

const ladder = belowRule();
const negativeThreshold = belowRule({
  thresholds: { warning: units(-100) },
  hysteresis: { kind: 'share', share: 0.1 },
});
const amount = belowRule({
  thresholds: { critical: units(50) },
  hysteresis: { kind: 'amount', micros: units(0.000001) },
});

test.each<[string, typeof ladder, number, Severity | null, string]>([
  ['at the first threshold is fine', ladder, 500, null, 'ok'],
  ['a millionth below the first threshold is info', ladder, 499.999999, null, 'info'],
  ['at the second threshold is still info', ladder, 200, null, 'info'],
  ['a millionth below the second threshold is warning', ladder, 199.999999, null, 'warning'],
  ['at the third threshold is still warning', ladder, 50, null, 'warning'],
  ['a millionth below the third threshold is critical', ladder, 49.999999, null, 'critical'],
  ['zero is critical', ladder, 0, null, 'critical'],
  ['overdrawn is critical', ladder, -18.383, null, 'critical'],
  ['critical stays below its hysteresis', ladder, 54.999999, 'critical', 'critical'],
  ['critical goes down one step at its hysteresis', ladder, 55, 'critical', 'warning'],
  ['critical goes no further than the hysteresis of warning', ladder, 219.999999, 'critical', 'warning'],
  ['critical skips warning past its hysteresis', ladder, 220, 'critical', 'info'],
  ['critical resolves past the hysteresis of all', ladder, 550, 'critical', 'ok'],
  ['warning has no hysteresis of critical', ladder, 50, 'warning', 'warning'],
  ['warning gets worse at the plain threshold', ladder, 49.999999, 'warning', 'critical'],
  ['warning stays below its hysteresis', ladder, 219.999999, 'warning', 'warning'],
  ['info does not rise through the hysteresis of warning', ladder, 210, 'info', 'info'],
  ['info stays below its hysteresis', ladder, 549.999999, 'info', 'info'],
  ['info resolves at its hysteresis', ladder, 550, 'info', 'ok'],
  ['what is not firing has no hysteresis', ladder, 500, null, 'ok'],
  ['a negative threshold is breached below it', negativeThreshold, -100.000001, null, 'warning'],
  ['a negative threshold holds its share upwards', negativeThreshold, -90.000001, 'warning', 'warning'],
  ['a negative threshold resolves above it', negativeThreshold, -90, 'warning', 'ok'],
  ['a hysteresis of a millionth holds at the threshold', amount, 50, 'critical', 'critical'],
  ['a hysteresis of a millionth is left a millionth above', amount, 50.000001, 'critical', 'ok'],
  ['a severity that the edited ladder no longer has is judged again', amount, 60, 'warning', 'ok'],
])('%s', (_, rule, balance, firing, expected) => {
  expect(verdict(evaluate(rule, factsAfter([readingAt(0, balance)]), firing))).toBe(expected);
});

test('float noise of sums that equal the threshold breaches nothing', () => {
  const rule = belowRule({ thresholds: { warning: 300_000 } });
  const reading = readingAt(0, 0.1 + 0.2);
  expect(verdict(evaluate(rule, factsAfter([reading]), null))).toBe('ok');
});

test('a balance around the threshold fires once and resolves once', () => {
  let firing: Severity | null = null;
  let changes = 0;
  for (const balance of [201, 199, 201, 199.5, 210, 198, 219, 200, 221, 220, 221]) {
    const rule = belowRule({ thresholds: { warning: units(200) } });
    const evaluation = evaluate(rule, factsAfter([readingAt(0, balance)]), firing);
    const next: Severity | null = evaluation.kind === 'breached' ? evaluation.severity : null;
    if (next !== firing) changes++;
    firing = next;
  }
  expect([firing, changes]).toEqual([null, 2]);
});

test('the voip balance is judged by a rule for voip', () => {
  const facts = factsAfter([readingAt(0, 1000, { balances: { sms: units(1000), voip: units(10) } })]);
  expect(verdict(evaluate(belowRule({ balance: 'voip' }), facts, null))).toBe('critical');
  expect(verdict(evaluate(belowRule(), facts, null))).toBe('ok');
});

test.each([
  ['the breached step', 42.1, 'critical', 50],
  ['the step that comes first when nothing is breached', 900, null, 500],
] as const)('the threshold that is reported is %s', (_, balance, firing, threshold) => {
  const evaluation = evaluate(ladder, factsAfter([readingAt(0, balance)]), firing);
  expect(evaluation.value).toEqual({ unit: 'money', micros: units(balance) });
  expect(evaluation.threshold).toEqual({ unit: 'money', micros: units(threshold) });
});

test('nothing is judged before the first reading', () => {
  expect(evaluate(ladder, factsAfter([]), 'critical')).toMatchObject({
    kind: 'unknown',
    why: 'no reading yet',
  });
});

test('a reading in another currency is not judged', () => {
  const facts = factsAfter([readingAt(0, 1, { currency: 'USD' })]);
  expect(evaluate(ladder, facts, null)).toMatchObject({
    kind: 'unknown',
    why: 'the reading is in USD, the account is configured in CNY',
  });
});

test('without a configured currency every reading is judged', () => {
  const facts = factsAfter([readingAt(0, 1, { currency: 'USD' })], { currency: null });
  expect(verdict(evaluate(ladder, facts, null))).toBe('critical');
});
