import { describe, expect, it } from 'vitest';
import { BalanceState } from '../../src/spending/balance-state.ts';
import { expectedRuns } from '../../src/spending/expected-runs.ts';
import { isUnusual } from '../../src/spending/unusual.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const units = 1_000_000;

/** Office hours, and 200 units an hour from 9 to 13 on days of the month that `isRun` picks. */
function withRun(isRun: (date: Date) => boolean) {
  return (at: number): number => {
    const hour = new Date(at).getUTCHours();
    return officeHours(at) + (isRun(new Date(at)) && hour >= 9 && hour < 13 ? 200 * units : 0);
  };
}

const isLastOfMonth = (date: Date): boolean => new Date(date.getTime() + dayMs).getUTCDate() === 1;

function learn(perHour: (at: number) => number, until: number) {
  const spending = spendingIn();
  for (const reading of spendBy(perHour, { from: monday, to: until })) spending.read(reading);
  return spending;
}

describe('a run on one day of the month, or every week or two', () => {
  it('is expected once it came twice in a row, with its amount, hour and length, counted from the begin of the month', () => {
    const runs = (until: number) =>
      learn(
        withRun((date) => date.getUTCDate() === 3),
        until,
      ).runs('sms');
    expect(runs(Date.UTC(2026, 2, 2))).toEqual([]);
    const [run, ...others] = runs(Date.UTC(2026, 2, 20));
    expect(others).toEqual([]);
    expect(run).toMatchObject({ day: 3, hour: 9, hours: 4 });
    expect((run?.micros ?? 0) / units / 800).toBeCloseTo(1, 1);
  });

  it('is counted from the end of the month where its last day takes it', () => {
    expect(learn(withRun(isLastOfMonth), Date.UTC(2026, 3, 10)).runs('sms')).toMatchObject([{ day: -1 }]);
  });

  it('is one too where its day takes little more than twice as much in every hour, as a salary day does', () => {
    const perHour = (at: number) => (new Date(at).getUTCDate() === 15 ? 22 : 10) * units;
    expect(learn(perHour, Date.UTC(2026, 2, 20)).runs('sms')).toMatchObject([
      { day: 15, hour: 0, hours: 24 },
    ]);
  });

  it('is none where a provider posts late on that day: what comes at once was missing before', () => {
    const perHour = (at: number): number => {
      const date = new Date(at);
      const hour = date.getUTCHours();
      if (date.getUTCDate() !== 3 || hour > 14) return 10 * units;
      return hour < 14 ? 0 : 15 * 10 * units;
    };
    expect(learn(perHour, Date.UTC(2026, 2, 20)).runs('sms')).toEqual([]);
  });

  it('of four days comes on the same ones again, though a day of it looks like a lasting change', () => {
    const perHour = (at: number) => (Math.abs(new Date(at).getUTCDate() - 26.5) < 2 ? 30 : 10) * units;
    // In a month of 28 days the first of them is the fourth from the end, as the last is in one of 31.
    const runs = learn(perHour, Date.UTC(2026, 2, 20)).runs('sms');
    expect(runs.map(({ day }) => day)).toEqual([25, 26, 27, 28]);
    for (const { micros } of runs) expect(micros / units / 480).toBeCloseTo(1, 1);
  });

  it('is part of the forecast, and no surge when it comes', () => {
    const perHour = withRun((date) => date.getUTCDate() === 3);
    const before = Date.UTC(2026, 4, 2, 12);
    const spending = learn(perHour, before);
    // Until the run, 21 hours of a unit; then 201 an hour.
    const emptyAt = spending.forecast('sms', 400 * units)?.emptyAt ?? 0;
    expect(Math.abs(emptyAt - (before + 23 * hourMs))).toBeLessThan(hourMs);
    let reported = false;
    for (const reading of spendBy(perHour, { from: before, to: before + 2 * dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      reported ||= state !== null && isUnusual(state, 'more', { factor: 1, firing: false });
    }
    expect(reported).toBe(false);
  });

  it('is no surge where its hour takes it at once, as a fee is taken, and its end no slump', () => {
    const isFee = (at: number) => new Date(at).getUTCDate() === 1 && at % dayMs === 0;
    const perHour = (at: number) => officeHours(at) + (isFee(at) ? 12 * 150 * units : 0);
    const from = Date.UTC(2026, 3, 30);
    const spending = learn(perHour, from);
    let reported = 0;
    for (const reading of spendBy(perHour, { from, to: from + 2 * dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null) continue;
      if (isUnusual(state, 'more', { factor: 1, firing: false })) reported++;
      if (isUnusual(state, 'less', { factor: 1, firing: false })) reported++;
    }
    expect(reported).toBe(0);
  });

  it('that takes three times as much is a surge as large after a restart in its hour as without one', () => {
    const perHour = withRun((date) => date.getUTCDate() === 3);
    const from = Date.UTC(2026, 4, 3, 9);
    const surgeAfter = (restarts: boolean): number => {
      let spending = learn(perHour, from);
      for (const reading of spendBy((at) => 3 * perHour(at), { from, to: from + hourMs - 1 })) {
        spending.read(reading);
        const bytes = restarts ? spending.bytes() : null;
        if (bytes === null) continue;
        spending = spendingIn();
        spending.restore(bytes);
      }
      return (spending.state('sms')?.more.sum ?? 0) / units;
    };
    expect(surgeAfter(false)).toBeGreaterThan(100);
    expect(surgeAfter(true)).toBeCloseTo(surgeAfter(false));
  });

  it('teaches the week nothing: the same weekday is as usual a week later', () => {
    const perHour = withRun((date) => date.getUTCDate() === 3);
    const week = (until: number) => learn(perHour, until).usual('sms')?.week ?? 0;
    expect(week(Date.UTC(2026, 5, 10)) / week(Date.UTC(2026, 5, 2))).toBeCloseTo(1, 1);
  });

  it('that a person announced too is expected once, as they said', () => {
    const perHour = withRun((date) => date.getUTCDate() === 3);
    const spending = learn(perHour, Date.UTC(2026, 4, 2, 12));
    const within = () => Math.round((spending.expected('sms', 2 * dayMs) ?? 0) / units);
    const before = within();
    const window = { startsAt: Date.UTC(2026, 4, 3, 6), endsAt: Date.UTC(2026, 4, 3, 20) };
    const own = { id: 'r', account: 'a', balance: 'sms', announcedAt: 0, announcedBy: '', comment: '' };
    const announced = [{ ...own, ...window, amountMicros: 1000 * units, spentMicros: 0, usualMicros: 0 }];
    spending.adopt({ week: spending.week, balances: [], floorMicros: 0, announced });
    expect((within() - before) / 200).toBeCloseTo(1, 1);
    expect(spending.comingRuns('sms')[0]).toMatchObject({ at: window.startsAt, micros: 1000 * units });
  });

  it('is no surge where the last of it is read some seconds after its hour', () => {
    const [isRun, seconds] = [(at: number) => new Date(at).getUTCDate() === 3, 7000];
    const perHour = (at: number) =>
      officeHours(at) + (isRun(at) && new Date(at).getUTCHours() === 9 ? 20_000 * units : 0);
    const spending = spendingIn();
    for (const reading of spendBy(perHour, { from: monday + seconds, to: Date.UTC(2026, 4, 4) })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null || reading.at < Date.UTC(2026, 4, 2)) continue;
      expect(isUnusual(state, 'more', { factor: 1, firing: false })).toBe(false);
    }
  });

  it('that does not come is expected no more', () => {
    const perHour = withRun((date) => date.getUTCDate() === 3 && date.getUTCMonth() < 3);
    expect(learn(perHour, Date.UTC(2026, 3, 2)).runs('sms')).toHaveLength(1);
    expect(learn(perHour, Date.UTC(2026, 4, 10)).runs('sms')).toEqual([]);
  });

  it('that comes every two weeks is expected once it came on three days, however the month falls', () => {
    const fortnight = 14 * dayMs;
    const perHour = withRun((date) => (date.getTime() - monday) % fortnight < dayMs);
    // In a February of four weeks the same days look like days of the month.
    for (const until of [monday + 4 * fortnight - dayMs, monday + 6 * fortnight - dayMs]) {
      const spending = learn(perHour, until);
      expect(spending.runs('sms')).toMatchObject([{ every: 'two-weeks', hour: 9, hours: 4 }]);
      // Until Monday 9:00, 33 hours of a unit and one of ten; then 210 an hour.
      const emptyAt = spending.forecast('sms', 400 * units)?.emptyAt ?? 0;
      expect(Math.abs(emptyAt - (until + 34.7 * hourMs))).toBeLessThan(1.5 * hourMs);
    }
    expect(learn(perHour, monday + 4 * fortnight + 2 * dayMs).runs('sms')).toHaveLength(1);
    expect(
      learn(
        (at) => (at < monday + 3.5 * fortnight ? perHour(at) : officeHours(at)),
        monday + 4 * fortnight + 2 * dayMs,
      ).runs('sms'),
    ).toEqual([]);
  });

  it('that comes every week, far above all else, is expected at its hour once it came on three days', () => {
    const week = 7 * dayMs;
    const wednesday = monday + 2 * dayMs;
    // A little more than usual before it or after it is no part of it.
    const chance = (at: number) => (at % (2 * week) < week ? 7 : 16) * hourMs;
    const isRun = (at: number) => (at - monday) % week >= 57 * hourMs && (at - monday) % week < 58 * hourMs;
    const perHour = (at: number) =>
      officeHours(at) + (isRun(at) ? 20_000 * units : at % dayMs === chance(at) ? 250 * units : 0);
    for (const weeks of [4, 8]) {
      const spending = learn(perHour, wednesday + weeks * week - dayMs);
      expect(spending.runs('sms')).toMatchObject([{ every: 'week', hour: 9, hours: 1 }]);
      const emptyAt = spending.forecast('sms', 10_000 * units)?.emptyAt ?? 0;
      expect(Math.abs(emptyAt - (wednesday + weeks * week + 9.5 * hourMs))).toBeLessThan(hourMs / 2);
    }
    expect(learn(perHour, wednesday + 3 * week - dayMs).runs('sms')).toEqual([]);
  });

  it('outlives a restart with everything else, and damaged bytes are not taken', () => {
    const spending = learn(
      withRun((date) => date.getUTCDate() === 3),
      Date.UTC(2026, 2, 20),
    );
    const bytes = spending.bytes() ?? new Uint8Array();
    const restored = spendingIn();
    expect(restored.restore(bytes)).toBe(true);
    expect(restored.runs('sms')).toEqual(spending.runs('sms'));
    expect(restored.bytes()).toEqual(bytes);
    for (const place of [1, 20, 200, bytes.length - 1]) {
      const flipped = Uint8Array.from(bytes);
      flipped[place] = (flipped[place] ?? 0) ^ 1;
      expect(spendingIn().restore(flipped)).toBe(false);
    }
  });
});

it.each([
  ['three of the last four', [20_000, 20_014, 20_042], [20_042]],
  ['two of the last four', [20_014, 20_042], []],
  ['days in the weeks between', [20_000, 20_014, 20_035, 20_042], []],
])('a day every two weeks that came on %s is expected as that says', (_, days, expected) => {
  const state = new BalanceState();
  state.runDates.set(days);
  state.runAmounts.fill(1);
  state.runLengths.fill(1);
  state.runDays = days.length;
  const runs = expectedRuns(state, { isWorking: () => true }, 20_050);
  expect(runs.map(({ every, day }) => [every, day])).toEqual(expected.map((day) => ['two-weeks', day]));
});

describe('a run of the 25th that comes on the working day before where that is a weekend', () => {
  const pays = (at: number): number => {
    const paid = (day: number) => {
      const date = new Date(day);
      const weekday = date.getUTCDay();
      return date.getUTCDate() === 25 && weekday !== 0 && weekday !== 6;
    };
    const day = Math.floor(at / dayMs) * dayMs;
    const isFriday = new Date(day).getUTCDay() === 5;
    const moved = isFriday && [1, 2].some((ahead) => new Date(day + ahead * dayMs).getUTCDate() === 25);
    const hour = new Date(at).getUTCHours();
    return 10_000_000 + ((paid(day) || moved) && hour >= 9 && hour < 12 ? 300_000_000 : 0);
  };

  // The 25th is a Sunday in January 2026, a Wednesday in February and March, a Saturday in April.
  it('is expected on Friday 24 April, having moved in January', () => {
    const spending = spendingIn();
    for (const reading of spendBy(pays, { from: Date.UTC(2025, 11, 1), to: Date.UTC(2026, 3, 20) }))
      spending.read(reading);
    expect(spending.runs('sms')).toMatchObject([{ every: 'month', day: 25, moves: true }]);
    expect(spending.comingRuns('sms').map(({ at }) => at)).toEqual([Date.UTC(2026, 3, 24, 9)]);
  });
});
