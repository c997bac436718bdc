import { expect, test } from 'vitest';
import { newNotification } from '../../src/domain/outbox.ts';
import { batchReturned, batchStored, takeBatch } from '../../src/engine/batch.ts';
import { putNotification } from '../../src/engine/queue.ts';
import { MonitorState } from '../../src/engine/state.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { incident, notified } from '../support/incidents.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';
import { isAllStored } from '../support/stored.ts';

const now = Date.UTC(2026, 0, 1);

function freshState(): MonitorState {
  return new MonitorState({ settings: makeSettings(), calendar: cronCalendar, random: seededRandom() }, now);
}

function message() {
  const item = { incident: 'i-1', account: 'otp', rule: 'sms-low', kind: 'resolved', at: now } as const;
  return newNotification({ id: 'm-1', channel: 'ops', items: [item], now, dueAt: now });
}

test('nothing that changed is no batch', () => {
  expect(takeBatch(freshState())).toBeNull();
});

test('a message that ended while the batch before its end was written is kept until its end is stored', () => {
  const state = freshState();
  putNotification(state, message());
  const first = takeBatch(state);
  putNotification(state, { ...message(), state: 'delivered' });
  if (first !== null) batchStored(state, first);
  expect(state.messages.get('m-1')?.state).toBe('delivered');
  const second = takeBatch(state);
  expect(second?.messages.map((row) => row.state)).toEqual(['delivered']);
  if (second !== null) batchStored(state, second);
  expect(state.messages.size).toBe(0);
});

test('an incident that nobody has to hear of any more leaves the memory with the message that reported its end', () => {
  const state = freshState();
  state.incidents.set('i-1', incident({ resolvedAt: now, notified: { ops: notified({ resolved: true }) } }));
  putNotification(state, message());
  const first = takeBatch(state);
  if (first !== null) batchStored(state, first);
  expect(state.incidents.has('i-1')).toBe(true);
  putNotification(state, { ...message(), state: 'delivered' });
  const second = takeBatch(state);
  if (second !== null) batchStored(state, second);
  expect(state.incidents.has('i-1')).toBe(false);
});

test('what a channel that takes nothing has yet to hear is gone through once a batch, however many incidents are over', () => {
  const state = freshState();
  const read: string[] = [];
  const ids = Array.from({ length: 100 }, (_, nth) => `i-${nth}`);
  for (const id of ids) {
    state.incidents.set(
      id,
      incident({ id, resolvedAt: now, notified: { ops: notified({ resolved: true }) } }),
    );
    const { items, ...waiting } = { ...message(), id: `m-${id}` };
    const told = items.map((item) => ({ ...item, incident: id }));
    const watched = { ...waiting, items: told };
    const look = () => {
      read.push(id);
      return told;
    };
    Object.defineProperty(watched, 'items', { get: look });
    putNotification(state, watched);
  }
  const batch = takeBatch(state);
  read.length = 0;
  if (batch !== null) batchStored(state, batch);
  expect(read).toEqual(ids);
  expect(state.incidents.size).toBe(ids.length);
});

test('with an incident goes what is remembered of channels that refused it, however long they do', () => {
  const state = freshState();
  const [channel] = state.settings.channels;
  state.channelTries.set(`${channel?.name}/i-1`, { at: now, rises: 0 });
  state.channelTries.set(`${channel?.name}/i-2`, { at: now, rises: 0 });
  state.incidents.set('i-1', incident({ resolvedAt: now, notified: {} }));
  const batch = takeBatch(state);
  if (batch !== null) batchStored(state, batch);
  expect([...state.channelTries.keys()]).toEqual([`${channel?.name}/i-2`]);
});

test('more polls and accounts than a transaction takes at once go in several, the oldest first', () => {
  const state = freshState();
  for (let at = 0; at < 1250; at++) {
    state.polls.add({ account: 'otp', poll: { at, outcome: 'timeout', reading: null } });
    state.polled.delete(`gone-${at}`);
  }
  putNotification(state, message());
  const taken: unknown[] = [];
  for (let batch = takeBatch(state); batch !== null; batch = takeBatch(state)) {
    const { polls, removedAccounts, messages } = batch;
    taken.push([polls.length, polls[0]?.poll.at, removedAccounts.length, messages.length]);
    batchStored(state, batch);
  }
  expect(taken).toEqual([
    [500, 0, 500, 1],
    [500, 500, 500, 0],
    [250, 1000, 250, 0],
  ]);
});

test('a part of what changed that failed comes first in the next batch', () => {
  const state = freshState();
  for (let at = 0; at < 501; at++)
    state.polls.add({ account: 'otp', poll: { at, outcome: 'auth_failed', reading: null } });
  takeBatch(state);
  expect(state.polls.urgent).toBe(true);
  batchReturned(state);
  expect(takeBatch(state)?.polls[0]?.poll.at).toBe(0);
});

test('a batch that failed is part of the next, with the polls that came meanwhile after its own', () => {
  const state = freshState();
  state.polls.add({ account: 'otp', poll: { at: now, outcome: 'rate_limited', reading: null } });
  state.notes.set('report:weekly', { name: 'report:weekly', value: '1' });
  takeBatch(state);
  state.polls.add({ account: 'otp', poll: { at: now + 1, outcome: 'timeout', reading: null } });
  batchReturned(state);
  expect(isAllStored(state)).toBe(false);
  const next = takeBatch(state);
  expect(next?.polls.map(({ poll }) => poll.outcome)).toEqual(['rate_limited', 'timeout']);
  expect(next?.notes).toEqual({ 'report:weekly': '1' });
  if (next !== null) batchStored(state, next);
  expect(isAllStored(state)).toBe(true);
});
