import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import type { PollRecord } from '../../src/domain/reading.ts';
import { createReplay } from '../../src/replay/replay.ts';
import type { ReplayResult } from '../../src/replay/replay-engine.ts';
import { ruleKinds } from '../../src/rules/registry.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { belowRule, dropRule, hourMs, runwayRule, topUpRule, units } from '../support/account-facts.ts';
import { inParts } from '../support/in-parts.ts';
import { makeSettings } from '../support/settings.ts';

const surge = { ...belowRule(), id: 'surge', type: 'surge', sensitivity: 'high' };

const start = Date.UTC(2026, 0, 5);
const settings = makeSettings({
  rules: [
    belowRule({ id: 'low', thresholds: { info: units(60), warning: units(20) } }),
    runwayRule({ id: 'runway', lookbackMs: null }),
    dropRule({ id: 'drop' }),
    topUpRule({ id: 'top-up' }),
    surge,
    { ...surge, id: 'slump', type: 'slump' },
  ],
});

/** Three weeks of hours: a usual day, with chance, bursts, silences, failures and top-ups. */
const past = fc
  .array(
    fc.record({
      spent: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 50, max: 150 }) }, fc.constantFrom(0, 3000)),
      poll: fc.oneof({ weight: 30, arbitrary: fc.constant('ok') }, fc.constantFrom('timeout', 'auth_failed')),
      currency: fc.oneof({ weight: 400, arbitrary: fc.constant('CNY') }, fc.constant('USD')),
    }),
    { minLength: 200, maxLength: 300, size: 'max' },
  )
  .map((hours) => {
    let left = units(300);
    return hours.map(({ spent, poll, currency }, hour): PollRecord => {
      left -= spent * 10_000 * (hour % 24 < 8 ? 1 : 3);
      if (left < units(-20)) left += units(300);
      const at = start + hour * hourMs;
      const reading = { at, balances: { sms: left, voip: units(5) }, currency };
      return poll === 'ok'
        ? { at, outcome: 'ok', reading }
        : { at, outcome: poll === 'timeout' ? 'timeout' : 'auth_failed', reading: null };
    });
  });

async function replay(polls: readonly PollRecord[]): Promise<ReplayResult | null> {
  const pasts = settings.accounts.map((account) => ({
    account,
    polls: () => inParts(polls),
    before: emptyReader,
    gaps: 'unread' as const,
    until: null,
  }));
  return createReplay({ settings, calendar: cronCalendar, pasts }).advance(Number.POSITIVE_INFINITY);
}

afterEach(() => void vi.restoreAllMocks());

it('says of a past exactly what it says where every rule judges every reading', async () => {
  const types = new Set<string>();
  await fc.assert(
    fc.asyncProperty(past, async (polls) => {
      const short = await replay(polls);
      for (const kind of ruleKinds)
        if (kind.isSurelyOk !== undefined) vi.spyOn(kind, 'isSurelyOk').mockReturnValue(false);
      const long = await replay(polls);
      vi.restoreAllMocks();
      expect(short?.incidents).toEqual(long?.incidents);
      expect(short?.messages).toEqual(long?.messages);
      for (const { type } of short?.incidents ?? []) types.add(type);
    }),
    { numRuns: 6, endOnFailure: true, seed: 2026 },
  );
  // Not an empty comparison: the pasts have something of most kinds.
  expect([...types]).toEqual(expect.arrayContaining(['below', 'surge', 'runway', 'auth-failed']));
});
