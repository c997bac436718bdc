import type { Rule } from '../../src/domain/rule.ts';
import type { Severity } from '../../src/domain/severity.ts';
import type { AccountFacts, Evaluation } from '../../src/rules/evaluation.ts';
import { ruleKindOf } from '../../src/rules/registry.ts';

/** What the kind of a rule says of an account. */
export function evaluate(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return ruleKindOf(rule).evaluate(rule, facts, firing);
}

/** With every number behind the verdict. */
export function explainRule(rule: Rule, facts: AccountFacts, firing: Severity | null): Evaluation {
  return { ...evaluate(rule, facts, firing), facts: ruleKindOf(rule).factsBehind(rule, facts) };
}
