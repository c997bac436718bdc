import { expect, test } from 'vitest';
import { formatBareComputed, formatComputed, formatPayable } from '../../src/wording/quantity-wording.ts';

test.each([
  ['a rate of credits is whole', formatComputed(12_345_678, 'credits'), '12 credits'],
  ['a rate of money has two decimals', formatComputed(12_345_678, 'EUR'), '12.35 EUR'],
  ['a rate below one credit keeps its digits', formatComputed(123_456, 'credits'), '0.1235 credits'],
  ['the currency can stand elsewhere', formatBareComputed(12_345_678, 'messages'), '12'],
  ['what to pay is rounded up to whole credits', formatPayable(1_010_000, 'credits'), '2 credits'],
  ['what to pay is rounded up to cents', formatPayable(1_010_001, 'EUR'), '1.10 EUR'],
])('%s', (_, said, expected) => {
  expect(said).toBe(expected);
});
