import { matches } from '../domain/matcher.ts';
import type { Rule } from '../domain/rule.ts';
import { ruleKind } from '../rules/rules-for-account.ts';

/**
 * The rules that protect accounts without being configured, as far as they are needed: one
 * stays out when every account has a configured rule of its kind. A rule for some accounts leaves it in place
 * for the others (`rulesForAccount` tells them apart), and a `negative` rule on the VoIP balance does not
 * replace that on the SMS balance.
 */
export function buildBuiltInRules(
  configured: readonly Rule[],
  accounts: readonly { readonly id: string; readonly labels: Readonly<Record<string, string>> }[],
): Rule[] {
  const ids = builtInIds(configured.map((rule) => rule.id));
  const base = { forMs: 0, recoverForMs: 0, match: {}, builtIn: true } as const;
  const all: Rule[] = [
    {
      ...base,
      id: ids['sms-negative'],
      type: 'negative',
      severity: 'critical',
      balance: 'sms',
      hysteresisMicros: 0,
    },
    { ...base, id: ids.stale, type: 'stale', severity: 'warning', afterMs: null },
    { ...base, id: ids['auth-failed'], type: 'auth-failed', severity: 'critical' },
  ];
  return all.filter((builtIn) => {
    const replacing = configured.filter((rule) => ruleKind(rule) === ruleKind(builtIn));
    return accounts.some(
      ({ id, labels }) => !replacing.some((rule) => matches(rule.match, { account: id, labels })),
    );
  });
}

const builtInNames = ['sms-negative', 'stale', 'auth-failed'] as const;

/** Ids of the built-in rules: their own names, unless a configured rule took the name. */
export function builtInIds(taken: readonly string[]): Record<(typeof builtInNames)[number], string> {
  const free = (name: string): string => {
    const candidates = [name, `built-in-${name}`];
    for (let number = 2; number <= taken.length + 2; number++) candidates.push(`built-in-${name}-${number}`);
    return candidates.find((candidate) => !taken.includes(candidate)) ?? name;
  };
  return { 'sms-negative': free('sms-negative'), stale: free('stale'), 'auth-failed': free('auth-failed') };
}
