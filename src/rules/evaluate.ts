import type { Fact } from '../domain/quantity.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { ruleKindOf } from './registry.ts';

/** What a rule says of one account (see `RuleKind.evaluate`). The evaluation's `facts` are empty: `explainRule` fills them in. */
export function evaluate(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return ruleKindOf(rule).evaluate(rule, facts, firing);
}

/** The same verdict with every number behind it, for messages, `explain` and the page. */
export function explainRule(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return { ...evaluate(rule, facts, firing), facts: factsBehind(rule, facts) };
}

/** Every number that the rule looks at, named, in the order in which people read them. */
export function factsBehind(rule: Rule, facts: AccountFacts): readonly Fact[] {
  return ruleKindOf(rule).factsBehind(rule, facts);
}

/**
 * The nearest threshold with which a rule that fires would not have fired, as a sentence for people. Null
 * when it does not fire. `evaluation` is the rule's verdict on these facts.
 */
export function wouldNotFire(rule: Rule, facts: AccountFacts, evaluation: Evaluation): string | null {
  if (evaluation.kind !== 'breached' && evaluation.kind !== 'event') return null;
  return ruleKindOf(rule).wouldNotFire(rule, facts, evaluation);
}
