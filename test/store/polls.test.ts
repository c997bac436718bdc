import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PollRecord } from '../../src/domain/reading.ts';
import { type ClockSetBack, setBackNote } from '../../src/ports/store.ts';
import { describeStores, flat } from './beds.ts';
import { accountState, always, batch, dayMs, failed, minuteMs, noon, ok, pollsOf } from './sqlite/batches.ts';

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

/** A clock that is set back now and then, and the note that a daemon writes of it. */
const setBackHistories = fc
  .array(
    fc.record({
      step: fc.integer({ min: 1, max: 10 * minuteMs }),
      setMs: fc.oneof(
        { weight: 20, arbitrary: fc.constant(0) },
        {
          weight: 1,
          arbitrary: fc
            .integer({ min: -60 * minuteMs, max: 60 * minuteMs })
            .filter((ms) => ms > -1 || ms < -2000),
        },
        { weight: 1, arbitrary: fc.constantFrom(-3 * dayMs, 3 * dayMs) },
      ),
      sms: fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      fails: fc.nat(9),
    }),
    { minLength: 1, maxLength: 700, size: 'max' },
  )
  .map((entries) => {
    let at = noon;
    const setBacks: ClockSetBack[] = [];
    const polls = entries.map(({ step, setMs, sms, fails }): PollRecord => {
      if (setMs < 0) setBacks.push([at + setMs, at]);
      at += setMs + step;
      return fails === 0 ? failed(at) : ok(at, sms);
    });
    return { polls, setBacks };
  });

describeStores('the history of an account', (makeBed) => {
  it('has every poll with its time, outcome and value, oldest first, across restarts and clocks set back', async () => {
    const bed = await makeBed();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(), fc.nat(), fc.nat(), async (polls, cut, from, to) => {
        runs += 1;
        const account = `a${runs}`;
        const split = cut % polls.length;
        const first = await bed.open();
        await first.commit(batch({ polls: pollsOf(account, polls.slice(0, split)) }));
        await first.close();
        const store = await bed.open();
        for (const part of inParts(polls.slice(split), 50))
          await store.commit(batch({ polls: pollsOf(account, part) }));

        const oldestFirst = polls.toSorted((left, right) => left.at - right.at);
        expect(await flat(store.polls({ account, ...always }))).toEqual(oldestFirst);
        expect(await flat(store.polls({ account, ...always, asStored: true }))).toEqual(polls);

        const instants = [from, to]
          .map((index) => polls[index % polls.length]?.at ?? 0)
          .sort((left, right) => left - right);
        const [since = 0, until = 0] = instants;
        const within = oldestFirst.filter(({ at }) => at >= since && at < until);
        expect(await flat(store.polls({ account, since, until }))).toEqual(within);
        const readings = within.flatMap(({ reading }) => (reading === null ? [] : [reading]));
        expect(await flat(store.readings({ account, since, until }))).toEqual(readings);

        const before =
          oldestFirst.filter(({ at, reading }) => at < until && reading !== null).at(-1)?.reading ?? null;
        expect((await store.readingBefore(account, until))?.at).toBe(before?.at);
        await store.close();
      }),
      { numRuns: 12 },
    );
  });

  it('reads times once, as it was stored, where the note says that the clock was set back, and asked for in part as in whole', async () => {
    const store = await (await makeBed()).open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(setBackHistories, fc.nat(), fc.nat(), async ({ polls, setBacks }, from, to) => {
        runs += 1;
        const account = `a${runs}`;
        const notes = { [setBackNote]: JSON.stringify(setBacks) };
        await store.commit(batch({ polls: pollsOf(account, polls), notes }));
        const read = await flat(store.polls({ account, ...always, timesOnce: true }));
        expect(read).toEqual(polls.filter((poll) => read.some(({ at }) => at === poll.at)));
        expect(read.at(-1)).toEqual(polls.at(-1));
        expect(await flat(store.polls({ account, ...always, asStored: true }))).toEqual(polls);
        expect(await flat(store.polls({ account, ...always }))).toHaveLength(polls.length);

        const [since = 0, until = 0] = [from, to]
          .map((index) => polls[index % polls.length]?.at ?? 0)
          .sort((left, right) => left - right);
        const within = read.filter(({ at }) => at >= since && at < until);
        expect(await flat(store.polls({ account, since, until, timesOnce: true }))).toEqual(within);
        const before = read.findLast(({ at, reading }) => at < until && reading !== null);
        expect((await store.readingBefore(account, until))?.at).toBe(before?.at);
      }),
      { numRuns: 25 },
    );
  });

  it('is all that is stored where the note about the clock cannot be read', async () => {
    const store = await (await makeBed()).open();
    const polls = [ok(noon, 1), ok(noon + dayMs, 2), ok(noon + 1, 3)];
    await store.commit(batch({ polls: pollsOf('a', polls), notes: { [setBackNote]: '[[1]' } }));
    expect(await flat(store.polls({ account: 'a', ...always, timesOnce: true }))).toHaveLength(3);
  });

  it('is empty for an account that nobody knows', async () => {
    const store = await (await makeBed()).open();
    expect(await flat(store.polls({ account: 'nobody', ...always }))).toEqual([]);
    expect(await store.readingBefore('nobody', noon)).toBeNull();
  });

  it('is kept apart from that of others', async () => {
    const store = await (await makeBed()).open();
    await store.commit(batch({ polls: [...pollsOf('a', [ok(noon, 1)]), ...pollsOf('b', [ok(noon, 2)])] }));
    expect(
      (await flat(store.readings({ account: 'b', ...always }))).map(({ balances }) => balances.sms),
    ).toEqual([2]);
  });

  it('is that of each account, however many are asked for at once', async () => {
    const store = await (await makeBed()).open();
    const ids = Array.from({ length: 60 }, (_, nth) => `a${nth}`);
    const polls = (nth: number) =>
      Array.from({ length: 1 + (nth % 3) * 200 }, (_, poll) => ok(noon + poll * minuteMs, nth + poll));
    for (const [nth, id] of ids.entries()) await store.commit(batch({ polls: pollsOf(id, polls(nth)) }));
    const asked = [...ids, 'unknown', 'a1'];
    const found = await Promise.all(
      asked.map(async (id) => {
        const before = await store.readingBefore(id, noon + 2);
        return [before?.balances.sms, await flat(store.polls({ account: id, ...always }))];
      }),
    );
    const own = ids.map((_, nth) => [nth, polls(nth)]);
    expect(found).toEqual([...own, [undefined, []], own[1]]);
    await store.close();
  });

  it('outlives the account itself', async () => {
    const store = await (await makeBed()).open();
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]), accounts: [accountState('otp')] }));
    await store.commit(batch({ removedAccounts: ['otp'] }));
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + 1, 2)]), accounts: [accountState('otp')] }));
    expect(
      (await flat(store.readings({ account: 'otp', ...always }))).map(({ balances }) => balances.sms),
    ).toEqual([1, 2]);
  });

  it('can be walked through while more is stored and old polls are deleted', async () => {
    const store = await (await makeBed()).open();
    const polls = Array.from({ length: 2000 }, (_, count) => ok(noon + count * minuteMs, count * 977));
    await store.commit(batch({ polls: pollsOf('otp', polls) }));
    const walk = store.polls({ account: 'otp', ...always })[Symbol.asyncIterator]();
    expect((await walk.next()).value?.[0]).toEqual(polls[0]);
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon + dayMs * 9, 1)]) }));
    while (await store.prune(noon + 1000 * minuteMs)) {}
    const rest = await flat({ [Symbol.asyncIterator]: () => walk });
    expect(rest.at(-1)).toEqual(polls.at(-1));
  });

  it('finds the reading before an instant however long ago it was, behind polls that failed', async () => {
    const store = await (await makeBed()).open();
    for (const ageDays of [0.5, 20, 59, 61, 400]) {
      const account = `a${ageDays}`;
      const last = ok(noon - ageDays * dayMs, ageDays * 1000);
      const since = failed(noon - minuteMs, 'timeout');
      await store.commit(batch({ polls: pollsOf(account, [ok(last.at - dayMs, 7), last, since]) }));
      expect(await store.readingBefore(account, noon)).toEqual(last.reading);
    }
  });

  it('answers the same to another process while the daemon runs', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    const polls = Array.from({ length: 500 }, (_, count) => ok(noon + count * minuteMs, count * 977));
    await store.commit(batch({ polls: pollsOf('otp', polls) }));
    const reader = await bed.reader();
    expect(await flat(reader.polls({ account: 'otp', ...always }))).toEqual(polls);
    expect(await reader.readingBefore('otp', noon + minuteMs)).toEqual(polls[0]?.reading);
    await reader.close();
  });

  it('refuses a poll that it could not give back exactly, and stores nothing of its batch', async () => {
    const store = await (await makeBed()).open();
    const refused = batch({ polls: pollsOf('otp', [ok(noon, 1), ok(noon + 1, 0.5)]), notes: { alive: '1' } });
    await expect(store.commit(refused)).rejects.toThrow(RangeError);
    expect((await store.load()).notes).toEqual({});
    await store.commit(batch({ polls: pollsOf('otp', [ok(noon, 1)]) }));
    expect(await flat(store.polls({ account: 'otp', ...always }))).toEqual([ok(noon, 1)]);
  });
});

function inParts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
