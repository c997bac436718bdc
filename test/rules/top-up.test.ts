import { expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { factsAfter, readingAt, topUpRule, units, verdict } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

test.each<[string, readonly Reading[], string]>([
  ['a rise of the least amount is reported', [readingAt(0, 10), readingAt(5, 10.01)], 'event info'],
  ['a rise below the least amount is not', [readingAt(0, 10), readingAt(5, 10.009999)], 'ok'],
  ['a fall is not', [readingAt(0, 10), readingAt(5, 9)], 'ok'],
  ['the same balance is not', [readingAt(0, 10), readingAt(5, 10)], 'ok'],
  ['a rise out of an overdraft is reported', [readingAt(0, -18.383), readingAt(5, 481.617)], 'event info'],
  ['a rise over a gap is reported', [readingAt(0, 10), readingAt(900, 20)], 'event info'],
  ['the first reading has nothing to compare with', [readingAt(0, 10)], 'unknown'],
  ['two currencies are never compared', [readingAt(0, 10, { currency: 'EUR' }), readingAt(5, 80)], 'unknown'],
  [
    'another currency than the configured one is not judged',
    [readingAt(0, 1, { currency: 'EUR' }), readingAt(5, 9, { currency: 'EUR' })],
    'unknown',
  ],
])('%s', (_, readings, expected) => {
  expect(verdict(evaluate(topUpRule(), factsAfter(readings), null))).toBe(expected);
});

test('the value is the rise', () => {
  const facts = factsAfter([readingAt(0, -18.383), readingAt(5, 481.617)]);
  expect(evaluate(topUpRule(), facts, null).value).toEqual({ unit: 'money', micros: units(500) });
});

test('with a least amount of zero, an unchanged balance is still no top-up', () => {
  const facts = factsAfter([readingAt(0, 10), readingAt(5, 10)]);
  expect(verdict(evaluate(topUpRule({ atLeastMicros: 0 }), facts, null))).toBe('ok');
});
