import { expect, test } from 'vitest';
import { isAcknowledged } from '../../src/domain/alert.ts';
import { asNotified } from '../../src/engine/decide.ts';
import {
  acknowledged,
  boss,
  decided,
  flapping,
  longAgo,
  minute,
  notifiedBefore,
  now,
  open,
  type Row,
  recently,
} from '../support/decisions.ts';

const rows: readonly Row[] = [
  {
    name: 'worse than what was notified',
    incident: { ...open, severity: 'critical', rises: 1 },
    notified: recently,
    expected: 'notify worse',
  },
  {
    name: 'worse than what was notified, but it did not rise since',
    incident: { ...open, severity: 'critical' },
    notified: recently,
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'better than what was notified',
    incident: { ...open, severity: 'info' },
    notified: recently,
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'gets worse while it flaps',
    incident: { ...flapping, severity: 'critical', rises: 1 },
    notified: { ...longAgo, flapping: true },
    expected: 'notify worse',
  },
  {
    name: 'acknowledged: whoever was notified hears who has it',
    incident: acknowledged(open),
    notified: longAgo,
    expected: 'notify acknowledged',
  },
  {
    name: 'acknowledged: a channel that no route names any more hears who has it, too',
    incident: acknowledged(open),
    notified: longAgo,
    plan: notifiedBefore,
    expected: 'notify acknowledged',
  },
  {
    name: 'acknowledged again by another',
    incident: acknowledged(open, { at: now + minute }),
    notified: { ...longAgo, acknowledgedAt: now },
    expected: 'notify acknowledged',
  },
  {
    name: 'acknowledged while it is silenced: later',
    incident: acknowledged(open),
    notified: longAgo,
    suppression: { silenced: true },
    expected: 'quiet: silenced',
  },
  {
    name: 'acknowledged: no reminder',
    incident: acknowledged(open),
    notified: { ...longAgo, acknowledgedAt: now },
    expected: 'quiet: acknowledged',
  },
  {
    name: 'acknowledged: a channel that comes late is not woken',
    incident: acknowledged(open),
    expected: 'quiet: acknowledged',
  },
  {
    name: 'acknowledged: a channel that reads the end of an earlier one hears who has this one',
    incident: acknowledged(open),
    endsEarlier: true,
    expected: 'notify acknowledged',
  },
  {
    name: 'a channel that reads the end of an earlier one hears at once what was to escalate later',
    incident: open,
    plan: boss,
    endsEarlier: true,
    expected: 'notify firing',
  },
  {
    name: 'a channel that reads the end of an earlier one hears nothing that is silenced',
    incident: acknowledged(open),
    suppression: { silenced: true },
    endsEarlier: true,
    expected: 'quiet: silenced',
  },
  {
    name: 'acknowledged: no escalation',
    incident: acknowledged(open),
    plan: boss,
    expected: 'quiet: acknowledged',
  },
  {
    name: 'worse than when it was acknowledged',
    incident: { ...acknowledged(open), severity: 'critical', rises: 1 },
    notified: recently,
    expected: 'notify worse',
  },
  {
    name: 'taken when it was milder than notified, and back where it was',
    incident: { ...acknowledged(open, { severity: 'info' }), rises: 1 },
    notified: recently,
    expected: 'notify worse',
  },
  {
    name: 'notified as worse already, though the acknowledgement seems later by the clock',
    incident: { ...acknowledged(open, { severity: 'info', at: now + minute }), rises: 1 },
    notified: { ...recently, rises: 1 },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'back where it was notified to be after it was taken, when it was milder',
    incident: { ...acknowledged(open, { severity: 'info' }), rises: 2 },
    notified: { ...recently, rises: 1 },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'back where it was after a top-up had made it milder',
    incident: { ...open, severity: 'critical', rises: 1, eased: { severity: 'warning', rises: 0 } },
    notified: { ...recently, severity: 'critical' },
    expected: 'notify worse',
  },
  {
    name: 'back where it was without a top-up in between',
    incident: { ...open, severity: 'critical', rises: 1 },
    notified: { ...recently, severity: 'critical' },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'back where it was after a top-up, and notified already',
    incident: { ...open, severity: 'critical', rises: 1, eased: { severity: 'warning', rises: 0 } },
    notified: { ...recently, severity: 'critical', rises: 1 },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'back where it was notified to be after a top-up had made it milder',
    incident: { ...open, severity: 'critical', rises: 2, eased: { severity: 'warning', rises: 0 } },
    notified: { ...recently, severity: 'critical', rises: 1 },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'milder after a top-up, taken when it was milder still, and back where the top-up had brought it',
    incident: {
      ...acknowledged(open, { severity: 'info' }),
      rises: 1,
      eased: { severity: 'warning', rises: 0 },
    },
    notified: { ...recently, severity: 'critical' },
    expected: 'notify worse',
  },
  {
    name: 'taken as bad as it was, though it had been milder since the channel heard of it',
    incident: acknowledged({
      ...open,
      severity: 'critical',
      rises: 1,
      eased: { severity: 'warning', rises: 0 },
    }),
    notified: recently,
    expected: 'notify acknowledged',
  },
  {
    name: 'it fires for something else as well, though a person took it before',
    incident: { ...acknowledged(open), rises: 1, anotherAt: 1 },
    notified: recently,
    expected: 'notify firing',
  },
  {
    name: 'acknowledged, and nobody knows what it was notified of: whoever was notified hears who has it',
    incident: acknowledged(open),
    notified: { ...recently, severity: 'info', rises: -1 },
    expected: 'notify acknowledged',
  },
  {
    name: 'acknowledged when it fired for something else already',
    incident: acknowledged({ ...open, rises: 1, anotherAt: 1 }),
    notified: recently,
    expected: 'notify acknowledged',
  },
];

test.each(rows)('$name', (row) => {
  expect(decided(row)).toBe(row.expected);
});

test('an acknowledgement holds until the severity rises', () => {
  expect(isAcknowledged(open)).toBe(false);
  expect(isAcknowledged(acknowledged(open))).toBe(true);
  expect(isAcknowledged({ ...acknowledged(open), rises: 1 })).toBe(false);
});

test('a receiver that forgets is told of an incident as it knew it, also where who took it knows that it got worse', () => {
  const worse = { ...open, severity: 'critical', worstSeverity: 'critical', rises: 1 } as const;
  const taken = acknowledged(worse);
  for (const each of [worse, taken])
    expect(asNotified(each, recently)).toEqual({
      ...each,
      severity: 'warning',
      worstSeverity: 'warning',
      rises: 0,
    });
  expect(asNotified(taken, { ...recently, severity: 'critical', rises: 1 })).toBe(taken);
});
