import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Severity, severities } from '../../src/domain/severity.ts';
import { decide } from '../../src/engine/decide.ts';
import {
  acknowledged,
  boss,
  decided,
  direct,
  ended,
  escalating,
  event,
  flapping,
  fresh,
  longAgo,
  minute,
  notifiedBefore,
  now,
  open,
  type Row,
  recently,
} from '../support/decisions.ts';
import { incident, notified } from '../support/incidents.ts';

const rows: readonly Row[] = [
  { name: 'a new incident is reported', incident: fresh, expected: 'notify firing' },
  {
    name: 'one that flaps from the start is reported as flapping',
    incident: flapping,
    expected: 'notify flapping',
  },
  { name: 'what happened is reported once', incident: event, expected: 'notify event' },
  {
    name: 'what happened is not reported again',
    incident: event,
    notified: longAgo,
    expected: 'quiet: already notified',
  },
  {
    name: 'what happened is not escalated',
    incident: { ...event, escalationSince: 0 },
    plan: boss,
    expected: 'quiet: never notified',
  },
  {
    name: 'notified a minute ago: not due before the next reminder',
    incident: open,
    notified: recently,
    expected: `quiet: not due until ${239 * minute}`,
  },
  { name: 'notified long ago: a reminder', incident: open, notified: longAgo, expected: 'notify reminder' },
  {
    name: 'notified as long ago as reminders are apart: a reminder',
    incident: open,
    notified: { ...longAgo, at: now - 240 * minute },
    expected: 'notify reminder',
  },
  {
    name: 'a reminder waits longer by the time in which lowwater did not run',
    incident: open,
    notified: { ...longAgo, pausedMs: 120 * minute },
    expected: `quiet: not due until ${60 * minute}`,
  },
  { name: 'begins to flap', incident: flapping, notified: recently, expected: 'notify flapping' },
  {
    name: 'goes on flapping: no reminder',
    incident: flapping,
    notified: { ...longAgo, flapping: true },
    expected: 'quiet: flapping',
  },
  { name: 'ended', incident: ended, notified: recently, expected: 'notify resolved' },
  {
    name: 'ended, and the channel knows',
    incident: ended,
    notified: { ...recently, resolved: true },
    expected: 'quiet: already notified',
  },
  { name: 'ended before the channel heard of it', incident: ended, expected: 'quiet: never notified' },
  {
    name: 'ended, on a channel that no route names any more',
    incident: ended,
    plan: notifiedBefore,
    notified: recently,
    expected: 'notify resolved',
  },
  {
    name: 'ended, and somebody had acknowledged',
    incident: acknowledged(ended),
    notified: recently,
    expected: 'notify resolved',
  },
  {
    name: 'ended while something worse inhibits it',
    incident: ended,
    notified: recently,
    suppression: { inhibited: true },
    expected: 'notify resolved',
  },
  {
    name: 'ended while silenced',
    incident: ended,
    notified: recently,
    suppression: { silenced: true },
    expected: 'quiet: silenced',
  },
  {
    name: 'ended while the channel refuses for good',
    incident: ended,
    notified: recently,
    suppression: { channelFailedUntil: now + minute },
    expected: `quiet: channel failed until ${minute}`,
  },
  {
    name: 'on a channel that no route names any more: no reminder',
    incident: { ...open, severity: 'critical' },
    plan: notifiedBefore,
    notified: longAgo,
    expected: 'quiet: not due',
  },
  {
    name: 'what rose is news to a channel that no route names any more, too',
    incident: { ...open, severity: 'critical', rises: 1 },
    plan: notifiedBefore,
    notified: longAgo,
    expected: 'notify worse',
  },
  {
    name: 'on a channel that no route names and that heard nothing of it: nothing',
    incident: open,
    plan: notifiedBefore,
    expected: 'quiet: never notified',
  },
  {
    name: 'silenced from the start',
    incident: fresh,
    suppression: { silenced: true },
    expected: 'quiet: silenced',
  },
  {
    name: 'silenced later: no reminder',
    incident: open,
    notified: longAgo,
    suppression: { silenced: true },
    expected: 'quiet: silenced',
  },
  {
    name: 'inhibited from the start',
    incident: fresh,
    suppression: { inhibited: true },
    expected: 'quiet: inhibited',
  },
  {
    name: 'paused while it may be an outage',
    incident: fresh,
    suppression: { pausedUntil: now + minute },
    expected: `quiet: paused until ${minute}`,
  },
  {
    name: 'paused until now: reported',
    incident: fresh,
    suppression: { pausedUntil: now },
    expected: 'notify firing',
  },
  {
    name: 'the channel refuses for good',
    incident: fresh,
    suppression: { channelFailedUntil: now + minute },
    expected: `quiet: channel failed until ${minute}`,
  },
  {
    name: 'the channel is to be tried again now',
    incident: fresh,
    suppression: { channelFailedUntil: now },
    expected: 'notify firing',
  },
  {
    name: 'a reminder is needless while something about it is on its way',
    incident: open,
    notified: longAgo,
    waiting: true,
    expected: `quiet: still on its way until ${240 * minute}`,
  },
  { name: 'nobody took it: escalated', incident: open, plan: boss, expected: 'notify escalated' },
  {
    name: 'nobody took it until the instant of the escalation: escalated',
    incident: { ...open, escalationSince: now - 30 * minute },
    plan: boss,
    expected: 'notify escalated',
  },
  {
    name: 'not yet time to escalate',
    incident: fresh,
    plan: boss,
    expected: `quiet: not due until ${30 * minute}`,
  },
  {
    name: 'escalated on a channel that heard it before',
    incident: open,
    plan: escalating,
    notified: recently,
    expected: 'notify escalated',
  },
  {
    name: 'the escalation comes before the next reminder',
    incident: fresh,
    plan: escalating,
    notified: { ...recently, at: now },
    expected: `quiet: not due until ${30 * minute}`,
  },
  {
    name: 'escalated once',
    incident: open,
    plan: boss,
    notified: { ...recently, escalatedAt: now - minute },
    expected: `quiet: not due until ${239 * minute}`,
  },
  {
    name: 'reminded after it was escalated',
    incident: open,
    plan: boss,
    notified: { ...longAgo, escalatedAt: now - minute },
    expected: 'notify reminder',
  },
  {
    name: 'no escalation while silenced',
    incident: open,
    plan: boss,
    suppression: { silenced: true },
    expected: 'quiet: silenced',
  },
];

test.each(rows)('$name', (row) => {
  expect(decided(row)).toBe(row.expected);
});

describe('for every incident and last notification', () => {
  const someSeverity = fc.constantFrom<Severity>(...severities);
  const instant = fc.integer({ min: 0, max: 2000 }).map((minutes) => minutes * minute);
  const someNotified = fc.option(
    fc
      .record({ at: instant, severity: someSeverity, resolved: fc.boolean(), flapping: fc.boolean() })
      .map((over) => notified(over)),
  );
  const someIncident = fc
    .record({
      severity: someSeverity,
      rises: fc.integer({ min: 0, max: 2 }),
      escalationSince: instant,
      resolvedAt: fc.option(instant),
      flappingSince: fc.option(instant),
      event: fc.boolean(),
    })
    .map((over) => incident(over));
  const someSuppression = fc.record({
    silenced: fc.boolean(),
    inhibited: fc.boolean(),
    pausedUntil: fc.option(instant),
    channelFailedUntil: fc.option(instant),
  });
  const somePlan = fc.constantFrom(direct, escalating, boss, notifiedBefore);

  test('a resolved goes only to a channel that was notified of the incident, and nothing after it', () => {
    fc.assert(
      fc.property(someIncident, somePlan, someNotified, someSuppression, (it, plan, known, suppression) => {
        const decision = decide({
          incident: it,
          plan,
          notified: known,
          suppression,
          waiting: () => false,
          endsEarlier: false,
          now,
        });
        if (decision.kind === 'notify' && decision.item === 'resolved') {
          expect(known?.resolved).toBe(false);
          expect(it.resolvedAt).not.toBeNull();
        }
        if (known?.resolved && it.resolvedAt !== null) expect(decision.kind).toBe('quiet');
      }),
    );
  });

  test('silence is kept, and an answer that time will change names an instant to come', () => {
    fc.assert(
      fc.property(someIncident, somePlan, someNotified, someSuppression, (it, plan, known, suppression) => {
        const decision = decide({
          incident: it,
          plan,
          notified: known,
          suppression,
          waiting: () => false,
          endsEarlier: false,
          now,
        });
        if (suppression.silenced) expect(decision.kind).toBe('quiet');
        if (decision.kind === 'quiet' && decision.until !== null) expect(decision.until).toBeGreaterThan(now);
      }),
    );
  });
});
