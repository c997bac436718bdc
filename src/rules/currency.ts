import { isSameCurrency } from '../domain/money.ts';
import { instant, listFacts, text } from '../domain/quantity.ts';
import { unknown, verdict } from './evaluation.ts';
import { allBalances, figure, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';
import { clause, wordLimit, wordValue } from './words.ts';

const keys = { severity: severityKey.default('critical') };

export const currency: RuleKind<PlainRule<'currency'>, InputOf<typeof keys>> = {
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
  /** Breached when the reading's currency differs from the configured one. */
  evaluate(rule, { currency, reading }) {
    if (currency === null) return unknown('no currency configured');
    if (reading === null) return unknown('no reading yet');
    const isSame = isSameCurrency(reading.currency, currency);
    return verdict(isSame ? null : rule.severity, text(reading.currency), text(currency));
  },
  isSurelyOk: (_rule, { reading, currency: configured }) =>
    reading === null || configured === null || isSameCurrency(reading.currency, configured),
  factsBehind: (_rule, { reading, currency }) =>
    listFacts({
      currency: reading && text(reading.currency),
      'read at': reading && instant(reading.at),
      'configured currency': currency === null ? null : text(currency),
    }),
  wouldNotFire: (_rule, { reading }) =>
    reading && `It would not fire if the account's currency were configured as ${reading.currency}.`,
  subject: () => 'currency changed',
  firing: (item, frame) =>
    `currency is ${wordValue(item, frame) ?? 'another'}${clause(', expected ', wordLimit(item, frame))}`,
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
