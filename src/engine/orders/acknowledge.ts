import * as z from 'zod';
import { type Acknowledgement, type Incident, isAcknowledged, oneKey } from '../../domain/alert.ts';
import { type AlertName, type Refusal, refuse, type SeenAlertName } from '../../domain/operator.ts';
import { incidentsOf } from '../../domain/outbox.ts';
import { ruleKindOf } from '../../rules/registry.ts';
import { incidentOf, keepIncident } from '../incidents.ts';
import { shareNotification } from '../inhibit.ts';
import { queueOf } from '../queue.ts';
import type { MonitorState } from '../state.ts';
import { done, orderKind, seenShape } from './kind.ts';
import { nameOf, refusals } from './refusals.ts';

/** Acknowledges an incident, with those that share its messages: reminders and escalation stop until it ends or gets worse. */
export const acknowledge = orderKind({
  kind: 'acknowledge',
  details: { account: z.string(), rule: z.string(), comment: z.string(), seen: seenShape.optional() },
  apply(state, order, now) {
    const incident = openIncidentOf(state, order);
    if (incident === null) return noIncident(state, order);
    const refusal = refuseChanged(state, order);
    if (refusal !== null) return refusal;
    const { by, comment } = order;
    const together = [incident, ...incidentsSharingNotification(state, incident)];
    if (together.every(isAcknowledged)) return { doneBy: incident.acknowledgement?.by ?? by };
    for (const open of together) takeIncident(state, open, { by, comment, at: now });
    return done;
  },
  pin: nameIncident,
  describe: ({ account, rule, comment }) => ({ account, rule, detail: comment }),
});

function nameIncident(state: MonitorState, { account, rule, seen }: SeenAlertName) {
  return { seen: { ...seen, incident: state.alerts.get(account, rule)?.incident ?? null } };
}

/** Why an order is not for the alert as it is now: the person saw another incident, or another severity. */
export function refuseChanged(
  state: MonitorState,
  { account, rule, seen = {} }: SeenAlertName,
): Refusal | null {
  const { incident, severity } = seen;
  const alert = state.alerts.get(account, rule);
  if (incident !== undefined && (alert?.incident ?? null) !== incident)
    return refuse('changed', alert?.incident == null ? refusals.isOver() : refusals.otherIncident());
  if (severity === undefined || alert?.severity === severity) return null;
  const why = alert === undefined ? refusals.isOver() : refusals.otherSeverity(alert);
  return refuse('changed', why);
}

export function takeIncident(
  state: MonitorState,
  incident: Incident,
  { by, comment, at }: Pick<Acknowledgement, 'by' | 'comment' | 'at'>,
): void {
  if (isAcknowledged(incident)) return;
  const { severity, rises } = incident;
  keepIncident(state, { ...incident, acknowledgement: { at, by, comment, severity, rises } });
  applyToSpending(state, incident, true);
}

/** An acknowledgement may teach the spending what is expected. */
function applyToSpending(state: MonitorState, incident: Incident, taken: boolean): void {
  const account = state.accounts.get(incident.account);
  const rule = account?.rules.find(({ id }) => id === incident.rule);
  const kind = rule && ruleKindOf(rule);
  if (account === undefined || rule === undefined || kind?.acknowledged === undefined) return;
  kind.acknowledged(rule, account.spending, taken);
  state.spending.set(account.id, account.spending);
}

export function incidentsSharingNotification(state: MonitorState, { account, rule }: AlertName): Incident[] {
  const alerts = state.alerts.of(account);
  const alert = alerts.get(rule);
  if (alert === undefined) return [];
  return [...alerts.values()]
    .filter((other) => other.rule !== rule && shareNotification(other, alert))
    .flatMap((other) => openIncidentOf(state, other) ?? []);
}

export function openIncidentOf(state: MonitorState, { account, rule }: AlertName): Incident | null {
  const alert = state.alerts.get(account, rule);
  return (alert && incidentOf(state, alert)) ?? null;
}

const maxNamed = 10;

function noIncident(state: MonitorState, { account, rule }: AlertName): Refusal {
  const firing = [...state.alerts.of(account).values()].filter((alert) => alert.state === 'firing');
  const named = firing.slice(0, maxNamed).map((alert) => alert.rule);
  const given = { rule, account, rules: named.join(', ') };
  const why = named.length === 0 ? refusals.noIncident(given) : refusals.noIncidentButs(given);
  return refuse('not-found', why);
}

/** Removes the acknowledgement. If the incident got worse since, nobody has it anyway, and its escalation goes on. */
export function giveBackIncident(state: MonitorState, incident: Incident, now: number): void {
  if (!isAcknowledged(incident)) return;
  const { at } = incident.acknowledgement;
  // A message that was, or is, on its way says who has it, too, even if a silence kept that from being notified.
  const isUnderWay = (channel: string): boolean => {
    const underWay = queueOf(state, channel).filter(({ id }) => state.underWay.has(id));
    return incidentsOf(underWay).has(incident.id);
  };
  const notified = Object.entries(incident.notified).map(([channel, last]) => {
    const isHeard = last.at >= at || isUnderWay(channel);
    if (last.acknowledgedAt !== null || !isHeard) return [channel, last] as const;
    const { keys = oneKey } = last;
    return [channel, { ...last, acknowledgedAt: at, keys: { ...keys, taken: keys.newest } }] as const;
  });
  const free = { ...incident, acknowledgement: null, escalationSince: now };
  keepIncident(state, { ...free, notified: Object.fromEntries(notified) });
  applyToSpending(state, incident, false);
}

/** Removes an acknowledgement: reminders go on, and the time to escalation starts again. */
export const unacknowledge = orderKind({
  kind: 'unacknowledge',
  details: { account: z.string(), rule: z.string(), seen: seenShape.optional() },
  apply(state, order, now) {
    const incident = openIncidentOf(state, order);
    if (incident === null) return noIncident(state, order);
    const refusal = refuseChanged(state, order);
    if (refusal !== null) return refusal;
    if (!isAcknowledged(incident)) return refuse('not-found', refusals.notTaken(order));
    const { by: holder } = incident.acknowledgement;
    if (holder !== (order.seen?.holder ?? holder))
      return refuse('changed', refusals.otherHolder({ who: nameOf(holder) }));
    for (const open of [incident, ...incidentsSharingNotification(state, incident)])
      giveBackIncident(state, open, now);
    return done;
  },
  pin: nameIncident,
  describe: ({ account, rule }) => ({ account, rule }),
});
