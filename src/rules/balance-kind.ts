import type { MessageItem } from '../domain/message.ts';
import type { Fact } from '../domain/quantity.ts';
import { type Balance, type Reading, unitOf } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { Argument, Phrase } from '../wording/phrase.ts';
import { type AccountFacts, type Evaluation, readingFacts, unknown, whyUnusable } from './evaluation.ts';
import { figuresOf } from './fact-figures.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, type KeyShape, moneyKeys, type RuleKind } from './kind.ts';

/** Facts of an account with a reading. */
export type ReadFacts = AccountFacts & { readonly reading: Reading };

/** The differences between the kinds that judge a balance. `keys` are those besides `balance`. */
interface BalanceKind<R extends MoneyRule, K extends KeyShape>
  extends Omit<
    RuleKind<R, InputOf<K>>,
    'keys' | 'needsReading' | 'evaluate' | 'factsBehind' | 'wouldNotFire' | 'figures'
  > {
  readonly keys: K;
  /** `evaluate` for a reading in the account's currency. */
  judge(rule: R, facts: ReadFacts, firing: Severity | null): Evaluation;
  readonly inAnyCurrency?: true;
  /** The facts besides those of the reading. */
  factsBehind(rule: R, facts: AccountFacts): readonly Fact[];
  wouldNotFire(rule: R, facts: ReadFacts, evaluation: Evaluation): string | null;
  /** The words of its threshold in messages; absent: the threshold is not shown. */
  threshold?(item: MessageItem): Phrase<{ readonly limit: Argument }>;
  /** Set if its value is spending; else it is the balance itself, which is known even without a reading. */
  readonly judgesSpending?: true;
  /** The names of further facts that messages show. */
  readonly shownFacts?: readonly string[];
}

export function balanceKind<R extends MoneyRule, K extends KeyShape>(
  kind: BalanceKind<R, K>,
): RuleKind<R, InputOf<K>> {
  const { judge, inAnyCurrency, threshold, judgesSpending, shownFacts = [], ...own } = kind;
  return {
    ...own,
    keys: { ...moneyKeys, ...own.keys },
    needsReading: true,
    evaluate(rule, facts, firing) {
      const why = inAnyCurrency && isRead(facts) ? null : whyUnusable(facts);
      return why === null && isRead(facts) ? judge(rule, facts, firing) : unknown(why ?? '');
    },
    factsBehind(rule, facts) {
      const shown = inOwnUnit(facts, rule.balance);
      return [...readingFacts(shown, rule.balance), ...own.factsBehind(rule, shown)];
    },
    wouldNotFire(rule, facts, evaluation) {
      const shown = inOwnUnit(facts, rule.balance);
      return isRead(shown) ? own.wouldNotFire(rule, shown, evaluation) : null;
    },
    figures: (item, frame) => [
      ...moneyFigures(item, frame, { threshold, valueIsBalance: !judgesSpending }),
      ...figuresOf(item, frame, shownFacts),
    ],
  };
}

/** The facts for people: with the unit of the balance in place of the account's currency. */
function inOwnUnit(facts: AccountFacts, balance: Balance): AccountFacts {
  const change = (reading: Reading | null): Reading | null =>
    reading && { ...reading, currency: unitOf({ ...facts, currency: reading.currency }, balance) };
  return { ...facts, reading: change(facts.reading), previous: change(facts.previous) };
}

function isRead(facts: AccountFacts): facts is ReadFacts {
  return facts.reading !== null;
}
