import { expect, test } from 'vitest';
import { type Notification, newNotification } from '../../src/domain/outbox.ts';
import { absorbFollowers, enqueue, queueOf } from '../../src/engine/queue.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { noon } from '../store/sqlite/batches.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';

const item = (account: string, kind: 'firing' | 'resolved') =>
  ({ incident: `of-${account}`, account, rule: 'sms-low', kind, at: noon }) as const;
const pending = (id: string, account: string) =>
  newNotification({ id, channel: 'ops', items: [item(account, 'firing')], now: noon, dueAt: noon });

/** A message about `ads` is retried, and one about `otp` waits behind it. */
function startWith(behind: Partial<Notification>): MonitorState {
  return startMonitor({
    settings: makeSettings({}),
    stored: {
      ...nothingStored,
      messages: [pending('first', 'ads'), { ...pending('second', 'otp'), ...behind }],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon,
  });
}

test('the end of an alert overtakes no beginning that waits to go out without the recipients who are owed it', () => {
  const state = startWith({ except: ['late@example.com'] });
  const end = enqueue(state, 'ops', item('otp', 'resolved'), noon);
  expect(queueOf(state, 'ops').map(({ id }) => id)).toEqual(['first', 'second', end]);
  const [first] = queueOf(state, 'ops');
  if (first === undefined) throw new Error('nothing waits');
  expect(absorbFollowers(state, first).items).toEqual([item('ads', 'firing')]);
});

test('the end of an alert joins no message that stands before the beginning on its way', () => {
  const state = startWith({});
  state.underWay.add('second');
  const end = enqueue(state, 'ops', item('otp', 'resolved'), noon);
  expect(queueOf(state, 'ops').map(({ id }) => id)).toEqual(['first', 'second', end]);
});

test('what is about another alert joins the message that waits first', () => {
  const state = startWith({ except: ['late@example.com'] });
  expect(enqueue(state, 'ops', item('web', 'firing'), noon)).toBe('first');
});
