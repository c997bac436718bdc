import { isSameCurrency } from '../domain/money.ts';
import {
  type AccountFacts,
  breached,
  type Evaluation,
  instantFact,
  ok,
  text,
  textFact,
  unknown,
} from './evaluation.ts';
import { allBalances, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';
import { wordLimit, wordValue } from './words.ts';

type CurrencyRule = PlainRule<'currency'>;

const keys = { severity: severityKey.default('critical') };

export const currency: RuleKind<CurrencyRule, InputOf<typeof keys>> = {
  type: 'currency',
  summary: "A currency that is not the account's.",
  keys,
  needsReading: true,
  builtInId: 'currency',
  builtInFor: (account) => account.currency !== null,
  warn: (_rule, accounts) =>
    accounts.some((account) => account.currency === null)
      ? [{ path: [], message: 'says nothing about accounts without a currency in this file' }]
      : [],
  describe: (rule) => `currency differs from the configured one (${rule.severity})`,
  evaluate,
  isSurelyOk: (_rule, { reading, currency: configured }) =>
    reading === null || configured === null || isSameCurrency(reading.currency, configured),
  factsBehind: (_rule, facts) => [
    ...(facts.reading === null
      ? []
      : [textFact('currency', facts.reading.currency), instantFact('read at', facts.reading.at)]),
    ...(facts.currency === null ? [] : [textFact('configured currency', facts.currency)]),
  ],
  wouldNotFire: (_rule, { reading }) =>
    reading === null
      ? null
      : `It would not fire if the account's currency were configured as ${reading.currency}.`,
  subject: () => 'currency changed',
  firing: (item, frame) => {
    const limit = wordLimit(item, frame);
    return `currency is ${wordValue(item, frame) ?? 'another'}${limit === null ? '' : `, expected ${limit}`}`;
  },
  resolved: (item, frame) => `currency is ${wordValue(item, frame) ?? 'as expected'} again`,
  recovery: 'Resolved: the balance is in the expected currency again.',
  figures: (item, frame) => [
    ...figure('Currency', wordValue(item, frame)),
    ...figure('Expected', wordLimit(item, frame)),
    ...(item.account === null ? [] : allBalances(item.account)),
    ...readingFigures(item, frame),
  ],
  advice: () => [
    'Ask the provider why the currency changed. Until it is as expected, balance rules are paused for this account, except the below-zero check. If the change is right, set "currency" of the account in the configuration.',
  ],
};

/** Breached when the reading's currency differs from the configured one. */
function evaluate(rule: CurrencyRule, facts: AccountFacts): Evaluation {
  if (facts.currency === null) return unknown('no currency configured');
  if (facts.reading === null) return unknown('no reading yet');
  const numbers = { value: text(facts.reading.currency), threshold: text(facts.currency) };
  return isSameCurrency(facts.reading.currency, facts.currency)
    ? ok(numbers)
    : breached(rule.severity, numbers);
}

function figure(label: string, value: string | null) {
  return value === null ? [] : [{ label, value }];
}
