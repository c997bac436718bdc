import type { MessageItem } from '../domain/message.ts';
import { formatExact, isSameCurrency, type Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import { amountOf } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { amount } from '../schema/texts.ts';
import { formatRise, type WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  type Evaluation,
  happened,
  money,
  moneyFact,
  ok,
  readingFacts,
  unknown,
  unusable,
  usableReading,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, moneyKeys, type RuleKind, severityKey } from './kind.ts';
import { currentAmount, exactAmount, moneyOf, nameBalance } from './words.ts';

/** Smaller rises are corrections, not top-ups: the default of `atLeast`. */
export const minTopUpMicros = 10_000;

export interface TopUpRule extends MoneyRule {
  readonly type: 'top-up';
  readonly atLeastMicros: Micros;
}

const keys = {
  ...moneyKeys,
  severity: severityKey.default('info'),
  atLeast: amount('Smaller rises are ignored.', { sign: 'positive' }).prefault('0.01'),
};

export const topUp: RuleKind<TopUpRule, InputOf<typeof keys>> = {
  type: 'top-up',
  summary: 'A message when the balance rises. No incident.',
  keys,
  needsReading: true,
  build: (input) => ({ atLeastMicros: input.atLeast }),
  warn: (rule) =>
    rule.forMs + rule.recoverForMs > 0
      ? [{ path: [], message: 'for and recoverFor mean nothing here: a top-up is an event' }]
      : [],
  describe: (rule) =>
    `${nameBalance(rule)} topped up by ${formatExact(rule.atLeastMicros)} or more (${rule.severity})`,
  evaluate,
  isSurelyOk: ({ balance }, { reading, previous }) =>
    reading === null || previous === null || amountOf(reading, balance) <= amountOf(previous, balance),
  factsBehind,
  wouldNotFire: (rule, { reading }, evaluation) => {
    if (reading === null) return null;
    const rise = evaluation.value?.unit === 'money' ? evaluation.value.micros : rule.atLeastMicros;
    return `It would not notify with "atLeast" of more than ${exactAmount(rise, reading.currency)}.`;
  },
  subject: (about) => `${moneyOf(about)} balance topped up`,
  firing: wordTopUp,
  resolved: wordTopUp,
  recovery: 'Resolved: the balance recovered.',
  figures: (item, frame) => moneyFigures(item, frame, { threshold: null, valueIsBalance: false }),
  advice: () => [],
};

function wordTopUp(item: MessageItem, frame: WordingFrame): string {
  const value = item.value?.unit === 'money' ? formatRise(item.value.micros, frame.currency) : null;
  const known = item.facts.some(({ name }) => name === 'balance') || (item.account?.reading ?? null) !== null;
  const now = known ? `, now${currentAmount(item, frame)}` : '';
  return `${moneyOf(item)} balance topped up${value === null ? '' : ` by ${value}`}${now}`;
}

/**
 * An event when the balance rose by at least `atLeast` between two neighbouring readings in one
 * currency. Each new reading may be judged once only: judging it again gives the same event
 * again. What was spent between the two readings makes the rise smaller; the top-up itself is at least the
 * rise.
 */
function evaluate(rule: TopUpRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  if (problem !== null) return unknown(problem);
  const rise = riseOf(rule, facts);
  if (rise === null) return unknown('no earlier reading to compare with');
  const numbers = { value: money(Math.max(0, rise)), threshold: money(rule.atLeastMicros) };
  return rise > 0 && rise >= rule.atLeastMicros ? happened(rule.severity, numbers) : ok(numbers);
}

function factsBehind(rule: TopUpRule, facts: AccountFacts): readonly Fact[] {
  const rise = riseOf(rule, facts);
  const found = [...readingFacts(facts, rule.balance), moneyFact('at least', rule.atLeastMicros)];
  if (rise !== null) found.push(moneyFact('rose by', rise));
  return found;
}

/** Negative for a fall; null without two readings in one currency. */
function riseOf(rule: TopUpRule, facts: AccountFacts): Micros | null {
  const reading = usableReading(facts);
  if (reading === null || facts.previous === null) return null;
  if (!isSameCurrency(facts.previous.currency, reading.currency)) return null;
  return amountOf(reading, rule.balance) - amountOf(facts.previous, rule.balance);
}
