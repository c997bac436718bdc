import { type ComposeDependencies, describeIncident } from '../daemon/compose.ts';
import {
  type Acknowledgement,
  type Alert,
  type Incident,
  isAcknowledged,
  uncertainMessage,
} from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { MessageItem, Runway } from '../domain/message.ts';
import type { NotificationReason } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { entryOf } from '../domain/provider-entry.ts';
import type { Forecast } from '../domain/quantity.ts';
import { type Balance, mapEach, ofEach } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import { severities } from '../domain/severity.ts';
import { dayMs } from '../domain/time.ts';
import { mostUrgent, notUrgent, type Urgency } from '../domain/urgency.ts';
import { incidentOf, sketchIncident } from '../engine/incidents.ts';
import { suppressionOf } from '../engine/inhibit.ts';
import { blockedUntil } from '../engine/observe.ts';
import { paymentsOf } from '../engine/payments.ts';
import { runwayOf } from '../engine/spending.ts';
import { balancesOf, factsOf, groupOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { headlineCurrency, wordSubject } from '../messages/item-wording.ts';
import { alertKindOf, balanceLevels, nextStep, ruleKindOf, wouldNotFire } from '../rules/registry.ts';
import { isReadAt } from '../rules/stale.ts';
import { urgencyOf, urgencyOfBalance } from '../rules/urgency.ts';
import { thin } from '../spending/thin.ts';
import { english } from '../wording/language.ts';
import type { Reader } from '../wording/moments.ts';

const dayPoints = 96;

export interface ViewDependencies extends Omit<ComposeDependencies, 'acknowledgeUrl'> {
  /** When an account is polled next; null when no daemon runs. */
  readonly nextPollAt: (account: string) => number | null;
}

/** An account as people see it. Money is in millionths, instants are milliseconds since 1970, null is unknown. */
export type AccountView = Readonly<ReturnType<typeof viewAccount>>;

/** An account without its day and its payments, which are calculated from its readings: lists of tens of thousands are sent this way. */
export type BriefAccount = Readonly<ReturnType<typeof viewBriefly>>;

export function viewAccount(parts: ViewDependencies, account: WatchedAccount) {
  const now = parts.now();
  return {
    ...viewBriefly(parts, account),
    /** Readings of the last 24 hours, thinned for a sparkline, oldest first. Lists show a few of thousands: the other days are never read. */
    get day() {
      return thin(account.log.readings(now - dayMs), dayPoints);
    },
    /** The payments by balance; calculated when they are asked for. */
    get payments() {
      return paymentsOf(parts.state, account, now);
    },
  };
}

export function viewBriefly(parts: ViewDependencies, account: WatchedAccount) {
  const now = parts.now();
  const { poll, rules } = account;
  const { id, name, labels, topUpUrl, runbookUrl, note, balances, currency, timezone, leadTimeMs } =
    account.settings;
  const { outcome, failure, polledAt, reading, consecutiveFailures, usage, facts } = poll;
  const alerts = [...account.alerts.values()];
  const firing = alerts.filter((alert) => alert.state === 'firing');
  const blocked = blockedUntil(parts.state, id);
  const runways = ofEach(balances, (balance) => runwayOf(account, balance, now));
  return {
    ...{ id, name, labels, topUpUrl, runbookUrl, note, balances, timezone, leadTimeMs },
    /** The newest reading's currency, else the configured one. */
    currency: reading?.currency ?? currency,
    ...{ outcome, failure, polledAt },
    readAt: reading?.at ?? null,
    isRead: isReadAt(factsOf(account, now), now),
    /** False when its readings are pushed. */
    polled: entryOf(parts.state.settings, account.settings).polled,
    nextPollAt: parts.nextPollAt(id),
    pollIntervalMs: account.pollIntervalMs,
    reading,
    runways,
    consecutiveFailures,
    backoffUntil: blocked > now ? blocked : null,
    ...{ usage, facts },
    thresholds: ofEach(balances, (balance) => balanceLevels(rules, balance)),
    worst: severities.findLast((severity) => firing.some((alert) => alert.severity === severity)) ?? null,
    firing: firing.length,
    pending: alerts.filter((alert) => alert.state === 'pending').length,
    /** The date of its most urgent balance or firing alert. */
    urgency: mostUrgent([
      ...balances.flatMap(({ id: balance }) => urgencyOfBalance(ownOf(runways, balance) ?? null, now) ?? []),
      ...firing.map((alert) =>
        urgencyOf(
          { ...alert, since: alert.breachedSince ?? now },
          ownOf(runways, alert.balance ?? '') ?? null,
          now,
        ),
      ),
    ]),
  };
}

export interface AlertView
  extends Pick<Incident, 'account' | 'accountName' | 'labels' | 'rule' | 'type' | 'balance'>,
    Pick<Incident, 'severity' | 'resolvedAt' | 'value' | 'threshold'> {
  /** The currency of the amounts, or their unit. */
  readonly currency: string | null;
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly since: number;
  readonly urgency: Urgency;
  /** The forecasts of the account's balances as they are now; null for a resolved alert. */
  readonly forecast: Readonly<Record<Balance, Forecast | null>>;
  /** One line that stands alone, in English: `OTP production: SMS balance 42.10 CNY, below 50.00 (critical)`. */
  readonly summary: string;
  /** The same without the severity, as its reader would have it. */
  readonly headline: (reader: Reader) => string;
  /** The same text for alerts that have one cause: a key that several accounts share is refused, one balance is low by several rules. */
  readonly cause: string | null;
  readonly acknowledged: Pick<Acknowledgement, 'at' | 'by' | 'comment'> | null;
  readonly silenced: boolean;
  readonly inhibited: boolean;
  readonly flapping: boolean;
  /** The channels of the incident, and when each was last notified; null while its first message is not delivered. */
  readonly notified: readonly { readonly channel: string; readonly at: number | null }[];
  readonly incident: string | null;
}

export type FiringView = ReturnType<typeof viewFiring> extends Iterable<infer View> ? View : never;

export function* viewFiring({ state, now }: ViewDependencies) {
  const at = now();
  for (const alert of state.alerts.values()) {
    const { state: phase, account, rule, type, balance, severity, incident: id } = alert;
    if (phase !== 'firing') continue;
    const incident = id === null ? undefined : state.incidents.get(id);
    const since = incident?.firedAt ?? at;
    yield {
      ...{ account, rule, type, balance, severity, incident: id, since },
      cause: causeOf(state, alert),
      /** Calculated when it is asked for, because the runways of thousands are not needed. */
      get urgency() {
        const watched = balance === null ? undefined : state.accounts.get(account);
        const runway = watched === undefined ? null : runwayOf(watched, balance ?? '', at);
        return urgencyOf({ type, balance, severity, since }, runway, at);
      },
      acknowledged: incident !== undefined && isAcknowledged(incident),
      ...(incident === undefined
        ? { silenced: false, inhibited: false }
        : suppressionOf(state, incident, at)),
    };
  }
}

function causeOf(
  state: MonitorState,
  alert: Pick<Alert, 'account' | 'rule' | 'type' | 'balance'>,
): string | null {
  const { account, rule, balance } = alert;
  const { staleness, emptinessRank } = alertKindOf(alert);
  if (staleness === 'cause') return `${rule} ${groupOf(state, account)}`;
  return emptinessRank === undefined || balance === null ? null : JSON.stringify([account, balance]);
}

/** The runways of an account's balances, calculated once for all of its alerts. */
export function runwaysByAccount({ state, now }: ViewDependencies) {
  const at = now();
  const known = new Map<string, Readonly<Record<Balance, Runway | null>>>();
  return (id: string) =>
    getOrMake(known, id, () => {
      const account = state.accounts.get(id) ?? null;
      return ofEach(balancesOf(state, id), (balance) => account && runwayOf(account, balance, at));
    });
}

export function viewAlert(
  parts: ViewDependencies,
  alert: Alert,
  runwaysOf = runwaysByAccount(parts),
): AlertView {
  const { state } = parts;
  const now = parts.now();
  const account = state.accounts.get(alert.account) ?? null;
  const open = incidentOf(state, alert);
  const incident = open ?? sketchIncident('', account, alert, alert.breachedSince ?? now);
  const runways = runwaysOf(alert.account);
  // Not spread, because that would word it at once.
  return Object.assign(viewIncident(parts, incident, 'firing'), {
    urgency: urgencyOf(
      { ...alert, since: incident.firedAt },
      ownOf(runways, alert.balance ?? '') ?? null,
      now,
    ),
    state: alert.state === 'pending' ? ('pending' as const) : ('firing' as const),
    severity: alert.severity,
    forecast: mapEach(runways, (runway) => runway?.forecast ?? null),
    acknowledged: isAcknowledged(incident) ? incident.acknowledgement : null,
    ...(open === undefined ? { silenced: false, inhibited: false } : suppressionOf(state, open, now)),
    flapping: alert.flappingSince !== null,
    incident: alert.incident,
  });
}

export function viewIncident(
  parts: ViewDependencies,
  incident: Incident,
  kind: NotificationReason,
): AlertView {
  const { account, rule, type, balance, severity, labels, resolvedAt } = incident;
  const now = parts.now();
  const { settings, accounts } = parts.state;
  let made: MessageItem | null = null;
  /** Its numbers and words, made when they are asked for, because a page shows twenty of thousands of alerts. */
  const item = () => {
    made ??= describeIncident(parts.state, { incident, kinds: [kind], now });
    return made;
  };
  const headline = (reader: Reader): string => wordSubject(item(), reader);
  return {
    ...{ account, rule, type, balance, severity, labels, resolvedAt },
    accountName: accounts.get(account)?.settings.name ?? incident.accountName,
    get value() {
      return item().value;
    },
    get threshold() {
      return item().threshold;
    },
    get currency() {
      return headlineCurrency(item());
    },
    state: 'resolved',
    since: incident.firedAt,
    urgency: notUrgent,
    forecast: ofEach(balancesOf(parts.state, account), () => null),
    get summary() {
      const subject = headline({ language: english, timezone: settings.timezone, now });
      return kind === 'firing' ? `${subject} (${severity})` : subject;
    },
    headline,
    cause: causeOf(parts.state, incident),
    acknowledged: incident.acknowledgement,
    silenced: false,
    inhibited: false,
    flapping: false,
    notified: Object.entries(incident.notified).map(([channel, { at, firstMessage }]) => ({
      channel,
      at: isUndelivered(parts.state, firstMessage) ? null : at,
    })),
    incident: incident.id,
  };
}

/** Whether none of its receivers has the message yet, as far as is known. */
function isUndelivered({ messages }: MonitorState, id: string): boolean {
  const message = messages.get(id);
  return id === uncertainMessage || (message?.state === 'pending' && message.deliveredAt === null);
}

export type Explanation = ReturnType<typeof explain>;

export function explain(
  parts: ViewDependencies,
  account: WatchedAccount,
  rule: Rule,
  runwaysOf: ReturnType<typeof runwaysByAccount>,
) {
  const facts = factsOf(account, parts.now());
  const alert = account.alerts.get(rule.id);
  const kind = ruleKindOf(rule);
  const evaluation = kind.evaluate(rule, facts, alert?.state === 'firing' ? alert.severity : null);
  return {
    rule,
    /** Whether its value is how long nothing was read. */
    isAboutReadings: kind.staleness === 'symptom',
    /** Whether it is judged by an old reading: what it says was so then. */
    isOld: kind.staleness === undefined && !isReadAt(facts, facts.now),
    evaluation: { ...evaluation, facts: kind.factsBehind(rule, facts) },
    alert: alert === undefined || alert.state === 'inactive' ? null : viewAlert(parts, alert, runwaysOf),
    /** The nearest threshold that would not have fired, in words; null when it does not fire. */
    wouldNotFire: wouldNotFire(rule, facts, evaluation),
    /** Its next worse verdict, and when the forecast expects it; null when nobody can say. */
    next: nextStep(rule, facts),
  };
}
