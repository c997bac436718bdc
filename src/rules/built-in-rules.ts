import type { BalanceDefinition } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { RuleKind, WatchableAccount } from './kind.ts';
import { ruleKinds } from './registry.ts';
import { plainRule } from './rule-schema.ts';
import { isBuiltInFor, onBalance, ruleJob, ruleOn } from './rules-for-account.ts';

/**
 * The rules that protect accounts without being configured, as far as they are needed: one
 * stays out when every account has a configured rule that does its job. A rule for some accounts leaves it in place
 * for the others (`rulesForAccount` tells them apart), and a rule on one balance does not replace that on another.
 */
export function buildBuiltInRules(
  configured: readonly Rule[],
  accounts: readonly WatchableAccount[],
): Rule[] {
  const taken = configured.map(({ id }) => id);
  return listBuiltIn(taken, alertedBalances(accounts))
    .filter(({ rule, kind }) => {
      const replacing = configured.filter(({ type }) => type === rule.type);
      return accounts.some(
        (account) =>
          ruleOn(rule, account) !== null &&
          isBuiltInFor(kind, account) &&
          !replacing.some((other) => {
            const own = ruleOn(other, account);
            return own !== null && ruleJob(own) === ruleJob(rule);
          }),
      );
    })
    .map(({ rule }) => rule);
}

/** The ids that the built-in rules have beside configured ones of these ids, on accounts with these balances. */
export function builtInIds(taken: readonly string[], balances: readonly BalanceDefinition[]): string[] {
  return listBuiltIn(taken, balances).map(({ rule }) => rule.id);
}

/** The balances that must not run empty, each id once. */
function alertedBalances(accounts: readonly WatchableAccount[]): readonly BalanceDefinition[] {
  const lists = new Set(accounts.map(({ balances }) => balances));
  const found = [...lists].flat().filter(({ alertsBelowZero }) => alertsBelowZero);
  return [...new Map(found.map((balance) => [balance.id, balance])).values()];
}

/** Every built-in rule: those about money for each balance. */
function listBuiltIn(
  taken: readonly string[],
  balances: readonly BalanceDefinition[],
): readonly { readonly rule: Rule; readonly kind: RuleKind }[] {
  return ruleKinds.flatMap((kind: RuleKind) => {
    const { builtInId } = kind;
    if (builtInId === undefined) return [];
    const plain = { ...plainRule(kind, builtInId), builtIn: true };
    const rules =
      plain.balance === null
        ? [plain]
        : balances.map((balance) => ({ ...onBalance(plain, balance), id: `${balance.id}-${builtInId}` }));
    return rules.map((rule) => ({ rule: { ...rule, id: freeId(rule.id, taken) }, kind }));
  });
}

/** Its own name, unless a configured rule has it. */
function freeId(name: string, taken: readonly string[]): string {
  const candidates = [name, `built-in-${name}`];
  for (let number = 2; number <= taken.length + 2; number++) candidates.push(`built-in-${name}-${number}`);
  return candidates.find((candidate) => !taken.includes(candidate)) ?? name;
}
