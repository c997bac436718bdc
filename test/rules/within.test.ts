import { describe, expect, test } from 'vitest';
import { describeRule, nextStep, ruleKindOf } from '../../src/rules/registry.ts';
import { readWrittenRule } from '../../src/rules/rule-schema.ts';
import type { RunwayRule } from '../../src/rules/runway-estimate.ts';
import { dayMs, factsAfter, factsNoon, hourMs, runwayRule, steady } from '../support/account-facts.ts';
import { evaluate } from '../support/evaluate.ts';
import { makeAccount } from '../support/settings.ts';

const critical = runwayRule({
  thresholds: { warning: 7 * dayMs, critical: dayMs },
  afterLeadTime: ['critical'],
});

/** 240 a day, read for a day; empty so many days after the last reading, which is on Saturday 21 November 2026 at noon. */
function emptyAfter(days: number, leadTimeMs: number | null = 2 * dayMs) {
  return factsAfter(steady({ from: 240 * (days + 1), perHour: 10, until: 24 * 60 }), { leadTimeMs });
}

describe('a runway of "leadTime + 1d"', () => {
  // A payment of Saturday that takes two working days arrives on Tuesday at midnight: after 3.5 days.
  test.each([
    ['fires when a payment of now arrives less than a day before it is empty', 4.4, 'critical'],
    ['does not fire a little before that', 4.6, 'warning'],
  ])('%s', (_, days, severity) => {
    expect(evaluate(critical, emptyAfter(days), null)).toMatchObject({ severity });
  });

  test('counts no time for the payment where no lead time is known', () => {
    expect(evaluate(critical, emptyAfter(1.1, null), null)).toMatchObject({ severity: 'warning' });
    expect(evaluate(critical, emptyAfter(0.9, null), null)).toMatchObject({ severity: 'critical' });
  });

  test('is reached so long before the working days of the payment', () => {
    // Empty on Wednesday of next week at noon: a payment has to arrive by Tuesday noon, so it is paid by Friday noon.
    const next = nextStep(
      runwayRule({ thresholds: { critical: dayMs }, afterLeadTime: ['critical'] }),
      emptyAfter(11),
    );
    expect(next?.at).toBe(factsNoon + 7 * dayMs);
  });
});

const written = (keys: object) => {
  const read = readWrittenRule({ id: 'r', type: 'runway', ...keys });
  return read.kind === 'invalid'
    ? read.problems.map(({ path, message }) => `${path}: ${message}`)
    : describeRule(read.rule);
};

test.each([
  [{ within: 'leadTime + 1d' }, 'lasts less than leadTime + 1d (warning), by the forecast'],
  [{ within: 'leadTime' }, 'lasts less than leadTime (warning), by the forecast'],
  [
    { thresholds: { warning: '7d', critical: 'leadTime+12h' } },
    'less than leadTime + 12h (critical), 7d (warning)',
  ],
])('%j is understood', (keys, words) => {
  expect(written(keys)).toContain(words);
});

test.each([
  [{ within: 'leadTime + x' }, 'within: must be a duration such as "3d", or "leadTime + 1d"'],
  [{ within: 'leadtime' }, 'within: must be a duration such as "3d", or "leadTime + 1d"'],
  [
    { thresholds: { warning: 'leadTime + 1d', critical: 'leadTime + 2d' } },
    'thresholds.critical: the threshold for critical must be lower than that for warning',
  ],
])('%j is refused', (keys, problem) => {
  expect(written(keys)).toContain(problem);
});

describe('validate', () => {
  const warnings = (keys: object, leadTimes: (number | null)[]) => {
    const read = readWrittenRule({ id: 'r', type: 'runway', ...keys });
    const accounts = leadTimes.map((leadTimeMs, index) => makeAccount(`a${index}`, { leadTimeMs }));
    return read.kind === 'invalid'
      ? []
      : ruleKindOf(read.rule).warn?.({ ...read.rule, written: keys } as RunwayRule, accounts);
  };
  const twoDays = 48 * hourMs;

  test('warns where the last step is not longer than the lead time and a day', () => {
    const [late] = warnings({ thresholds: { warning: '7d', critical: '2d' } }, [twoDays, null]) ?? [];
    expect(late).toMatchObject({
      path: ['thresholds', 'critical'],
      message: expect.stringMatching(/too late .* "a0"$/),
    });
    expect(warnings({ within: '3d' }, [twoDays])).toMatchObject([{ path: ['within'] }]);
    expect(warnings({ within: '73h' }, [twoDays])).toEqual([]);
  });

  test.each([
    ['critical', { info: '30d', warning: '7d', critical: 'leadTime + 1d' }, 'warning', 5],
    ['warning', { info: '7d', warning: 'leadTime + 1d', critical: '8h' }, 'info', 5],
    ['critical', { warning: 'leadTime + 1d', critical: '7d' }, 'warning', 7],
  ])(
    'warns of a step that never comes before %s, the worse one, by the lead time: %j',
    (worse, thresholds, step, otherDays) => {
      const all = warnings({ thresholds }, [6 * dayMs, otherDays * dayMs]) ?? [];
      expect(all.filter(({ message }) => message.startsWith('never'))).toEqual([
        { path: ['thresholds', step], message: `never comes before ${worse}, by the "leadTime" of "a0"` },
      ]);
    },
  );

  test('warns of a lead time that an account does not have', () => {
    expect(warnings({ within: 'leadTime + 1d' }, [twoDays, null])).toMatchObject([
      { path: ['within'], message: expect.stringMatching(/no "leadTime" is set, as for "a1"$/) },
    ]);
    expect(warnings({ thresholds: { warning: 'leadTime + 1d', critical: '8h' } }, [null])).toMatchObject([
      {
        path: ['thresholds', 'warning'],
        message: expect.stringMatching(/no "leadTime" is set, as for "a0"$/),
      },
    ]);
  });
});
