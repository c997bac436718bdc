import { expect, it } from 'vitest';
import type { PollRecord } from '../../src/domain/reading.ts';
import type { Store } from '../../src/ports/store.ts';
import { describeStores, flat } from './beds.ts';
import {
  accountState,
  always,
  batch,
  dayMs,
  failed,
  incident,
  makePollEveryHour,
  message,
  noon,
  notified,
  ok,
  pollsOf,
  silence,
} from './sqlite/batches.ts';

describeStores('retention', (makeBed) => {
  it('deletes polls that are older, give or take one stored run, and no newer one', async () => {
    const store = await (await makeBed()).open();
    const polls = makePollEveryHour(noon, 400);
    await store.commit(batch({ polls: [...pollsOf('a', polls), ...pollsOf('b', polls)] }));
    const limit = noon + 200 * dayMs;
    await pruneAll(store, limit);
    for (const account of ['a', 'b']) {
      const left = await flat(store.polls({ account, ...always }));
      expect(left).toEqual(polls.slice(-left.length));
      expect(left[0]?.at).toBeLessThanOrEqual(limit);
      expect(left[0]?.at).toBeGreaterThan(limit - 31 * dayMs);
    }
  });

  it('goes in small steps', async () => {
    const store = await (await makeBed()).open();
    await store.commit(
      batch({
        messages: Array.from({ length: 1200 }, (_, count) => message(`m${count}`, { state: 'dead' })),
      }),
    );
    expect(await store.prune(noon + 1)).toBe(true);
    expect(await store.messages(2000)).toHaveLength(700);
    expect(await pruneAll(store, noon + 1)).toBe(1);
    expect(await store.messages(2000)).toEqual([]);
  });

  it('keeps what is not over, what lies in the future and what somebody still has to be notified of', async () => {
    const store = await (await makeBed()).open();
    const kept = {
      incidents: [
        incident('open'),
        incident('untold', { resolvedAt: noon, notified: { ops: notified(false) } }),
        incident('recent', { resolvedAt: noon + dayMs }),
        incident('ending', { resolvedAt: noon, notified: { ops: notified(true) } }),
      ],
      messages: [
        message('waiting', {
          items: [{ incident: 'ending', account: 'otp', rule: 'sms-low', kind: 'resolved', at: noon }],
        }),
        message('recent', { state: 'delivered', createdAt: noon + dayMs }),
      ],
      silences: [silence('recent', noon + dayMs)],
      backoffs: [{ group: 'recent', strikes: 1, until: noon + dayMs }],
    };
    await store.commit(
      batch({
        ...kept,
        polls: pollsOf('otp', [ok(noon + 3650 * dayMs, 1)]),
        accounts: [accountState('otp')],
      }),
    );
    await store.commit(
      batch({
        incidents: [incident('closed', { resolvedAt: noon }), incident('event', { event: true })],
        messages: [message('sent', { state: 'delivered' }), message('dead', { state: 'dead' })],
        silences: [silence('over', noon)],
        backoffs: [{ group: 'over', strikes: 1, until: noon }],
      }),
    );
    await pruneAll(store, noon + 1);
    expect((await store.incidents({})).map(({ id }) => id).toSorted()).toEqual([
      'ending',
      'open',
      'recent',
      'untold',
    ]);
    expect((await store.messages(100)).map(({ id }) => id)).toEqual(['recent', 'waiting']);
    expect(await store.load()).toMatchObject({
      silences: [{ id: 'recent' }],
      backoffs: [{ group: 'recent' }],
    });
    expect(await flat(store.polls({ account: 'otp', ...always }))).toHaveLength(1);
  });

  it('deletes the newest run of an account that is no longer polled, and polls stored later come back alone', async () => {
    const store = await (await makeBed()).open();
    await store.commit(
      batch({ polls: pollsOf('otp', [ok(noon, 1), failed(noon + 1)]), accounts: [accountState('otp')] }),
    );
    await pruneAll(store, noon + dayMs);
    expect(await flat(store.polls({ account: 'otp', ...always }))).toEqual([]);
    const later: PollRecord[] = [ok(noon + 2 * dayMs, 2)];
    await store.commit(batch({ polls: pollsOf('otp', later) }));
    expect(await flat(store.polls({ account: 'otp', ...always }))).toEqual(later);
    expect((await store.load()).accounts).toHaveLength(1);
  });

  it('forgets an account that was removed once nothing of it is left', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    await store.commit(batch({ polls: pollsOf('gone', [ok(noon, 1)]), accounts: [accountState('gone')] }));
    await store.commit(batch({ removedAccounts: ['gone'] }));
    await pruneAll(store, noon + 1);
    await store.commit(batch({ polls: pollsOf('gone', [ok(noon + dayMs, 2)]) }));
    expect(
      (await flat(store.readings({ account: 'gone', ...always }))).map(({ balances }) => balances.sms),
    ).toEqual([2]);
  });
});

/** Gives how many steps found something left to do. */
async function pruneAll(store: Store, olderThan: number): Promise<number> {
  let steps = 0;
  while (await store.prune(olderThan)) steps += 1;
  return steps;
}
