import { describe, expect, it } from 'vitest';
import { isShifting, recentShift } from '../../src/spending/level-shift.ts';
import { isUnusual, type Side } from '../../src/spending/unusual.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const units = 1_000_000;
/** A Tuesday, 0:00. */
const change = monday + 36 * dayMs;

/** Office hours, and so many times as much between two instants. */
function changing(factor: number, to = Number.POSITIVE_INFINITY) {
  return (at: number): number => officeHours(at) * (at >= change && at < to ? factor : 1);
}

function learn(perHour: (at: number) => number, to: number) {
  const spending = spendingIn();
  for (const reading of spendBy(perHour, { from: monday, to })) spending.read(reading);
  return spending;
}

/** How much is predicted for seven days, compared with what office hours take in a week. */
function weeks(perHour: (at: number) => number, to: number): number {
  const usual = (50 * 10 + 118) * units;
  return (learn(perHour, to).expected('sms', 7 * dayMs) ?? 0) / usual;
}

describe('spending that changes for good', () => {
  it('is none where one message came late in an hour, and nothing since then', () => {
    const spending = spendingIn();
    const late = monday + 50 * minuteMs;
    for (const reading of spendBy((at) => (at === late ? units : 0), { from: monday, to: change })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null) continue;
      if (state.hours > 0) expect(state.meanHour).toBeGreaterThan(0);
      for (const side of ['more', 'less'] as const)
        expect(isShifting(state, side, { at: reading.at, firing: false })).toBe(false);
    }
  });

  it.each([3, 1 / 3])('by %f is followed by the forecast after a day', (factor) => {
    expect(weeks(changing(factor), change + 25 * hourMs) / factor).toBeCloseTo(1, 1);
    expect(weeks(changing(factor), change + 10 * dayMs) / factor).toBeCloseTo(1, 1);
  });

  it('is none where single messages begin after it stood still', () => {
    const spending = spendingIn();
    const [late, begins] = [monday + 8 * hourMs + 40 * minuteMs, monday + 24 * dayMs];
    const daily = (at: number) => (at >= begins && at % dayMs === 10 * hourMs ? units : 0);
    const perHour = (at: number) => (at === late ? 60 * units : daily(at));
    for (const reading of spendBy(perHour, { from: monday, to: change })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state !== null) expect(recentShift(state, 'more', reading.at)).toBeNull();
    }
  });

  it.each([9, 15, 25])(
    'is none after a working day took %f times as much at once, though the Saturday after it is quiet',
    (factor) => {
      const friday = monday + 53 * dayMs;
      const perHour = (at: number): number => {
        const hour = ((at - monday) / hourMs) % 24;
        const ofDay = hour >= 8 && hour < 18 ? 1 : hour >= 6 && hour < 21 ? 0.35 : 0.05;
        const ofWeek = ((at - monday) / dayMs) % 7 >= 5 ? 0.1 : 1;
        const ofRun = at >= friday + 9 * hourMs && at < friday + 17 * hourMs ? factor : 0;
        return 100 * units * (ofDay * ofWeek + ofRun);
      };
      const spending = spendingIn();
      for (const reading of spendBy(perHour, { from: monday, to: friday + 3 * dayMs })) {
        spending.read(reading);
        const state = spending.state('sms');
        if (state !== null) expect(recentShift(state, 'more', reading.at)).toBeNull();
      }
    },
  );

  it('to half is followed after two days', () => {
    expect(weeks(changing(0.5), change + 25 * hourMs)).toBeGreaterThan(0.6);
    expect(weeks(changing(0.5), change + 49 * hourMs)).toBeCloseTo(0.5, 1);
  });

  it('is over within a working day where it is over within a week', () => {
    const back = change + 3 * dayMs;
    expect(weeks(changing(3, back), back)).toBeCloseTo(3, 0);
    expect(weeks(changing(3, back), back + 18 * hourMs)).toBeCloseTo(1, 1);
  });

  it.each<[Side, number]>([
    ['more', 3],
    ['less', 1 / 3],
  ])('is reported once as %s, with by how much and since when', (side, factor) => {
    const perHour = changing(factor);
    const spending = learn(perHour, change);
    let firing: boolean = false;
    let reported = 0;
    for (const reading of spendBy(perHour, { from: change, to: change + 14 * dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null) continue;
      const question: { at: number; firing: boolean } = { at: reading.at, firing };
      const unusual = isUnusual(state, side, { ...question, factor: 1 }) || isShifting(state, side, question);
      if (unusual && !firing) reported++;
      firing = unusual;
      if (reading.at === change + 25 * hourMs) {
        const shift = recentShift(state, side, reading.at);
        expect(Math.abs((shift?.since ?? 0) - change)).toBeLessThanOrEqual(2 * hourMs);
        expect((shift?.factor ?? 0) / factor).toBeCloseTo(1, 1);
      }
    }
    expect(reported).toBe(1);
    expect(firing).toBe(false);
  });

  it('is over within a working day though it comes back in two steps', () => {
    const shares = [0.1, 0.3];
    const bridge = (at: number) => officeHours(at) * (shares[Math.floor((at - change) / dayMs)] ?? 1);
    const after = weeks(bridge, change + 2 * dayMs + 18 * hourMs);
    expect(Math.abs(after - 1)).toBeLessThan(0.25);
  });

  it('is none where spending varies by as much from day to day', () => {
    const days = [3, 0.2, 1, 4, 0.5, 0.3, 2.5, 1.5, 0.2];
    const varied = (at: number): number =>
      officeHours(at) * (days[Math.floor(at / dayMs) % days.length] ?? 1);
    const spending = learn(varied, monday + 60 * dayMs);
    expect(spending.state('sms')?.shiftedAt).toBe(0);
  });

  it('is none where nothing is sent at all for days: all is as it was when it goes on', () => {
    const goesOn = change + 3 * dayMs;
    expect(weeks(changing(0, goesOn), goesOn + 30 * hourMs)).toBeGreaterThan(0.6);
    expect(learn(changing(0.01, goesOn), goesOn).state('sms')?.shiftedAt).toBe(0);
  });

  const told = (perHour: (at: number) => number, side: Side = 'more') => {
    const spending = learn(perHour, change);
    const found: { after: number; factor: number }[] = [];
    let firing: boolean = false;
    for (const reading of spendBy(perHour, { from: change, to: change + 21 * dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null) continue;
      const is: boolean = isShifting(state, side, { at: reading.at, firing });
      const shift = is && !firing ? recentShift(state, side, reading.at) : null;
      if (shift !== null) found.push({ after: (reading.at - change) / dayMs, factor: shift.factor });
      firing = is;
    }
    return found;
  };

  it('by a third, as where a price rises overnight, is told once after five days', () => {
    const [first, ...more] = told(changing(1.35));
    expect(more).toEqual([]);
    expect(first?.after).toBeCloseTo(5, 0);
    expect(first?.factor).toBeCloseTo(1.35, 1);
  });

  it('by a third is followed by the forecast as before it was told', () => {
    expect(weeks(changing(1.35), change + 7 * dayMs)).toBeLessThan(1.4);
    expect(weeks(changing(1.35, change + 6 * dayMs), change + 20 * dayMs)).toBeCloseTo(1, 1);
  });

  it.each<[string, (at: number) => number]>([
    ['by a tenth', changing(1.1)],
    ['by a third for three days', changing(1.35, change + 3 * dayMs)],
    ['by a third down', changing(0.7)],
  ])('%s is told by nobody', (_, perHour) => {
    expect([told(perHour), told(perHour, 'less')]).toEqual([[], []]);
  });
});
