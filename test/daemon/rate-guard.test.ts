import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOpenRequests, guardFor, RateGuard } from '../../src/daemon/rate-guard.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeSettings } from '../support/settings.ts';

/** What may happen to a guard, in any order. */
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), id: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('send' as const), id: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 900 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('jump' as const),
      ms: fc.integer({ min: -86_400_000, max: 86_400_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('leave' as const), id: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('keep' as const), id: fc.integer({ min: 0, max: 4 }) }),
  },
);

/** Accounts 0 to 2 share a key, 3 and 4 another. */
const groupOf = (id: number): string => (id < 3 ? 'first' : 'second');

test('no two requests of a group are sent closer than its limit, regardless of the order of calls and jumps of the clock', () => {
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 200 }),
      fc.integer({ min: 1, max: 20 }),
      (happenings, perSecond) => {
        const guard = new RateGuard(() => perSecond);
        // What really passes, and the daemon's clock, which jumps.
        let realMs = 0;
        let now = 1_700_000_000_000;
        const lastSent = new Map<string, number>();
        const trySend = (group: string): void => {
          const waitMs = guard.trySend(group, now);
          expect(waitMs).toBeGreaterThanOrEqual(0);
          if (waitMs > 0) return;
          const last = lastSent.get(group);
          if (last !== undefined) expect(realMs - last).toBeGreaterThanOrEqual(1000 / perSecond);
          lastSent.set(group, realMs);
        };
        const happen: Record<'ask' | 'send' | 'leave' | 'keep', (id: number) => void> = {
          ask: (id) => guard.startAt(`${id}`, groupOf(id), now),
          send: (id) => trySend(groupOf(id)),
          leave: (id) => guard.leave(`${id}`),
          keep: (id) => guard.keepPlace(`${id}`, now),
        };
        for (const it of happenings) {
          if ('id' in it) happen[it.kind](it.id);
          else now += it.ms;
          if (it.kind === 'pass') realMs += it.ms;
          if (it.kind === 'jump') guard.shift(it.ms);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('whoever waits as long as the guard says is sent then', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 30 }), (ids) => {
      const guard = new RateGuard(() => 4);
      let now = 1_700_000_000_000;
      for (const id of ids) {
        const startAt = guard.startAt(`${id}`, 'group', now);
        now = Math.ceil(Math.max(now, startAt));
        let waitMs = guard.trySend('group', now);
        for (let tries = 0; waitMs > 0; tries++) {
          expect(tries).toBeLessThan(ids.length + 1);
          now = Math.ceil(now + waitMs);
          waitMs = guard.trySend('group', now);
        }
      }
    }),
  );
});

test('a restart counts what the process before had sent', () => {
  const guard = new RateGuard(() => 1);
  guard.sent('group', 5000);
  expect(guard.startAt('a', 'group', 5200)).toBe(6001);
  expect(guard.trySend('group', 5200)).toBeGreaterThanOrEqual(800);
});

test('of two sendings that are reported out of order the later one counts', () => {
  const guard = new RateGuard(() => 1);
  guard.sent('group', 5000);
  guard.sent('group', 4000);
  expect(guard.trySend('group', 5200)).toBe(801);
});

test('an account that comes late to its place is planned no sooner than the last request of its group allows', () => {
  const guard = new RateGuard(() => 1);
  guard.startAt('a', 'group', 0);
  expect(guard.startAt('b', 'group', 0)).toBe(1001);
  guard.sent('group', 1000);
  expect(guard.startAt('b', 'group', 1500)).toBe(2001);
});

describe('by the settings', () => {
  const accounts = [makeAccount('slow', { provider: 'calls' }), makeAccount('quick')];
  const { provider } = makeSettings();
  const entries = {
    provider: { ...provider, maxRequestsPerSecond: 20 },
    providers: { calls: { ...provider, name: 'calls', maxRequestsPerSecond: 0.5 } },
  };
  const now = Date.UTC(2026, 0, 1);
  const state = startMonitor({
    settings: makeSettings({ accounts, ...entries }),
    calendar: cronCalendar,
    random: seededRandom(),
    stored: nothingStored,
    now,
  });

  test.each([
    ['each group keeps to the limit of its own provider entry', 'slow', 2001],
    ['an account that names none keeps to the limit of the default entry', 'quick', 51],
    ['an account that was removed while its request waits keeps to that of the default entry', 'gone', 51],
  ])('%s', (_, group, waitMs) => {
    const guard = guardFor(state);
    guard.sent(group, now);
    expect(guard.trySend(group, now)).toBe(waitMs);
  });
});

describe('the queue of a group', () => {
  /** Four accounts have asked at 0: they are planned for 0, 1001, 2002 and 3003. */
  function crowded(): RateGuard {
    const guard = new RateGuard(() => 1);
    expect(['a', 'b', 'c', 'd'].map((id) => guard.startAt(id, 'group', 0))).toEqual([0, 1001, 2002, 3003]);
    return guard;
  }

  test('is not jumped by who asks again before its turn', () => {
    expect(crowded().startAt('c', 'group', 500)).toBe(2002);
  });

  test('is begun again where all were missed, without a burst', () => {
    const guard = crowded();
    expect(['b', 'c', 'd'].map((id) => guard.startAt(id, 'group', 60_000))).toEqual([60_000, 61_001, 62_002]);
  });

  test.each([
    ['keeps those in it who come late to their place, by less than a turn', 2001, 2001],
    ['is joined at its end by who comes to its place when that of the next has begun', 2002, 4004],
  ])('%s', (_, now, startAt) => {
    expect(crowded().startAt('b', 'group', now)).toBe(startAt);
  });

  test('is left by who goes: it comes last when it is back', () => {
    const guard = crowded();
    guard.leave('b');
    expect(guard.startAt('b', 'group', 500)).toBe(4004);
  });

  test('keeps the turn of who could not be asked at it', () => {
    const guard = crowded();
    guard.keepPlace('a', 0);
    expect(guard.startAt('a', 'group', 0)).toBe(0);
  });

  test('moves with the clock', () => {
    const guard = crowded();
    guard.shift(10_000);
    expect([guard.startAt('c', 'group', 10_500), guard.startAt('e', 'group', 10_500)]).toEqual([
      12_002, 14_004,
    ]);
  });

  test('is kept at sending too, and moves with the clock', () => {
    const guard = new RateGuard(() => 1);
    expect([1, 2, 3].map(() => guard.trySend('group', 0))).toEqual([0, 1001, 2002]);
    guard.shift(10_000);
    expect(guard.trySend('group', 10_000)).toBe(3003);
  });
});

test('a group that rested gets no burst', () => {
  const guard = new RateGuard(() => 4);
  expect(guard.startAt('a', 'group', 1000)).toBe(1000);
  expect(guard.startAt('b', 'group', 1000)).toBe(1251);
  expect(guard.startAt('c', 'group', 60_000)).toBe(60_000);
  expect(guard.startAt('d', 'group', 60_000)).toBe(60_251);
});

test('however many ask at once, no second holds more of their places than allowed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 2, maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (waits, perSecond) => {
        const guard = new RateGuard(() => perSecond);
        let now = 0;
        const starts = waits.map((wait, id) => {
          now += wait;
          return guard.startAt(`${id}`, 'group', now);
        });
        for (const [index, start] of starts.entries()) {
          const later = starts[index + perSecond];
          // A hair less than a second: starts are sums of fractions of milliseconds.
          if (later !== undefined) expect(later - start).toBeGreaterThan(999.999);
        }
      },
    ),
  );
});

describe('requests of accounts that share an access', () => {
  /** `a1` and `a2` share one access, `b1` and `b2` another; those in `open` are being asked or not stored. */
  function sharing() {
    const open = new Set<string>();
    const memory = { suffices: false };
    const requests = createOpenRequests(
      (id) => open.has(id),
      () => memory.suffices,
    );
    const begin = (id: string): boolean => {
      const begun = requests.begin(id, id.charAt(0));
      if (begun) open.add(id);
      return begun;
    };
    return { ...requests, begin, open, memory };
  }

  test('are open one at a time, and no access waits for another', () => {
    const { begin } = sharing();
    expect(['a1', 'a2', 'b1', 'a1', 'b2'].map(begin)).toEqual([true, false, true, false, false]);
  });

  test('are awaited where one of the access was held back, until that one begins', () => {
    const { begin, isAwaited, open } = sharing();
    for (const id of ['a1', 'a2', 'b1']) begin(id);
    expect(['a', 'b'].map(isAwaited)).toEqual([true, false]);
    begin('b2');
    expect(['a', 'b'].map(isAwaited)).toEqual([true, true]);
    open.delete('a1');
    begin('a2');
    expect(['a', 'b'].map(isAwaited)).toEqual([false, true]);
  });

  test('that were held back are freed once, when none of their access is open', () => {
    const { begin, isAwaited, takeFreed, open } = sharing();
    for (const id of ['a1', 'a2', 'b1', 'b2', 'b3']) begin(id);
    expect(takeFreed()).toEqual([]);
    open.delete('b1');
    expect(takeFreed()).toEqual(['b2', 'b3']);
    expect(['a', 'b'].map(isAwaited)).toEqual([true, false]);
    expect(takeFreed()).toEqual([]);
    expect(['b3', 'b2'].map(begin)).toEqual([true, false]);
  });

  test('are open together where memory suffices, and then all of them have to be stored', () => {
    const { begin, takeFreed, open, memory } = sharing();
    memory.suffices = true;
    expect(['a1', 'a2'].map(begin)).toEqual([true, true]);
    memory.suffices = false;
    expect(begin('a3')).toBe(false);
    open.delete('a2');
    expect(takeFreed()).toEqual([]);
    open.delete('a1');
    expect(takeFreed()).toEqual(['a3']);
  });
});
