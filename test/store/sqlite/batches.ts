import type { Incident, LastNotified } from '../../../src/domain/alert.ts';
import { type Notification, newNotification } from '../../../src/domain/outbox.ts';
import type { AccountState, PollRecord } from '../../../src/domain/reading.ts';
import type { Silence } from '../../../src/domain/route.ts';
import type { Log } from '../../../src/ports/log.ts';
import { type Batch, untoldDamageNote } from '../../../src/ports/store.ts';

export const noon = Date.UTC(2026, 10, 20, 12);
export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
export const always = { since: Number.MIN_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER };
export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** The notes of a batch that tells people what was set aside. */
export const told = { [untoldDamageNote]: null };

export function batch(parts: Partial<Batch> = {}): Batch {
  return {
    polls: [],
    accounts: [],
    removedAccounts: [],
    spending: [],
    backoffs: [],
    alerts: [],
    removedAlerts: [],
    incidents: [],
    messages: [],
    removedMessages: [],
    silences: [],
    notes: {},
    ...parts,
  };
}

export function ok(at: number, sms: number, currency = 'CNY'): PollRecord {
  return { at, outcome: 'ok', reading: { at, balances: { sms, voip: 0 - sms }, currency } };
}

export function failed(at: number, outcome: 'timeout' | 'auth_failed' = 'timeout'): PollRecord {
  return { at, outcome, reading: null };
}

export function makePollEveryHour(from: number, days: number): PollRecord[] {
  return Array.from({ length: days * 24 }, (_, hour) =>
    ok(from + hour * 60 * minuteMs, 1_000_000_000 - hour * 977),
  );
}

export function pollsOf(account: string, polls: readonly PollRecord[]): Batch['polls'] {
  return polls.map((poll) => ({ account, poll }));
}

export function accountState(account: string, parts: Partial<AccountState> = {}): AccountState {
  return {
    account,
    firstSeenAt: noon,
    polledAt: noon,
    outcome: 'ok',
    failure: null,
    failureCode: null,
    consecutiveFailures: 0,
    reading: ok(noon, 5).reading,
    previous: null,
    changedAt: noon,
    unwatchedMs: 0,
    usage: { 'x-ratelimit-limit': '200' },
    retryAt: null,
    purse: null,
    seriesSince: 0,
    ...parts,
  };
}

export function notified(resolved: boolean): LastNotified {
  return {
    at: noon,
    severity: 'warning',
    resolved,
    flapping: false,
    firstMessage: 'message-1',
    subject: null,
    rises: 1,
    escalatedAt: null,
    acknowledgedAt: null,
  };
}

export function incident(id: string, parts: Partial<Incident> = {}): Incident {
  return {
    id,
    account: 'otp',
    rule: 'sms-low',
    type: 'below',
    balance: 'sms',
    accountName: 'OTP <production>',
    labels: { team: 'identity' },
    severity: 'warning',
    worstSeverity: 'critical',
    rises: 1,
    firedAt: noon,
    escalationSince: noon,
    resolvedAt: null,
    resolution: null,
    event: false,
    value: { unit: 'money', micros: -18_383_000 },
    threshold: null,
    facts: [{ name: 'balance', value: { unit: 'count', count: 1 } }],
    acknowledgement: null,
    eased: null,
    flappingSince: null,
    notified: {},
    ...parts,
  };
}

export function message(id: string, parts: Partial<Notification> = {}): Notification {
  return { ...newNotification({ id, channel: 'ops', items: [], now: noon, dueAt: noon }), ...parts };
}

export function silence(id: string, endsAt: number): Silence {
  return {
    id,
    match: { account: ['otp'] },
    startsAt: noon,
    endsAt,
    createdAt: noon,
    createdBy: 'ana',
    comment: 'night',
  };
}
