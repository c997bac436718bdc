import { expect, test } from 'vitest';
import { formatPayable, formatRise } from '../../src/wording/quantity-wording.ts';

test.each([
  [2_999_665_707, 'about 3,000.00 CNY'],
  [500_000_000, '500.00 CNY'],
  [1_397_900_000, 'about 1,400.00 CNY'],
  [10_000, '0.01 CNY'],
])('a rise of %i millionths is told as %s', (micros, words) => {
  expect(formatRise(micros, 'CNY')).toBe(words);
});

test.each([
  [4_123_400_000, '4,200.00 CNY'],
  [99_000_000, '99.00 CNY'],
  [101_000_000, '110.00 CNY'],
  [28_753_720_000, '29,000.00 CNY'],
  [120_001, '0.13 CNY'],
])('of %i millionths a person would pay %s', (micros, words) => {
  expect(formatPayable(micros, 'CNY')).toBe(words);
});
