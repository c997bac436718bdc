import { describe, expect, it } from 'vitest';
import { byUrgency, dueGroup, mostUrgent, notUrgent } from '../../src/domain/urgency.ts';
import { urgencyOf, urgencyOfBalance } from '../../src/rules/urgency.ts';
import { buildRunway, dayMs, hourMs, micros, viewsNow as now } from '../support/built-views.ts';

const low = { type: 'below', balance: 'sms', severity: 'critical', since: now - hourMs } as const;
const refused = {
  type: 'auth-failed',
  balance: null,
  severity: 'critical',
  since: now - 2 * hourMs,
} as const;
const forecast = (days: number) => ({
  emptyAt: now + (days + 1) * dayMs,
  earliest: now + days * dayMs,
  latest: null,
  basis: 'hour-of-week' as const,
});
const empty = buildRunway({ runwayMs: 0, emptyAt: null });

describe('the order of urgency', () => {
  it('puts what is empty first, then what must be acted on first', () => {
    const urgencies = {
      tomorrow: urgencyOf(low, buildRunway({ forecast: forecast(1) }), now),
      refused: urgencyOf(refused, null, now),
      empty: urgencyOf(low, empty, now),
      payToday: urgencyOf(low, buildRunway({ forecast: forecast(5), payBy: now + 3 * hourMs }), now),
    };
    const order = Object.entries(urgencies).sort(([, left], [, right]) => byUrgency(left, right));
    expect(order.map(([name]) => name)).toEqual(['empty', 'refused', 'payToday', 'tomorrow']);
  });

  it('goes by pay by, else by when it may be empty, else by since when', () => {
    const actBy = (over: Parameters<typeof buildRunway>[0]) => urgencyOf(low, buildRunway(over), now).actBy;
    expect(actBy({ forecast: forecast(3), payBy: now + dayMs })).toBe(now + dayMs);
    expect(actBy({ forecast: forecast(3) })).toBe(now + 3 * dayMs);
    expect(actBy({ forecast: null, emptyAt: now + 9 * dayMs })).toBe(now + 9 * dayMs);
    const undated = buildRunway({ forecast: null, emptyAt: null, runwayMs: null });
    expect(urgencyOf(low, undated, now).actBy).toBe(now);
    expect(urgencyOf({ ...low, severity: 'warning' }, undated, now).actBy).toBe(now);
  });

  it('lets money on its way put off when somebody must act', () => {
    const paid = { amountMicros: micros(100), inTimeMicros: micros(100) };
    const money = { ...paid, by: now + dayMs, comment: '', forecast: forecast(20) };
    const runway = buildRunway({ forecast: forecast(2), expected: money });
    expect(urgencyOfBalance(runway, now)?.actBy).toBe(now + 20 * dayMs);
    const endless = { ...money, forecast: { ...forecast(1), earliest: null, emptyAt: null } };
    expect(urgencyOfBalance(buildRunway({ forecast: forecast(2), expected: endless }), now)).toEqual(
      notUrgent,
    );
  });

  it('lets what has no date wait as long as its severity allows', () => {
    const group = (severity: 'info' | 'warning' | 'critical') =>
      dueGroup(urgencyOf({ ...refused, severity, since: now }, null, now), now, now + dayMs);
    expect([group('critical'), group('warning'), group('info')]).toEqual(['now', 'today', 'week']);
    expect(dueGroup(notUrgent, now)).toBe('later');
  });

  it('leaves to the severity what has waited longer than it may: no old warning stands before what nobody can date', () => {
    const old = { ...refused, severity: 'warning', since: now - 30 * dayMs } as const;
    expect(byUrgency(urgencyOf(old, null, now), urgencyOf(refused, null, now))).toBe(0);
    const overdue = urgencyOf(low, buildRunway({ forecast: forecast(5), payBy: now - hourMs }), now);
    expect(byUrgency(overdue, urgencyOf(old, null, now))).toBeLessThan(0);
  });

  it('is due at once where nobody can say, also for who began to look a moment before', () => {
    const undated = buildRunway({ forecast: null, emptyAt: null, runwayMs: null });
    const urgency = urgencyOf({ ...low, severity: 'warning' }, undated, now + 5);
    expect(dueGroup(urgency, now, now + dayMs)).toBe('now');
  });

  it('does not date an alert about spending by the end of the balance', () => {
    const surge = { ...low, type: 'surge', severity: 'critical' } as const;
    expect(urgencyOf(surge, buildRunway({ forecast: forecast(60) }), now).actBy).toBe(now);
  });

  it('is that of the most urgent of several', () => {
    const ofEmpty = urgencyOfBalance(empty, now) ?? notUrgent;
    expect(mostUrgent([notUrgent, ofEmpty, { isEmpty: false, actBy: 0 }])).toBe(ofEmpty);
    expect(mostUrgent([])).toBe(notUrgent);
  });
});
