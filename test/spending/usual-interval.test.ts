import { expect, test } from 'vitest';
import { createGapFinder } from '../../src/spending/usual-interval.ts';

const second = 1000;
const minute = 60 * second;

/** Which of these intervals, one after another, are gaps. */
function gapsAmong(configuredMs: number, intervals: readonly number[]): number[] {
  const isGap = createGapFinder(configuredMs);
  return intervals.filter((ms) => isGap(ms));
}

const often = (ms: number, count: number): number[] => Array.from({ length: count }, () => ms);

test('a long time between two readings is a gap', () => {
  expect(gapsAmong(5 * minute, [...often(5 * minute, 10), 60 * minute, ...often(5 * minute, 10)])).toEqual([
    60 * minute,
  ]);
});

test('readings at the pace of their time are no gaps, however short the interval has become since', () => {
  const gaps = gapsAmong(10 * second, [...often(5 * minute, 100), ...often(10 * second, 100)]);
  expect(gaps.length).toBeLessThanOrEqual(2);
});

test('after the pace has changed, gaps are judged by the new one', () => {
  const intervals = [...often(5 * minute, 10), ...often(10 * second, 10), 5 * minute];
  expect(gapsAmong(10 * second, intervals).at(-1)).toBe(5 * minute);
});

test('a gap after a gap is one as well', () => {
  expect(gapsAmong(minute, [minute, 90 * minute, minute, 60 * minute, minute])).toEqual([
    90 * minute,
    60 * minute,
  ]);
});

test('where the interval has become longer, what was read more often has no gaps in it', () => {
  expect(gapsAmong(5 * minute, [...often(10 * second, 10), 5 * minute, 5 * minute])).toEqual([]);
});
