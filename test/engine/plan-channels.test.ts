import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/domain/route.ts';
import { channelsOfRoutes, planChannels, routesFor } from '../../src/engine/decide.ts';
import { hourMs, minuteMs } from '../support/account-facts.ts';
import { incident, notified } from '../support/incidents.ts';
import { makeRoute } from '../support/settings.ts';

const channels = ['ops', 'finance', 'pager'];

/** "ops", "finance (escalation after 30 min)", "pager (notified before)". */
function planned(routes: readonly Route[], it = incident(), names = channels): string[] {
  return planChannels(it, routes, names).map((plan) => {
    if (plan.repeatEveryMs === null) return `${plan.channel} (notified before)`;
    const escalation =
      plan.escalateAfterMs === null ? '' : `escalation after ${plan.escalateAfterMs / minuteMs} min`;
    if (plan.direct) return escalation === '' ? plan.channel : `${plan.channel} and ${escalation}`;
    return `${plan.channel} (${escalation})`;
  });
}

const critical = makeRoute({ match: { severity: ['critical'] }, channels: ['pager'] });
const all = makeRoute({ channels: ['ops'] });
const escalate = { afterMs: 30 * minuteMs, channels: ['finance'] };

describe('channels of an incident', () => {
  test.each([
    ['the first route that matches wins', [critical, all], incident({ severity: 'critical' }), ['pager']],
    ['a route that does not match is passed over', [critical, all], incident(), ['ops']],
    [
      '`continue` adds the next match',
      [{ ...critical, continue: true }, all],
      incident({ severity: 'critical' }),
      ['pager', 'ops'],
    ],
    [
      '`continue` with no further match is enough by itself',
      [{ ...all, continue: true }, critical],
      incident(),
      ['ops'],
    ],
    ['no match goes to every channel', [critical], incident(), channels],
    [
      'an escalation channel hears only then',
      [{ ...all, escalate }],
      incident(),
      ['ops', 'finance (escalation after 30 min)'],
    ],
    [
      'a channel can be both',
      [{ ...all, channels: ['ops', 'finance'], escalate }],
      incident(),
      ['ops', 'finance and escalation after 30 min'],
    ],
    [
      'direct in a later route beats escalation in an earlier one',
      [{ ...all, escalate, continue: true }, makeRoute({ channels: ['finance'] })],
      incident(),
      ['ops', 'finance and escalation after 30 min'],
    ],
    [
      'of two escalations to one channel the sooner counts, also where a later route asks for it',
      [
        { ...all, escalate: { ...escalate, afterMs: hourMs }, continue: true },
        { ...all, escalate },
      ],
      incident(),
      ['ops', 'finance (escalation after 30 min)'],
    ],
    [
      'notified before and routed elsewhere now: it hears the end',
      [critical, all],
      incident({ severity: 'critical', notified: { ops: notified() } }),
      ['pager', 'ops (notified before)'],
    ],
    ['a channel that is gone is left out', [all], incident({ notified: { gone: notified() } }), ['ops']],
    [
      'by label',
      [makeRoute({ match: { labels: { team: ['night'] } }, channels: ['pager'] }), all],
      incident({ labels: { team: 'night' } }),
      ['pager'],
    ],
    [
      'by account and rule',
      [makeRoute({ match: { account: ['otp'], rule: ['sms-low'] }, channels: ['pager'] }), all],
      incident(),
      ['pager'],
    ],
    [
      'alerts about lowwater go by their type',
      [makeRoute({ match: { rule: ['channel-failed'] }, channels: ['pager'] }), all],
      incident({ account: '@lowwater', rule: 'channel-failed:ops', type: 'channel-failed' }),
      ['pager'],
    ],
    [
      'that a channel fails, every channel hears, regardless of the routes for its severity',
      [critical, { ...all, escalate }],
      incident({ account: '@lowwater', rule: 'channel-failed:x', type: 'channel-failed' }),
      ['ops', 'finance and escalation after 30 min', 'pager'],
    ],
    [
      'a route that names the failure chooses for those that `continue` leads to, too',
      [makeRoute({ match: { rule: ['channel-failed'] }, channels: ['pager'], continue: true }), all],
      incident({ account: '@lowwater', rule: 'channel-failed:x', type: 'channel-failed' }),
      ['pager', 'ops'],
    ],
    [
      'that lowwater cannot store, every channel hears',
      [critical, all],
      incident({
        account: '@lowwater',
        rule: 'storage-failed',
        type: 'storage-failed',
        severity: 'critical',
      }),
      ['pager', 'ops', 'finance'],
    ],
    [
      'a route that names the failure but leads to a channel that cannot tell it',
      [makeRoute({ match: { rule: ['channel-failed'] }, channels: ['dead'] })],
      incident({ account: '@lowwater', rule: 'channel-failed:dead', type: 'channel-failed' }),
      ['ops', 'finance', 'pager'],
    ],
  ])('%s', (_, routes, it, expected) => {
    expect(planned(routes, it)).toEqual(expected);
  });

  test('of two routes to one channel the first decides how often and how long it gathers', () => {
    const routes = [
      makeRoute({ repeatEveryMs: hourMs, groupWaitMs: 0, continue: true }),
      makeRoute({ repeatEveryMs: 9 * hourMs }),
    ];
    expect(planChannels(incident(), routes, channels)).toMatchObject([
      { repeatEveryMs: hourMs, groupWaitMs: 0 },
    ]);
  });

  test('what every channel hears is reminded of only where a route asks for it', () => {
    const it = incident({ account: '@lowwater', rule: 'storage-failed', type: 'storage-failed' });
    expect(planChannels(it, [{ ...all, repeatEveryMs: hourMs }], ['ops', 'finance'])).toMatchObject([
      { channel: 'ops', repeatEveryMs: hourMs },
      { channel: 'finance', repeatEveryMs: Number.POSITIVE_INFINITY },
    ]);
  });

  test('the fallback repeats by severity, gathers for five seconds, mentions, and is the last', () => {
    expect(routesFor(incident(), [], channels)).toEqual([
      {
        ...{ match: {}, channels, repeatEveryMs: null, groupWaitMs: 5000, escalate: null },
        ...{ continue: false, mention: true },
      },
    ]);
  });
});

test.each([
  ['those of all routes where one of them matches everything', [critical, all], ['ops', 'pager']],
  ['all where something may match none', [critical], channels],
  ['all where there are no routes', [], channels],
  ['without those that only hear of an escalation', [{ ...all, escalate }], ['ops']],
])('channels that routes lead to: %s', (_, routes, expected) => {
  expect(channelsOfRoutes(routes, channels)).toEqual(expected);
});

test.each([
  ['info', Number.POSITIVE_INFINITY],
  ['warning', 24 * hourMs],
  ['critical', 4 * hourMs],
] as const)('a route that does not say reminds of %s by its severity', (severity, repeatEveryMs) => {
  const route = makeRoute({ repeatEveryMs: null });
  expect(planChannels({ ...incident(), severity }, [route], ['ops'])).toMatchObject([{ repeatEveryMs }]);
});
