import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { money } from '../../src/domain/quantity.ts';
import type { Ladder } from '../../src/domain/rule.ts';
import type { Severity } from '../../src/domain/severity.ts';
import type { KeyReader } from '../../src/rules/kind.ts';
import {
  breachedStep,
  buildLadder,
  checkLadder,
  checkOrder,
  currencyStepsKey,
  describeLadders,
  readAmount,
  readDuration,
  stepsKey,
  stepVerdict,
  told,
  worstOf,
} from '../../src/rules/ladder.ts';
import { minuteMs, units } from '../support/account-facts.ts';

const ladder: Ladder<number> = { warning: 200, critical: 50 };

test.each<[string, number, Severity | null, Severity | null]>([
  ['at a threshold is not below it', 200, null, null],
  ['is the worst that is breached', 49, null, 'critical'],
  ['is kept until the value is where it resolves', 219, 'warning', 'warning'],
  ['is left where it resolves', 220, 'warning', null],
  ['that is milder than what fires is kept in its place', 60, 'critical', 'warning'],
  ['that is worse than what fires is not reached early', 54, 'warning', 'warning'],
  ['that nothing fires of is not kept', 219, null, null],
])('a step of a ladder %s', (_, value, firing, expected) => {
  expect(breachedStep(ladder, { value, firing }, (threshold) => threshold + threshold / 10)).toBe(expected);
});

test('a verdict has the limit of the breached step, of the mildest where none is, and of no step none', () => {
  const limitOf = (steps: Ladder<number>, severity: Severity | null) =>
    stepVerdict(steps, severity, { value: money(1), limit: money }).threshold;
  expect(limitOf(ladder, 'critical')).toEqual(money(50));
  expect(limitOf(ladder, null)).toEqual(money(200));
  expect(limitOf({}, null)).toBeNull();
});

test.each([
  ['its steps', { thresholds: ladder }, '50 (critical), 200 (warning)'],
  [
    'those by currency after them',
    { thresholds: ladder, thresholdsByCurrency: { CNY: { warning: 1500 }, EUR: { info: 9 } } },
    '50 (critical), 200 (warning); in CNY 1500 (warning); in EUR 9 (info)',
  ],
  [
    'those by currency alone',
    { thresholds: {}, thresholdsByCurrency: { CNY: { warning: 1500 } } },
    'in CNY 1500 (warning)',
  ],
  [
    'those by currency where none were written',
    { thresholdsByCurrency: { CNY: { info: 1 } } },
    'in CNY 1 (info)',
  ],
])('a ladder is described by %s', (_, ladders, expected) => {
  expect(describeLadders(ladders, String)).toBe(expected);
});

test('the figures of a step say its severity', () => {
  const severity = 'critical';
  expect([told.below({ severity }), told.within({ severity }), told.resolvesAt({ severity })]).toEqual([
    'critical below',
    'critical within',
    'critical resolves at',
  ]);
});

describe('a ladder that is built', () => {
  const single = { threshold: 7, severity: 'warning' } as const;

  test.each([
    ['of one threshold has one step', {}, single, { thresholds: { warning: 7 }, severity: 'warning' }],
    ['is the written one', { thresholds: ladder }, single, { thresholds: ladder, severity: 'critical' }],
    [
      'of nothing but currencies has no step of its own, and the currencies by their codes',
      { thresholdsByCurrency: { rmb: { critical: 5 } } },
      { ...single, threshold: undefined },
      { thresholds: {}, severity: 'info', thresholdsByCurrency: { CNY: { critical: 5 } } },
    ],
  ])('%s', (_, written, one, expected) => {
    expect(buildLadder(written, one)).toStrictEqual(expected);
  });

  test('without steps reaches nothing worse than info', () => {
    expect(worstOf({})).toBe('info');
  });
});

describe('keys of ladders', () => {
  test('ask for the threshold of each severity, and for one at least', () => {
    const words: string[] = [];
    const key = stepsKey('Levels.', (word) => {
      words.push(word);
      return z.number();
    });
    expect(words).toEqual(['info', 'warning', 'critical']);
    expect(key.unwrap().meta()).toEqual({ description: 'Levels.', minProperties: 1 });
    expect(key.safeParse(undefined).success).toBe(true);
    expect(key.safeParse({ critical: 5 }).success).toBe(true);
    expect(key.safeParse({}).error?.issues).toMatchObject([
      { message: 'must name a threshold for info, warning or critical' },
    ]);
  });

  test('by currency hold a ladder each', () => {
    const key = currencyStepsKey(() => z.number());
    expect(key.safeParse({ EUR: { info: 5 } }).success).toBe(true);
    expect(key.safeParse(5).error?.issues).toMatchObject([
      { message: 'must be an object with thresholds for one currency or more' },
    ]);
    expect(key.unwrap().description).toMatch(/^Thresholds by severity for accounts in each currency/);
  });
});

describe('a written ladder', () => {
  function readerOf(written: object, broken = ''): KeyReader {
    return {
      valueAt: (path) => path.reduce<unknown>((value, key) => Object(value)[key], written),
      isBroken: (path) => path.join('.') === broken,
    };
  }
  const form = { single: 'threshold', read: readAmount, worse: 'lower' } as const;
  const problemsOf = (written: object, worse: 'lower' | 'higher' = 'lower') =>
    checkLadder(readerOf(written), { ...form, worse }).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    );
  const disorder = 'thresholds.critical: the threshold for critical must be lower than that for warning';
  const disorderInEuro = disorder.replace('thresholds', 'thresholdsByCurrency.EUR');
  const wrong = { warning: 50, critical: '200' };

  test.each([
    ['one threshold with a severity', { threshold: 1, severity: 'info' }, []],
    ['steps in order', { thresholds: { info: 3, critical: 2 } }, []],
    ['steps by currency alone', { thresholdsByCurrency: { EUR: { info: 3 } } }, []],
    ['neither', { severity: 'info' }, [': needs either threshold, or thresholds by severity']],
    ['both', { threshold: 1, thresholds: ladder }, ['threshold: either threshold or thresholds, not both']],
    [
      'both, with a severity, and out of order',
      { threshold: 1, severity: 'info', thresholds: wrong },
      ['threshold: either threshold or thresholds, not both', disorder],
    ],
    [
      'a severity next to steps',
      { severity: 'info', thresholds: wrong },
      ['severity: goes with threshold; thresholds name the severities themselves', disorder],
    ],
    [
      'a severity next to steps by currency',
      { severity: 'info', thresholdsByCurrency: { EUR: { info: 3 } } },
      ['severity: goes with threshold; thresholds name the severities themselves'],
    ],
    [
      'one threshold and steps by currency out of order',
      { threshold: 1, thresholdsByCurrency: { EUR: wrong } },
      [disorderInEuro],
    ],
    [
      'steps by currency out of order',
      { thresholds: ladder, thresholdsByCurrency: { EUR: wrong } },
      [disorderInEuro],
    ],
    ['equal steps', { thresholds: { warning: 5, critical: 5 } }, [disorder]],
  ])('with %s has just its own problems named', (_, written, expected) => {
    expect(problemsOf(written)).toEqual(expected);
  });

  test('of which higher is worse has to rise', () => {
    expect(problemsOf({ thresholds: { warning: 5, critical: 6 } }, 'higher')).toEqual([]);
    const expected = [disorder.replace('lower', 'higher')];
    expect(problemsOf({ thresholds: { warning: 5, critical: 5 } }, 'higher')).toEqual(expected);
    expect(problemsOf({ thresholds: { warning: 6, critical: 5 } }, 'higher')).toEqual(expected);
  });

  test('is not judged by a step whose value is not known', () => {
    expect(checkOrder(readerOf({ thresholds: wrong }, 'thresholds.warning'), form)).toEqual([]);
  });
});

test.each([
  ['a number', 5.5, units(5.5)],
  ['a text', '5.5', units(5.5)],
  ['words', 'much', null],
  ['a list', [5], null],
])('the amount in %s', (_, value, expected) => {
  expect(readAmount(value)).toBe(expected);
});

test.each([
  ['a text', '5m', 5 * minuteMs],
  ['a number', 5, null],
  ['a list', ['5m'], null],
])('the duration in %s', (_, value, expected) => {
  expect(readDuration(value)).toBe(expected);
});
