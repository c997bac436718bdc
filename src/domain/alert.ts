import type { Fact, Quantity } from './quantity.ts';
import type { Balance } from './reading.ts';
import { isWorse, type Severity } from './severity.ts';

/**
 * The state of one rule for one account (Prometheus' terms). Its identity is `account` + `rule`.
 *
 * Alerts about lowwater itself stand under the account `@lowwater`, those about a provider under
 * `@provider:<host>`: no account can have such an id.
 *
 * Instants are milliseconds since 1970 on the daemon's steady clock: they are moved when the wall clock jumps.
 */
export interface Alert {
  readonly account: string;
  readonly rule: string;
  readonly type: string;
  readonly balance: Balance | null;
  readonly state: 'inactive' | 'pending' | 'firing';
  /** The breach's severity now; while pending, the severity that it would fire with. */
  readonly severity: Severity;
  /** When the breach began; `for` is measured from here. Null while inactive. */
  readonly breachedSince: number | null;
  /** Since when the readings have been good while the alert still fires; `recoverFor` is measured from here. */
  readonly recoveringSince: number | null;
  /** A worse severity that waits for `for`, and since when the readings have been worse. */
  readonly rising: { readonly severity: Severity; readonly since: number } | null;
  readonly incident: string | null;
  readonly value: Quantity | null;
  readonly threshold: Quantity | null;
  /** The facts while the alert is pending. Once it fires its incident keeps them, because they are most of an alert's size. */
  readonly facts: readonly Fact[];
  /** Recent changes between firing and not firing, oldest first; flapping is counted from them. */
  readonly changedAt: readonly number[];
  readonly flappingSince: number | null;
}

/** The last notification of a channel about an incident; the next one is decided from it. */
export interface LastNotified {
  readonly at: number;
  readonly severity: Severity;
  /** The incident's `rises` at that time: only a later rise is notified as worse. */
  readonly rises: number;
  readonly resolved: boolean;
  readonly flapping: boolean;
  /** The first message of the incident on this channel, and its subject: replies refer to them. */
  readonly firstMessage: string;
  readonly subject: string | null;
  /** The receiver's name for the message that the incident's thread hangs on, if it gave one. */
  readonly receipt?: string;
  readonly escalatedAt: number | null;
  /** Time since `at` in which lowwater did not run: reminders wait that much longer. */
  readonly pausedMs?: number;
  readonly acknowledgedAt: number | null;
  /** Absent when there is one key, 0, and nobody acknowledged under it. */
  readonly keys?: ToolKeys;
}

type Said = 'severity' | 'resolved' | 'flapping' | 'escalatedAt' | 'acknowledgedAt';

/** The record as if only information had been notified before the last rise: anything more is then notified as worse, and an end as an end. */
export function notifiedOfLittle(notified: Omit<LastNotified, Said>): LastNotified {
  return {
    ...notified,
    ...{ severity: 'info', resolved: false, flapping: false },
    ...{ escalatedAt: null, acknowledgedAt: null, rises: notified.rises - 1 },
  };
}

/** Stands for a first message that may not have arrived, such as one refused for good after an attempt whose answer was lost. */
export const uncertainMessage = '';

/** The keys under which an incident tool has an incident, by their numbers: an alert's first one is 0. */
export interface ToolKeys {
  readonly first: number;
  readonly newest: number;
  /** Somebody acknowledged the incident under the keys up to this one. */
  readonly taken: number | null;
  /** A process that died may have used the keys up to this one before it could store them. */
  readonly unstored?: number;
}

export const oneKey: ToolKeys = { first: 0, newest: 0, taken: null };

/** The last key under which a tool may have the incident. */
export function lastKeyOf({ newest, unstored = newest }: ToolKeys): number {
  return Math.max(newest, unstored);
}

export type Resolution =
  | { readonly kind: 'recovered' }
  | { readonly kind: 'topped-up'; readonly micros: number }
  /** `heir` (the name under which it is stored): a take-over closed the incident, not a change of the configuration. */
  | { readonly kind: 'rule-removed' | 'account-removed' | 'channel-removed'; readonly heir?: TakeOver }
  | { readonly kind: 'account-moved' };

/** A node that took the accounts over and has another configuration than the one before. */
export interface TakeOver {
  readonly node: string;
  readonly from: string;
}

/** One firing period of an alert. `id` is stable and unique; kept after it ended. */
export interface Incident
  extends Pick<
    Alert,
    'account' | 'rule' | 'type' | 'balance' | 'severity' | 'flappingSince' | 'value' | 'threshold' | 'facts'
  > {
  readonly id: string;
  /** Name and labels as they were: a message about a removed account still needs them. */
  readonly accountName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent when no account is concerned. */
  readonly provider?: string;
  readonly currency?: string | null;
  readonly worstSeverity: Severity;
  /** The number of rises of the severity, and of other things it fired for besides. An acknowledgement is broken when this exceeds what it saw. */
  readonly rises: number;
  /** `rises` when it last fired for something else as well: news, though no worse. */
  readonly anotherAt?: number;
  readonly firedAt: number;
  /** When it fired, became worse than ever, or worse than acknowledged; moved along with the clock. */
  readonly escalationSince: number;
  readonly resolvedAt: number | null;
  readonly resolution: Resolution | null;
  /** True for what happened at one moment and has no end, such as a top-up. */
  readonly event: boolean;
  readonly acknowledgement: Acknowledgement | null;
  /** A milder severity that readers have in mind: the one after a top-up, or the one before a fall below a level. */
  readonly eased: { readonly severity: Severity; readonly rises: number } | null;
  readonly notified: Readonly<Record<string, LastNotified>>;
  /** The person who ordered it, if it is a test: nothing fires, and no other alert shares its keys. */
  readonly test?: string;
}

export interface Acknowledgement {
  readonly at: number;
  readonly by: string;
  readonly comment: string;
  readonly rises: number;
  readonly severity: Severity;
}

export type Routed = Pick<
  Incident,
  'account' | 'rule' | 'type' | 'severity' | 'labels' | 'provider' | 'currency'
>;

/** Self alerts also match by type: `channel-failed` is every channel that fails, `channel-failed:ops` that one. */
export function matchSubject({ rule, type, ...routed }: Routed) {
  const { account, severity, labels, provider, currency } = routed;
  const rules = account === selfAccountId ? [type, rule] : [rule];
  return { account, rules, severity, labels, provider, currency };
}

export function alertKey(account: string, rule: string): string {
  return `${account}/${rule}`;
}

/** The reverse of `alertKey`. A provider's id may contain a slash, a rule's id never does. */
export function alertNameOf(key: string): Pick<Alert, 'account' | 'rule'> {
  const slash = key.lastIndexOf('/');
  return { account: key.slice(0, slash), rule: key.slice(slash + 1) };
}

/** Self alerts have this account id; no configured account can have it. */
export const selfAccountId = '@lowwater';

const providerPrefix = '@provider:';

export function isSelfId(account: string): boolean {
  return account === selfAccountId || account.startsWith(providerPrefix);
}

export function providerAccountId(baseUrl: string): string {
  return providerPrefix + baseUrl.replace(/^https?:\/\//, '');
}

export function displayName(accountId: string): string {
  if (accountId === selfAccountId) return 'lowwater';
  return accountId.startsWith(providerPrefix) ? accountId.slice(providerPrefix.length) : accountId;
}

/** All in milliseconds; a flap window of 0 turns flap detection off. */
export interface AlertTiming {
  readonly forMs: number;
  readonly recoverForMs: number;
  readonly flapWindowMs: number;
}

/** The incident with `change` applied to what each channel was last notified of. */
export function mapNotified(incident: Incident, change: (last: LastNotified) => LastNotified): Incident {
  const notified = Object.entries(incident.notified).map(([channel, last]) => [channel, change(last)]);
  return { ...incident, notified: Object.fromEntries(notified) };
}

/** Whether the acknowledgement holds: until the severity rises after it, even to a level that it had before. */
export function isAcknowledged(
  incident: Incident,
): incident is Incident & { readonly acknowledgement: Acknowledgement } {
  return incident.acknowledgement !== null && incident.acknowledgement.rises === incident.rises;
}

/** The severity that readers have in mind: whoever acknowledged saw that of the moment, whoever topped up believes that it helped. */
export function knownSeverity(incident: Incident, notified: LastNotified): Severity {
  const { acknowledgement, eased } = incident;
  const seenLater = acknowledgement !== null && acknowledgement.rises >= notified.rises;
  const seen = seenLater ? acknowledgement : notified;
  return eased !== null && eased.rises >= seen.rises && isWorse(seen.severity, eased.severity)
    ? eased.severity
    : seen.severity;
}

export function isSettled(incident: Incident): boolean {
  if (incident.event) return true;
  return incident.resolvedAt !== null && Object.values(incident.notified).every(({ resolved }) => resolved);
}
