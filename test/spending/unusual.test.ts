import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import { episodeOf, excuse, isUnusual, type Side } from '../../src/spending/unusual.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const mean = 3.7e6;

/** Minutes from `begins` until a side is unusual; null when it never is. */
function notifiedAfter(side: Side, perHour: (at: number) => number, begins: number): number | null {
  const spending = spendingIn();
  for (const reading of spendBy(perHour, { from: monday, to: begins + 2 * dayMs })) {
    spending.read(reading);
    const state = spending.state('sms');
    if (state === null || !isUnusual(state, side, { factor: 1, firing: false })) continue;
    return (reading.at - begins) / minuteMs;
  }
  return null;
}

/** A message of a twentieth of a unit every now and then, so many an hour on average, by a fixed sequence of chances. */
function fewMessages(perHour: number): (at: number) => number {
  let seed = 7;
  const chance = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return () => (chance() < perHour / 12 ? 12 * 50_000 : 0);
}

/** When each of two episodes was reported, and by how much the first one raised what counts as usual; `taken`: a person took the first. */
function notifiedTwice(
  side: Side,
  perHour: (at: number) => number,
  span: { readonly second: number; readonly taken: boolean },
) {
  const spending = spendingIn();
  const notified: number[] = [];
  let firing = false;
  let raised = 0;
  for (const reading of spendBy(perHour, { from: monday, to: span.second + dayMs })) {
    spending.read(reading);
    const state = spending.state('sms');
    if (state === null) continue;
    const unusual = isUnusual(state, side, { factor: 1, firing });
    if (unusual && !firing) notified.push(reading.at);
    if (unusual && !firing && notified.length === 1 && span.taken) excuse(state, side, true);
    firing = unusual;
    if (reading.at < span.second)
      raised = Math.max(state[side].usualTop, side === 'less' ? state.usualSilence : 0);
  }
  return { notified, raised };
}

describe('what is unusual', () => {
  const wednesday = monday + 23 * dayMs + 3 * hourMs;

  it('is a burst of ten times the mean at night, reported within a quarter of an hour', () => {
    const notified = notifiedAfter(
      'more',
      (at) => officeHours(at) + (at >= wednesday ? 10 * mean : 0),
      wednesday,
    );
    expect(notified).toBeGreaterThan(0);
    expect(notified).toBeLessThanOrEqual(15);
  });

  it('is what goes on for hours in a quiet night: what its first hour taught makes no room for the next', () => {
    const begins = wednesday - 2 * hourMs;
    const quietNights = (at: number) => (officeHours(at) > 1e6 ? 10e6 : 0.2e6);
    const notified = notifiedAfter('more', (at) => quietNights(at) + (at >= begins ? 3.6e6 : 0), begins);
    expect(notified).toBeLessThanOrEqual(2 * 60);
  });

  it('is the next burst too, a day after the first', () => {
    const dayAfter = wednesday + dayMs;
    const burst = (at: number, begins: number) => (at >= begins && at < begins + hourMs ? 10 * mean : 0);
    const spending = spendingIn();
    const notified: number[] = [];
    let firing = false;
    const perHour = (at: number) => officeHours(at) + burst(at, wednesday) + burst(at, dayAfter);
    for (const reading of spendBy(perHour, { from: monday, to: dayAfter + dayMs })) {
      spending.read(reading);
      const state = spending.state('sms');
      const unusual: boolean = state !== null && isUnusual(state, 'more', { factor: 1, firing });
      if (unusual && !firing) notified.push(reading.at);
      firing = unusual;
    }
    expect(notified).toHaveLength(2);
    expect((notified[1] ?? 0) - dayAfter).toBeLessThanOrEqual(15 * minuteMs);
  });

  it('is traffic that stops in office hours, reported within the hour', () => {
    const noon = wednesday + 9 * hourMs;
    const notified = notifiedAfter('less', (at) => (at < noon ? officeHours(at) : 0), noon);
    expect(notified).toBeLessThanOrEqual(60);
  });

  it('is traffic that stops at night, reported within the hour', () => {
    // Now a lot and now little, as messages are: a fifth of the usual or nearly twice as much.
    const uneven = (at: number) => officeHours(at) * (0.2 + 0.4 * ((at / (5 * minuteMs)) % 5));
    const notified = notifiedAfter('less', (at) => (at < wednesday ? uneven(at) : 0), wednesday);
    expect(notified).toBeGreaterThanOrEqual(30);
    expect(notified).toBeLessThanOrEqual(60);
  });

  it('says of silence since when it lasts and what was usual in it', () => {
    const spending = spendingIn();
    const perHour = (at: number) => (at < wednesday ? officeHours(at) : 0);
    for (const reading of spendBy(perHour, { from: monday, to: wednesday + 30 * minuteMs }))
      spending.read(reading);
    const state = spending.state('sms');
    const episode = state && episodeOf(state, 'less', wednesday + 30 * minuteMs);
    expect(episode).toMatchObject({ since: wednesday, spent: 0 });
    expect(episode?.expected).toBeCloseTo(0.5e6, -5);
  });

  it.each(['more', 'less'] as const)(
    'is no chance of an account that sends a few messages an hour (%s)',
    (side) => {
      expect(notifiedAfter(side, fewMessages(2), monday + 60 * dayMs)).toBeNull();
    },
  );

  it('is not the rise of every morning, nor a weekend', () => {
    expect(notifiedAfter('more', officeHours, wednesday)).toBeNull();
    expect(notifiedAfter('less', officeHours, wednesday)).toBeNull();
  });

  it('is nothing in the first week, in which nothing is usual yet', () => {
    const begins = monday + 3 * dayMs;
    const perHour = (at: number) => officeHours(at) + (at >= begins && at < begins + hourMs ? 50 * mean : 0);
    expect(notifiedAfter('more', perHour, begins)).toBeNull();
  });
});

describe('a provider that posts what was spent once an hour', () => {
  const friday = monday + 25 * dayMs;
  const paidAt = friday + 15 * hourMs;
  /** Hours from the top-up, which comes with a posting, until a slump is reported, and for how long it stays; `endsAt`: nothing is spent from then on. */
  function slumpOf(endsAt: number): { readonly after: number; readonly forHours: number } | null {
    const spending = spendingIn();
    const reported: number[] = [];
    let posted: Reading | null = null;
    const spent = (at: number) => (at < endsAt ? officeHours(at) - 0.9e6 : 0);
    for (const reading of spendBy(spent, { from: monday, to: friday + 18 * hourMs })) {
      if (posted === null || reading.at % hourMs === 0) posted = reading;
      const sms = (posted.balances.sms ?? 0) + (reading.at >= paidAt ? 1e9 : 0);
      spending.read({ ...reading, balances: { sms, voip: 0 } });
      const state = spending.state('sms');
      if (state === null || reading.at < friday) continue;
      if (isUnusual(state, 'less', { factor: 1, firing: reported.length > 0 })) reported.push(reading.at);
    }
    const [first = 0, last = 0] = [reported[0], reported.at(-1)];
    return reported.length === 0
      ? null
      : { after: (first - paidAt) / hourMs, forHours: (last - first) / hourMs };
  }

  it('is not silent where a top-up hides what it posts', () => {
    expect(slumpOf(friday + dayMs)).toBeNull();
  });

  it('is silent where nothing was spent since before the top-up, and after it', () => {
    expect(slumpOf(paidAt - hourMs)?.after).toBeLessThan(2.5);
  });

  it('stays silent where that was reported before the top-up', () => {
    const slump = slumpOf(paidAt - 5 * hourMs);
    expect(slump?.after).toBeLessThan(0);
    expect((slump?.after ?? 0) + (slump?.forHours ?? 0)).toBeCloseTo(3);
  });
});

describe('what a person said is expected', () => {
  const first = monday + 23 * dayMs + 3 * hourMs;
  const second = first + dayMs;
  const within = (at: number, begins: number) => at >= begins && at < begins + 3 * hourMs;

  it('raises nothing that the next surge is held against', () => {
    // The second is just high enough for an account that is used to nothing.
    const perHour = (at: number) =>
      officeHours(at) + (within(at, first) ? 10 * mean : 0) + (within(at, second) ? 1.5 * mean : 0);
    const expected = notifiedTwice('more', perHour, { second, taken: true });
    expect(expected.raised).toBeLessThan(0.1);
    expect(expected.notified).toHaveLength(2);
    const own = notifiedTwice('more', perHour, { second, taken: false });
    expect(own.raised).toBeGreaterThan(0.7);
    expect(own.raised).toBeLessThanOrEqual(1.5 / 1.3);
  });

  it('raises nothing that the next slump is held against', () => {
    const perHour = (at: number) => (within(at, first) || within(at, second) ? 0 : officeHours(at));
    const expected = notifiedTwice('less', perHour, { second, taken: true });
    expect(expected.raised).toBeLessThan(0.1);
    expect(expected.notified).toHaveLength(2);
    expect((expected.notified[1] ?? 0) - second).toBe((expected.notified[0] ?? 0) - first);
    const own = notifiedTwice('less', perHour, { second, taken: false });
    expect(own.raised).toBeGreaterThan(expected.raised);
  });

  it('counts again once a person took that back, and is forgotten when it is over', () => {
    const spending = spendingIn();
    const perHour = (at: number) => officeHours(at) + (within(at, first) ? 10 * mean : 0);
    for (const reading of spendBy(perHour, { from: monday, to: second })) {
      spending.read(reading);
      const state = spending.state('sms');
      if (state === null) continue;
      if (reading.at === first + hourMs) excuse(state, 'more', true);
      if (reading.at === first + hourMs) expect(state.more.excused).toBe(1);
      if (reading.at === first + 2 * hourMs) excuse(state, 'more', false);
    }
    const state = spending.state('sms');
    expect(state?.more.usualTop).toBeGreaterThan(0.7);
    if (state) excuse(state, 'more', true);
    expect(state?.more.excused).toBe(0);
  });
});
