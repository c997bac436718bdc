import type { Incident } from '../../src/domain/alert.ts';
import type { Payment, Runway } from '../../src/domain/message.ts';
import type { Notification } from '../../src/domain/outbox.ts';
import type { OutcomeKind, PollRecord } from '../../src/domain/reading.ts';
import { mostUrgent } from '../../src/domain/urgency.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import type { BelowRule } from '../../src/rules/below.ts';
import { urgencyOfBalance } from '../../src/rules/urgency.ts';
import type { AccountView, AlertView } from '../../src/views/views.ts';
import { buildRunway as buildRunwayOfMessage } from './messages.ts';

/** Fri 20 Nov 2026, 18:41 UTC. */
export const viewsNow = Date.UTC(2026, 10, 20, 18, 41);

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export function micros(units: number): number {
  return Math.round(units * 1_000_000);
}

export function buildRunway(over: Partial<Runway> = {}): Runway {
  return buildRunwayOfMessage({
    usualPerDay: null,
    burnPerDay: micros(12.5),
    runwayMs: 9 * dayMs,
    emptyAt: viewsNow + 9 * dayMs,
    restoreMicros: micros(332.9),
    ...over,
  });
}

export function buildAccountView(over: Partial<AccountView> = {}): AccountView {
  return {
    id: 'otp',
    name: 'OTP production',
    labels: { team: 'identity' },
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    timezone: 'UTC',
    leadTimeMs: null,
    currency: 'CNY',
    outcome: 'ok',
    failure: null,
    polledAt: viewsNow - 2 * minuteMs,
    readAt: viewsNow - 2 * minuteMs,
    isRead: (over.outcome === undefined ? 'ok' : over.outcome) === 'ok',
    polled: true,
    nextPollAt: viewsNow + 3 * minuteMs,
    pollIntervalMs: 5 * minuteMs,
    balances: accountServiceBalances,
    reading: {
      at: viewsNow - 2 * minuteMs,
      balances: { sms: micros(112.5), voip: micros(80) },
      currency: 'CNY',
    },
    runways: { sms: buildRunway(), voip: null },
    consecutiveFailures: 0,
    facts: undefined,
    backoffUntil: null,
    usage: {},
    day: [],
    payments: [],
    thresholds: { sms: { info: micros(500), warning: micros(200), critical: micros(50) }, voip: {} },
    worst: null,
    firing: 0,
    pending: 0,
    urgency: mostUrgent(
      Object.values(over.runways ?? {}).flatMap((runway) => urgencyOfBalance(runway, viewsNow) ?? []),
    ),
    ...over,
  };
}

/** Due at once where no date is given. */
export function buildPayment(amount: number, dueAt: number | null = null): Payment {
  return {
    ...{ balance: 'sms', micros: micros(amount), covers: 'thirty-days', dueAt, isEmpty: false },
    isDue: dueAt === null || dueAt <= viewsNow,
  };
}

export function buildAlertView(over: Partial<AlertView> = {}): AlertView {
  const summary = over.summary ?? 'OTP production: SMS balance 42.10 CNY, below 50.00 (critical)';
  return {
    account: 'otp',
    accountName: 'OTP production',
    labels: { team: 'identity' },
    rule: 'sms-low',
    type: 'below',
    balance: 'sms',
    severity: 'critical',
    state: 'firing',
    since: viewsNow - 22 * minuteMs,
    resolvedAt: null,
    value: { unit: 'money', micros: micros(42.1) },
    threshold: { unit: 'money', micros: micros(50) },
    currency: 'CNY',
    forecast: { sms: null, voip: null },
    summary,
    headline: () => summary.replace(/ \((?:critical|warning|info)\)$/, ''),
    cause: null,
    acknowledged: null,
    silenced: false,
    inhibited: false,
    flapping: false,
    notified: [],
    incident: 'incident-1',
    urgency: { isEmpty: false, actBy: over.since ?? viewsNow },
    ...over,
  };
}

export function buildIncident(over: Partial<Incident> = {}): Incident {
  return {
    id: 'incident-1',
    account: 'otp',
    rule: 'sms-low',
    type: 'below',
    balance: 'sms',
    accountName: 'OTP production',
    labels: { team: 'identity' },
    severity: 'critical',
    worstSeverity: 'critical',
    rises: 0,
    firedAt: viewsNow - 22 * minuteMs,
    resolvedAt: null,
    resolution: null,
    event: false,
    value: { unit: 'money', micros: micros(42.1) },
    threshold: { unit: 'money', micros: micros(50) },
    facts: [],
    acknowledgement: null,
    eased: null,
    escalationSince: viewsNow - 22 * minuteMs,
    flappingSince: null,
    notified: {},
    ...over,
  };
}

export function buildMessage(over: Partial<Notification> = {}): Notification {
  return {
    id: 'message-1',
    revision: 0,
    channel: 'ops',
    state: 'delivered',
    items: [
      {
        incident: 'incident-1',
        account: 'otp',
        rule: 'sms-low',
        kind: 'firing',
        at: viewsNow - 22 * minuteMs,
      },
    ],
    report: null,
    createdAt: viewsNow - 22 * minuteMs,
    dueAt: viewsNow - 22 * minuteMs,
    giveUpAt: viewsNow + dayMs,
    attempts: 1,
    uncertain: false,
    deliveredAt: viewsNow - 22 * minuteMs + 5_200,
    lastError: null,
    ...over,
  };
}

export const belowRule: BelowRule = {
  id: 'sms-low',
  type: 'below',
  balance: 'sms',
  severity: 'warning',
  thresholds: { info: micros(500), warning: micros(200), critical: micros(50) },
  hysteresis: { kind: 'share', share: 0.1 },
  forMs: 0,
  recoverForMs: 0,
  match: {},
  builtIn: false,
};

/** Polls at a steady pace whose balance the given function says, in units; null is a failed poll. */
export function buildPolls(options: {
  readonly since: number;
  readonly until: number;
  readonly everyMs: number;
  readonly sms: (at: number) => number | null;
  readonly voip?: (at: number) => number;
  readonly currency?: string;
  readonly failure?: OutcomeKind;
}): readonly PollRecord[] {
  const polls: PollRecord[] = [];
  for (let at = options.since; at <= options.until; at += options.everyMs) {
    const sms = options.sms(at);
    polls.push(
      sms === null
        ? { at, outcome: options.failure ?? 'timeout', reading: null }
        : {
            at,
            outcome: 'ok',
            reading: {
              at,
              balances: { sms: micros(sms), voip: micros(options.voip?.(at) ?? 80) },
              currency: options.currency ?? 'CNY',
            },
          },
    );
  }
  return polls;
}
