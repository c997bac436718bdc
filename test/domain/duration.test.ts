import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeDuration, formatDuration, parseDuration } from '../../src/domain/time.ts';

describe('parseDuration', () => {
  const rows: readonly [text: string, ms: number | null][] = [
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['500ms', 500],
    ['0s', 0],
    ['1d2h3m4s5ms', 93_784_005],
    ['', null],
    ['5', null],
    ['m', null],
    ['-5m', null],
    ['1.5h', null],
    ['5 m', null],
    ['30m1h', null],
    ['1h1h', null],
    ['5M', null],
    ['99999999999999999d', null],
  ];
  test.each(rows)('"%s"', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
});

test('a formatted duration is read back as the same one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e13 }), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test.each([
  [0, '0s'],
  [0.4, '0s'],
  [5_400_000, '1h30m'],
  [-90_000, '-1m30s'],
])('%d ms in configuration notation', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [0, '0 ms'],
  [999.7, '1 second'],
  [1000, '1 second'],
  [12_000, '12 seconds'],
  [90_000, '1 minute 30 seconds'],
  [273_600_000, '3 days 4 hours'],
  [86_400_000, '1 day'],
  [-60_000, '1 minute'],
])('%d ms in words', (ms, words) => {
  expect(describeDuration(ms)).toBe(words);
});
