import { describe, expect, it } from 'vitest';
import { AccountSpending } from '../../src/spending/account-spending.ts';
import { LocalWeek, passLeadTime, weekOf } from '../../src/spending/local-week.ts';
import { monday, officeHours, spendBy } from '../support/spending.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const units = 1_000_000;

const gulf = new LocalWeek({
  timezone: 'UTC',
  holidays: ['2026-02-03'],
  weekend: ['fri', 'sat'],
});

/** As office hours, a day earlier: Friday and Saturday are free. */
const perHour = (at: number): number => officeHours(at + dayMs);

describe('a weekend of Friday and Saturday', () => {
  it('is no working time, and a Sunday is', () => {
    const isWorking = (at: number) => gulf.isWorking(gulf.dayAt(at));
    const week = Array.from({ length: 7 }, (_, day) => isWorking(monday + day * dayMs));
    expect(week).toEqual([true, true, true, true, false, false, true]);
  });

  it('names hours by their own weekdays', () => {
    expect(gulf.whenIs(gulf.hourAt(monday + 9 * hourMs).slot)).toEqual({ day: 1, hour: 9 });
  });

  it('carries no payment: it is due on the Thursday before', () => {
    const fridayNoon = monday + 4 * dayMs + 12 * hourMs;
    expect(passLeadTime(gulf, fridayNoon, -2 * hourMs)).toBe(monday + 4 * dayMs - 2 * hourMs);
  });

  it('gives a holiday the spending of its last day', () => {
    const spending = new AccountSpending('otp', { week: gulf, balances: [], floorMicros: 0, announced: [] });
    const eve = Date.UTC(2026, 1, 2, 20);
    for (const reading of spendBy(perHour, { from: monday, to: eve })) spending.read(reading);
    // Four hours until the holiday, which takes 24, then eight until Wednesday's office opens: a unit each.
    const emptyAt = spending.forecast('sms', 46 * units)?.emptyAt ?? 0;
    expect(Math.abs(emptyAt - (eve + 37 * hourMs))).toBeLessThan(hourMs);
  });

  it('of one account is not that of another, whoever comes first', () => {
    const zone = { timezone: 'UTC', holidays: [] };
    const none = { ...zone, weekend: [] };
    const saturday = monday + 5 * dayMs;
    for (const order of [
      [zone, none],
      [none, zone],
    ]) {
      for (const each of order) weekOf(each);
      const isWorking = (each: typeof zone) => weekOf(each).isWorking(weekOf(each).dayAt(saturday));
      expect([isWorking(zone), isWorking(none)]).toEqual([false, true]);
    }
  });

  it('is not the week of a state that was learned with another one', () => {
    const usual = new LocalWeek({ timezone: 'UTC', holidays: [] });
    const spending = new AccountSpending('otp', { week: usual, balances: [], floorMicros: 0, announced: [] });
    for (const reading of spendBy(perHour, { from: monday, to: monday + dayMs })) spending.read(reading);
    expect(spending.adopt({ week: gulf, balances: [], floorMicros: 0, announced: [] })).toBe(false);
    const other = new AccountSpending('otp', { week: gulf, balances: [], floorMicros: 0, announced: [] });
    expect(other.restore(spending.bytes() ?? new Uint8Array())).toBe(false);
  });
});
