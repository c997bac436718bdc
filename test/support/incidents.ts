import type { Incident, LastNotified } from '../../src/domain/alert.ts';
import { factsNoon } from './account-facts.ts';

/** An open incident of a low balance. */
export function incident(over: Partial<Incident> = {}): Incident {
  return {
    id: 'i-1',
    account: 'otp',
    rule: 'sms-low',
    type: 'below',
    balance: 'sms',
    accountName: 'OTP production',
    labels: {},
    severity: 'warning',
    worstSeverity: 'warning',
    rises: 0,
    firedAt: factsNoon,
    escalationSince: factsNoon,
    resolvedAt: null,
    resolution: null,
    flappingSince: null,
    event: false,
    value: null,
    threshold: null,
    facts: [],
    acknowledgement: null,
    eased: null,
    notified: {},
    ...over,
  };
}

/** What a channel was notified of: that it fired. */
export function notified(over: Partial<LastNotified> = {}): LastNotified {
  return {
    at: factsNoon,
    severity: 'warning',
    resolved: false,
    flapping: false,
    firstMessage: 'm-1',
    subject: null,
    rises: 0,
    escalatedAt: null,
    acknowledgedAt: null,
    ...over,
  };
}
