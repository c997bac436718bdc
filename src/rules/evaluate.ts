import type { Fact } from '../domain/quantity.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { ruleKindOf } from './registry.ts';

/** See `RuleKind.evaluate`. The facts are empty: `explainRule` adds them. */
export function evaluate(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return ruleKindOf(rule).evaluate(rule, facts, firing);
}

/** With every number behind the verdict, for messages, `explain` and the page. */
export function explainRule(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return { ...evaluate(rule, facts, firing), facts: factsBehind(rule, facts) };
}

export function factsBehind(rule: Rule, facts: AccountFacts): readonly Fact[] {
  return ruleKindOf(rule).factsBehind(rule, facts);
}

/**
 * The nearest threshold with which a firing rule would not fire, as a sentence. Null when it does not fire.
 */
export function wouldNotFire(rule: Rule, facts: AccountFacts, evaluation: Evaluation): string | null {
  if (evaluation.kind !== 'breached' && evaluation.kind !== 'event') return null;
  return ruleKindOf(rule).wouldNotFire(rule, facts, evaluation);
}
