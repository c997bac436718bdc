import { describe, expect, test } from 'vitest';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import type { Severity } from '../../src/domain/severity.ts';
import { ruleKindOf } from '../../src/rules/registry.ts';
import { runway } from '../../src/spending/runway.ts';
import {
  dayMs,
  factsAfter,
  hourMs,
  minuteMs,
  readingAt,
  runwayRule,
  steady,
  units,
  verdict,
} from '../support/account-facts.ts';
import { evaluate, explainRule } from '../support/evaluate.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

/** A day that spends 10 an hour and ends at the given balance. */
function dayEndingAt(balance: number) {
  return factsAfter(steady({ from: balance + 240, perHour: 10, until: 24 * 60 }));
}

describe('at a burn of 240 a day', () => {
  test.each<[string, number, Severity | null, string]>([
    ['three days are enough', 720, null, 'ok'],
    ['less than three days is a warning', 719.99, null, 'warning'],
    ['a whole day is not yet critical', 240, null, 'warning'],
    ['less than a day is critical', 239.99, null, 'critical'],
    ['critical holds below 1.2 days', 287.9, 'critical', 'critical'],
    ['critical goes down at 1.2 days', 288, 'critical', 'warning'],
    ['warning holds below 3.6 days', 863.9, 'warning', 'warning'],
    ['warning resolves at 3.6 days', 864, 'warning', 'ok'],
    ['nothing left is critical', 0, null, 'critical'],
    ['an overdraft is critical', -5, null, 'critical'],
  ])('%s', (_, balance, firing, expected) => {
    expect(verdict(evaluate(runwayRule(), dayEndingAt(balance), firing))).toBe(expected);
  });
});

test.each<[string, number, Severity | null, string]>([
  ['begin what does not fire', 700, null, 'warning'],
  ['make worse what fires', 200, 'warning', 'critical'],
  ['go on with what fires', 700, 'warning', 'warning'],
  ['make nothing milder', 700, 'critical', 'unknown'],
  ['end nothing', 2000, 'warning', 'unknown'],
])('while the week is learned from stored history the mean may %s', (_, balance, firing, expected) => {
  const learning = { ...dayEndingAt(balance), spending: spendingIn() };
  expect(verdict(evaluate(runwayRule({ lookbackMs: null }), learning, firing))).toBe(expected);
});

test('the floor is what it must not reach', () => {
  const rule = runwayRule({ floorMicros: units(500) });
  expect(evaluate(rule, dayEndingAt(620), null)).toMatchObject({
    kind: 'breached',
    severity: 'critical',
    value: { unit: 'duration', ms: dayMs / 2 },
    threshold: { unit: 'duration', ms: dayMs },
  });
});

test('a top-up is no negative spending', () => {
  const spending = steady({ from: 300, perHour: 10, until: 12 * 60 });
  const after = steady({ from: 680, perHour: 10, until: 12 * 60 }).map((reading) => ({
    ...reading,
    at: reading.at + 12 * hourMs + 5 * minuteMs,
  }));
  const { value } = evaluate(runwayRule(), factsAfter([...spending, ...after]), null);
  const runwayMs = value?.unit === 'duration' ? value.ms : 0;
  // What went in the five minutes of the top-up itself cannot be seen: a 288th of the day.
  expect(Math.abs(runwayMs / ((560 / 240) * dayMs) - 1)).toBeLessThan(1 / 280);
});

test('an account that spends nothing does not run out', () => {
  const facts = factsAfter(steady({ from: 5, perHour: 0, until: 24 * 60 }));
  expect(evaluate(runwayRule(), facts, null)).toMatchObject({
    kind: 'ok',
    value: { unit: 'text', text: 'does not run out' },
  });
});

test('an account that spends nothing because it is empty has not recovered', () => {
  const facts = factsAfter(steady({ from: 0, perHour: 0, until: 24 * 60 }));
  expect(verdict(evaluate(runwayRule(), facts, 'critical'))).toBe('critical');
  expect(verdict(evaluate(runwayRule(), facts, null))).toBe('ok');
});

const withinHours = (index: number) => Math.max(0.02, 100 - index);
const inOnePoll = () => 0.02;

test.each([
  ['within hours', 'the forecast', null, withinHours],
  ['within hours', 'the mean of a day', dayMs, withinHours],
  ['in one poll', 'the forecast', null, inOnePoll],
  ['in one poll', 'the mean of a day', dayMs, inOnePoll],
])(
  'an account that stood still, and was spent to less than a message %s, recovers by %s a day later only where more is left, as is advised',
  (_, __, lookbackMs, leftAfter) => {
    const stood = steady({ from: 100, perHour: 0, until: 2 * 24 * 60 });
    const spent = Array.from({ length: 400 }, (_, index) =>
      readingAt(2 * 24 * 60 + 5 + index * 5, leftAfter(index)),
    );
    const rule = runwayRule({ lookbackMs });
    const after = (...toppedUp: readonly Reading[]) => factsAfter([...stood, ...spent, ...toppedUp]);
    const clearsAt = ruleKindOf(rule).clearsAt?.(rule, after()) ?? 0;
    const at = 2 * 24 * 60 + 5 + 400 * 5;
    const balances = [0.02, clearsAt / 1e6 - 0.01, clearsAt / 1e6];
    const verdicts = balances.map((sms) => verdict(evaluate(rule, after(readingAt(at, sms)), 'critical')));
    expect(verdicts).toEqual(['critical', 'critical', 'ok']);
  },
);

test.each([
  ['every eight hours', (hour: number) => Math.floor(hour / 8)],
  ['now and then', (hour: number) => Math.floor(hour / 8 + 2 * Math.sin(hour / 24))],
])('what is advised where a message is sent %s lasts as long as it should', (_, sentAt) => {
  const hours = 30 * 24;
  const month = Array.from({ length: hours }, (_, hour) => readingAt(hour * 60, 1000 - 10 * sentAt(hour)));
  const rule = runwayRule({ lookbackMs: null, thresholds: { warning: 20 * dayMs } });
  const after = (...paid: readonly Reading[]) =>
    factsAfter([...month, ...paid], { pollIntervalMs: hourMs, windowMs: dayMs });
  const { spending, log, now } = after();
  const clearsAt = ruleKindOf(rule).clearsAt?.(rule, after()) ?? 0;
  const verdicts = [clearsAt - 10_000, clearsAt].map((micros) =>
    verdict(evaluate(rule, after(readingAt(hours * 60 - 60, micros / 1e6)), 'warning')),
  );
  expect(verdicts).toEqual(['warning', 'ok']);
  const reading = readingAt(hours * 60 - 60, 0);
  const query = { log, spending, reading, balance: 'sms', floorMicros: 0, lookbackMs: dayMs, now };
  const { emptyAt } = spending.forecast('sms', runway(query).restoreMicros ?? 0) ?? {};
  expect((emptyAt ?? 0) - now).toBeGreaterThanOrEqual(30 * dayMs);
});

describe('too little history', () => {
  const perHour = 1000;
  test.each<[string, number, number, boolean, number, string]>([
    ['fifty-five minutes say nothing', 55, 5, false, hourMs, 'unknown'],
    ['an hour and six readings speak', 60, 5, false, hourMs, 'critical'],
    ['an hour in five readings says nothing', 60, 15, false, hourMs, 'unknown'],
    ['a given minimum of ten minutes speaks after ten minutes', 10, 5, true, 10 * minuteMs, 'critical'],
    ['a given minimum of two hours waits for two hours', 115, 5, true, 2 * hourMs, 'unknown'],
    [
      'a given minimum past the lookback is met by the whole lookback',
      24 * 60,
      5,
      true,
      2 * dayMs,
      'critical',
    ],
    ['a given minimum of zero needs two readings', 0, 5, true, 0, 'unknown'],
  ])('%s', (_, until, every, minimumHistoryGiven, minimumHistoryMs, expected) => {
    const rule = runwayRule({ minimumHistoryGiven, minimumHistoryMs });
    const facts = factsAfter(steady({ from: 24_100, perHour, until, every }), {
      pollIntervalMs: every * minuteMs,
    });
    expect(verdict(evaluate(rule, facts, null))).toBe(expected);
  });

  test('says how much there is and how much it needs', () => {
    const facts = factsAfter(steady({ from: 100, perHour: 10, until: 40 }));
    expect(evaluate(runwayRule(), facts, null)).toMatchObject({
      kind: 'unknown',
      why: 'not enough history: 6 of 6 readings, 40 minutes of 1 hour',
    });
  });

  test('is also a history that is mostly gaps', () => {
    const morning = steady({ from: 100, perHour: 10, until: 60 });
    const facts = factsAfter([...morning, readingAt(240, 50)]);
    expect(evaluate(runwayRule(), facts, null)).toMatchObject({
      kind: 'unknown',
      why: 'not enough history: most of the last 4 hours passed without polls',
    });
  });
});

test('the facts name the instant at which it reaches the floor', () => {
  const facts = dayEndingAt(120);
  const { facts: found } = explainRule(runwayRule(), facts, null);
  expect(found).toContainEqual({
    name: 'reaches the floor at',
    value: { unit: 'instant', at: facts.now + dayMs / 2 },
  });
  expect(found).toContainEqual({ name: 'burn per day', value: { unit: 'money', micros: units(240) } });
  expect(found).toContainEqual({ name: 'confidence', value: { unit: 'text', text: 'high' } });
});

describe('by the forecast', () => {
  const dayLong = { from: monday, to: monday + 21 * dayMs };
  const office = [...spendBy(officeHours, dayLong)];
  const rule = runwayRule({ lookbackMs: null, floorMicros: null, thresholds: { warning: 3 * dayMs } });

  /** Sunday midnight after three weeks of office hours, so much left. */
  function leaving(balance: number) {
    const last = office.at(-1);
    if (last === undefined) throw new Error('there are readings');
    return factsAfter(
      office.map((reading) => ({
        ...reading,
        currency: 'CNY',
        balances: { sms: amountOf(reading, 'sms') - amountOf(last, 'sms') + units(balance), voip: 0 },
      })),
    );
  }

  test('it knows on a Sunday night what the week takes', () => {
    // A working day takes 114: three of them are 342, and the mean of the last day says 24.
    expect(verdict(evaluate(rule, leaving(330), null))).toBe('warning');
    expect(verdict(evaluate(rule, leaving(360), null))).toBe('ok');
    const byMean = runwayRule({ lookbackMs: dayMs, thresholds: { warning: 3 * dayMs } });
    expect(verdict(evaluate(byMean, leaving(330), null))).toBe('ok');
  });

  test('an account that sends little warns where the forecast says so, whatever is left', () => {
    const sent = (hour: number) => Math.floor(hour / 36) * 6;
    const hours = Array.from({ length: 30 * 24 }, (_, hour) => hour);
    for (let left = 4; left < 40; left += 0.5) {
      const facts = factsAfter(
        hours.map((hour) => readingAt(hour * 60, left + sent(hours.length - 1) - sent(hour))),
      );
      const emptyAt = facts.spending.forecast('sms', units(left))?.emptyAt ?? null;
      const lastsMs = emptyAt === null ? Number.POSITIVE_INFINITY : emptyAt - facts.now;
      const lasts = lastsMs >= 3 * dayMs;
      expect([left, verdict(evaluate(rule, facts, null))]).toEqual([left, lasts ? 'ok' : 'warning']);
      // What is surely ok is not even evaluated.
      expect([left, lasts || ruleKindOf(rule).isSurelyOk?.(rule, facts) !== true]).toEqual([left, true]);
    }
  });

  test('the credit limit of the account is its floor', () => {
    const facts = { ...leaving(-50), floorMicros: units(-500) };
    expect(verdict(evaluate(rule, facts, null))).toBe('ok');
    expect(verdict(evaluate(rule, leaving(-50), null))).toBe('warning');
  });

  test('it goes by the mean burn while nothing is learned yet, and says so', () => {
    const facts = { ...leaving(100), spending: spendingIn() };
    expect(evaluate(rule, facts, null).kind).not.toBe('unknown');
    const by = explainRule(rule, facts, null).facts.find(({ name }) => name === 'reckoned by');
    expect(by?.value).toEqual({ unit: 'text', text: 'average spend (less than a day of spending known)' });
  });
});
