import type { MessageItem } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import { listFacts, money } from '../domain/quantity.ts';
import { amountOf, emptyLevel } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { amount } from '../schema/texts.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayBareAmount } from '../wording/quantity-wording.ts';
import { balanceKind } from './balance-kind.ts';
import { verdict } from './evaluation.ts';
import { severityKey } from './kind.ts';
import * as ladder from './ladder.ts';
import * as words from './words.ts';

export interface NegativeRule extends MoneyRule {
  readonly type: 'negative';
  readonly hysteresisMicros: Micros;
}

const says = phrases('negative', {
  subject: '{balance} negative',
  zero: 'zero',
  usedUp: '{balance} {amount} is used up, the credit ends at {end}',
  resolved: '{balance} {amount}, no longer negative',
  recovery: 'Resolved: the balance recovered.',
  below: 'below {limit}',
  atMost: '{limit} or less',
});

const told = sentences('negative', {
  describes: '{balance} below zero ({severity})',
  isBack: 'The balance is no longer negative; with a hysteresis of {amount} or less it would have resolved.',
  alwaysZero:
    'Its threshold is always zero; a rule of type "below" with a threshold of {amount} or less would not fire.',
});

const keys = {
  severity: severityKey.default('critical'),
  hysteresis: amount('How far above zero the balance must rise before the alert resolves.', {
    sign: 'not-negative',
  }).prefault(0),
};

export const negative = balanceKind<NegativeRule, typeof keys>({
  type: 'negative',
  summary: 'A balance below zero.',
  keys,
  builtInId: 'negative',
  suggest: (micros) => (micros < 0 ? {} : null),
  floorMicros: (_, empty) => empty,
  emptinessRank: 0,
  build: (input) => ({ hysteresisMicros: input.hysteresis }),
  describe: (rule) =>
    words.describeHysteresis(told.describes({ balance: words.nameBalance(rule), severity: rule.severity }), {
      kind: 'amount',
      micros: rule.hysteresisMicros,
    }),
  inAnyCurrency: true,
  /** Resolved at 0 + hysteresis. If the provider gives credit, critical at any severity once that is used up. */
  judge(rule, facts, firing) {
    const balance = amountOf(facts.reading, rule.balance);
    const floorMicros = emptyLevel(facts, rule.balance);
    const limit = firing === null ? 0 : Math.max(0, rule.hysteresisMicros);
    if (floorMicros < 0 && balance <= floorMicros)
      return verdict('critical', money(balance), money(floorMicros));
    return verdict(balance < limit ? rule.severity : null, money(balance), money(0));
  },
  isSurelyOk: ({ balance }, { reading }) => reading === null || amountOf(reading, balance) > 0,
  factsBehind(rule, facts) {
    const floorMicros = emptyLevel(facts, rule.balance);
    return listFacts({
      [ladder.told.below(rule)]: money(0),
      'critical, used up, at': floorMicros < 0 ? money(floorMicros) : null,
      'resolves at': money(rule.hysteresisMicros),
    });
  },
  wouldNotFire(rule, { reading }) {
    const balance = amountOf(reading, rule.balance);
    const amount = words.exactAmount(balance, reading.currency);
    return balance >= 0 ? told.isBack({ amount }) : told.alwaysZero({ amount });
  },
  clearsAt: (rule) => rule.hysteresisMicros,
  levels: (rule) => ({ [rule.severity]: 0 }),
  subject: says.subject,
  firing(item, frame) {
    const end = creditEnd(item);
    if (end === null) return words.sayLowBalance(item, say(says.zero, frame), frame);
    const given = { ...words.sayBalanceOf(item, frame), end: sayBareAmount(end, frame) };
    return words.sayNeed(item, frame) ?? say(says.usedUp, given, frame);
  },
  resolved: (item, frame) => say(says.resolved, words.sayBalanceOf(item, frame), frame),
  recovery: () => says.recovery,
  threshold: (item) => (creditEnd(item) === null ? says.below : says.atMost),
  advice: words.topUpAdvice,
});

/** The end of the credit, if the balance has used it up; else null. */
function creditEnd({ threshold }: MessageItem): Micros | null {
  return threshold?.unit === 'money' && threshold.micros < 0 ? threshold.micros : null;
}
