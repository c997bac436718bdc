import { expect, test } from 'vitest';
import { isSameCurrency } from '../../src/domain/money.ts';

test.each([
  ['CNY', 'CNY', true],
  ['CNY', 'cny', true],
  ['CNY', 'CNY ', true],
  ['RMB', 'CNY', true],
  ['rmb', ' Cny', true],
  ['USD', 'CNY', false],
  ['', 'CNY', false],
])('%j and %j: one currency is %s', (one, other, expected) => {
  expect(isSameCurrency(one, other)).toBe(expected);
  expect(isSameCurrency(other, one)).toBe(expected);
});
