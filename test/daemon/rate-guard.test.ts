import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateGuard } from '../../src/daemon/rate-guard.ts';

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
