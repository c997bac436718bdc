import { isSelfId, providerAccountId, selfAccountId } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { currencyCode } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { accountsAtOnce, type Parts } from '../domain/parts.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import { accountSubject, type Matcher, matches, metricLabelOf, type Rule } from '../domain/rule.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { describeRule, ruleKindOf } from '../rules/registry.ts';
import { ruleOn, rulesForAccount } from '../rules/rules-for-account.ts';
import { didYouMean, listFirst, listWords, quoteKey } from '../wording/lists.ts';
import type { Position } from './draft.ts';

/** Warns of rules that watch nothing, or the same as another rule, and of what their kinds find doubtful. */
export function* warnOfRules(file: Position, settings: Settings): Parts<void> {
  const watched = new Map<string, AccountSettings[]>(settings.rules.map(({ id }) => [id, []]));
  const overlaps: Overlaps = new Map();
  for (const [index, account] of settings.accounts.entries()) {
    if (index % accountsAtOnce === 0) yield;
    const rules = rulesForAccount(settings, account);
    for (const { id } of rules) watched.get(id)?.push(account);
    noteOverlaps(overlaps, account.id, rules);
  }
  for (const [index, position] of file.at('rules').items().entries()) {
    const rule = settings.rules[index];
    if (rule === undefined) continue;
    const accounts = watched.get(rule.id) ?? [];
    warnOfOverlaps(position, rule, overlaps);
    warnOfCurrencySteps(position, rule, { watched: accounts, all: settings.accounts });
    if (accounts.length === 0) position.report(whyUnused(rule, settings));
    for (const { path, message } of ruleKindOf(rule).warn?.(rule, accounts) ?? [])
      position.at(...path).report(message);
  }
}

/** The accounts of two rules of the same type on the same balance, by the id of the later rule and the id of the earlier one. */
type Overlaps = Map<string, Map<string, string[]>>;

function noteOverlaps(overlaps: Overlaps, account: string, rules: readonly Rule[]): void {
  const seen = new Map<string, Rule>();
  for (const rule of rules) {
    // Sums over several times, and windows of several lengths, are meant to exist side by side.
    const isOne = ruleKindOf(rule).emptinessRank !== undefined;
    const job = `${rule.type} ${rule.balance} ${isOne ? '' : describeRule(rule)}`;
    const other = seen.get(job);
    if (other === undefined) seen.set(job, rule);
    else {
      const pairs = getOrMake(overlaps, rule.id, () => new Map<string, string[]>());
      getOrMake(pairs, other.id, () => []).push(account);
    }
  }
}

function warnOfOverlaps(position: Position, rule: Rule, overlaps: Overlaps): void {
  const isOne = ruleKindOf(rule).emptinessRank !== undefined;
  const heard = isOne ? 'both alerts fire, and only the worse one is notified' : 'both alerts are notified';
  for (const [other, ids] of overlaps.get(rule.id) ?? [])
    position.report(`watches a balance of ${listFirst(ids, 5)} as the rule ${other} does: ${heard}`);
}

/** A rule with thresholds by currency watches no account in another currency, unless it has thresholds for all. */
function warnOfCurrencySteps(
  position: Position,
  { thresholdsByCurrency, ...plain }: Rule,
  { watched, all }: Readonly<Record<'watched' | 'all', readonly AccountSettings[]>>,
): void {
  if (thresholdsByCurrency === undefined) return;
  const known = new Set(all.map(({ currency }) => currencyCode(currency ?? '')));
  const unused = Object.keys(thresholdsByCurrency).filter((code) => !known.has(code));
  if (unused.length > 0) position.at('thresholdsByCurrency').report(`no account is in ${listWords(unused)}`);
  const isWatched = new Set(watched);
  const left = all.filter((account) => !isWatched.has(account) && ruleOn(plain, account) !== null);
  if (left.length > 0)
    position.report(
      `has no thresholds for the currency of ${listFirst(left.map(({ id }) => id))}, and does not watch that`,
    );
}

function whyUnused({ balance, match }: Rule, { accounts }: Settings): string {
  const matched = accounts.filter((account) => matches(match, accountSubject(account)));
  const known = [...new Set(matched.flatMap(({ balances }) => balances.map(({ id }) => id)))];
  if (known.length === 0 || balance === null || known.includes(balance))
    return 'this rule watches no account';
  const advice = didYouMean(balance, known) ?? `there is ${listWords(known.slice(0, 10), 'and')}`;
  return `this rule watches no account: none that it matches has the balance ${quoteKey(balance)}; ${advice}`;
}

/** Warns of matchers of rules, routes and silences that name something that no account has. */
export function warnOfLabels(file: Position, settings: Settings): void {
  const names = new Set(settings.accounts.flatMap((account) => Object.keys(account.labels)));
  const outages = new Set(settings.accounts.map((account) => providerAccountId(providerKeyOf(account))));
  for (const section of ['rules', 'routes', 'silences'] as const)
    for (const [index, item] of file.at(section).items().entries())
      warnOfMatch(item.at('match'), settings[section][index]?.match ?? {}, { settings, names, outages });
}

/** Warns of labels that /metrics would show under one name. */
export function warnOfMetricLabels(file: Position, { accounts, server }: Settings): void {
  if (server === null) return;
  const firstWith = new Map<string, number>();
  for (const [index, { labels }] of accounts.entries())
    for (const label of Object.keys(labels)) getOrMake(firstWith, label, () => index);
  for (const [name, alike] of Map.groupBy(firstWith.keys(), metricLabelOf))
    for (const label of alike.length > 1 ? alike.filter((each) => each !== name) : [])
      file.at('accounts', firstWith.get(label) ?? 0, 'labels', label).report(
        `shares the name ${name} in /metrics with ${listWords(
          alike.filter((each) => each !== label),
          'and',
        )}: of an account with both only a label that is written ${name} is shown there`,
      );
}

/** Warns of labels, currencies and providers in a matcher that no account has: they match nothing. */
function warnOfMatch(
  match: Position,
  { labels = {}, currency = [], account = [], not }: Matcher,
  about: { readonly settings: Settings } & Readonly<Record<'names' | 'outages', ReadonlySet<string>>>,
): void {
  const { names, outages, settings } = about;
  const { accounts } = settings;
  for (const [label, values] of Object.entries(labels)) {
    const position = match.at('labels', label);
    const known = amongThese(names);
    const isSeen = accounts.some((account) => values.includes(ownOf(account.labels, label) ?? ''));
    if (!names.has(label)) position.report(`no account has this label${known}`);
    else if (!isSeen) position.report('no account has this label with such a value');
  }
  const unused = currency.filter((code) => !accounts.some((of) => currencyCode(of.currency ?? '') === code));
  if (unused.length > 0) match.at('currency').report(`no account is in ${listWords(unused)}`);
  if (account.some((id) => isSelfId(id) && id !== selfAccountId && !outages.has(id)))
    match.at('account').report(`no account has a provider of such a name${amongThese(outages)}`);
  if (not !== undefined) warnOfMatch(match.at('not'), not, about);
}

function amongThese(names: ReadonlySet<string>): string {
  return names.size === 0 ? '' : `; there is ${listWords([...names].slice(0, 10), 'and')}`;
}
