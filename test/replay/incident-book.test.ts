import { describe, expect, it } from 'vitest';
import { type Emptying, judgeRunways, type ReplayedIncident } from '../../src/replay/incident-book.ts';

const hourMs = 3_600_000;
const withinMs = 72 * hourMs;

function alarm(firedAtHours: number, over: Partial<ReplayedIncident> = {}): ReplayedIncident {
  return {
    account: 'otp',
    rule: 'lasts',
    type: 'runway',
    balance: 'sms',
    severity: 'warning',
    firedAt: firedAtHours * hourMs,
    resolvedAt: null,
    event: false,
    value: { unit: 'duration', ms: withinMs },
    threshold: { unit: 'duration', ms: withinMs },
    currency: 'CNY',
    empty: null,
    floored: true,
    isFirst: true,
    ...over,
  };
}

const emptyAfter = (hours: number, how: Emptying['how'] = 'reached') => ({
  empty: { at: hours * hourMs, how },
});

describe('the record of a rule that warns a time ahead', () => {
  it.each<[name: string, alarm: ReplayedIncident, expected: object]>([
    ['in time', alarm(0, emptyAfter(70)), { inTime: 1, early: 0, late: 0, leadMs: 70 * hourMs }],
    ['in time by what was spent after a top-up', alarm(0, emptyAfter(80, 'spent')), { inTime: 1 }],
    ['too early', alarm(0, emptyAfter(90)), { inTime: 0, early: 1, late: 0 }],
    ['too late', alarm(0, emptyAfter(50)), { inTime: 0, early: 0, late: 1 }],
    [
      'too early, because it was not empty by the end',
      alarm(0, emptyAfter(60, 'projected')),
      { early: 1, leadMs: null },
    ],
    ['not known, because the past ends', alarm(180), { inTime: 0, early: 0, late: 0, leadMs: null }],
  ])('%s', (_name, incident, expected) => {
    expect(judgeRunways([incident], 200 * hourMs)).toMatchObject([{ rule: 'lasts', fired: 1, ...expected }]);
  });

  it('says how long before empty it fired as a rule, and how often it cleared and came back', () => {
    const alarms = [alarm(0, emptyAfter(60)), alarm(0, emptyAfter(70)), alarm(0, emptyAfter(75))];
    const again = alarm(5, { ...emptyAfter(75), isFirst: false });
    expect(judgeRunways([...alarms, again], 200 * hourMs)).toMatchObject([
      { fired: 4, withinMs, leadMs: 70 * hourMs, flapped: 1 },
    ]);
  });

  it('is kept by rule, and only of rules that warn by a time until the balance is empty', () => {
    const silent = alarm(0, { rule: 'silent', floored: false });
    const low = alarm(0, { rule: 'low', threshold: { unit: 'money', micros: 5 } });
    const other = alarm(0, { rule: 'other' });
    const records = judgeRunways([silent, low, alarm(0), other], 10 * hourMs);
    expect(records.map(({ rule }) => rule)).toEqual(['lasts', 'other']);
  });
});
