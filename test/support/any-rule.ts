import type { Rule } from '../../src/domain/rule.ts';
import type { AnyRule } from '../../src/rules/registry.ts';

/** Rules of settings are made by the kinds of the registry, so that each is one of their special rules. */
export function asAnyRule(rule: Rule): AnyRule {
  return rule as AnyRule;
}
