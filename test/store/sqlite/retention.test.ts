import { describe, expect, it } from 'vitest';
import type { PollRecord } from '../../../src/domain/reading.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
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
  ok,
  pollsOf,
  silence,
  told,
} from './batches.ts';
import { makePath, open } from './fixtures.ts';

describe('retention', () => {
  it('deletes polls that are older, give or take one stored run, and no newer one', () => {
    const store = open(makePath());
    const polls = makePollEveryHour(noon, 400);
    store.commit(batch({ polls: [...pollsOf('a', polls), ...pollsOf('b', polls)] }));
    const limit = noon + 200 * dayMs;
    pruneAll(store, limit);
    for (const account of ['a', 'b']) {
      const left = [...store.polls({ account, ...always })].flat();
      expect(left).toEqual(polls.slice(-left.length));
      expect(left[0]?.at).toBeLessThanOrEqual(limit);
      expect(left[0]?.at).toBeGreaterThan(limit - 31 * dayMs);
    }
  });

  it('goes in small steps', () => {
    const store = open(makePath());
    store.commit(
      batch({
        messages: Array.from({ length: 1200 }, (_, count) => message(`m${count}`, { state: 'dead' })),
      }),
    );
    expect(store.prune(noon + 1)).toBe(true);
    expect(store.messages(2000)).toHaveLength(700);
    expect(pruneAll(store, noon + 1)).toBe(1);
    expect(store.messages(2000)).toEqual([]);
  });

  it('keeps what is not over, what lies in the future and what somebody still has to be told', () => {
    const store = open(makePath());
    const kept = {
      incidents: [
        incident('open'),
        incident('untold', { resolvedAt: noon, told: { ops: told(false) } }),
        incident('recent', { resolvedAt: noon + dayMs }),
        incident('ending', { resolvedAt: noon, told: { ops: told(true) } }),
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
    store.commit(
      batch({
        ...kept,
        polls: pollsOf('otp', [ok(noon + 3650 * dayMs, 1)]),
        accounts: [accountState('otp')],
      }),
    );
    store.commit(
      batch({
        incidents: [incident('closed', { resolvedAt: noon }), incident('event', { event: true })],
        messages: [message('sent', { state: 'delivered' }), message('dead', { state: 'dead' })],
        silences: [silence('over', noon)],
        backoffs: [{ group: 'over', strikes: 1, until: noon }],
      }),
    );
    pruneAll(store, noon + 1);
    expect(
      store
        .incidents({})
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['ending', 'open', 'recent', 'untold']);
    expect(store.messages(100).map(({ id }) => id)).toEqual(['recent', 'waiting']);
    expect(store.load()).toMatchObject({ silences: [{ id: 'recent' }], backoffs: [{ group: 'recent' }] });
    expect([...store.polls({ account: 'otp', ...always })].flat()).toHaveLength(1);
  });

  it('deletes the newest run of an account that is no longer polled, and polls stored later come back alone', () => {
    const store = open(makePath());
    store.commit(
      batch({ polls: pollsOf('otp', [ok(noon, 1), failed(noon + 1)]), accounts: [accountState('otp')] }),
    );
    pruneAll(store, noon + dayMs);
    expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual([]);
    const later: PollRecord[] = [ok(noon + 2 * dayMs, 2)];
    store.commit(batch({ polls: pollsOf('otp', later) }));
    expect([...store.polls({ account: 'otp', ...always })].flat()).toEqual(later);
    expect(store.load().accounts).toHaveLength(1);
  });

  it('forgets an account that was removed once nothing of it is left', () => {
    const path = makePath();
    const store = open(path);
    store.commit(batch({ polls: pollsOf('gone', [ok(noon, 1)]), accounts: [accountState('gone')] }));
    store.commit(batch({ removedAccounts: ['gone'] }));
    pruneAll(store, noon + 1);
    store.commit(batch({ polls: pollsOf('gone', [ok(noon + dayMs, 2)]) }));
    expect([...store.readings({ account: 'gone', ...always })].flat().map(({ sms }) => sms)).toEqual([2]);
  });
});

/** Gives how many steps found something left to do. */
function pruneAll(store: SqliteStore, olderThan: number): number {
  let steps = 0;
  while (store.prune(olderThan)) steps += 1;
  return steps;
}
