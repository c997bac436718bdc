import type { MessageItem } from '../domain/message.ts';
import { formatBare, type Micros } from '../domain/money.ts';
import { amountOf } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { amount } from '../schema/texts.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  breached,
  type Evaluation,
  money,
  moneyFact,
  ok,
  readingFacts,
  unknown,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, moneyKeys, type RuleKind, severityKey } from './kind.ts';
import {
  currentAmount,
  describeHysteresis,
  exactAmount,
  moneyOf,
  nameBalance,
  topUpAdvice,
  wordLowBalance,
} from './words.ts';

export interface NegativeRule extends MoneyRule {
  readonly type: 'negative';
  readonly hysteresisMicros: Micros;
}

const keys = {
  ...moneyKeys,
  severity: severityKey.default('critical'),
  hysteresis: amount('How far above zero the balance must rise before the alert resolves.', {
    sign: 'not-negative',
  }).prefault(0),
};

export const negative: RuleKind<NegativeRule, InputOf<typeof keys>> = {
  type: 'negative',
  summary: 'A balance below zero.',
  keys,
  needsReading: true,
  builtInId: 'negative',
  suggest: (micros) => (micros < 0 ? {} : null),
  floorMicros: (_, empty) => empty,
  emptinessRank: 0,
  build: (input) => ({ hysteresisMicros: input.hysteresis }),
  describe: (rule) =>
    `${nameBalance(rule)} below zero (${rule.severity})${describeHysteresis({ kind: 'amount', micros: rule.hysteresisMicros })}`,
  evaluate,
  isSurelyOk: ({ balance }, { reading }) => reading === null || amountOf(reading, balance) > 0,
  factsBehind: (rule, facts) => [
    ...readingFacts(facts, rule.balance),
    moneyFact(`${rule.severity} below`, 0),
    ...(facts.floorMicros < 0 ? [moneyFact('critical, used up, at', facts.floorMicros)] : []),
    moneyFact('resolves at', rule.hysteresisMicros),
  ],
  wouldNotFire,
  clearsAt: (rule) => rule.hysteresisMicros,
  levels: (rule) => ({ [rule.severity]: 0 }),
  subject: (about) => `${moneyOf(about)} balance negative`,
  firing: wordFiring,
  resolved: (item, frame) => `${moneyOf(item)} balance${currentAmount(item, frame)}, no longer negative`,
  recovery: 'Resolved: the balance recovered.',
  figures: (item, frame) =>
    moneyFigures(item, frame, {
      threshold: (limit) => (creditEnd(item) === null ? `below ${limit}` : `${limit} or less`),
      valueIsBalance: true,
    }),
  advice: topUpAdvice,
};

function wordFiring(item: MessageItem, frame: WordingFrame): string {
  const end = creditEnd(item);
  if (end === null) return wordLowBalance(item, frame, () => 'zero');
  return `${moneyOf(item)} balance${currentAmount(item, frame)} is used up, the credit ends at ${formatBare(end, frame.currency)}`;
}

/** The end of the credit, where the balance has used it up; else null. */
function creditEnd({ threshold }: MessageItem): Micros | null {
  return threshold?.unit === 'money' && threshold.micros < 0 ? threshold.micros : null;
}

/**
 * Breached when balance < 0, in whatever currency; resolved when balance ≥ 0 + hysteresis. Where the provider gives
 * credit, it is critical, whatever the rule's severity, once that is used up.
 */
function evaluate(rule: NegativeRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const { reading } = facts;
  if (reading === null) return unknown('no reading yet');
  const balance = amountOf(reading, rule.balance);
  const limit = firing === null ? 0 : Math.max(0, rule.hysteresisMicros);
  const usedUp = facts.floorMicros < 0 && balance <= facts.floorMicros;
  const numbers = { value: money(balance), threshold: money(usedUp ? facts.floorMicros : 0) };
  if (usedUp) return breached('critical', numbers);
  return balance < limit ? breached(rule.severity, numbers) : ok(numbers);
}

function wouldNotFire(rule: NegativeRule, { reading }: AccountFacts): string | null {
  if (reading === null) return null;
  const balance = amountOf(reading, rule.balance);
  if (balance >= 0) {
    const room = exactAmount(balance, reading.currency);
    return `The balance is no longer negative; with a hysteresis of ${room} or less it would have resolved.`;
  }
  return `Its threshold is always zero; a rule of type "below" with a threshold of ${exactAmount(balance, reading.currency)} or less would not fire.`;
}
