import { matches } from '../domain/matcher.ts';
import type { Rule } from '../domain/rule.ts';
import type { RuleKind, WatchableAccount } from './kind.ts';
import { ruleKinds } from './registry.ts';
import { plainRule } from './rule-schema.ts';
import { isBuiltInFor, ruleJob } from './rules-for-account.ts';

/**
 * The rules that protect accounts without being configured, as far as they are needed: one
 * stays out when every account has a configured rule that does its job. A rule for some accounts leaves it in place
 * for the others (`rulesForAccount` tells them apart), and a `negative` rule on the VoIP balance does not
 * replace that on the SMS balance.
 */
export function buildBuiltInRules(
  configured: readonly Rule[],
  accounts: readonly WatchableAccount[],
): Rule[] {
  const taken = configured.map(({ id }) => id);
  return ruleKinds.flatMap((kind: RuleKind) => {
    if (kind.builtInId === undefined) return [];
    const builtIn = { ...plainRule(kind, freeId(kind.builtInId, taken)), builtIn: true };
    const replacing = configured.filter((rule) => ruleJob(rule) === ruleJob(builtIn));
    const isNeeded = accounts.some(
      (account) =>
        isBuiltInFor(kind, account) &&
        !replacing.some(({ match }) => matches(match, { account: account.id, labels: account.labels })),
    );
    return isNeeded ? [builtIn] : [];
  });
}

export function builtInIds(taken: readonly string[]): string[] {
  return ruleKinds.flatMap((kind: RuleKind) =>
    kind.builtInId === undefined ? [] : [freeId(kind.builtInId, taken)],
  );
}

/** Its own name, unless a configured rule has it. */
function freeId(name: string, taken: readonly string[]): string {
  const candidates = [name, `built-in-${name}`];
  for (let number = 2; number <= taken.length + 2; number++) candidates.push(`built-in-${name}-${number}`);
  return candidates.find((candidate) => !taken.includes(candidate)) ?? name;
}
