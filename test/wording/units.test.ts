import { expect, test } from 'vitest';
import { english, makeLanguage } from '../../src/wording/language.ts';
import { sayComputed, sayPayable } from '../../src/wording/quantity-wording.ts';

const inCurrency = (currency: string) => ({ language: english, currency });

test.each([
  ['a rate of credits is whole', sayComputed(12_345_678, inCurrency('credits')), '12 credits'],
  [
    'thousands of credits are separated',
    sayComputed(1_012_345_000_000, inCurrency('credits')),
    '1,012,345 credits',
  ],
  [
    'a name with another character is no unit',
    sayComputed(12_345_678, inCurrency('2credits')),
    '12.35 2credits',
  ],
  [
    'so is one that is too long',
    sayComputed(12_345_678, inCurrency('credits-of-a-long-name')),
    '12.35 credits-of-a-long-name',
  ],
  ['a rate of money has two decimals', sayComputed(12_345_678, inCurrency('EUR')), '12.35 EUR'],
  ['a rate below one credit keeps its digits', sayComputed(123_456, inCurrency('credits')), '0.1235 credits'],
  ['a rate below the fourth decimal keeps all', sayComputed(24, inCurrency('CNY')), '0.000024 CNY'],
  ['what to pay is rounded up to whole credits', sayPayable(1_010_000, inCurrency('credits')), '2 credits'],
  ['what to pay is rounded up to cents', sayPayable(1_010_001, inCurrency('EUR')), '1.10 EUR'],
])('%s', (_, said, expected) => {
  expect(said).toBe(expected);
});

test.each([
  ['es', '12,5\u00a0%'],
  ['tr', '12,5%'],
])('a share keeps its figure in %s, wherever the sign stands in that language', (id, said) => {
  expect(makeLanguage(id, {}, (sentence) => ({ format: () => sentence })).figure('12.5%')).toBe(said);
});
