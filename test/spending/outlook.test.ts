import { expect, it } from 'vitest';
import { dayMs, hourMs } from '../../src/domain/time.ts';
import { outlookOf } from '../../src/spending/outlook.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

it('a month comes to what it took and what is predicted of it; the next one follows', () => {
  const spending = spendingIn();
  const [from, to] = [monday, monday + 38 * 86_400_000];
  for (const reading of spendBy(officeHours, { from, to })) spending.read(reading);
  const { month, nextMonth } = outlookOf(spending, 'sms', to) ?? {};
  // 12 February: four whole weeks are 618 units each; March has 31 days.
  const units = (micros: number | undefined) => Math.round((micros ?? 0) / 1e6);
  expect(Math.abs(units(month?.total?.micros) / (4 * 618) - 1)).toBeLessThan(0.02);
  expect(Math.abs(units(nextMonth?.micros) / ((31 / 7) * 618) - 1)).toBeLessThan(0.05);
  expect(month?.total?.low).toBeLessThan(month?.total?.micros ?? 0);
  expect(month?.spent).toBeLessThan(month?.total?.low ?? 0);
});

it('a month that began after the last reading has taken nothing that is known, and comes to what was predicted of it', () => {
  const spending = spendingIn();
  const to = monday + 38 * dayMs;
  for (const reading of spendBy(officeHours, { from: monday, to })) spending.read(reading);
  const before = outlookOf(spending, 'sms', to);
  const march = Date.UTC(2026, 2, 20);
  const { month, quarter } = outlookOf(spending, 'sms', march) ?? {};
  expect(month).toMatchObject({ spent: 0, total: before?.nextMonth, knownSince: march });
  expect(quarter).toEqual(before?.quarter);
});

it.each([1, 20, 40])(
  'an announced run %s days ahead adds its amount to what the quarter comes to, and nothing else',
  (days) => {
    const spending = spendingIn();
    const to = monday + 38 * dayMs;
    for (const reading of spendBy(officeHours, { from: monday, to })) spending.read(reading);
    const total = () => outlookOf(spending, 'sms', to)?.quarter.total?.micros ?? 0;
    const before = total();
    const window = { startsAt: to + days * dayMs, endsAt: to + days * dayMs + 3 * hourMs };
    const own = { id: 'r', account: 'otp', balance: 'sms', announcedAt: to, announcedBy: '', comment: '' };
    const announced = [{ ...own, ...window, amountMicros: 900_000_000, spentMicros: 0, usualMicros: 0 }];
    spending.adopt({ week: spending.week, balances: [], floorMicros: 0, announced });
    expect(total() - before).toBe(900_000_000);
  },
);
