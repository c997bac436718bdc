import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  currencyPattern,
  formatAmount,
  formatBareDistinctFrom,
  formatExact,
  formatMicros,
  formatMoney,
  isFinerThanMicros,
  isSameCurrency,
  parseMicros,
} from '../../src/domain/money.ts';

const limit = 9_007_199_254;

describe('parseMicros', () => {
  const rows: readonly [name: string, digits: string, micros: number | null][] = [
    ['zero', '0', 0],
    ['negative zero is zero', '-0', 0],
    ['negative zero with decimals is zero', '-0.000', 0],
    ['zero with an absurd exponent', '0e999999999999', 0],
    ['a whole number', '12', 12_000_000],
    ['an overdraft', '-18.383', -18_383_000],
    ['float noise heals', '-18.383000000000003', -18_383_000],
    ['float noise of a sum heals', '0.30000000000000004', 300_000],
    ['six decimals are kept', '0.000001', 1],
    ['half a millionth rounds to even, down', '0.0000005', 0],
    ['half a millionth rounds to even, up', '0.0000015', 2],
    ['a little over half rounds up', '0.00000050000000000000000000001', 1],
    ['rounding is symmetric', '-0.0000015', -2],
    ['what rounds to zero has no sign', '-0.0000001', 0],
    ['a small exponent', '1e-7', 0],
    ['a large exponent with sign', '1E+3', 1_000_000_000],
    ['an exponent moves the point to the left', '1234567e-4', 123_456_700],
    ['an exponent moves the point to the right', '1.5e3', 1_500_000_000],
    ['more digits than a float holds', '1234567890.123456', 1_234_567_890_123_456],
    ['the upper limit', `${limit}`, limit * 1e6],
    ['the lower limit', `-${limit}`, -limit * 1e6],
    ['above the limit', `${limit}.000001`, null],
    ['below the limit', `-${limit}.000001`, null],
    ['twenty digits', '12345678901234567890', null],
    ['an exponent that is infinite as a float', '1e400', null],
    ['an exponent of a million digits', `1e${'9'.repeat(1000)}`, null],
    ['a vanishing exponent of a million digits', `1e-${'9'.repeat(1000)}`, 0],
    ['no number', 'abc', null],
    ['empty', '', null],
    ['a plus sign', '+1', null],
    ['a comma', '1,5', null],
    ['a space', ' 1', null],
    ['hexadecimal', '0x10', null],
    ['Infinity', 'Infinity', null],
    ['NaN', 'NaN', null],
    ['a point without digits', '1.', null],
    ['zeros before the digits', '0000000000000000000012.5000000', 12_500_000],
    ['digits of which none is left', '0.00000000000000000000000000000000000001', 0],
    ['an empty whole part after rounding', '-0.0000009', -1],
  ];
  test.each(rows)('%s', (_name, digits, micros) => {
    expect(parseMicros(digits)).toBe(micros);
  });

  test.each(['1e-7', '0.0000001', '-12.50000010', '1234567e-13', '10e-8'])(
    '%s says less than a millionth',
    (digits) => {
      expect(isFinerThanMicros(digits)).toBe(true);
    },
  );

  test.each([
    '0',
    '0.000000000',
    '0e-9',
    '1e-6',
    '10e-7',
    '12.5000000',
    '-0.000001',
    '1E+3',
    '100',
    '1234567e-6',
  ])('%s says no less than a millionth', (digits) => {
    expect(isFinerThanMicros(digits)).toBe(false);
  });

  test('every formatted amount is read back as the same amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: -limit * 1e6, max: limit * 1e6 }), (micros) => {
        expect(parseMicros(formatMicros(micros))).toBe(micros);
        expect(parseMicros(formatExact(micros))).toBe(micros);
      }),
    );
  });

  test('digits, point and exponent mean what exact arithmetic says', () => {
    const input = fc.record({
      negative: fc.boolean(),
      whole: fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fraction: fc.stringMatching(/^[0-9]{0,20}$/),
      exponent: fc.integer({ min: -12, max: 8 }),
    });
    fc.assert(
      fc.property(input, ({ negative, whole, fraction, exponent }) => {
        const text = `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}e${exponent}`;
        expect(parseMicros(text)).toBe(
          exactMicros({ negative, digits: BigInt(whole + fraction), shift: exponent - fraction.length + 6 }),
        );
      }),
    );
  });
});

/** Half to even over integers, written apart from the product. */
function exactMicros({
  negative,
  digits,
  shift,
}: {
  negative: boolean;
  digits: bigint;
  shift: number;
}): number | null {
  const scale = 10n ** BigInt(Math.abs(shift));
  let magnitude = shift >= 0 ? digits * scale : digits / scale;
  if (shift < 0) {
    const twice = (digits % scale) * 2n;
    if (twice > scale || (twice === scale && magnitude % 2n === 1n)) magnitude += 1n;
  }
  if (magnitude > BigInt(limit) * 1_000_000n) return null;
  return magnitude === 0n ? 0 : Number(negative ? -magnitude : magnitude);
}

test('short amounts are read as all others are, which an exponent of 0 makes of them', () => {
  const digits = fc.stringMatching(/^[0-9]{0,11}$/);
  const amount = fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.', '..'), digits)
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(amount, (text) => {
      expect(parseMicros(text)).toBe(parseMicros(`${text}e0`));
    }),
  );
});

describe('formatting', () => {
  const rows: readonly [micros: number, decimal: string, money: string][] = [
    [0, '0', '0.00'],
    [-18_383_000, '-18.383', '-18.383'],
    [20_000_000, '20', '20.00'],
    [1, '0.000001', '0.000001'],
    [-1, '-0.000001', '-0.000001'],
    [12_500_000, '12.5', '12.50'],
    [limit * 1e6, '9007199254', '9007199254.00'],
  ];
  test.each(rows)('%i millionths', (micros, decimal, money) => {
    expect(formatMicros(micros)).toBe(decimal);
    expect(formatExact(micros)).toBe(money);
  });

  test.each([
    [-18_383_000, '-18.38'],
    [1_234_567_891, '1,234.57'],
    [-1_234_567_000_000, '-1,234,567.00'],
    [999_999_999, '1,000.00'],
    [37_500, '0.0375'],
    [-500_000, '-0.50'],
    [0, '0.00'],
  ])('%i millionths for people', (micros, money) => {
    expect(formatMoney(micros)).toBe(money);
  });

  test('an amount names its currency where one is known', () => {
    expect(formatAmount(20_000_000, 'CNY')).toBe('20.00 CNY');
    expect(formatAmount(20_000_000, null)).toBe('20.00');
    expect(formatAmount(20_000_000, '')).toBe('20.00');
  });
});

describe('an amount next to another', () => {
  test.each([
    ['shows every digit where rounding would make them equal', 199_999_999, 200_000_000, '199.999999'],
    ['is rounded where it still differs', 199_989_999, 200_000_000, '199.99'],
    ['is rounded where both are the same', 1_234_567_891, 1_234_567_891, '1,234.57'],
    ['keeps its thousands apart with every digit', 1_999_999_999, 2_000_000_000, '1,999.999999'],
  ])('%s', (_name, micros, other, text) => {
    expect(formatBareDistinctFrom(micros, other, 'CNY')).toBe(text);
  });

  test.each([
    ['below its limit', 199_600_000, 200_000_000, '199'],
    ['further below zero than its limit', -3_400_000, -3_000_000, '-4'],
    ['above its limit', 200_400_000, 200_000_000, '201'],
    ['beside a limit that is whole', 200_000_000, 199_600_000, '200'],
    ['that reads otherwise anyway', 198_600_000, 200_000_000, '199'],
    ['of thousands', 1_199_600_000, 1_200_000_000, '1,199'],
  ])('keeps a unit %s whole, and never lets it read as reaching it', (_name, micros, other, text) => {
    expect(formatBareDistinctFrom(micros, other, 'credits')).toBe(text);
  });

  test('has no currency where none is known', () => {
    expect(formatBareDistinctFrom(199_999_999, 200_000_000, null)).toBe('199.999999');
  });
});

test.each([
  [1_000_000, '1 credits'],
  [1_499_999, '1 credits'],
  [12_345_400_000, '12,345 credits'],
  [1_234_567_000_000, '1,234,567 credits'],
  [1234, '0.001234 credits'],
  [-500_000, '-0.5 credits'],
])('%i millionths of a unit are whole for people, but below 1', (micros, text) => {
  expect(formatAmount(micros, 'credits')).toBe(text);
});

test('one unit of money has two decimals', () => {
  expect(formatMoney(1_000_000)).toBe('1.00');
  expect(formatMoney(1_000_001)).toBe('1.00');
});

describe('the name of a currency', () => {
  test.each(['CNY', '￥', 'SMS credits', 'a', 'x'.repeat(16), ' €'])('may be %j', (name) => {
    expect(currencyPattern.test(name)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['blanks alone', '   '],
    ['17 characters', 'x'.repeat(17)],
    ['a line break', 'CNY\n'],
    ['a control character', 'C\u0007Y'],
    ['a character that nobody sees', 'C\u200bY'],
    ['half of a pair', 'C\ud800Y'],
    ['a line separator', 'C\u2028Y'],
    ['a paragraph separator', 'C\u2029Y'],
  ])('is not %s', (_name, name) => {
    expect(currencyPattern.test(name)).toBe(false);
  });

  test('means the same trimmed and in either case', () => {
    expect(isSameCurrency('CNY', ' rmb ')).toBe(true);
    expect(isSameCurrency('usd', 'USD')).toBe(true);
    expect(isSameCurrency('USD', 'CNY')).toBe(false);
  });
});
