import { formatMicros, type Micros } from '../domain/money.ts';
import type { OutboxMessage } from '../domain/outbox.ts';
import type { Fact, Quantity } from '../domain/quantity.ts';
import type { Balance, Reading } from '../domain/reading.ts';
import type { AccountView, AlertView, Explanation, SilenceView } from './views.ts';

/**
 * The public JSON of what the views show: the HTTP API and the command line's `--json` give the
 * same. Money is a decimal string, an instant an ISO 8601 text in UTC, a duration a number of seconds; null
 * is unknown.
 */
export function accountJson(account: AccountView) {
  return {
    id: account.id,
    name: account.name,
    labels: account.labels,
    currency: account.currency,
    outcome: account.outcome,
    failure: account.failure,
    polledAt: isoOrNull(account.polledAt),
    readAt: isoOrNull(account.readAt),
    balances: perBalance((balance) => moneyOrNull(account.reading?.[balance])),
    burnPerDay: perBalance((balance) => moneyOrNull(account.outlooks[balance]?.burnPerDay)),
    runwaySeconds: perBalance((balance) => secondsOrNull(account.outlooks[balance]?.runwayMs)),
    consecutiveFailures: account.consecutiveFailures,
    backoffUntil: isoOrNull(account.backoffUntil),
    usageHeaders: account.usage,
    severity: account.worst,
    firing: account.firing,
    pending: account.pending,
  };
}

export function readingJson(reading: Reading) {
  return {
    at: isoText(reading.at),
    sms: formatMicros(reading.sms),
    voip: formatMicros(reading.voip),
    currency: reading.currency,
  };
}

export function alertJson(alert: AlertView) {
  // The views hands on what the core keeps, which is more than this.
  const { acknowledged } = alert;
  return {
    account: alert.account,
    rule: alert.rule,
    type: alert.type,
    balance: alert.balance,
    severity: alert.severity,
    state: alert.state,
    since: isoText(alert.since),
    resolvedAt: isoOrNull(alert.resolvedAt),
    value: alert.value && quantityJson(alert.value),
    threshold: alert.threshold && quantityJson(alert.threshold),
    summary: alert.summary,
    acknowledged: acknowledged && {
      at: isoText(acknowledged.at),
      by: acknowledged.by,
      comment: acknowledged.comment,
    },
    silenced: alert.silenced,
    inhibited: alert.inhibited,
    flapping: alert.flapping,
    incident: alert.incident,
  };
}

export function silenceJson(silence: SilenceView) {
  return {
    id: silence.id,
    match: silence.match,
    startsAt: isoText(silence.startsAt),
    endsAt: isoText(silence.endsAt),
    by: silence.by,
    comment: silence.comment,
    active: silence.active,
  };
}

export function notificationJson(message: OutboxMessage) {
  return {
    id: message.id,
    channel: message.channel,
    kind: message.report === null ? (message.items.at(-1)?.kind ?? null) : 'report',
    state: message.state,
    attempts: message.attempts,
    createdAt: isoText(message.createdAt),
    deliveredAt: isoOrNull(message.deliveredAt),
    lastError: message.lastError,
    alerts: message.items.map(({ account, rule, kind }) => ({ account, rule, kind })),
  };
}

export function explanationJson(explanation: Explanation) {
  const { rule, evaluation, alert } = explanation;
  return {
    rule: rule.id,
    type: rule.type,
    verdict: evaluation.kind,
    severity: evaluation.kind === 'breached' || evaluation.kind === 'event' ? evaluation.severity : null,
    why: evaluation.kind === 'unknown' ? evaluation.why : null,
    value: evaluation.value && quantityJson(evaluation.value),
    threshold: evaluation.threshold && quantityJson(evaluation.threshold),
    facts: evaluation.facts.map(({ name, value }) => ({ name, value: factJson(value) })),
    wouldNotFire: explanation.wouldNotFire,
    alert: alert && alertJson(alert),
  };
}

/** Money as a decimal string, a duration as seconds, text as it is. */
export function quantityJson(quantity: Quantity): string | number {
  if (quantity.unit === 'money') return formatMicros(quantity.micros);
  return quantity.unit === 'duration' ? quantity.ms / 1000 : quantity.text;
}

/** ISO 8601 in UTC. */
export function isoText(at: number): string {
  return new Date(at).toISOString();
}

function factJson(value: Fact['value']): string | number {
  if (value.unit === 'instant') return isoText(value.at);
  return value.unit === 'count' ? value.count : quantityJson(value);
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : isoText(at);
}

function moneyOrNull(micros: Micros | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatMicros(micros);
}

function secondsOrNull(ms: number | null | undefined): number | null {
  return ms === null || ms === undefined ? null : Math.round(ms / 1000);
}

function perBalance<T>(of: (balance: Balance) => T): Record<Balance, T> {
  return { sms: of('sms'), voip: of('voip') };
}
