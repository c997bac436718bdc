import { matches } from '../domain/matcher.ts';
import type { Rule } from '../domain/rule.ts';
import type { RuleKind, WatchableAccount } from './kind.ts';
import { ruleKindOf } from './registry.ts';

/**
 * The rules that watch one account, in the order of the configuration.
 *
 * A configured rule replaces the built-in one that does its job only for the accounts that it matches: a rule for some
 * accounts must not take the protection from the others by accident.
 */
export function rulesForAccount(
  settings: { readonly rules: readonly Rule[] },
  account: WatchableAccount,
): Rule[] {
  const matching = settings.rules.filter((rule) =>
    matches(rule.match, { account: account.id, labels: account.labels }),
  );
  const configured = new Set(matching.filter((rule) => !rule.builtIn).map(ruleJob));
  return matching.filter(
    (rule) => !rule.builtIn || (!configured.has(ruleJob(rule)) && isBuiltInFor(ruleKindOf(rule), account)),
  );
}

export function isBuiltInFor(kind: RuleKind, account: WatchableAccount): boolean {
  return kind.builtInFor?.(account) ?? true;
}

/** Rules with the same job replace each other: same type and balance. */
export function ruleJob({ type, balance }: Rule): string {
  return balance === null ? type : `${type}/${balance}`;
}
