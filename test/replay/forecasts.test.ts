import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collect } from '../../src/daemon/history-loader.ts';
import { amountOf, type Reading } from '../../src/domain/reading.ts';
import { forecastsOf, judgeForecasts } from '../../src/replay/forecasts.ts';
import type { AccountPast } from '../../src/replay/past.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { inParts } from '../support/in-parts.ts';
import { makeAccount } from '../support/settings.ts';
import { monday, officeHours, spendBy } from '../support/spending.ts';

const dayMs = 86_400_000;

async function predicted(readings: readonly Reading[]) {
  const polls = readings.map((reading) => ({ at: reading.at, outcome: 'ok' as const, reading }));
  const past: AccountPast = {
    account: makeAccount('otp', { currency: 'EUR' }),
    polls: () => inParts(polls),
    before: emptyReader,
    gaps: 'unread',
    until: null,
  };
  return collect(forecastsOf(past, cronCalendar));
}

describe('forecasts of an account that is topped up only when it is empty', () => {
  it('are judged by when nothing more could be sent, regardless of the price, the remainder and the pause until the top-up', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 90_000 }),
        fc.integer({ min: 0, max: 99 }),
        fc.integer({ min: 1, max: 200 }),
        (price, remainderPercent, pauseHours) => {
          const remainder = Math.floor((price * remainderPercent) / 100);
          const readings = drainEvenly({ price, remainder, pauseHours, messages: 240 });
          const emptyAt = readings.find((reading) => amountOf(reading, 'sms') < price)?.at ?? 0;
          // Forecasts that say exactly when the last message is sent.
          const perfect = readings.map((reading) => {
            const forecast = { emptyAt, earliest: emptyAt, latest: emptyAt, basis: 'hour-of-week' as const };
            return { reading, balance: 'sms' as const, leftMicros: amountOf(reading, 'sms'), forecast };
          });
          const judged = judgeForecasts(perfect, 'sms');
          expect(judged.length).toBeGreaterThan(0);
          for (const { medianError, held } of judged) expect([medianError, held]).toEqual([0, 1]);
        },
      ),
      { numRuns: 50 },
    );
  });
});

it('takes a balance for empty at zero only, while too few falls show what a message takes', () => {
  // Two falls of 300 leave 90, which lasts on; the third reading from the end is empty.
  const readings = [690, 690, 390, ...new Array<number>(40).fill(90), 0, 0].map((sms, hour) => ({
    at: monday + hour * 3_600_000,
    balances: { sms },
    currency: 'EUR',
  }));
  const forecast = {
    emptyAt: monday + 43 * 3_600_000,
    earliest: null,
    latest: null,
    basis: 'mean-burn' as const,
  };
  const perfect = readings.map((reading) => ({
    reading,
    balance: 'sms',
    leftMicros: amountOf(reading, 'sms'),
    forecast,
  }));
  const judged = judgeForecasts(perfect, 'sms');
  expect(judged).toMatchObject([{ aheadMs: dayMs, medianError: 0 }]);
});

/** One message an hour until less than its price is left; then nothing, for so long; then a top-up, and messages again. */
function drainEvenly(it: {
  readonly price: number;
  readonly remainder: number;
  readonly pauseHours: number;
  readonly messages: number;
}): Reading[] {
  const { price, remainder, pauseHours, messages } = it;
  const reading = (hour: number, sms: number): Reading => ({
    at: monday + hour * 3_600_000,
    balances: { sms },
    currency: 'EUR',
  });
  const draining = Array.from({ length: messages + 1 }, (_, hour) =>
    reading(hour, remainder + (messages - hour) * price),
  );
  const idle = Array.from({ length: pauseHours }, (_, hour) => reading(messages + 1 + hour, remainder));
  const again = Array.from({ length: 24 }, (_, hour) =>
    reading(messages + 1 + pauseHours + hour, remainder + (1000 - hour) * price),
  );
  return [...draining, ...idle, ...again];
}

describe('the forecasts of a past', () => {
  const readings = [...spendBy(officeHours, { from: monday, to: monday + 40 * dayMs, begins: 3e9 })];

  it('are one for each reading of the balances that move', async () => {
    const found = await predicted(readings);
    expect(found).toHaveLength(readings.length);
    expect(new Set(found.map(({ balance }) => balance))).toEqual(new Set(['sms']));
  });

  it('are none of a reading in another currency, of which what is spent in the own one says nothing', async () => {
    const [first, ...others] = readings.slice(0, 3000).toReversed();
    const foreign = first === undefined ? [] : [{ ...first, currency: 'USD' }];
    const found = await predicted([...others.toReversed(), ...foreign]);
    expect(found).toHaveLength(others.length);
  });

  it('rest on nothing that comes later', async () => {
    const part = await predicted(readings.slice(0, 5000));
    expect(part).toEqual((await predicted(readings)).slice(0, part.length));
  });

  it('are held against what came', async () => {
    const [day, ...longer] = judgeForecasts(await predicted(readings), 'sms');
    expect(day?.aheadMs).toBe(dayMs);
    expect(longer.map(({ aheadMs }) => aheadMs / dayMs)).toEqual([3, 7]);
    for (const { medianError, count } of longer) {
      expect(medianError).toBeLessThan(0.05);
      expect(count).toBeGreaterThan(10);
    }
  });
});
