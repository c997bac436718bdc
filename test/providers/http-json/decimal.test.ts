import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMicros } from '../../../src/domain/money.ts';
import {
  addDecimals,
  multiplyDecimals,
  parseDecimal,
  toMicros,
} from '../../../src/providers/http-json/decimal.ts';

const decimal = (text: string) => parseDecimal(text) ?? expect.fail(`${text} is no decimal`);

const amounts = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.nat(9_000_000),
    fc.option(fc.nat(10 ** 9)),
    fc.option(fc.integer({ min: -9, max: 3 })),
  )
  .map(([sign, whole, fraction, exponent]) => {
    const places = fraction === null ? '' : `.${fraction}`;
    return `${sign}${whole}${places}${exponent === null ? '' : `e${exponent}`}`;
  });

describe('a decimal', () => {
  test('by itself is what money reads', () => {
    fc.assert(
      fc.property(amounts, (text) => {
        expect(toMicros(decimal(text))).toBe(parseMicros(text));
      }),
    );
  });

  test('less itself is nothing, regardless of its digits', () => {
    fc.assert(
      fc.property(amounts, (text) => {
        expect(toMicros(addDecimals(decimal(text), { ...decimal(text), units: -decimal(text).units }))).toBe(
          0,
        );
      }),
    );
  });

  test.each([
    ['0.1', '0.2', '1', 300_000],
    ['60', '-41.800000000000004', '1', 18_200_000],
    ['3141500', '0', '0.0001', 314_150_000],
    ['25500000000', '0', '0.000000001', 25_500_000],
    ['-1', '0.0000005', '-1', 1_000_000],
    ['9007199254', '0.000001', '1', null],
    ['1e60', '-1e60', '1', 0],
    ['1e-400', '0', '1', 0],
  ])('(%s + %s) · %s is exact to the millionth', (a, b, scale, micros) => {
    expect(toMicros(multiplyDecimals(addDecimals(decimal(a), decimal(b)), decimal(scale)))).toBe(micros);
  });

  test.each([
    '',
    ' ',
    '-',
    '+1',
    '.5',
    '5.',
    '1,5',
    '0x10',
    '1e',
    '1e999999999',
    '1e101',
    '٣',
    '1 000',
    'NaN',
    '1'.repeat(101),
  ])('%j is none', (text) => {
    expect(parseDecimal(text)).toBeNull();
  });
});
