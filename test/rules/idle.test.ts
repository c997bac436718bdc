import { expect, test } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { factsAfter, hourMs, idleRule, readingAt, steady, verdict } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';

/** Spends until minute 30, then nothing until the given minute. */
function spendingStopped(until: number): Reading[] {
  const still = steady({ from: 70, perHour: 0, until }).filter((reading) => reading.at > readingAt(30, 0).at);
  return [...steady({ from: 100, perHour: 60, until: 30 }), ...still];
}

test.each<[string, readonly Reading[], string]>([
  ['spending within the window is fine', spendingStopped(85), 'ok'],
  ['nothing spent for the whole window is a breach', spendingStopped(90), 'warning'],
  [
    'nothing spent in all the history that covers the window is a breach',
    steady({ from: 5, perHour: 0, until: 60 }),
    'warning',
  ],
  ['nothing spent in a shorter history is no verdict', steady({ from: 5, perHour: 0, until: 55 }), 'unknown'],
  ['spending seen in a shorter history is fine', steady({ from: 5, perHour: 1, until: 10 }), 'ok'],
  ['spending again resolves', [...spendingStopped(120), readingAt(125, 69.999999)], 'ok'],
  ['a top-up is no spending', [...spendingStopped(90), readingAt(95, 500)], 'warning'],
  [
    'a gap with the same balance before and after is no time without spending: the clock may have stepped',
    [...spendingStopped(45), readingAt(95, 70)],
    'unknown',
  ],
  ['a top-up at the end of a gap may hide spending', [...spendingStopped(45), readingAt(95, 90)], 'unknown'],
  [
    'watched time before and after a gap counts together',
    [
      ...steady({ from: 70, perHour: 0, until: 30 }),
      ...steady({ from: 70, perHour: 0, until: 400 }).filter(({ at }) => at >= readingAt(370, 0).at),
    ],
    'warning',
  ],
  ['a fall over a gap is spending', [...spendingStopped(45), readingAt(95, 69)], 'ok'],
  [
    'a gap that reaches back past the window, with the same balance, is no verdict',
    [readingAt(0, 70), readingAt(300, 70)],
    'unknown',
  ],
  [
    'a gap that reaches back past the window, with a top-up, is no verdict',
    [readingAt(0, 70), readingAt(300, 80)],
    'unknown',
  ],
])('%s', (_, readings, expected) => {
  expect(verdict(evaluate(idleRule(), factsAfter(readings), null))).toBe(expected);
});

test('the value is the time since spending was last seen', () => {
  expect(evaluate(idleRule(), factsAfter(spendingStopped(150)), null)).toMatchObject({
    value: { unit: 'duration', ms: 2 * hourMs },
    threshold: { unit: 'duration', ms: hourMs },
  });
});

test('no verdict says how much history there is', () => {
  expect(evaluate(idleRule(), factsAfter(steady({ from: 5, perHour: 0, until: 20 })), null)).toMatchObject({
    why: '20 minutes of history, needs 1 hour',
  });
});
