import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  joinNotification,
  kindsByIncident,
  type NotificationItem,
  type NotificationReason,
  newNotification,
  retryDelayMs,
  wireId,
} from '../../src/domain/outbox.ts';

const noon = Date.UTC(2026, 10, 20, 12);

function item(incident: string, kind: NotificationReason = 'firing'): NotificationItem {
  return { incident, account: 'otp', rule: 'sms-low', kind, at: noon };
}

const message = newNotification({
  id: 'm-1',
  channel: 'ops',
  items: [item('i-1')],
  now: noon,
  dueAt: noon + 5000,
});

describe('a message', () => {
  test('is tried for a day', () => {
    expect(message.giveUpAt - noon).toBe(24 * 3_600_000);
  });

  test.each([
    [1, undefined, 1000],
    [2, undefined, 2000],
    [9, undefined, 256_000],
    [10, undefined, 300_000],
    [100_000, undefined, 300_000],
    [1, 30_000, 30_000],
    [10, 1000, 300_000],
    [10, 3_600_000, 3_600_000],
  ])('after attempt %i, asked to wait %s ms, pauses %i ms', (attempts, asked, expected) => {
    expect(retryDelayMs(attempts, asked)).toBe(expected);
  });
});

describe('what joins a waiting message', () => {
  test.each([
    [
      'makes one that was not tried go out when the more urgent of the two is due',
      message,
      noon + 1000,
      noon + 1000,
    ],
    ['does not delay it', message, noon + 60_000, noon + 5000],
    [
      'does not shorten the pause before a retry',
      { ...message, attempts: 1, dueAt: noon + 60_000 },
      noon + 1000,
      noon + 60_000,
    ],
  ])('%s', (_, waiting, dueAt, expected) => {
    const joined = joinNotification(waiting, [item('i-2')], dueAt);
    expect(joined.dueAt).toBe(expected);
    expect(joined.items.map(({ incident }) => incident)).toEqual(['i-1', 'i-2']);
  });

  test('gives it a new id for the receiver only when an earlier attempt may have arrived', () => {
    const refused = { ...message, attempts: 1 };
    expect(wireId(joinNotification(refused, [item('i-2')], noon))).toBe('m-1');
    const lost = { ...message, attempts: 1, uncertain: true };
    const joined = joinNotification(lost, [item('i-2')], noon);
    expect([wireId(lost), wireId(joined)]).toEqual(['m-1', expect.stringMatching(/^m-1-r\d+$/)]);
  });

  test('gives one content one id: a process that forgot what joined before it died adds something else', () => {
    const lost = { ...message, attempts: 1, uncertain: true };
    const [one, again, other] = ['i-2', 'i-2', 'i-3'].map((id) =>
      wireId(joinNotification(lost, [item(id)], noon)),
    );
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  });

  test('never loses an item and never reuses an id for other content, no matter what happens', () => {
    const step = fc.constantFrom('join', 'lost', 'refused');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let current = message;
        const arrived = new Map<string, number>();
        steps.forEach((what, index) => {
          if (what === 'join') current = joinNotification(current, [item(`i-${index}`)], noon);
          else {
            if (what === 'lost')
              arrived.set(wireId(current), arrived.get(wireId(current)) ?? current.items.length);
            current = {
              ...current,
              attempts: current.attempts + 1,
              uncertain: current.uncertain || what === 'lost',
            };
          }
          const before = arrived.get(wireId(current));
          if (before !== undefined) expect(current.items.length).toBe(before);
        });
        expect(current.items.length).toBe(1 + steps.filter((what) => what === 'join').length);
      }),
    );
  });
});

test('says of each incident every kind once, oldest first', () => {
  const items = [item('a'), item('b'), item('a', 'worse'), item('a', 'worse'), item('a', 'resolved')];
  expect([...kindsByIncident(items)]).toEqual([
    ['a', ['firing', 'worse', 'resolved']],
    ['b', ['firing']],
  ]);
});
