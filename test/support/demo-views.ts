import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PollRecord } from '../../src/domain/reading.ts';
import { thin } from '../../src/spending/thin.ts';
import type { AccountView } from '../../src/views/views.ts';
import { idleRule, staleRule } from './account-facts.ts';
import {
  belowRule,
  buildAccountView,
  buildAlertView,
  buildIncident,
  buildMessage,
  buildPayment,
  buildPolls,
  buildRunway,
  dayMs,
  hourMs,
  micros,
  minuteMs,
  viewsNow,
} from './built-views.ts';
import { FakeViews } from './fake-views.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly version: string;
};
const lastPollAt = viewsNow - 2 * minuteMs;

/**
 * A team's morning: something critical, something acknowledged, a key refused, an outage, and accounts that
 * are well.
 */
export function demoViews(): FakeViews {
  const views = new FakeViews();
  views.daemonStatus = { ...views.daemonStatus, version };
  addOtp(views);
  addMarketing(views);
  addVoice(views);
  addKeyRefused(views);
  addPending(views);
  addQuiet(views);
  views.channelList = [
    { name: 'ops', type: 'slack', pending: 0, lastDeliveredAt: viewsNow - 22 * minuteMs, lastError: null },
    {
      name: 'finance',
      type: 'email',
      pending: 1,
      lastDeliveredAt: viewsNow - 5 * hourMs,
      lastError: '451 greylisted, try again later',
    },
  ];
  views.messageList = demoMessages();
  views.silenceList = [
    {
      id: null,
      match: { account: ['marketing-eu'] },
      startsAt: viewsNow + 1.3 * dayMs,
      endsAt: viewsNow + 1.3 * dayMs + 2 * hourMs,
      by: 'configuration',
      comment: 'weekly provider maintenance',
      active: false,
      laterStarts: [8.3, 15.3, 22.3].map((days) => viewsNow + days * dayMs),
    },
    {
      id: 'silence-batch',
      match: { account: ['batch'], severity: ['warning'] },
      startsAt: viewsNow - hourMs,
      endsAt: viewsNow + 3 * hourMs,
      by: 'Lin',
      comment: 'load test until 22:00',
      active: true,
      laterStarts: [],
    },
  ];
  return views;
}

function addOtp(views: FakeViews): void {
  const madeAt = viewsNow - 7 * dayMs - 41 * minuteMs;
  views.weeksAgo.set('otp sms', {
    madeAt,
    steps: [0, 6, 24, 72, 168].map((hours) => ({
      at: madeAt + hours * hourMs,
      excess: micros(hours * 0.22),
    })),
  });
  const perDay = 96;
  const end = 42.1;
  const topUpAt = viewsNow - 4.2 * dayMs;
  const polls = buildPolls({
    since: lastPollAt - 40 * dayMs,
    until: lastPollAt,
    everyMs: 5 * minuteMs,
    sms: (at) => {
      const since = lastPollAt - at;
      if (since > 9 * hourMs && since < 10.4 * hourMs) return null;
      const wave = 9 * Math.sin((at / dayMs) * 2 * Math.PI);
      const refills = at < topUpAt ? 400 * Math.ceil((topUpAt - at) / (4.2 * dayMs)) : 0;
      return (
        Math.round((end + (since / dayMs) * perDay - refills + wave * Math.min(1, since / dayMs)) * 1000) /
        1000
      );
    },
    voip: (at) => 80 + Math.floor((viewsNow - at) / dayMs) * 0.5,
  });
  add(views, polls, {
    id: 'otp',
    name: 'OTP production',
    labels: { team: 'identity', region: 'cn' },
    worst: 'critical',
    firing: 2,
    topUpUrl: 'https://pay.example/otp',
    payments: [buildPayment(2_900, viewsNow + (0.75 * end * dayMs) / perDay)],
    usage: { 'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '199' },
    runways: {
      sms: buildRunway({
        burnPerDay: micros(perDay),
        runwayMs: (end / perDay) * dayMs,
        emptyAt: viewsNow + (end / perDay) * dayMs,
        forecast: {
          emptyAt: viewsNow + (end / perDay) * dayMs,
          earliest: viewsNow + (0.75 * end * dayMs) / perDay,
          latest: viewsNow + (1.5 * end * dayMs) / perDay,
          basis: 'hour-of-week',
        },
        restoreMicros: micros(2837.9),
      }),
      voip: buildRunway({
        balance: 'voip',
        burnPerDay: micros(0.5),
        runwayMs: 160 * dayMs,
        emptyAt: viewsNow + 160 * dayMs,
        restoreMicros: 0,
      }),
    },
  });
  const runway = {
    rule: 'sms-runway',
    type: 'runway',
    severity: 'warning',
    value: { unit: 'duration', ms: 37_891_000 },
    threshold: { unit: 'duration', ms: 259_200_000 },
  } as const;
  const summary = 'OTP production: SMS balance 42.10 CNY lasts 10 hours, less than 3 days (warning)';
  views.alertList.push(
    buildAlertView({ urgency: { isEmpty: false, actBy: viewsNow + (0.75 * end * dayMs) / perDay } }),
    buildAlertView({
      ...runway,
      summary,
      since: viewsNow - 2.2 * dayMs,
      inhibited: true,
      incident: 'incident-2',
    }),
  );
  views.incidentList.push(
    buildIncident(),
    buildIncident({
      id: 'incident-0',
      severity: 'warning',
      worstSeverity: 'critical',
      firedAt: topUpAt - 0.6 * dayMs,
      resolvedAt: topUpAt,
      resolution: { kind: 'topped-up', micros: micros(400) },
      value: { unit: 'money', micros: micros(31.25) },
      acknowledgement: {
        at: topUpAt - 0.5 * dayMs,
        by: 'Wei',
        comment: 'ordered',
        rises: 1,
        severity: 'critical',
      },
    }),
  );
  views.explanations.set('otp', [
    {
      isAboutReadings: false,
      isOld: false,
      rule: {
        ...belowRule,
        written: {
          id: 'sms-low',
          type: 'below',
          thresholds: { info: 500, warning: 200, critical: 50 },
          hysteresis: '10%',
        },
      },
      evaluation: {
        kind: 'breached',
        severity: 'critical',
        value: { unit: 'money', micros: micros(42.1) },
        threshold: { unit: 'money', micros: micros(50) },
        facts: [
          { name: 'reading', value: { unit: 'instant', at: lastPollAt } },
          { name: 'resolves at', value: { unit: 'money', micros: micros(55) } },
        ],
      },
      alert: buildAlertView(),
      wouldNotFire: 'It would not fire with a threshold of 42.10 CNY or less.',
      next: null,
    },
    {
      isAboutReadings: false,
      isOld: false,
      rule: { ...belowRule, id: 'voip-low', balance: 'voip', thresholds: { warning: micros(20) } },
      evaluation: {
        kind: 'ok',
        value: { unit: 'money', micros: micros(80) },
        threshold: { unit: 'money', micros: micros(20) },
        facts: [{ name: 'reading', value: { unit: 'instant', at: lastPollAt } }],
      },
      alert: null,
      wouldNotFire: null,
      next: { severity: 'warning', at: viewsNow + 120 * dayMs },
    },
    {
      isAboutReadings: false,
      isOld: false,
      rule: idleRule({ id: 'sms-idle', windowMs: 60 * dayMs }),
      evaluation: {
        kind: 'unknown',
        why: '40 days of history, needs 60 days',
        value: null,
        threshold: { unit: 'duration', ms: 60 * dayMs },
        facts: [],
      },
      alert: null,
      wouldNotFire: null,
      next: null,
    },
    {
      isAboutReadings: true,
      isOld: false,
      rule: staleRule({ id: 'stale', builtIn: true }),
      evaluation: {
        kind: 'ok',
        value: { unit: 'duration', ms: 2 * minuteMs },
        threshold: { unit: 'duration', ms: 15 * minuteMs },
        facts: [],
      },
      alert: null,
      wouldNotFire: null,
      next: null,
    },
  ]);
}

function addMarketing(views: FakeViews): void {
  const polls = steady(1840.75, 310);
  add(views, polls, {
    id: 'marketing-eu',
    name: 'Marketing Europe',
    labels: { team: 'growth', region: 'eu' },
    currency: 'EUR',
    worst: 'warning',
    firing: 1,
    runways: {
      sms: buildRunway({
        burnPerDay: micros(310),
        runwayMs: 5.94 * dayMs,
        emptyAt: viewsNow + 5.94 * dayMs,
      }),
      voip: null,
    },
  });
  views.alertList.push(
    buildAlertView({
      account: 'marketing-eu',
      accountName: 'Marketing Europe',
      rule: 'sms-runway',
      type: 'runway',
      severity: 'warning',
      since: viewsNow - 5 * hourMs,
      summary: 'Marketing Europe: SMS balance 1840.75 EUR lasts 6 days, less than 7 days (warning)',
      incident: 'incident-3',
      acknowledged: { at: viewsNow - 4 * hourMs, by: 'Priya', comment: 'invoice is with finance' },
    }),
  );
}

function addVoice(views: FakeViews): void {
  add(views, steady(64, 0), {
    id: 'voice-alerts',
    name: 'Voice alerts',
    labels: { team: 'sre' },
    worst: 'critical',
    firing: 1,
    reading: { at: lastPollAt, balances: { sms: micros(64), voip: micros(-18.383) }, currency: 'CNY' },
    runways: {
      sms: buildRunway({ burnPerDay: 0, runwayMs: null, emptyAt: null, restoreMicros: 0 }),
      voip: buildRunway({
        balance: 'voip',
        burnPerDay: micros(7.2),
        runwayMs: 0,
        emptyAt: null,
        restoreMicros: micros(234.39),
      }),
    },
    thresholds: { sms: {}, voip: { critical: 0 } },
    topUpUrl: 'https://pay.example/voice',
    payments: [{ ...buildPayment(240), balance: 'voip', isEmpty: true }],
  });
  views.alertList.push(
    buildAlertView({
      account: 'voice-alerts',
      accountName: 'Voice alerts',
      rule: 'voip-negative',
      type: 'negative',
      balance: 'voip',
      since: viewsNow - 50 * minuteMs,
      summary: 'Voice alerts: VoIP balance -18.383 CNY, below zero (critical)',
      incident: 'incident-4',
      urgency: { isEmpty: true, actBy: viewsNow },
    }),
  );
}

function addKeyRefused(views: FakeViews): void {
  add(views, steady(910.4, 22), {
    id: 'billing',
    name: 'Billing notices',
    labels: { team: 'finance' },
    outcome: 'auth_failed',
    failure: 'The provider refuses the key (code -22).',
    readAt: viewsNow - 3 * hourMs,
    consecutiveFailures: 6,
    backoffUntil: viewsNow + 17 * minuteMs,
    worst: 'critical',
    firing: 1,
    runways: {
      sms: buildRunway({ burnPerDay: micros(22), runwayMs: 41 * dayMs, emptyAt: viewsNow + 41 * dayMs }),
      voip: null,
    },
  });
  views.alertList.push(
    buildAlertView({
      account: 'billing',
      accountName: 'Billing notices',
      rule: 'auth-failed',
      type: 'auth-failed',
      balance: null,
      since: viewsNow - 3 * hourMs,
      value: null,
      threshold: null,
      summary: 'Billing notices: the provider refuses the key (critical)',
      incident: 'incident-5',
    }),
  );
}

function addPending(views: FakeViews): void {
  add(views, steady(205, 60), {
    id: 'batch',
    name: 'Batch jobs',
    labels: { team: 'data' },
    pending: 1,
    runways: {
      sms: buildRunway({ burnPerDay: micros(60), runwayMs: 3.42 * dayMs, emptyAt: viewsNow + 3.42 * dayMs }),
      voip: null,
    },
  });
  views.alertList.push(
    buildAlertView({
      account: 'batch',
      accountName: 'Batch jobs',
      rule: 'spending',
      type: 'drop',
      severity: 'warning',
      state: 'pending',
      since: viewsNow - 6 * minuteMs,
      summary: 'Batch jobs: SMS spending 21.00 CNY, more than 20.00 within 1 hour (warning)',
      incident: null,
    }),
  );
}

function addQuiet(views: FakeViews): void {
  add(views, steady(15_230.04, 41.5), {
    id: 'support',
    name: 'Support views',
    labels: { team: 'support' },
    currency: 'USD',
    runways: {
      sms: buildRunway({
        burnPerDay: micros(41.5),
        runwayMs: 367 * dayMs,
        emptyAt: viewsNow + 367 * dayMs,
        restoreMicros: 0,
      }),
      voip: null,
    },
  });
  add(views, steady(500, 0), {
    id: 'standby',
    name: 'Standby',
    labels: {},
    runways: {
      sms: buildRunway({ burnPerDay: 0, runwayMs: null, emptyAt: null, restoreMicros: 0 }),
      voip: null,
    },
  });
  views.accountList.push(
    buildAccountView({
      id: 'new-account',
      name: 'New account',
      labels: {},
      currency: null,
      outcome: null,
      polledAt: null,
      readAt: null,
      reading: null,
      runways: { sms: null, voip: null },
      thresholds: { sms: {}, voip: {} },
    }),
  );
}

function steady(end: number, perDay: number): readonly PollRecord[] {
  return buildPolls({
    since: lastPollAt - 3 * dayMs,
    until: lastPollAt,
    everyMs: 15 * minuteMs,
    sms: (at) => {
      const days = (lastPollAt - at) / dayMs;
      return (
        Math.round((end + days * perDay + perDay * 0.08 * Math.sin(days * 9) * Math.min(1, days * 4)) * 100) /
        100
      );
    },
  });
}

function add(views: FakeViews, polls: readonly PollRecord[], over: Partial<AccountView>): void {
  const currency = over.currency ?? 'CNY';
  const own = polls.map((poll) =>
    poll.reading === null ? poll : { ...poll, reading: { ...poll.reading, currency } },
  );
  const readings = own.flatMap(({ reading }) => (reading === null ? [] : [reading]));
  const account = buildAccountView({
    reading: readings.at(-1) ?? null,
    day: thin(
      readings.filter(({ at }) => at > viewsNow - dayMs),
      96,
    ),
    ...over,
  });
  views.pollsByAccount.set(account.id, own);
  views.accountList.push(account);
}

function demoMessages() {
  const item = (account: string, rule: string, kind: 'firing' | 'worse' | 'reminder' | 'resolved') => ({
    incident: 'incident-1',
    account,
    rule,
    kind,
    at: viewsNow,
  });
  return [
    buildMessage(),
    buildMessage({
      id: 'message-2',
      channel: 'finance',
      state: 'pending',
      attempts: 2,
      deliveredAt: null,
      lastError: '451 greylisted, try again later',
    }),
    buildMessage({
      id: 'message-3',
      items: [item('voice-alerts', 'voip-negative', 'firing'), item('billing', 'auth-failed', 'reminder')],
      createdAt: viewsNow - 50 * minuteMs,
      deliveredAt: viewsNow - 50 * minuteMs + 900,
    }),
    buildMessage({
      id: 'message-4',
      channel: 'finance',
      items: [],
      report: { id: 'weekly', since: viewsNow - 11 * dayMs, until: viewsNow - 4 * dayMs },
      createdAt: viewsNow - 4.4 * dayMs,
      deliveredAt: viewsNow - 4.4 * dayMs + 2_000,
    }),
    buildMessage({
      id: 'message-5',
      channel: 'pager',
      state: 'dead',
      items: [item('otp', 'sms-low', 'resolved')],
      createdAt: viewsNow - 4.2 * dayMs,
      deliveredAt: null,
      lastError: 'no_service: the webhook was removed',
    }),
  ];
}
