import { describe, expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { dropRule, factsAfter, readingAt, steady, units, verdict } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

const share = dropRule({ by: { kind: 'share', share: 0.25 } });

test.each<[string, ReturnType<typeof dropRule>, readonly Reading[], string]>([
  ['exactly the amount is no breach', dropRule(), steady({ from: 500, perHour: 100, until: 60 }), 'ok'],
  [
    'a millionth more than the amount is a breach',
    dropRule(),
    [...steady({ from: 500, perHour: 0, until: 55 }), readingAt(60, 399.999999)],
    'warning',
  ],
  [
    'exactly the share of the start is no breach',
    share,
    steady({ from: 400, perHour: 100, until: 60 }),
    'ok',
  ],
  [
    'more than the share of the start is a breach',
    share,
    steady({ from: 399, perHour: 100, until: 60 }),
    'warning',
  ],
  [
    'a top-up is not taken for spending',
    dropRule(),
    [...steady({ from: 200, perHour: 100, until: 30 }), readingAt(35, 1000), readingAt(60, 950)],
    'ok',
  ],
  [
    'a top-up hides no spending: both sides of it add up',
    dropRule(),
    [
      ...steady({ from: 200, perHour: 120, until: 30 }),
      readingAt(35, 1000),
      readingAt(45, 970),
      readingAt(60, 959.9),
    ],
    'warning',
  ],
  [
    'what was spent before the window does not count',
    dropRule(),
    [
      ...steady({ from: 900, perHour: 600, until: 60 }),
      ...steady({ from: 300, perHour: 10, until: 60 })
        .slice(1)
        .map((reading) => ({ ...reading, at: reading.at + 3_600_000 })),
    ],
    'ok',
  ],
])('%s', (_, rule, readings, expected) => {
  expect(verdict(evaluate(rule, factsAfter(readings), null))).toBe(expected);
});

describe('a history shorter than the window', () => {
  test('is enough for a breach that is already certain', () => {
    const facts = factsAfter([readingAt(0, 500), readingAt(5, 380)]);
    expect(evaluate(dropRule(), facts, null)).toMatchObject({
      kind: 'breached',
      value: { unit: 'money', micros: units(120) },
      threshold: { unit: 'money', micros: units(100) },
    });
  });

  test('gives no all-clear', () => {
    const facts = factsAfter(steady({ from: 500, perHour: 10, until: 40 }));
    expect(evaluate(dropRule(), facts, 'warning')).toMatchObject({
      kind: 'unknown',
      why: '40 minutes of history, needs 1 hour',
    });
  });

  test('knows no balance to take a share of', () => {
    const facts = factsAfter([readingAt(0, 500), readingAt(5, 1)]);
    expect(verdict(evaluate(share, facts, null))).toBe('unknown');
  });
});

describe('a gap over the start of the window', () => {
  /** Two hours without a poll in which 300 went, then so much within the window. */
  function afterGap(fallInGap: number, fallAfter: number): readonly Reading[] {
    const before = [readingAt(0, 1000)];
    const start = 1000 - fallInGap;
    return [...before, readingAt(120, start), readingAt(125, start), readingAt(130, start - fallAfter)];
  }

  test('what went in the gap alone breaches nothing', () => {
    expect(evaluate(dropRule(), factsAfter(afterGap(300, 5)), null)).toMatchObject({
      kind: 'unknown',
      why: 'polling was interrupted over the start of the window',
    });
  });

  test('what went after the gap is enough for a breach', () => {
    expect(verdict(evaluate(dropRule(), factsAfter(afterGap(300, 101)), null))).toBe('warning');
  });

  test('so little in gap and window together is certainly fine', () => {
    expect(verdict(evaluate(dropRule(), factsAfter(afterGap(60, 40)), null))).toBe('ok');
  });

  test('a top-up in the gap takes that certainty away', () => {
    expect(verdict(evaluate(dropRule(), factsAfter(afterGap(-60, 40)), null))).toBe('unknown');
  });

  test('a share needs to be exceeded of the larger balance, and kept of the smaller', () => {
    expect(verdict(evaluate(share, factsAfter(afterGap(400, 260)), null))).toBe('warning');
    expect(verdict(evaluate(share, factsAfter(afterGap(400, 200)), null))).toBe('unknown');
    expect(verdict(evaluate(share, factsAfter(afterGap(100, 50)), null))).toBe('ok');
  });
});

test('a share of an empty balance means nothing', () => {
  const facts = factsAfter(steady({ from: 0, perHour: 100, until: 60 }));
  expect(evaluate(share, facts, null)).toMatchObject({
    kind: 'unknown',
    why: 'nothing at the start of the window to take a share of',
  });
});

test.each<[string, readonly Reading[]]>([
  ['zero', steady({ from: 0, perHour: 0, until: 60 })],
  ['below zero', steady({ from: -48, perHour: 0, until: 60 })],
  ['below zero over a gap', [0, 5, 10, 15, 20, 80, 85].map((minute) => readingAt(minute, -48))],
])('nothing spent is no drop, whatever the share is of: %s', (_, readings) => {
  expect(verdict(evaluate(share, factsAfter(readings), 'warning'))).toBe('ok');
});

test('what was spent below zero gives no verdict on a share, over a gap too', () => {
  const readings = [0, 5, 10, 15, 20, 80, 85].map((minute) => readingAt(minute, -48 - minute));
  expect(verdict(evaluate(share, factsAfter(readings), 'warning'))).toBe('unknown');
});

test('spending in another currency is another series', () => {
  const euros = steady({ from: 1000, perHour: 500, until: 30 }).map((reading) => ({
    ...reading,
    currency: 'EUR',
  }));
  const facts = factsAfter([...euros, readingAt(35, 100), readingAt(40, 95)]);
  expect(verdict(evaluate(dropRule(), facts, null))).toBe('unknown');
});
