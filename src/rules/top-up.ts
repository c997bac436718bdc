import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { TopUpRule } from '../domain/rule.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { readingFacts, unusable, usableReading } from './snapshot.ts';
import { happened, money, moneyFact, ok, unknown } from './verdict.ts';

/** Smaller rises are corrections, not top-ups: what `atLeast` is where a rule does not say. */
export const leastTopUpMicros = 10_000;

/**
 * `top-up`: an event when the balance rose by at least `atLeast` between two neighbouring readings in one
 * currency. Each new reading may be judged once only: judging it again gives the same event
 * again. What was spent between the two readings makes the rise smaller; the top-up itself is at least the
 * rise.
 */
export function evaluateTopUp(rule: TopUpRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  if (problem !== null) return unknown(problem);
  const rise = riseOf(rule, facts);
  if (rise === null) return unknown('no earlier reading to compare with');
  const numbers = { value: money(Math.max(0, rise)), threshold: money(rule.atLeastMicros) };
  return rise > 0 && rise >= rule.atLeastMicros ? happened(rule.severity, numbers) : ok(numbers);
}

export function factsOfTopUp(rule: TopUpRule, facts: AccountFacts): readonly Fact[] {
  const rise = riseOf(rule, facts);
  const found = [...readingFacts(facts, rule.balance), moneyFact('at least', rule.atLeastMicros)];
  if (rise !== null) found.push(moneyFact('rose by', rise));
  return found;
}

/** Negative for a fall; null without two readings in one currency. */
function riseOf(rule: TopUpRule, facts: AccountFacts): Micros | null {
  const reading = usableReading(facts);
  if (reading === null || facts.previous === null || facts.previous.currency !== reading.currency)
    return null;
  return reading[rule.balance] - facts.previous[rule.balance];
}
