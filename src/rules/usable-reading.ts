import { isSameCurrency } from '../domain/currency.ts';
import type { Fact } from '../domain/quantity.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import type { AccountFacts } from './evaluation.ts';
import { instantFact, moneyFact, textFact } from './verdict.ts';

/** Why money rules cannot judge the account's newest reading; null when they can. */
export function unusable(facts: AccountFacts): string | null {
  if (facts.reading === null) return 'no reading yet';
  if (facts.currency !== null && !isSameCurrency(facts.currency, facts.reading.currency)) {
    return `the reading is in ${facts.reading.currency}, the account is configured in ${facts.currency}`;
  }
  return null;
}

export function usableReading(facts: AccountFacts): Reading | null {
  return unusable(facts) === null ? facts.reading : null;
}

/** The judged reading and the one before it: a jump may mean that the provider changed its unit. */
export function readingFacts(facts: AccountFacts, balance: Balance): Fact[] {
  const { reading, previous } = facts;
  if (reading === null) return [];
  const found = [
    moneyFact('balance', amountOf(reading, balance)),
    textFact('currency', reading.currency),
    instantFact('read at', reading.at),
  ];
  if (previous !== null && isSameCurrency(previous.currency, reading.currency)) {
    found.push(
      moneyFact('previous balance', amountOf(previous, balance)),
      instantFact('previously read at', previous.at),
    );
  }
  return found;
}
