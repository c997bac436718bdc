import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstPolls, nextOnGrid } from '../../src/domain/backoff.ts';

const minute = 60_000;

describe('first polls', () => {
  test('of up to 100 accounts all come within two seconds, each at its own instant', () => {
    const first = firstPolls(Array(100).fill(5 * minute)).map(({ firstMs }) => firstMs);
    expect(Math.max(...first)).toBeLessThan(2000);
    expect(new Set(first).size).toBe(100);
  });

  test('of accounts with a short interval come within it', () => {
    for (const { firstMs } of firstPolls(Array(10).fill(1000))) expect(firstMs).toBeLessThan(1000);
  });

  test('of many come within 30 s and within the interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 101, max: 20_000 }),
        fc.integer({ min: 1000, max: 3_600_000 }),
        (count, intervalMs) => {
          const limit = Math.min(30_000, intervalMs);
          // One assertion of all: each costs more than what it looks at.
          const polls = firstPolls(Array(count).fill(intervalMs));
          expect(polls.every(({ firstMs }) => firstMs >= 0 && firstMs <= limit)).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('of many are followed by later ones that are spread over the whole interval', () => {
    const intervalMs = 5 * minute;
    const phases = firstPolls(Array(1000).fill(intervalMs)).map(({ phaseMs }) => phaseMs % intervalMs);
    const sorted = phases.toSorted((left, right) => left - right);
    const gaps = sorted.slice(1).map((phase, index) => phase - (sorted[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(2 * (intervalMs / 1000));
  });

  test('that lie close together share an instant: five of fifty a second, and at the most', () => {
    const share = (count: number, intervalMs: number): number[] => {
      const phases = firstPolls(Array(count).fill(intervalMs)).map(({ phaseMs }) => phaseMs % intervalMs);
      return [...Map.groupBy(phases, (phase) => phase).values()].map((same) => same.length);
    };
    expect(new Set(share(1000, 20_000))).toEqual(new Set([5]));
    expect(new Set(share(10_000, 20_000))).toEqual(new Set([5]));
    expect(Math.max(...share(6000, 1000))).toBe(5);
    expect(new Set(share(1000, 5 * minute))).toEqual(new Set([1]));
  });

  test('and the second ones are at least half an interval apart, so that the start is no burst', () => {
    const intervalMs = 5 * minute;
    for (const { firstMs, phaseMs } of firstPolls(Array(500).fill(intervalMs))) {
      expect(phaseMs - firstMs).toBeGreaterThanOrEqual(intervalMs / 2);
    }
  });
});

describe('the next instant on a grid', () => {
  test.each([
    ['before the phase it is the phase', 1000, 300, 200, 1000],
    ['at the phase it is the one after', 1000, 300, 1000, 1300],
    ['between two it is the later', 1000, 300, 1450, 1600],
    ['long after the phase it still lies on the grid', 1000, 300, 1_000_000, 1_000_300],
  ])('%s', (_, phase, interval, now, expected) => {
    expect(nextOnGrid(phase, interval, now)).toBe(expected);
  });

  test('is always later than now, by no more than an interval once the phase has passed', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.integer({ min: 1, max: 1e7 }), fc.nat(2e9), (phase, interval, now) => {
        const next = nextOnGrid(phase, interval, now);
        expect(next > now).toBe(true);
        if (now >= phase) expect(next - now).toBeLessThanOrEqual(interval);
      }),
    );
  });
});
