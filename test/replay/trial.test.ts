import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { PollRecord, ProviderFacts } from '../../src/domain/reading.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import { createTrials, type Trials } from '../../src/replay/trial.ts';
import { ruleOn } from '../../src/rules/rules-for-account.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import {
  belowRule,
  dayMs,
  hourMs,
  minuteMs,
  negativeRule,
  staleRule,
  units,
} from '../support/account-facts.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { inParts } from '../support/in-parts.ts';
import { processorMs } from '../support/processor-time.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

const now = Date.UTC(2026, 10, 20);
const hysteresis = { kind: 'amount', micros: 0 } as const;
const present = belowRule({ id: 'low', thresholds: { critical: units(20) }, hysteresis });
const tried = belowRule({ id: 'low', thresholds: { warning: units(50) }, hysteresis });

/** Falls from 100 by ten an hour and is topped up at 10, again and again; all of it moved `by` so much. */
function sawtooth(from: number, everyMs: number, by = 0): PollRecord[] {
  const polls: PollRecord[] = [];
  for (let at = from; at <= now; at += everyMs) {
    const sms = units(by + 100 - ((at - from) % (9 * hourMs)) * (10 / hourMs));
    polls.push({ at, outcome: 'ok', reading: { at, balances: { sms, voip: 0 }, currency: 'CNY' } });
  }
  return polls;
}

function reading(polls: readonly PollRecord[]): StoreReader {
  return {
    ...emptyReader,
    polls: ({ since, until }) => inParts(polls.filter(({ at }) => at >= since && at < until)),
  };
}

function trialsOn(reader: StoreReader, clock = new FakeClock(now)): Trials {
  const settings = makeSettings({ accounts: [makeAccount('otp')], rules: [present] });
  return createTrials({ settings: () => settings, reader, calendar: cronCalendar, clock });
}

const order = { account: 'otp', tried, present, since: now - 2 * dayMs, facts: undefined };

describe('a rule that is tried on stored history', () => {
  it('says when it would have fired next to when it does, within the time asked for', async () => {
    const trial = await trialsOn(reading(sawtooth(now - 10 * dayMs, 5 * minuteMs))).run(order);
    if (typeof trial === 'string') throw new Error(trial);
    expect(trial.since).toBe(order.since);
    // Five or six teeth in two days; each is below 50 for four hours, and below 20 for one.
    expect([5, 6]).toContain(trial.tried.length);
    expect([5, 6]).toContain(trial.present?.length);
    const lasted = (it: { firedAt: number; resolvedAt: number | null }) =>
      ((it.resolvedAt ?? now) - it.firedAt) / hourMs;
    expect(lasted(trial.tried[1] ?? { firedAt: 0, resolvedAt: 0 })).toBeCloseTo(4, 0);
    expect(lasted(trial.present?.[1] ?? { firedAt: 0, resolvedAt: 0 })).toBeCloseTo(1, 0);
    expect(trial.tried.every(({ severity }) => severity === 'warning')).toBe(true);
  });

  it('takes the balance for empty where the credit that the provider says is used up', async () => {
    const ladder = negativeRule({ severity: 'warning' });
    const reader = reading(sawtooth(now - 10 * dayMs, 5 * minuteMs, -60));
    const worst = async (facts: ProviderFacts | undefined) => {
      const account = makeAccount('otp', { creditLimitMicros: null });
      const settings = makeSettings({ accounts: [account], rules: [ladder] });
      const parts = { settings: () => settings, reader, calendar: cronCalendar, clock: new FakeClock(now) };
      const trial = await createTrials(parts).run({ ...order, tried: ladder, present: null, facts });
      if (typeof trial === 'string') throw new Error(trial);
      return new Set(trial.tried.map(({ severity }) => severity));
    };
    expect(await worst({ creditLimitMicros: units(30) })).toContain('critical');
    expect(await worst({ creditLimitMicros: units(80) })).not.toContain('critical');
  });

  it('goes by its own thresholds on an account that has some in force', async () => {
    const account = makeAccount('otp', { thresholds: { sms: { warning: units(80), critical: units(20) } } });
    const settings = makeSettings({ accounts: [account], rules: [present] });
    const reader = reading(sawtooth(now - 10 * dayMs, 5 * minuteMs));
    const trials = createTrials({
      settings: () => settings,
      reader,
      calendar: cronCalendar,
      clock: new FakeClock(now),
    });
    const inForce = ruleOn(present, account);
    const trial = await trials.run({ ...order, present: inForce });
    if (typeof trial === 'string') throw new Error(trial);
    expect(new Set(trial.tried.map(({ severity }) => severity))).toEqual(new Set(['warning']));
    const lasted = (it: { firedAt: number; resolvedAt: number | null }) =>
      ((it.resolvedAt ?? now) - it.firedAt) / hourMs;
    expect(lasted(trial.tried[1] ?? { firedAt: 0, resolvedAt: 0 })).toBeCloseTo(4, 0);
    expect(lasted(trial.present?.[1] ?? { firedAt: 0, resolvedAt: 0 })).toBeCloseTo(7, 0);
  });

  it('is tried where no such rule is in force', async () => {
    const alone = await trialsOn(reading(sawtooth(now - dayMs, 5 * minuteMs))).run({
      ...order,
      present: null,
    });
    expect(alone).toMatchObject({ present: null, tried: [{}, {}, {}] });
  });

  it.each([
    ['nothing is stored', [], order],
    [
      'all that is stored is older',
      sawtooth(now - 10 * dayMs, hourMs).filter(({ at }) => at < order.since),
      order,
    ],
    ['the account is not watched', sawtooth(now - dayMs, hourMs), { ...order, account: 'gone' }],
  ])('does not say that nothing would have been reported where %s', async (_where, polls, asked) => {
    expect(await trialsOn(reading(polls)).run(asked)).toBe('not-watched');
  });

  it('does not say that nothing would have been reported where every poll failed, but judges who cannot be read', async () => {
    const polls = sawtooth(now - 10 * dayMs, hourMs).map(
      (poll): PollRecord =>
        poll.at < order.since ? poll : { at: poll.at, outcome: 'timeout', reading: null },
    );
    const trials = trialsOn(reading(polls));
    expect(await trials.run(order)).toBe('not-read');
    expect(await trials.run({ ...order, tried: staleRule(), present: null })).toMatchObject({ tried: [{}] });
  });

  it('runs with at most one other, and can be tried again after it', async () => {
    const trials = trialsOn(reading(sawtooth(now - 3 * dayMs, 5 * minuteMs)));
    const answers = await Promise.all([trials.run(order), trials.run(order), trials.run(order)]);
    expect(answers.map((answer) => typeof answer)).toEqual(['object', 'object', 'string']);
    expect(answers[2]).toBe('busy');
    expect(await trials.run(order)).toBeTypeOf('object');
  });

  it('ends after half a minute', async () => {
    const clock = new FakeClock(now);
    let asked = 0;
    const slow = { now: () => now, setTimer: clock.setTimer.bind(clock), monotonic: () => (asked += 1_000) };
    const settings = makeSettings({ accounts: [makeAccount('otp')], rules: [present] });
    const reader = reading(sawtooth(now - 40 * dayMs, minuteMs));
    const trials = createTrials({ settings: () => settings, reader, calendar: cronCalendar, clock: slow });
    expect(await trials.run(order)).toBe('too-long');
  });

  it('leaves everything else its turn', async () => {
    const reader = reading(sawtooth(now - 30 * dayMs, minuteMs));
    const settings = makeSettings({ accounts: [makeAccount('otp')], rules: [present] });
    // The work of others on the machine counts neither for a turn nor for the time that a trial may take.
    const clock = { ...systemClock, now: () => now, monotonic: processorMs };
    const trials = createTrials({ settings: () => settings, reader, calendar: cronCalendar, clock });
    let done = false;
    let turns = 0;
    const trial = trials.run({ ...order, since: now - 10 * dayMs }).finally(() => {
      done = true;
    });
    while (!done) {
      await setImmediate();
      turns += 1;
    }
    expect(await trial).toBeTypeOf('object');
    // 43,200 polls: so many turns mean that few of them were judged in each.
    expect(turns).toBeGreaterThan(20);
  });
});
