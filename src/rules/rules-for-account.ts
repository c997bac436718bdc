import { getOrMake } from '../domain/get-or-make.ts';
import { currencyCode, formatMicros, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import type { Balance, BalanceDefinition } from '../domain/reading.ts';
import { accountSubject, firstBalance, type Ladder, matches, type Rule } from '../domain/rule.ts';
import type { RuleKind, WatchableAccount } from './kind.ts';
import { mapSteps, worstOf } from './ladder.ts';
import { ruleKindOf, ruleKinds } from './registry.ts';
import { plainRule } from './rule-schema.ts';

/**
 * The rules that watch one account, in the order of the configuration, each on a balance that the account has.
 *
 * A configured rule replaces the built-in one with the same job only for the accounts that it matches: a rule for some
 * accounts must not take the protection from the others by accident.
 */
export function rulesForAccount(
  settings: { readonly rules: readonly Rule[] },
  account: WatchableAccount,
): Rule[] {
  const matching = settings.rules.flatMap((rule) => ruleOn(rule, account) ?? []);
  const configured = new Set(matching.filter((rule) => !rule.builtIn).map(ruleJob));
  return matching.filter(
    (rule) =>
      !rule.builtIn || (!configured.has(ruleJob(rule)) && (ruleKindOf(rule).builtInFor?.(account) ?? true)),
  );
}

/** A rule as it is on an account; null if it does not match the account, or watches a balance that the account does not have. */
export function ruleOn(rule: Rule, account: WatchableAccount): Rule | null {
  if (!matches(rule.match, accountSubject(account))) return null;
  const { balance } = rule;
  if (balance === null) return rule;
  const definition = find(account.balances, balance);
  if (definition === undefined) return null;
  const ladder = ladderOn(rule, definition.id, account);
  return ladder === null ? null : onBalance(rule, definition, ladder);
}

/** The thresholds of a rule on an account: those for its currency if the rule has any, each replaced by the account's own. Null if there are none. */
function ladderOn(
  rule: Rule,
  balance: Balance,
  { currency, thresholds }: WatchableAccount,
): Rule['thresholds'] | null {
  const { thresholdsByCurrency } = rule;
  const own = ruleKindOf(rule).accountThresholds ? ownOf(thresholds, balance) : undefined;
  if (thresholdsByCurrency === undefined && own === undefined) return rule.thresholds;
  const usual = currency === null ? undefined : ownOf(thresholdsByCurrency, currencyCode(currency));
  const ladder = { ...(usual ?? rule.thresholds), ...own };
  return Object.keys(ladder).length === 0 ? null : ladder;
}

/** The rule with the name of its balance, if that is the same on all accounts; else the rule as it is. */
export function withBalance(rule: Rule, accounts: readonly WatchableAccount[]): Rule {
  const { balance } = rule;
  if (balance === null) return rule;
  const lists = [...new Set(accounts.map(({ balances }) => balances))];
  const found = lists.flatMap((balances) => find(balances, balance) ?? []);
  const [first] = found;
  const isOne =
    found.length === lists.length &&
    found.every(({ id, label }) => id === first?.id && label === first.label);
  return first === undefined || !isOne ? rule : onBalance(rule, first);
}

function find(balances: readonly BalanceDefinition[], balance: Balance): BalanceDefinition | undefined {
  return balance === firstBalance ? balances[0] : balances.find(({ id }) => id === balance);
}

/** One rule for all accounts whose balance has the same name and thresholds: accounts with the same rules share what is made of them. */
const named = new WeakMap<Rule, Map<string, Rule>>();

function onBalance(rule: Rule, { id, label }: BalanceDefinition, ladder = rule.thresholds): Rule {
  const isOwn = ladder !== undefined && ladder !== rule.thresholds;
  if (rule.balance === id && rule.balanceLabel === label && !isOwn) return rule;
  const known = getOrMake(named, rule, () => new Map<string, Rule>());
  return getOrMake(known, JSON.stringify([id, label, isOwn ? ladder : null]), () => {
    const placed = { ...rule, balance: id, balanceLabel: label };
    if (!isOwn) return placed;
    const { thresholdsByCurrency: _, written, ...rest } = placed;
    return {
      ...rest,
      thresholds: ladder,
      severity: worstOf(ladder),
      written: withThresholds(written, ladder),
      thresholdsOf: 'account',
    };
  });
}

/** A rule of the file as it would stand there with other thresholds. */
function withThresholds(written: unknown, ladder: Ladder<Micros>): object {
  const ladders: readonly string[] = ['threshold', 'severity', 'thresholdsByCurrency'];
  const kept = Object.entries(Object(written)).filter(([key]) => !ladders.includes(key));
  return { ...Object.fromEntries(kept), thresholds: mapSteps(ladder, formatMicros) };
}

/** Rules with the same job replace each other: same type and balance. */
function ruleJob({ type, balance }: Rule): string {
  return balance === null ? type : `${type}/${balance}`;
}

/** The built-in rules. One is left out when every account has a configured rule with the same job, on that balance. */
export function buildBuiltInRules(
  configured: readonly Rule[],
  accounts: readonly WatchableAccount[],
): Rule[] {
  const taken = configured.map(({ id }) => id);
  const builtIn = listBuiltIn(taken, alertedBalances(accounts));
  const rules = [...configured, ...builtIn];
  const needed = new Set<string>();
  for (const account of accounts) {
    if (builtIn.every(({ id }) => needed.has(id))) break;
    for (const { id } of rulesForAccount({ rules }, account)) needed.add(id);
  }
  return builtIn.filter(({ id }) => needed.has(id));
}

/** The ids that the built-in rules have next to configured ones of these ids, on accounts with these balances. */
export function builtInIds(taken: readonly string[], balances: readonly BalanceDefinition[]): string[] {
  return listBuiltIn(taken, balances).map(({ id }) => id);
}

/** The balances that must not run empty, each id once. */
function alertedBalances(accounts: readonly WatchableAccount[]): readonly BalanceDefinition[] {
  const lists = new Set(accounts.map(({ balances }) => balances));
  const found = [...lists].flat().filter(({ alertsBelowZero }) => alertsBelowZero);
  return [...new Map(found.map((balance) => [balance.id, balance])).values()];
}

function listBuiltIn(taken: readonly string[], balances: readonly BalanceDefinition[]): readonly Rule[] {
  return ruleKinds.flatMap((kind: RuleKind) => {
    const { builtInId } = kind;
    if (builtInId === undefined) return [];
    const plain = { ...plainRule(kind, builtInId), builtIn: true };
    const rules =
      plain.balance === null
        ? [plain]
        : balances.map((balance) => ({ ...onBalance(plain, balance), id: `${balance.id}-${builtInId}` }));
    return rules.map((rule) => ({ ...rule, id: freeId(rule.id, taken) }));
  });
}

/** The rule's name, or another one if a configured rule has it. */
function freeId(name: string, taken: readonly string[]): string {
  const candidates = [name, `built-in-${name}`];
  for (let number = 2; number <= taken.length + 2; number++) candidates.push(`built-in-${name}-${number}`);
  return candidates.find((candidate) => !taken.includes(candidate)) ?? name;
}
