import { keyOf } from '../../domain/json.ts';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import { checkOrder } from '../../rules/ladder.ts';
import { ruleKindOf, ruleKinds } from '../../rules/registry.ts';
import { rulesForAccount } from '../../rules/rules-for-account.ts';
import { didYouMean, listWords } from '../../wording/lists.ts';
import type { Position } from '../draft.ts';

/** An account's own thresholds must be for a balance that a rule with thresholds watches, and in order with those of the rule. */
export function checkThresholds(file: Position, settings: Settings): void {
  for (const [index, account] of settings.accounts.entries()) {
    for (const balance of Object.keys(account.thresholds ?? {})) {
      const position = file.at('accounts', index, 'thresholds', balance);
      const rules = rulesForAccount(settings, account).filter(
        (rule) => rule.balance === balance && ruleKindOf(rule).accountThresholds,
      );
      if (rules.length === 0) position.report(whyNowhere(account, balance));
      for (const rule of rules) {
        const valueAt = (path: readonly string[]): unknown => path.reduce(keyOf, rule);
        for (const { message } of checkOrder({ valueAt, isBroken: () => false }, inOrder))
          position.report(`${message}, counting those of the rule ${rule.id}`);
      }
    }
  }
}

const inOrder = {
  read: (value: unknown) => (typeof value === 'number' ? value : null),
  worse: 'lower',
} as const;

function whyNowhere({ balances }: AccountSettings, balance: string): string {
  const known = balances.map(({ id }) => id);
  if (!known.includes(balance))
    return `the account has no such balance; ${didYouMean(balance, known) ?? `there is ${listWords(known, 'and')}`}`;
  const types = ruleKinds.flatMap((kind) => ('accountThresholds' in kind ? kind.type : []));
  return `no rule of type ${types.join(' or ')} watches this balance of the account: it needs one that says the rest`;
}
