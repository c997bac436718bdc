import { expect, it } from 'vitest';
import { outlookOf } from '../../src/spending/outlook.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

it('a month comes to what it took and what is predicted of it; the next one follows', () => {
  const spending = spendingIn();
  const [from, to] = [monday, monday + 38 * 86_400_000];
  for (const reading of spendBy(officeHours, { from, to })) spending.read(reading);
  const { month, nextMonth } = outlookOf(spending, 'sms') ?? {};
  // 12 February: four whole weeks are 618 units each; March has 31 days.
  const units = (micros: number | undefined) => Math.round((micros ?? 0) / 1e6);
  expect(Math.abs(units(month?.total?.micros) / (4 * 618) - 1)).toBeLessThan(0.02);
  expect(Math.abs(units(nextMonth?.micros) / ((31 / 7) * 618) - 1)).toBeLessThan(0.05);
  expect(month?.total?.low).toBeLessThan(month?.total?.micros ?? 0);
  expect(month?.spent).toBeLessThan(month?.total?.low ?? 0);
});
