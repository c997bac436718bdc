import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import type { MissedTopUpRule } from '../../src/rules/missed-top-up.ts';
import {
  factsAfter,
  factsNoon,
  minuteMs,
  moneyBase,
  readingAt,
  units,
  verdict,
} from '../support/account-facts.ts';
import { evaluate, explainRule } from '../support/evaluate.ts';

const rule: MissedTopUpRule = {
  ...moneyBase,
  id: 'recharge',
  type: 'missed-top-up',
  atMicros: null,
  withinMs: 20 * minuteMs,
};
const notified: MissedTopUpRule = { ...rule, atMicros: units(100) };

/** An account that spends 2 in each five minutes and is recharged at `level` by each amount in turn; then so many readings without. */
function recharged(amounts: readonly number[], after: number, level = 100): Reading[] {
  const readings: Reading[] = [];
  let sms = level + 20;
  const read = (): void => {
    readings.push(readingAt(readings.length * 5, sms));
    sms -= 2;
  };
  for (const amount of amounts) {
    while (sms >= level) read();
    read();
    sms += amount;
  }
  while (sms >= level) read();
  for (let count = 0; count < after; count++) read();
  return readings;
}

const same = [200, 200, 200, 200, 200];

describe('a habit that was learned', () => {
  test.each<[string, readonly number[], number, string]>([
    ['is not missed where it usually comes', same, 1, 'ok'],
    ['is not missed within twenty minutes', same, 5, 'ok'],
    ['is missed after twenty minutes', same, 6, 'warning'],
    ['is known from four top-ups on', [200, 200, 200, 200], 8, 'warning'],
    ['is not known from three', [200, 200, 200], 8, 'unknown'],
    ['may differ by a tenth', [200, 185, 215, 200], 8, 'warning'],
    ['may have one exception', [200, 200, 500, 200, 200], 8, 'warning'],
    ['has no two', [200, 90, 500, 200, 200], 8, 'unknown'],
    ['is forgotten when the amounts change', [...same, 50, 300, 80], 8, 'unknown'],
  ])('%s', (_, amounts, after, expected) => {
    expect(verdict(evaluate(rule, factsAfter(recharged(amounts, after)), null))).toBe(expected);
  });

  test('is none where people pay when it is nearly empty', () => {
    expect(evaluate(rule, factsAfter(recharged(same, 8, 5)), null)).toMatchObject({
      kind: 'unknown',
      why: 'the last top-ups were not of one amount from one balance',
    });
  });

  test('is none where people pay every month and each month takes about the same', () => {
    const rests = [1312, 1219, 1175, 1198, 988, 900];
    const months = rests.flatMap((rest) =>
      Array.from({ length: 700 }, (_, hour) => rest + 10 * (699 - hour)),
    );
    const facts = factsAfter(months.map((sms, hour) => readingAt(hour * 60, sms)));
    expect(verdict(evaluate(rule, facts, null))).toBe('unknown');
  });

  test('is not missed in a quiet hour above the lowest balance at which it came', () => {
    const past = [106, 104, 102, 101, 300].flatMap((from) =>
      Array.from({ length: 40 }, (_, step) => from + 195 - 5 * step),
    );
    const staysAt = (sms: number) =>
      [...past, ...Array<number>(8).fill(sms)].map((each, place) => readingAt(place * 5, each));
    expect(verdict(evaluate(rule, factsAfter(staysAt(101.5)), null))).toBe('ok');
    expect(verdict(evaluate(rule, factsAfter(staysAt(100.5)), null))).toBe('warning');
  });

  test('tells the usual amount and where it comes', () => {
    const facts = factsAfter(recharged(same, 8));
    const found = new Map(explainRule(rule, facts, null).facts.map(({ name, value }) => [name, value]));
    expect(found.get('usual top-up')).toEqual({ unit: 'money', micros: units(198) });
    expect(found.get('due below')).toEqual({ unit: 'money', micros: units(98) });
    expect(found.get('top-ups seen')).toEqual({ unit: 'count', count: 5 });
  });

  test('tells every digit of an amount of millions and of where it comes', () => {
    const [amount, level] = [50_000_000, 12_345_678.9];
    const past = [amount, amount, amount, amount, amount, 0].flatMap((rise) => [level, level + rise]);
    const facts = factsAfter(past.map((sms, place) => readingAt(place * 60, sms)));
    const found = new Map(explainRule(rule, facts, null).facts.map(({ name, value }) => [name, value]));
    expect(found.get('usual top-up')).toEqual({ unit: 'money', micros: units(amount) });
    expect(found.get('due below')).toEqual({ unit: 'money', micros: units(level) });
  });

  test('a refund is no top-up', () => {
    const past = recharged(same, 8);
    const last = past.at(-1);
    if (last === undefined) throw new Error('there are readings');
    const refund = {
      ...last,
      at: last.at + 5 * minuteMs,
      balances: { sms: amountOf(last, 'sms') + units(0.5), voip: 0 },
    };
    expect(verdict(evaluate(rule, factsAfter([...past, refund]), 'warning'))).toBe('warning');
  });
});

test('it says how many top-ups it has learned from', () => {
  expect(evaluate(rule, factsAfter(recharged([200], 2)), null)).toMatchObject({
    kind: 'unknown',
    why: '1 top-up seen, needs 4 to know where they come',
  });
});

describe('with a balance that the file names', () => {
  test.each<[string, readonly [number, number][], 'warning' | null, string]>([
    [
      'nothing is due at it',
      [
        [0, 100],
        [25, 100],
      ],
      null,
      'ok',
    ],
    [
      'a moment below it is not missed',
      [
        [0, 110],
        [5, 99],
      ],
      null,
      'ok',
    ],
    [
      'twenty minutes below it are',
      [
        [0, 99],
        [20, 98],
      ],
      null,
      'warning',
    ],
    [
      'a rise resolves it, though it is still below',
      [
        [0, 50],
        [30, 40],
        [35, 90],
      ],
      'warning',
      'ok',
    ],
    [
      'twenty minutes after a rise it is due again',
      [
        [0, 50],
        [30, 90],
        [50, 89],
      ],
      null,
      'warning',
    ],
    [
      'a rise above it resolves it',
      [
        [0, 50],
        [30, 40],
        [35, 900],
      ],
      'warning',
      'ok',
    ],
    ['after a restart without history it goes on', [[0, 50]], 'warning', 'warning'],
    [
      'a second dip counts from its own beginning',
      [
        [0, 90],
        [30, 150],
        [60, 99],
        [65, 98],
      ],
      null,
      'ok',
    ],
  ])('%s', (_, points, firing, expected) => {
    const readings = points.map(([minutes, sms]) => readingAt(minutes, sms));
    expect(verdict(evaluate(notified, factsAfter(readings), firing))).toBe(expected);
  });
});

test('no matter what an account does, it is reported only below the level, and never right after a top-up', () => {
  const steps = fc.array(fc.integer({ min: -30, max: 200 }), { minLength: 2, maxLength: 80 });
  fc.assert(
    fc.property(steps, (moves) => {
      let sms = 300;
      const readings = moves.map((move, index) => {
        sms += move > 0 && move < 150 ? -move / 10 : move;
        return { ...readingAt(0, sms), at: factsNoon + index * 5 * minuteMs };
      });
      const facts = factsAfter(readings);
      const evaluation = evaluate(rule, facts, null);
      if (evaluation.kind !== 'breached') return;
      const { value, threshold } = evaluation;
      expect(value?.unit === 'money' && threshold?.unit === 'money' && value.micros < threshold.micros).toBe(
        true,
      );
      expect((moves.at(-1) ?? 0) < 150).toBe(true);
    }),
  );
});
