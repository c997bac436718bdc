import { expect, test } from 'vitest';
import type { Alert } from '../../src/domain/alert.ts';
import { newNotification } from '../../src/domain/outbox.ts';
import { takeBatch } from '../../src/engine/batch.ts';
import { queueOf } from '../../src/engine/queue.ts';
import { MonitorState } from '../../src/engine/state.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';
import { storeAgain } from '../../src/engine/unstored.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { silence } from '../store/sqlite/batches.ts';
import { hourMs, smsLow, units } from '../support/account-facts.ts';
import { incident, notified } from '../support/incidents.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';
import { read, startWorld, step } from '../support/world.ts';

const now = Date.parse('2026-10-02T14:00:00Z');

function freshState(): MonitorState {
  return new MonitorState({ settings: makeSettings(), calendar: cronCalendar, random: seededRandom() }, now);
}

function firingAlert(rule: string): Alert {
  return { ...inactiveAlert({ account: 'otp', rule, type: 'below', balance: 'sms' }), state: 'firing' };
}

function message(id: string, of = 'over') {
  const item = { incident: of, account: 'otp', rule: 'sms-low', kind: 'firing', at: now } as const;
  return newNotification({ id, channel: 'ops', items: [item], now, dueAt: now });
}

test('a database that was taken back gets what it has otherwise than memory, whoever stored that, and nothing else', () => {
  const state = freshState();
  const same = firingAlert('same');
  state.alerts.setInMemory({ ...same, value: { unit: 'text', text: 'the newest number' } });
  state.alerts.setInMemory(firingAlert('newer'));
  for (const id of ['open', 'same']) state.incidents.setInMemory(id, incident({ id }));
  state.silences.setInMemory('ended', { ...silence('ended', now + 1), expired: true });
  state.notes.setInMemory('same', { name: 'same', value: '1' });
  state.notes.setInMemory('lost', { name: 'lost', value: '1' });
  const stored = {
    ...nothingStored,
    alerts: [same, firingAlert('removed')],
    incidents: [incident({ id: 'same' })],
    silences: [silence('ended', now + 1)],
    notes: { same: '1', cancelled: '[]' },
  };
  storeAgain(state)(stored, now);
  const batch = takeBatch(state);
  expect(batch?.alerts.map(({ rule }) => rule)).toEqual(['newer']);
  expect(batch?.removedAlerts.map(({ rule }) => rule)).toEqual(['removed']);
  expect(batch?.incidents.map(({ id }) => id)).toEqual(['open']);
  expect(batch?.silences.map(({ id, expired }) => [id, expired])).toEqual([['ended', true]]);
  expect(batch?.notes).toEqual({ lost: '1', cancelled: null });
});

test('what a database that was taken back has open, and nobody else knows of, ends there, and who may hear of its beginning hears of that', () => {
  const state = freshState();
  const over = incident({ id: 'over', firedAt: now, notified: { ops: notified({}) } });
  const event = incident({ id: 'event', event: true });
  const waits = [message('of-it'), message('of-event', 'event'), message('of-nothing', 'gone')];
  storeAgain(state)({ ...nothingStored, incidents: [over, event], messages: waits }, now);
  expect([...state.touched]).toEqual(['over', 'event']);
  expect(queueOf(state, 'ops').map(({ id }) => id)).toEqual(['of-it', 'of-event']);
  const batch = takeBatch(state);
  expect(batch?.incidents[0]).toMatchObject({
    id: 'over',
    resolvedAt: now,
    notified: { ops: { resolved: false } },
  });
  // Nothing would be sent for it, and it would wait for ever.
  expect(batch?.removedMessages).toEqual(['of-nothing']);
});

test('what was told and left memory while a database that was taken back was read is not stored as it was before', () => {
  const state = freshState();
  const over = incident({ id: 'over', notified: { ops: notified({}) } });
  state.incidents.setInMemory('over', over);
  state.messages.setInMemory('sent', message('sent'));
  const again = storeAgain(state);
  state.incidents.forget('over');
  state.messages.forget('sent');
  again({ ...nothingStored, incidents: [over], messages: [message('sent')] }, now);
  expect(takeBatch(state)).toBeNull();
});

test.each([
  [
    'fires under another id here: one ends, the other goes on',
    { before: 100, isRead: true, after: 100 },
    ['otp/sms-low reminder warning; otp/sms-low resolved warning'],
  ],
  [
    'may be over, which nobody knows until its account is read',
    { before: 500, isRead: false, after: 500 },
    ['otp/sms-low resolved warning'],
  ],
  ['goes on once its account is read, and is no news', { before: 500, isRead: false, after: 100 }, []],
] as const)('what a database that was taken back has open %s', async (_, { before, isRead, after }, told) => {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, before);
  if (!isRead) world.provider.fail('otp');
  await world.pass(step);
  world.news();
  const { daemon } = world;
  const notifiedBefore = { ops: notified({ at: world.now - hourMs }) };
  const other = incident({ id: 'other', firedAt: world.now - hourMs, notified: notifiedBefore });
  daemon.act((at) => storeAgain(daemon.state)({ ...nothingStored, incidents: [other] }, at));
  await world.pass(0);
  expect(daemon.state.incidents.get('other')?.resolvedAt ?? null).toBe(isRead ? world.now : null);
  expect(await read(world, after)).toEqual(told);
});
