import { matches } from '../domain/matcher.ts';
import type { Rule } from '../domain/rule.ts';

/**
 * The rules that watch one account, in the order of the configuration.
 *
 * A configured rule replaces the built-in one that does its job only for the accounts that it matches: a rule for some
 * accounts must not take the protection from the others by accident.
 */
export function rulesForAccount(
  settings: { readonly rules: readonly Rule[] },
  account: { readonly id: string; readonly labels: Readonly<Record<string, string>> },
): Rule[] {
  const matching = settings.rules.filter((rule) =>
    matches(rule.match, { account: account.id, labels: account.labels }),
  );
  const configured = new Set(matching.filter((rule) => !rule.builtIn).map(ruleJob));
  return matching.filter((rule) => !rule.builtIn || !configured.has(ruleJob(rule)));
}

/** What makes two rules do the same job: the type and, for rules about money, the balance. */
export function ruleJob({ type, balance }: Rule): string {
  return balance === null ? type : `${type}/${balance}`;
}
