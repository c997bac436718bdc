import type { Fact } from '../domain/quantity.ts';
import type { NegativeRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { readingFacts, unusable, usableReading } from './snapshot.ts';
import { breached, money, moneyFact, ok, unknown } from './verdict.ts';

/** `negative`: breached when balance < 0; resolved when balance ≥ 0 + hysteresis. */
export function evaluateNegative(
  rule: NegativeRule,
  facts: AccountFacts,
  firing: Severity | null,
): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const balance = reading[rule.balance];
  const limit = firing === null ? 0 : Math.max(0, rule.hysteresisMicros);
  const numbers = { value: money(balance), threshold: money(0) };
  return balance < limit ? breached(rule.severity, numbers) : ok(numbers);
}

export function factsOfNegative(rule: NegativeRule, facts: AccountFacts): readonly Fact[] {
  return [
    ...readingFacts(facts, rule.balance),
    moneyFact(`${rule.severity} below`, 0),
    moneyFact('resolves at', rule.hysteresisMicros),
  ];
}
