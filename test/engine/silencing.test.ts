import { expect, test } from 'vitest';
import { newNotification } from '../../src/domain/outbox.ts';
import { minuteMs } from '../../src/domain/time.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { incident, noon, notified, silence } from '../store/sqlite/batches.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';

test('of two messages that a silence takes back, the channel knows what it knew before the first', () => {
  const takenAt = noon + minuteMs;
  const known = { severity: 'warning', rises: 1 } as const;
  const about = { incident: 'one', account: 'otp', rule: 'sms-low', at: takenAt } as const;
  const items = [
    { ...about, kind: 'acknowledged', before: { ...known, acknowledgedAt: null } },
    { ...about, kind: 'flapping', before: { ...known, acknowledgedAt: takenAt } },
  ] as const;
  const message = { channel: 'ops', now: takenAt, dueAt: takenAt };
  const state = startMonitor({
    settings: makeSettings({}),
    stored: {
      ...nothingStored,
      incidents: [incident('one', { notified: { ops: { ...notified(false), acknowledgedAt: takenAt } } })],
      messages: items.map((item) => newNotification({ ...message, id: item.kind, items: [item] })),
      silences: [silence('all', noon + 100 * minuteMs)],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon + 2 * minuteMs,
  });
  expect(state.messages.size).toBe(0);
  expect(state.incidents.get('one')?.notified.ops?.acknowledgedAt).toBeNull();
});
