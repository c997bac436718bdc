import { isSameCurrency } from '../domain/money.ts';
import { instant, listFacts, text } from '../domain/quantity.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayLimit, sayValue } from '../wording/quantity-wording.ts';
import { unknown, verdict, why } from './evaluation.ts';
import { allBalances, figure, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';

const says = phrases('currency', {
  subject: 'currency changed',
  firing: 'currency is {currency}, expected {expected}',
  resolved: 'currency is {currency} again',
  asExpected: 'currency is as expected again',
  recovery: 'Resolved: the balance is in the expected currency again.',
  currency: 'Currency',
  expected: 'Expected',
  advice:
    'Ask the provider why the currency changed. Until it is as expected, balance rules are paused for this account, except the below-zero check. If the change is right, set "currency" of the account in the configuration.',
});

const told = sentences('currency', {
  describes: 'currency differs from the configured one ({severity})',
  notConfigured: 'no currency configured',
  notWith: "It would not fire if the account's currency were configured as {currency}.",
});

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
  describe: ({ severity }) => told.describes({ severity }),
  /** Breached when the reading's currency differs from the configured one. */
  evaluate(rule, { currency, reading }) {
    if (currency === null) return unknown(told.notConfigured());
    if (reading === null) return unknown(why.noReading());
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
  wouldNotFire: (_rule, { reading }) => reading && told.notWith({ currency: reading.currency }),
  subject: says.subject,
  firing(item, frame) {
    const [currency, expected] = [sayValue(item, frame), sayLimit(item, frame)];
    return currency === null || expected === null
      ? say(says.subject, frame)
      : say(says.firing, { currency, expected }, frame);
  },
  resolved(item, frame) {
    const currency = sayValue(item, frame);
    return currency === null ? say(says.asExpected, frame) : say(says.resolved, { currency }, frame);
  },
  recovery: () => says.recovery,
  figures: (item, frame) => [
    ...figure(say(says.currency, frame), sayValue(item, frame)),
    ...figure(say(says.expected, frame), sayLimit(item, frame)),
    ...(item.account === null ? [] : allBalances(item.account, frame)),
    ...readingFigures(item, frame),
  ],
  advice: (_item, frame) => [say(says.advice, frame)],
};
