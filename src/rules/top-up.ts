import type { MessageItem } from '../domain/message.ts';
import { formatExact, isSameCurrency, type Micros } from '../domain/money.ts';
import { listFacts, money } from '../domain/quantity.ts';
import { amountOf } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { amount } from '../schema/texts.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayRise, type WordingFrame } from '../wording/quantity-wording.ts';
import { balanceKind } from './balance-kind.ts';
import { type AccountFacts, unknown, usableReading, verdict } from './evaluation.ts';
import { severityKey } from './kind.ts';
import * as words from './words.ts';

/** Smaller rises are corrections, not top-ups: the default of `atLeast`. */
export const minTopUpMicros = 10_000;

export interface TopUpRule extends MoneyRule {
  readonly type: 'top-up';
  readonly atLeastMicros: Micros;
}

const says = phrases('toppedUp', {
  subject: '{balance} topped up',
  by: '{balance} topped up by {rise}',
  now: '{balance} topped up by {rise}, now {amount}',
  recovery: 'Resolved: the balance recovered.',
});

const told = sentences('toppedUp', {
  describes: '{balance} topped up by {amount} or more ({severity})',
  nothingBefore: 'no earlier reading to compare with',
  notWith: 'It would not notify with "atLeast" of more than {amount}.',
});

const keys = {
  severity: severityKey.default('info'),
  atLeast: amount('Smaller rises are ignored.', { sign: 'positive' }).prefault('0.01'),
};

export const topUp = balanceKind<TopUpRule, typeof keys>({
  type: 'top-up',
  summary: 'A message when the balance rises. No incident.',
  keys,
  build: (input) => ({ atLeastMicros: input.atLeast }),
  warn: (rule) =>
    rule.forMs + rule.recoverForMs > 0
      ? [{ path: [], message: 'for and recoverFor mean nothing here: a top-up is an event' }]
      : [],
  describe: (rule) =>
    told.describes({
      balance: words.nameBalance(rule),
      amount: formatExact(rule.atLeastMicros),
      severity: rule.severity,
    }),
  /**
   * An event when the balance rose by at least `atLeast` between two neighbouring readings in one currency. Each new reading may be
   * judged once only: judging it again gives the same event again. What was spent between the two readings makes the rise smaller.
   */
  judge(rule, facts) {
    const rise = riseOf(rule, facts);
    if (rise === null) return unknown(told.nothingBefore());
    const calm = verdict(null, money(Math.max(0, rise)), money(rule.atLeastMicros));
    return rise > 0 && rise >= rule.atLeastMicros
      ? { ...calm, kind: 'event', severity: rule.severity }
      : calm;
  },
  isSurelyOk: ({ balance }, { reading, previous }) =>
    reading === null || previous === null || amountOf(reading, balance) <= amountOf(previous, balance),
  factsBehind(rule, facts) {
    const rise = riseOf(rule, facts);
    return listFacts({
      'at least': money(rule.atLeastMicros),
      'rose by': rise === null ? null : money(rise),
    });
  },
  wouldNotFire(rule, { reading }, { value }) {
    const rise = value?.unit === 'money' ? value.micros : rule.atLeastMicros;
    return told.notWith({ amount: words.exactAmount(rise, reading.currency) });
  },
  subject: says.subject,
  firing: sayTopUp,
  resolved: sayTopUp,
  recovery: () => says.recovery,
  judgesSpending: true,
  advice: () => [],
});

function sayTopUp(item: MessageItem, frame: WordingFrame): string {
  const given = words.sayBalanceOf(item, frame);
  if (item.value?.unit !== 'money') return say(says.subject, given, frame);
  const rise = sayRise(item.value.micros, frame);
  const known = item.facts.some(({ name }) => name === 'balance') || (item.account?.reading ?? null) !== null;
  return known ? say(says.now, { ...given, rise }, frame) : say(says.by, { ...given, rise }, frame);
}

/** The rise of the balance: negative for a fall, null without two readings in one currency. */
function riseOf(rule: TopUpRule, facts: AccountFacts): Micros | null {
  const reading = usableReading(facts);
  if (reading === null || facts.previous === null) return null;
  if (!isSameCurrency(facts.previous.currency, reading.currency)) return null;
  return amountOf(reading, rule.balance) - amountOf(facts.previous, rule.balance);
}
