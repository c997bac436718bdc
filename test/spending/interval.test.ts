import { describe, expect, it } from 'vitest';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const units = 1_000_000;

function learn(readings: Iterable<Reading>) {
  const spending = spendingIn();
  for (const reading of readings) spending.read(reading);
  return spending;
}

describe('the forecast of a week ago', () => {
  it('is near what came where every week is like the one before', () => {
    const now = monday + 28 * dayMs + 3.5 * hourMs;
    const found = learn(spendBy(officeHours, { from: monday, to: now })).weekAgo('sms');
    // The last block of six hours ended at 0:00.
    expect(found?.madeAt).toBe(monday + 21 * dayMs);
    expect(found?.steps.map(({ at }) => (at - monday) / hourMs - 21 * 24)).toEqual([0, 6, 24, 72, 168]);
    for (const { excess } of found?.steps ?? []) expect(Math.abs(excess)).toBeLessThan(20 * units);
  });

  it('says how much more was spent than was predicted', () => {
    const since = monday + 26 * dayMs;
    const burst = (at: number) =>
      officeHours(at) + (at >= since && at < since + 5 * hourMs ? 100 * units : 0);
    const found = learn(spendBy(burst, { from: monday, to: monday + 28 * dayMs + hourMs })).weekAgo('sms');
    const [, , , before, after] = found?.steps ?? [];
    expect(Math.abs(before?.excess ?? Number.NaN)).toBeLessThan(20 * units);
    expect((after?.excess ?? 0) / units).toBeCloseTo(500, -2);
  });

  it('goes on over a restart', () => {
    const spending = learn(spendBy(officeHours, { from: monday, to: monday + 20 * dayMs }));
    const again = spendingIn();
    again.restore(spending.bytes() ?? new Uint8Array());
    expect(again.weekAgo('sms')).toEqual(spending.weekAgo('sms'));
  });

  it('is not reported in the first week, nor of a week that was hardly seen', () => {
    expect(learn(spendBy(officeHours, { from: monday, to: monday + 6 * dayMs })).weekAgo('sms')).toBeNull();
    const full = [...spendBy(officeHours, { from: monday, to: monday + 28 * dayMs })];
    // A balance that rises at each reading hides what is spent.
    const rising = full.map((reading) => ({
      ...reading,
      balances: {
        sms: amountOf(reading, 'sms') + (reading.at < monday + 24 * dayMs ? 0 : (reading.at - monday) * 1000),
        voip: 0,
      },
    }));
    expect(learn(rising).weekAgo('sms')).toBeNull();
  });
});
