import type { Fact } from '../domain/quantity.ts';
import type { CurrencyRule } from '../domain/rule.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { breached, instantFact, ok, text, textFact, unknown } from './verdict.ts';

/**
 * `currency`: breached when the reading's currency differs from the account's configured one; resolved when
 * equal again.
 */
export function evaluateCurrency(rule: CurrencyRule, facts: AccountFacts): Evaluation {
  if (facts.currency === null) return unknown('no currency configured');
  if (facts.reading === null) return unknown('no reading yet');
  const numbers = { value: text(facts.reading.currency), threshold: text(facts.currency) };
  return facts.reading.currency === facts.currency ? ok(numbers) : breached(rule.severity, numbers);
}

export function factsOfCurrency(facts: AccountFacts): readonly Fact[] {
  const found: Fact[] = [];
  if (facts.reading !== null) {
    found.push(textFact('currency', facts.reading.currency), instantFact('read at', facts.reading.at));
  }
  if (facts.currency !== null) found.push(textFact('configured currency', facts.currency));
  return found;
}
