import { describe, expect, it } from 'vitest';
import { collect } from '../../src/daemon/history-loader.ts';
import type { Reading } from '../../src/domain/reading.ts';
import { judgeForecasts } from '../../src/replay/forecast-quality.ts';
import { forecastsOf } from '../../src/replay/forecasts.ts';
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
    account: makeAccount('otp'),
    polls: () => inParts(polls),
    before: emptyReader,
    gaps: 'unread',
    until: null,
  };
  return collect(forecastsOf(past, cronCalendar));
}

describe('the forecasts of a past', () => {
  const readings = [...spendBy(officeHours, { from: monday, to: monday + 40 * dayMs, begins: 3e9 })];

  it('are one for each reading of the balances that move', async () => {
    const found = await predicted(readings);
    expect(found).toHaveLength(readings.length);
    expect(new Set(found.map(({ balance }) => balance))).toEqual(new Set(['sms']));
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
