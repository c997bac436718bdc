import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PollRecord } from '../../../src/domain/reading.ts';
import { openSqliteReader } from '../../../src/store/sqlite/reader.ts';
import { accountState, always, batch, dayMs, failed, minuteMs, noon, ok, pollsOf } from './batches.ts';
import { makePath, open } from './fixtures.ts';

/** Clocks that mostly go forward, sometimes stand, and now and then jump. */
const steps = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 10 * minuteMs }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, -2 * 60 * minuteMs, -3 * dayMs, 20 * dayMs, 60 * dayMs) },
);
const histories = fc
  .array(fc.record({ step: steps, sms: fc.integer({ min: -(10 ** 12), max: 10 ** 12 }), fails: fc.nat(9) }), {
    minLength: 1,
    maxLength: 700,
    size: 'max',
  })
  .map((entries) => {
    let at = noon;
    return entries.map(({ step, sms, fails }): PollRecord => {
      at += step;
      return fails === 0 ? failed(at) : ok(at, sms);
    });
  });

describe('the history of an account', () => {
  it('has every poll with its time, outcome and value, oldest first, across restarts and clocks set back', () => {
    fc.assert(
      fc.property(histories, fc.nat(), fc.nat(), fc.nat(), (polls, cut, from, to) => {
        const path = makePath();
        const split = cut % polls.length;
        const first = open(path);
        first.commit(batch({ polls: pollsOf('otp', polls.slice(0, split)) }));
        first.close();
        const store = open(path);
        for (const part of inParts(polls.slice(split), 50))
          store.commit(batch({ polls: pollsOf('otp', part) }));

        const oldestFirst = polls.toSorted((left, right) => left.at - right.at);
        expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual(oldestFirst);
        expect([...store.polls({ account: 'otp', ...always, asStored: true })].flat()).toEqual(polls);

        const instants = [from, to]
          .map((index) => polls[index % polls.length]?.at ?? 0)
          .sort((left, right) => left - right);
        const [since = 0, until = 0] = instants;
        const within = oldestFirst.filter(({ at }) => at >= since && at < until);
        expect([...store.polls({ account: 'otp', since, until })].flat()).toEqual(within);
        const readings = within.flatMap(({ reading }) => (reading === null ? [] : [reading]));
        expect([...store.readings({ account: 'otp', since, until })].flat()).toEqual(readings);

        const before =
          oldestFirst.filter(({ at, reading }) => at < until && reading !== null).at(-1)?.reading ?? null;
        expect(store.readingBefore('otp', until)?.at).toBe(before?.at);
        store.close();
      }),
      { numRuns: 25 },
    );
  });

  it('is empty for an account that nobody knows', () => {
    const store = open(makePath());
    expect([...store.polls({ account: 'nobody', ...always })].flat()).toEqual([]);
    expect(store.readingBefore('nobody', noon)).toBeNull();
  });

  it('is kept apart from that of others', () => {
    const store = open(makePath());
    store.commit(batch({ polls: [...pollsOf('a', [ok(noon, 1)]), ...pollsOf('b', [ok(noon, 2)])] }));
    expect([...store.readings({ account: 'b', ...always })].flat().map(({ sms }) => sms)).toEqual([2]);
  });

  it('outlives the account itself', () => {
    const store = open(makePath());
    store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]), accounts: [accountState('otp')] }));
    store.commit(batch({ removedAccounts: ['otp'] }));
    store.commit(batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]), accounts: [accountState('otp')] }));
    expect([...store.readings({ account: 'otp', ...always })].flat().map(({ sms }) => sms)).toEqual([1, 2]);
  });

  it('can be walked through while more is stored and old polls are deleted', () => {
    const store = open(makePath());
    const polls = Array.from({ length: 2000 }, (_, count) => ok(noon + count * minuteMs, count * 977));
    store.commit(batch({ polls: pollsOf('otp', polls) }));
    const walk = store.polls({ account: 'otp', ...always })[Symbol.iterator]();
    expect(walk.next().value?.[0]).toEqual(polls[0]);
    store.commit(batch({ polls: pollsOf('otp', [ok(noon + dayMs * 9, 1)]) }));
    while (store.prune(noon + 1000 * minuteMs)) {}
    const rest = [...{ [Symbol.iterator]: () => walk }].flat();
    expect(rest.at(-1)).toEqual(polls.at(-1));
  });

  it('finds the reading before an instant however long ago it was, behind polls that failed', () => {
    const store = open(makePath());
    for (const ageDays of [0.5, 20, 59, 61, 400]) {
      const account = `a${ageDays}`;
      const last = ok(noon - ageDays * dayMs, ageDays * 1000);
      const since = failed(noon - minuteMs, 'timeout');
      store.commit(batch({ polls: pollsOf(account, [ok(last.at - dayMs, 7), last, since]) }));
      expect(store.readingBefore(account, noon)).toEqual(last.reading);
    }
  });

  it('answers the same to another process while the daemon runs', () => {
    const path = makePath();
    const store = open(path);
    const polls = Array.from({ length: 500 }, (_, count) => ok(noon + count * minuteMs, count * 977));
    store.commit(batch({ polls: pollsOf('otp', polls) }));
    const reader = openSqliteReader({ path });
    expect([...reader.polls({ account: 'otp', ...always })].flat()).toEqual(polls);
    expect(reader.readingBefore('otp', noon + minuteMs)).toEqual(polls[0]?.reading);
    reader.close();
  });

  it('refuses a poll that it could not give back exactly, and stores nothing of its batch', () => {
    const store = open(makePath());
    const refused = batch({ polls: pollsOf('otp', [ok(noon, 1), ok(noon + 1, 0.5)]), notes: { alive: '1' } });
    expect(() => store.commit(refused)).toThrow(RangeError);
    expect(store.load().notes).toEqual({});
    store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual([ok(noon, 1)]);
  });
});

function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
