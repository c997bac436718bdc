import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import { isUnusual } from '../../src/spending/unusual.ts';
import { processorMs } from '../support/processor-time.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const units = 1_000_000;

function learn(readings: Iterable<Reading>, timezone = 'UTC', holidays: readonly string[] = []) {
  const spending = spendingIn(timezone, holidays);
  for (const reading of readings) spending.read(reading);
  return spending;
}

describe('the forecast of an account', () => {
  it('tells nothing before a day was seen, by the hour of the day in the first week, by the hour of the week after it', () => {
    const knownAfter = (days: number) =>
      learn(spendBy(officeHours, { from: monday, to: monday + days * dayMs })).forecast('sms', units);
    expect(knownAfter(0.9)).toBeNull();
    expect(knownAfter(2)?.basis).toBe('hour-of-day');
    expect(knownAfter(8)?.basis).toBe('hour-of-week');
  });

  it('knows on a Sunday what Monday takes', () => {
    const sundayNoon = monday + 27 * dayMs + 12 * hourMs;
    const spending = learn(spendBy(officeHours, { from: monday, to: sundayNoon }));
    // 20 hours until Monday 8:00 take a unit each; from then on ten an hour.
    const emptyAt = spending.forecast('sms', 50 * units)?.emptyAt ?? 0;
    expect(Math.abs(emptyAt - (sundayNoon + 23 * hourMs))).toBeLessThan(15 * minuteMs);
  });

  it('spans what it says with an interval that has the median within', () => {
    const spending = learn(spendBy(officeHours, { from: monday, to: monday + 30 * dayMs }));
    for (const left of [1, 10, 100, 1000, 5000]) {
      const found = spending.forecast('sms', left * units);
      const [earliest, emptyAt, latest] = [found?.earliest, found?.emptyAt, found?.latest].map(Number);
      expect(earliest).toBeLessThan(emptyAt ?? 0);
      expect(emptyAt).toBeLessThan(latest ?? 0);
    }
  });

  it('tells months ahead by the last week it knows, and nothing past five years', () => {
    const now = monday + 28 * dayMs;
    const spending = learn(spendBy(officeHours, { from: monday, to: now }));
    const weekly = (50 * 10 + 118) * units;
    const emptyAt = spending.forecast('sms', 20 * weekly)?.emptyAt ?? 0;
    expect(Math.abs(emptyAt - (now + 140 * dayMs))).toBeLessThan(12 * hourMs);
    expect(spending.forecast('sms', 400 * weekly)?.emptyAt).toBeNull();
  });

  it('keeps the hour of the day where clocks go forward', () => {
    // Berlin's clocks went forward on 29 March 2026; its office hours are an hour earlier in UTC from then on.
    const berlin = (at: number) => officeHours(at, at < Date.UTC(2026, 2, 29, 1) ? 1 : 2);
    const from = Date.UTC(2026, 2, 2);
    const saturdayNoon = Date.UTC(2026, 2, 28, 12);
    const emptyAt = (timezone: string) =>
      learn(spendBy(berlin, { from, to: saturdayNoon }), timezone).forecast('sms', 52 * units)?.emptyAt ?? 0;
    // Until Monday 8:00 in Berlin, which is 6:00 UTC, 42 hours take a unit each; the 52nd unit is spent within the hour after.
    expect(Math.abs(emptyAt('Europe/Berlin') - Date.UTC(2026, 2, 30, 7))).toBeLessThan(20 * minuteMs);
    expect(Math.abs(emptyAt('UTC') - Date.UTC(2026, 2, 30, 7))).toBeGreaterThan(30 * minuteMs);
  });

  it.each([
    ['nearly nothing', 0.1],
    ['three times as much', 3],
  ])('learns from two holidays that one takes %s of a Sunday, and the days after it nothing', (_, factor) => {
    const days = [21, 30, 38].map((day) => monday + day * dayMs);
    const isHoliday = (at: number) => days.some((day) => at >= day && at < day + dayMs);
    const perHour = (at: number) => (isHoliday(at) ? factor * units : officeHours(at));
    const [, , third = 0] = days;
    const spending = learn(
      spendBy(perHour, { from: monday, to: third }),
      'UTC',
      days.map((day) => new Date(day).toISOString().slice(0, 10)),
    );
    const within = (hours: number) => (spending.expected('sms', hours * hourMs) ?? 0) / units;
    expect(within(24) / (24 * factor)).toBeGreaterThan(factor < 1 ? 1 : 0.75);
    expect(within(24) / (24 * factor)).toBeLessThan(factor < 1 ? 3.5 : 1);
    expect(within(48) - within(24)).toBeGreaterThan(100);
    expect(within(48) - within(24)).toBeLessThan(130);
  });

  it('takes a holiday for a Sunday', () => {
    const fridayMidnight = monday + 25 * dayMs;
    const readings = () => spendBy(officeHours, { from: monday, to: fridayMidnight });
    const emptyAt = (holidays: readonly string[]) =>
      learn(readings(), 'UTC', holidays).forecast('sms', 20 * units)?.emptyAt ?? 0;
    expect(emptyAt([]) - fridayMidnight).toBeLessThan(10 * hourMs);
    expect(emptyAt(['2026-01-30']) - fridayMidnight).toBeGreaterThan(19 * hourMs);
  });

  it('takes neither a top-up nor the silence of an empty account for a lack of demand', () => {
    const to = monday + 21 * dayMs;
    const steady = learn(spendBy(() => 12 * units, { from: monday, to }));
    const readings: Reading[] = [];
    let sms = 1000 * units;
    for (let at = monday; at <= to; at += 5 * minuteMs) {
      readings.push({ at, balances: { sms, voip: 0 }, currency: 'EUR' });
      sms = Math.max(0, sms - units);
      // Empty for six hours, then topped up.
      if (at - (readings.findLast((it) => amountOf(it, 'sms') > 0)?.at ?? at) >= 6 * hourMs)
        sms = 1000 * units;
    }
    const left = 100 * units;
    const runsOut = (spending: ReturnType<typeof learn>) =>
      (spending.forecast('sms', left)?.emptyAt ?? 0) - to;
    expect(runsOut(learn(readings)) / runsOut(steady)).toBeCloseTo(1, 1);
  });

  it('gets over a fall in its first hours that was no spending', () => {
    const to = monday + 10 * dayMs;
    const [first, ...rest] = spendBy(() => units, { from: monday, to, begins: 500 * units });
    const spending = learn([{ ...first, balances: { sms: 10_000 * units, voip: 0 } } as Reading, ...rest]);
    const emptyAt = spending.forecast('sms', 24 * units)?.emptyAt ?? 0;
    expect(emptyAt - to).toBeGreaterThan(18 * hourMs);
  });

  it('spreads what was spent in a gap over the gap', () => {
    const to = monday + 21 * dayMs;
    const all = [...spendBy(() => 12 * units, { from: monday, to })];
    const gappy = all.filter((_, index) => index % 288 < 200 || index === all.length - 1);
    const runsOut = (readings: readonly Reading[]) =>
      learn(readings).forecast('sms', 500 * units)?.emptyAt ?? 0;
    expect(Math.abs(runsOut(gappy) - runsOut(all))).toBeLessThan(hourMs);
  });

  it('lays what was spent while nobody could read for days where its hours usually have it, and tells no slump of that', () => {
    const outage = monday + 25 * dayMs;
    const to = outage + 2 * dayMs;
    const all = [...spendBy(officeHours, { from: monday, to })];
    const isRead = ({ at }: Reading) => at < outage || at > outage + 1.4 * dayMs;
    const left = 20 * units;
    const [whole, gappy] = [learn(all), learn(all.filter(isRead))].map((it) => it.forecast('sms', left));
    expect(Math.abs((gappy?.emptyAt ?? 0) - (whole?.emptyAt ?? 0))).toBeLessThan(15 * minuteMs);
    const spending = spendingIn();
    const slumps = all.filter(isRead).filter((reading) => {
      spending.read(reading);
      const state = spending.state('sms');
      return state !== null && isUnusual(state, 'less', { factor: 1, firing: false });
    });
    expect(slumps).toEqual([]);
  });

  it('takes a top-up that hides in days without a reading for no lack of demand', () => {
    const outage = monday + 25 * dayMs;
    const to = outage + 9 * dayMs;
    const all = [...spendBy(officeHours, { from: monday, to })];
    // 756 units were spent in the nine days, 600 paid in.
    const [last, ...rest] = all.filter(({ at }) => at >= to - 5 * minuteMs).reverse();
    const paid = (reading: Reading) => ({
      ...reading,
      balances: { ...reading.balances, sms: amountOf(reading, 'sms') + 600 * units },
    });
    const readings = [...all.filter(({ at }) => at < outage), ...[...rest, last as Reading].map(paid)];
    const [whole, gappy] = [learn(all), learn(readings)].map(
      (it) => (it.forecast('sms', 800 * units)?.emptyAt ?? 0) - to,
    );
    expect((gappy ?? 0) / (whole ?? 0)).toBeCloseTo(1, 1);
  });

  it('follows an account that takes a third by now, though it is read every fourth day alone', () => {
    const change = monday + 28 * dayMs;
    const to = monday + 70 * dayMs;
    const spent = spendBy((at) => (at < change ? 12 : 4) * units, { from: monday, to });
    const read = [...spent].filter(({ at }) => at < change || (at - monday) % (4 * dayMs) === 0);
    const emptyAt = learn(read).forecast('sms', 800 * units)?.emptyAt ?? 0;
    expect((emptyAt - (read.at(-1)?.at ?? 0)) / (200 * hourMs)).toBeCloseTo(1, 1);
  });

  it('is a date again after the only hour that ever took anything was forgotten as no habit', () => {
    const batch = (at: number, begins: number) => (at >= begins && at < begins + hourMs ? 35 * units : 0);
    const perHour = (at: number) =>
      batch(at, monday + 14 * hourMs) + batch(at, monday + 9 * dayMs) + batch(at, monday + 20 * dayMs);
    const spending = spendingIn();
    for (const reading of spendBy(perHour, { from: monday, to: monday + 28 * dayMs })) {
      spending.read(reading);
      const found = spending.forecast('sms', 40 * units);
      if (found === null) continue;
      for (const at of [found.earliest, found.emptyAt, found.latest])
        if (at !== null) expect(at).toBeGreaterThanOrEqual(reading.at);
    }
  });

  it('starts afresh in another currency', () => {
    const spending = learn(spendBy(officeHours, { from: monday, to: monday + 10 * dayMs }));
    spending.read({ at: monday + 11 * dayMs, balances: { sms: 5, voip: 0 }, currency: 'USD' });
    expect(spending.state('sms')).toBeNull();
  });
});

describe('what is stored of it', () => {
  it('goes on after a restart at any reading as if nothing had happened, in less than 4 KB', () => {
    const readings = [...spendBy(officeHours, { from: monday, to: monday + 9 * dayMs })];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: readings.length - 1 }), (cut) => {
        const before = learn(readings.slice(0, cut));
        const bytes = before.bytes();
        if (bytes === null) throw new Error('there is a reading');
        const after = spendingIn();
        expect(after.restore(bytes)).toBe(true);
        for (const reading of readings.slice(cut)) {
          before.read(reading);
          after.read(reading);
        }
        expect(after.bytes()).toEqual(before.bytes());
        expect(bytes.length).toBeLessThan(4096);
      }),
      { numRuns: 20 },
    );
  });

  it('says of a balance what it said before, wherever an hour, a smallest fall or a monthly run is cut', () => {
    // Traffic in clumps, each a little smaller than those before, and far more on the first of a month.
    const clumps = (at: number): number => {
      const hour = at / hourMs;
      const busy = (hour * 7919) % 13 < 3 ? 20 * units - hour / 10 : 0;
      return new Date(at).getUTCDate() === 1 ? busy + 200 * units : busy;
    };
    const readings = [...spendBy(clumps, { from: monday, to: monday + 90 * dayMs, begins: 1e15 })].filter(
      (_, index) => index % 7 === 0,
    );
    const lived = spendingIn();
    for (const [index, reading] of readings.entries()) {
      lived.read(reading);
      if (index % 3 !== 0) continue;
      const restored = spendingIn();
      restored.restore(lived.bytes() ?? new Uint8Array(0));
      expect(restored.forecast('sms', 3000 * units)).toEqual(lived.forecast('sms', 3000 * units));
    }
  });

  const now = monday + 9 * dayMs;
  const sinceNow = (at: number): number => (at - now) / minuteMs;
  // A day in which more large falls come than before.
  const rare = (at: number): number => ((at / hourMs) % (at < now - dayMs ? 4 : 1) < 0.05 ? 1200 : 0);
  const bursts = (at: number): number => ((at / hourMs) % 50 < 1 ? 500 : 12);

  it.each([
    ['a smaller fall than all before', (at: number) => (sinceNow(at) < 20 ? rare(at) : 12)],
    ['a longer silence than all before', (at: number) => (Math.abs(sinceNow(at) - 25) < 15 ? 0 : bursts(at))],
  ])('says of a balance what it said before, also in the hour of %s', (_, perHour) => {
    const lived = spendingIn();
    const spent = (at: number): number => units * perHour(at);
    for (const reading of spendBy(spent, { from: monday, to: now + 55 * minuteMs })) {
      lived.read(reading);
      // At each, so that the forecast of the hour is made before what changes it.
      const said = lived.forecast('sms', 3000 * units);
      const restored = spendingIn();
      restored.restore(lived.bytes() ?? new Uint8Array(0));
      expect(restored.forecast('sms', 3000 * units)).toEqual(said);
    }
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['what a flipped bit left of a row', JSON.parse('null')],
    ['another version', Uint8Array.from({ length: 3000 }, () => 250)],
    [
      'half of it',
      learn(spendBy(officeHours, { from: monday, to: monday + dayMs }))
        .bytes()
        ?.subarray(0, 1000),
    ],
    [
      'what was learned in another zone',
      learn(spendBy(officeHours, { from: monday, to: monday + dayMs }), 'Asia/Shanghai').bytes(),
    ],
  ])('does not go on from %s', (_name, bytes) => {
    expect(spendingIn().restore(bytes)).toBe(false);
  });

  it('is the same no matter what comes: no reading makes it useless', () => {
    const reading = fc.record({
      at: fc.integer({ min: monday, max: monday + 60 * dayMs }),
      balances: fc.record({
        sms: fc.integer({ min: -100, max: 100 }).map((value) => value * units),
        voip: fc.integer({ min: 0, max: 3 }).map((value) => value * units),
      }),
      currency: fc.constantFrom('EUR', 'EUR', 'EUR', 'USD'),
    });
    fc.assert(
      fc.property(fc.array(reading, { maxLength: 60 }), (readings) => {
        const spending = learn(readings);
        for (const balance of ['sms', 'voip'] as const) {
          const found = spending.forecast(balance, 10 * units);
          for (const instant of [found?.earliest, found?.emptyAt, found?.latest]) {
            if (instant != null) expect(instant).toBeGreaterThanOrEqual(spending.last?.at ?? 0);
          }
        }
      }),
    );
  });
});

describe('one huge fall', () => {
  const emptyAfter = (days: number, hugeAt: number | null) => {
    const to = monday + days * dayMs;
    const readings = [...spendBy(officeHours, { from: monday, to })].map((reading) => ({
      ...reading,
      balances: {
        sms: amountOf(reading, 'sms') + (hugeAt !== null && reading.at < monday + hugeAt * hourMs ? 2e12 : 0),
        voip: 0,
      },
    }));
    return (learn(readings).forecast('sms', 300 * units)?.emptyAt ?? 0) - to;
  };

  it.each([1, 2, 15, 60, 100])(
    'in hour %i of its history spoils no forecast once that hour of the week came again',
    (hour) => {
      for (const days of [12, 21, 30]) {
        expect(Math.abs(emptyAfter(days, hour) / emptyAfter(days, null) - 1)).toBeLessThan(0.1);
      }
    },
  );

  it('later on spoils none either', () => {
    expect(Math.abs(emptyAfter(30, 18 * 24 + 3) / emptyAfter(30, null) - 1)).toBeLessThan(0.1);
  });
});

describe('the drift', () => {
  it('follows growth that the profile is late for', () => {
    const growing = (at: number) => officeHours(at) * 1.3 ** ((at - monday) / (30 * dayMs));
    const now = monday + 70 * dayMs;
    const spending = learn(spendBy(growing, { from: monday, to: now }));
    let week = 0;
    for (let at = now; at < now + 7 * dayMs; at += 5 * minuteMs) week += growing(at) / 12;
    // Without it the level alone would be a tenth late.
    expect(Math.abs((spending.expected('sms', 7 * dayMs) ?? 0) / week - 1)).toBeLessThan(0.08);
  });
});

describe('how good forecasts were', () => {
  it('is not known before one of three days came due', () => {
    expect(spendingIn().record('sms')).toBeNull();
    expect(learn(spendBy(officeHours, { from: monday, to: monday + 3 * dayMs })).record('sms')).toBeNull();
  });

  it('is the middle error of those that came due in two weeks, and whether they were too low', () => {
    const now = monday + 42 * dayMs;
    const steady = learn(spendBy(officeHours, { from: monday, to: now })).record('sms');
    expect(steady).toMatchObject({ aheadMs: 3 * dayMs, count: 44 });
    expect(steady?.medianError).toBeLessThan(0.01);
    const more = (at: number) => officeHours(at) * 1.5 ** ((at - monday) / (7 * dayMs));
    const grown = learn(spendBy(more, { from: monday, to: now })).record('sms');
    expect(grown?.medianError).toBeGreaterThan(0.1);
    expect(grown?.tooLow).toBeGreaterThan(0.7);
  });

  it('leaves out what could not be seen', () => {
    const now = monday + 42 * dayMs;
    const readings = [...spendBy(officeHours, { from: monday, to: now })];
    const seen = readings.filter(({ at }) => at < now - 8 * dayMs || at > now - 7 * dayMs);
    const whole = learn(seen).record('sms');
    expect(whole?.count).toBe(44);
    const toppedUp = seen.map((it) => ({
      ...it,
      balances: { sms: amountOf(it, 'sms') + (it.at > now - 7 * dayMs ? 1e12 : 0), voip: 0 },
    }));
    expect(learn(toppedUp).record('sms')?.count).toBeLessThan(44);
  });
});

describe('for any readings', () => {
  const falls = fc.array(
    fc.record({
      minutes: fc.integer({ min: 1, max: 30 }),
      messages: fc.nat(40),
      topUp: fc.constantFrom(0, 0, 0, 0, 9000),
    }),
    { minLength: 300, maxLength: 600 },
  );

  /** A message takes a quarter of a unit. */
  function* readingsOf(
    steps: readonly { minutes: number; messages: number; topUp: number }[],
  ): Generator<Reading> {
    let [at, sms] = [monday, 1e10];
    for (const { minutes, messages, topUp } of steps) {
      at += minutes * minuteMs;
      sms += topUp * units - (messages * units) / 4;
      yield { at, balances: { sms }, currency: 'EUR' };
    }
  }

  it('a forecast comes from the past alone, and each balance is reported as it was read', () => {
    fc.assert(
      fc.property(falls, fc.double({ min: 0.3, max: 0.9, noNaN: true }), (steps, share) => {
        const readings = [...readingsOf(steps)];
        const cut = Math.floor(readings.length * share);
        const whole = spendingIn();
        let seen = null;
        for (const [index, reading] of readings.entries()) {
          whole.read(reading);
          if (index === cut - 1) seen = whole.forecast('sms', 500 * units);
        }
        expect(learn(readings.slice(0, cut)).forecast('sms', 500 * units)).toEqual(seen);
        expect(whole.last).toEqual(readings.at(-1));
      }),
      { numRuns: 15 },
    );
  });

  it('a fall that is read in two polls makes the same forecast', () => {
    fc.assert(
      fc.property(falls, (steps) => {
        const readings = [...readingsOf(steps)];
        const split = readings.flatMap((reading, index) => {
          const before = readings[index - 1];
          const fell = (before?.balances.sms ?? 0) - (reading.balances.sms ?? 0);
          if (before === undefined || fell <= units) return [reading];
          const at = (before.at + reading.at) / 2;
          return [{ at, balances: { sms: (before.balances.sms ?? 0) - fell / 2 }, currency: 'EUR' }, reading];
        });
        const [whole, halves] = [readings, split].map((read) => learn(read).forecast('sms', 500 * units));
        expect(halves?.basis).toBe(whole?.basis);
        for (const instant of ['emptyAt', 'earliest', 'latest'] as const)
          expect(Math.abs((halves?.[instant] ?? 0) - (whole?.[instant] ?? 0))).toBeLessThan(minuteMs);
      }),
      { numRuns: 15 },
    );
  });
});

it.each([
  ['of year 1', Date.parse('0001-01-01T00:00:00Z')],
  ['of 1971', Date.parse('1971-01-01T00:00:00Z')],
])('a reading %s is gone on from at once: five weeks of the gap are walked', (_, at) => {
  const spending = spendingIn('Europe/Berlin', []);
  const reading = (when: number, sms: number): Reading => ({
    at: when,
    balances: { sms, voip: 0 },
    currency: 'CNY',
  });
  spending.read(reading(at, 5000 * units));
  spending.read(reading(at + hourMs, 4999 * units));
  const began = processorMs();
  spending.read(reading(monday, 4000 * units));
  expect(processorMs() - began).toBeLessThan(500);
  expect(spending.state('sms')?.hours).toBe(35 * 24 + 1);
  expect(spending.last?.at).toBe(monday);
});
