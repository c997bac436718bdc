import { describe, expect, it } from 'vitest';
import { isUnusual, type Side } from '../../src/spending/unusual.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mean = 3.7e6;

/** Minutes from `begins` until a side is unusual; null when it never is. */
function toldAfter(side: Side, perHour: (at: number) => number, begins: number): number | null {
  const spending = spendingIn();
  for (const reading of spendBy(perHour, { from: monday, to: begins + 2 * dayMs })) {
    spending.read(reading);
    const state = spending.state('sms');
    if (state === null || !isUnusual(state, side, { factor: 1, firing: false })) continue;
    return (reading.at - begins) / minuteMs;
  }
  return null;
}

describe('what is unusual', () => {
  const wednesday = monday + 23 * dayMs + 3 * hourMs;

  it('is a burst of ten times the mean at night, told within a quarter of an hour', () => {
    const told = toldAfter('more', (at) => officeHours(at) + (at >= wednesday ? 10 * mean : 0), wednesday);
    expect(told).toBeGreaterThan(0);
    expect(told).toBeLessThanOrEqual(15);
  });

  it('is the next burst too, a day after the first', () => {
    const dayAfter = wednesday + dayMs;
    const burst = (at: number, begins: number) => (at >= begins && at < begins + hourMs ? 10 * mean : 0);
    const spending = spendingIn();
    const told: number[] = [];
    let firing = false;
    const perHour = (at: number) => officeHours(at) + burst(at, wednesday) + burst(at, dayAfter);
    for (const reading of spendBy(perHour, { from: monday, to: dayAfter + dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      const unusual: boolean = state !== null && isUnusual(state, 'more', { factor: 1, firing });
      if (unusual && !firing) told.push(reading.at);
      firing = unusual;
    }
    expect(told).toHaveLength(2);
    expect((told[1] ?? 0) - dayAfter).toBeLessThanOrEqual(15 * minuteMs);
  });

  it('is traffic that stops in office hours, told within the hour', () => {
    const noon = wednesday + 9 * hourMs;
    const told = toldAfter('less', (at) => (at < noon ? officeHours(at) : 0), noon);
    expect(told).toBeLessThanOrEqual(60);
  });

  it('is not the rise of every morning, nor a weekend', () => {
    expect(toldAfter('more', officeHours, wednesday)).toBeNull();
    expect(toldAfter('less', officeHours, wednesday)).toBeNull();
  });

  it('is nothing in the first week, in which nothing is usual yet', () => {
    const begins = monday + 3 * dayMs;
    const perHour = (at: number) => officeHours(at) + (at >= begins && at < begins + hourMs ? 50 * mean : 0);
    expect(toldAfter('more', perHour, begins)).toBeNull();
  });
});
