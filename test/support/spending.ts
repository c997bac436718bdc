import type { Reading } from '../../src/domain/reading.ts';
import { AccountSpending } from '../../src/spending/account-spending.ts';
import { LocalWeek } from '../../src/spending/local-week.ts';

const minuteMs = 60_000;

/** A Monday, 0:00 UTC. */
export const monday = Date.UTC(2026, 0, 5);

export function spendingIn(timezone = 'UTC', holidays: readonly string[] = []): AccountSpending {
  const week = new LocalWeek({ timezone, holidays });
  return new AccountSpending('otp', { week, balances: [], floorMicros: 0, announced: [] });
}

/** An account that spends `perHour` micros at each instant, read every five minutes; topped up whenever it would be empty. */
export function* spendBy(
  perHour: (at: number) => number,
  span: { readonly from: number; readonly to: number; readonly begins?: number },
): Generator<Reading> {
  let sms = span.begins ?? 1e12;
  for (let at = span.from; at <= span.to; at += 5 * minuteMs) {
    yield { at, balances: { sms: Math.round(sms), voip: 0 }, currency: 'EUR' };
    sms -= perHour(at) / 12;
  }
}

/** Office hours: 10 units an hour from 8 to 18 on working days, 1 at other times. The hour is that of UTC shifted by `aheadHours`. */
export function officeHours(at: number, aheadHours = 0): number {
  const local = new Date(at + aheadHours * 3_600_000);
  const working = local.getUTCDay() >= 1 && local.getUTCDay() <= 5;
  const open = working && local.getUTCHours() >= 8 && local.getUTCHours() < 18;
  return open ? 10_000_000 : 1_000_000;
}
