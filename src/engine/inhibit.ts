import {
  type Alert,
  displayName,
  type Incident,
  isAcknowledged,
  providerAccountId,
} from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { AlertName } from '../domain/operator.ts';
import { ownOf } from '../domain/own.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import { count, listFacts, type Quantity, text } from '../domain/quantity.ts';
import { severityRank } from '../domain/severity.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import { alertKindOf } from '../rules/registry.ts';
import { providerDown } from '../rules/self-alert-kinds.ts';
import { sentences } from '../wording/phrase.ts';
import { planChannels, type Suppression } from './decide.ts';
import { incidentOf } from './incidents.ts';
import type { ProviderCounts } from './provider-counts.ts';
import { closeSelfAlert, isRaised, raiseSelfAlert } from './self-alerts.ts';
import { isSilenced, retractWaiting } from './silencing.ts';
import { type MonitorState, maxAtOnce, type WatchedAccount } from './state.ts';
import { inactiveAlert } from './transition.ts';

type SuppressionByAlerts = Pick<Suppression, 'silenced' | 'inhibited'>;

/** The suppression that the API shows. */
export function suppressionOf(state: MonitorState, incident: Incident, now: number): SuppressionByAlerts {
  const { silenced, inhibited } = suppressionByAlerts(state, incident, now);
  return { silenced, inhibited: inhibited || isPartOfOutage(state, incident) };
}

export function suppressionByAlerts(
  state: MonitorState,
  incident: Incident,
  now: number,
): SuppressionByAlerts {
  const isMuted = (each: Incident): boolean => isSilenced(state, each, now);
  const inhibited = speakersFor(state, incident, isMuted).next().done !== true;
  return { silenced: isMuted(incident), inhibited };
}

/** The incidents that inhibit this one. An incident that is silenced, or that every channel refused, says nothing, so it must not inhibit others. */
function* speakersFor(
  state: MonitorState,
  { account, rule }: Incident,
  isMuted: (incident: Incident) => boolean,
): Generator<Incident, void> {
  const alerts = state.alerts.of(account);
  const alert = alerts.get(rule);
  if (alert === undefined || alert.state !== 'firing' || alerts.size < 2) return;
  for (const other of alerts.values()) {
    const incident = inhibits(other, alert) ? incidentOf(state, other) : undefined;
    if (incident === undefined || isMuted(incident)) continue;
    const isHeard = Object.keys(incident.notified).length > 0 || !wasRefused(state, incident);
    if (isHeard) yield incident;
  }
}

/** Whether a channel refused for good to be notified of it, and has not worked since. */
export function wasRefused({ settings, channelTries }: MonitorState, { id }: Incident): boolean {
  return channelTries.size > 0 && settings.channels.some(({ name }) => channelTries.has(`${name}/${id}`));
}

/** Whether inhibition holds for this channel: one that knows of the incident and hears nothing of the worse one is notified. A refused key inhibits for all. */
export function isSaid(state: MonitorState, incident: Incident, channel: string, now: number): boolean {
  if (ownOf(incident.notified, channel) === undefined || isStalenessSymptom(incident)) return true;
  const isMuted = (each: Incident): boolean => isSilenced(state, each, now);
  return speakersFor(state, incident, isMuted).some(
    (speaker) =>
      ownOf(speaker.notified, channel) !== undefined ||
      planChannels(speaker, state.settings.routes, [channel]).some(({ direct }) => direct),
  );
}

/** Retracts what nobody received: about silenced incidents, and about open ones that nobody acknowledged and that another alert inhibits. */
export function retractSuppressed(state: MonitorState, ids: Iterable<string>, now: number): void {
  // Tens of thousands of items may wait: they are gone through once.
  const quiet = new Map<string, Set<string>>();
  const hush = (id: string, channels: Iterable<string>): void => {
    for (const channel of channels) getOrMake(quiet, channel, () => new Set<string>()).add(id);
  };
  // Each of hundreds of alerts of one balance hides half of the others: each is checked once.
  const muted = new Map<string, boolean>();
  const isMuted = (each: Incident): boolean => getOrMake(muted, each.id, () => isSilenced(state, each, now));
  for (const id of new Set(withHidden(state, ids))) {
    const incident = state.incidents.get(id);
    if (incident === undefined) continue;
    if (isMuted(incident)) hush(id, Object.keys(incident.notified));
    if (incident.resolvedAt !== null || incident.event || isAcknowledged(incident)) continue;
    for (const { notified } of speakersFor(state, incident, isMuted)) hush(id, Object.keys(notified));
  }
  for (const [channel, hushed] of quiet) retractWaiting(state, channel, (id) => hushed.has(id));
}

/** The incidents, and those that they inhibit: a channel that first hears of them now may have messages waiting about the inhibited ones. */
export function* withHidden(state: MonitorState, ids: Iterable<string>): Generator<string, void> {
  for (const id of ids) {
    yield id;
    const incident = state.incidents.get(id);
    const alert = incident && state.alerts.get(incident.account, incident.rule);
    if (alert === undefined) continue;
    for (const other of state.alerts.of(alert.account).values())
      if (other.incident !== null && inhibits(alert, other)) yield other.incident;
  }
}

/** The rules that one message is about: the alert's, and those of alerts that it inhibits. Whoever wants quiet about one wants it about all. */
export function rulesHeardIn(state: MonitorState, { account, rule }: AlertName): readonly string[] {
  const alerts = state.alerts.of(account);
  const alert = alerts.get(rule);
  const hidden = [...alerts.values()].filter(
    (other) => other.state !== 'inactive' && alert !== undefined && inhibits(alert, other),
  );
  return [rule, ...hidden.map((other) => other.rule)];
}

/** Whether another alert says more about the same empty balance, or is the cause of stale readings. */
export function inhibits(other: Alert, alert: Alert): boolean {
  if (other.state !== 'firing' || other.rule === alert.rule) return false;
  if (alertKindOf(alert).staleness === 'symptom' && alertKindOf(other).staleness === 'cause') return true;
  return shareNotification(other, alert) && outranks(other, alert);
}

/** Whether both say how empty the same balance is: only one of them is notified, and one acknowledgement covers all. */
export function shareNotification(one: Alert, other: Alert): boolean {
  const alike = one.balance !== null && one.balance === other.balance;
  return alike && Number.isFinite(rankOf(one)) && Number.isFinite(rankOf(other));
}

/** Whether `one` is worse; at equal severity empty comes before low, low before running out, and then the deeper threshold. */
function outranks(one: Alert, other: Alert): boolean {
  const order =
    severityRank(one.severity) - severityRank(other.severity) ||
    rankOf(other) - rankOf(one) ||
    sizeOf(other.threshold) - sizeOf(one.threshold);
  return order === 0 || Number.isNaN(order) ? one.rule < other.rule : order > 0;
}

function rankOf(alert: Alert): number {
  return alertKindOf(alert).emptinessRank ?? Number.POSITIVE_INFINITY;
}

function sizeOf(threshold: Quantity | null): number {
  if (threshold?.unit === 'money') return threshold.micros;
  return threshold?.unit === 'duration' ? threshold.ms : Number.NaN;
}

const outageRule = providerDown.type;

/** One notification for all if at least half, and three, of a provider's accounts went stale within a poll interval. */
function reviewOutage(state: MonitorState, providerKey: string, now: number): void {
  const counts = state.providers.get(providerKey);
  if (counts === undefined) return;
  const account = providerAccountId(providerKey);
  const alert = state.alerts.get(account, outageRule);
  const many = counts.areMany(counts.stale.size);
  const isOn = isRaised(alert);
  if (isOn && !many) {
    closeSelfAlert(state, { account, rule: outageRule }, { kind: 'recovered' }, now);
    touchStaleIncidents(state, providerKey);
    return;
  }
  if (!isOn && !(many && counts.areMany(countTogether(state, counts)))) return;
  const fresh = inactiveAlert({ account, rule: outageRule, type: outageRule, balance: null });
  raiseSelfAlert(state, alert ?? fresh, describeOutage(providerKey, counts), now);
  if (!isOn) touchStaleIncidents(state, providerKey);
}

/** The step of a turn for providers with an account that went stale or was read again. */
export function reviewOutages(state: MonitorState, now: number): void {
  if (state.touched.size === 0) return;
  const providers = new Set<string>();
  let left = maxAtOnce;
  for (const id of state.touched) {
    if (left-- === 0) break;
    const incident = state.incidents.get(id);
    const account =
      incident !== undefined && isStalenessSymptom(incident)
        ? state.accounts.get(incident.account)
        : undefined;
    if (account !== undefined) providers.add(providerKeyOf(account.settings));
  }
  for (const providerKey of providers) reviewOutage(state, providerKey, now);
}

/** Called after accounts were removed, of which an outage may have consisted. */
export function reviewOngoingOutages(state: MonitorState, now: number): void {
  for (const providerKey of state.providers.keys()) {
    if (isRaised(state.alerts.get(providerAccountId(providerKey), outageRule)))
      reviewOutage(state, providerKey, now);
  }
}

/** Whether so many accounts fail that staleness waits, because the whole provider may be down. */
export function delaysStaleness(state: MonitorState, { settings }: WatchedAccount): boolean {
  const counts = state.providers.get(providerKeyOf(settings));
  return counts?.areMany(counts.failing) ?? false;
}

export function touchStaleIncidents(state: MonitorState, providerKey: string): void {
  for (const incident of staleIncidents(state, providerKey)) state.touched.add(incident.id);
}

function isPartOfOutage(state: MonitorState, incident: Incident): boolean {
  const account = state.accounts.get(incident.account);
  if (account === undefined || !isStalenessSymptom(incident) || incident.resolvedAt !== null) return false;
  const outage = state.alerts.get(providerAccountId(providerKeyOf(account.settings)), outageRule);
  return isRaised(outage);
}

export function* staleIncidentsOf(state: MonitorState, provider: string): Iterable<Incident> {
  for (const providerKey of state.providers.keys())
    if (providerAccountId(providerKey) === provider) yield* staleIncidents(state, providerKey);
}

function* staleIncidents(state: MonitorState, providerKey: string): Iterable<Incident> {
  for (const id of state.providers.get(providerKey)?.withoutReadings ?? []) {
    for (const alert of state.alerts.of(id).values()) {
      const incident = isStalenessSymptom(alert) ? incidentOf(state, alert) : undefined;
      if (incident !== undefined) yield incident;
    }
  }
}

/** Until when a stale account's incident waits: a poll interval while enough accounts fail, and as long after an outage; null if it is alone. */
export function pausedUntil(state: MonitorState, incident: Incident, now: number): number | null {
  const account = state.accounts.get(incident.account);
  const alert = account?.alerts.get(incident.rule);
  if (account === undefined || alert === undefined || !isStalenessSymptom(incident)) return null;
  const providerKey = providerKeyOf(account.settings);
  const outage = state.alerts.get(providerAccountId(providerKey), outageRule);
  if (isRaised(outage)) return Number.POSITIVE_INFINITY;
  const intervalMs = state.providers.get(providerKey)?.maxIntervalMs ?? account.pollIntervalMs;
  const staleSince = alert.changedAt.at(-1) ?? incident.firedAt;
  const endedAt = outage?.changedAt.at(-1) ?? Number.NEGATIVE_INFINITY;
  if (now - endedAt < intervalMs && staleSince <= endedAt) return endedAt + intervalMs;
  return delaysStaleness(state, account) ? staleSince + intervalMs : null;
}

function isStalenessSymptom(alert: { readonly type: string }): boolean {
  return alertKindOf(alert).staleness === 'symptom';
}

function countTogether(state: MonitorState, { stale, maxIntervalMs }: ProviderCounts): number {
  const since = [...stale].flatMap((id) =>
    [...state.alerts.of(id).values()]
      .filter(isStalenessSymptom)
      .map((alert) => alert.changedAt.at(-1) ?? alert.breachedSince ?? 0),
  );
  const last = since.reduce((latest, at) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  return since.filter((at) => last - at <= maxIntervalMs).length;
}

const told = sentences('outage', { affected: '{stale} of {all} accounts' });

function describeOutage(
  providerKey: string,
  { stale, accounts, commonestReason }: ProviderCounts,
): Extract<Evaluation, { kind: 'breached' }> {
  return {
    kind: 'breached',
    severity: 'critical',
    value: text(told.affected({ stale: stale.size, all: accounts })),
    threshold: null,
    facts: listFacts({
      provider: text(displayName(providerAccountId(providerKey))),
      accounts: count(stale.size),
      reason: commonestReason === null ? null : text(commonestReason),
    }),
  };
}
