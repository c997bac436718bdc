import {
  type Acknowledgement,
  type Incident,
  isAcknowledged,
  isSelfId,
  type LastNotified,
  mapNotified,
} from '../domain/alert.ts';
import { isoText } from '../domain/moment.ts';
import { formatMicros } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import {
  type Acknowledge,
  type AlertName,
  type AuditEntry,
  type DatabaseOrder,
  type Refusal,
  refuse,
  type SeenAlertName,
  type SilenceOrder,
} from '../domain/operator.ts';
import { maxSilenceMs, type Silence } from '../domain/route.ts';
import { type Matcher, matchesEverything } from '../domain/rule.ts';
import { ruleKindOf, selfAlertTypes } from '../rules/registry.ts';
import { channelFailedRule } from '../rules/self-alert-kinds.ts';
import { cancelExpected, expectTopUp } from './expect-top-up.ts';
import { incidentOf, keepIncident } from './incidents.ts';
import { shareNotification, suppressionByAlerts } from './inhibit.ts';
import { reviewSilences } from './silencing.ts';
import { type MonitorState, writeNote } from './state.ts';

export function acknowledge(
  state: MonitorState,
  order: Acknowledge & { readonly at: number },
): Refusal | null {
  const incident = openIncidentOf(state, order);
  if (incident === null) return noIncident(order);
  const refusal = refuseChanged(state, order);
  if (refusal !== null) return refusal;
  for (const open of [incident, ...incidentsSharingNotification(state, incident)]) take(state, open, order);
  return null;
}

/** Why an order is not for the alert as it is now: the person saw another incident, or another severity. */
function refuseChanged(state: MonitorState, { account, rule, seen = {} }: SeenAlertName): Refusal | null {
  const { incident, severity } = seen;
  const alert = state.alerts.get(account, rule);
  if (incident !== undefined && (alert?.incident ?? null) !== incident)
    return refuse('changed', 'this is another incident now');
  if (severity === undefined || alert?.severity === severity) return null;
  return refuse('changed', `this alert is ${alert?.severity ?? 'over'} now`);
}

function take(
  state: MonitorState,
  incident: Incident,
  { by, comment, at }: Pick<Acknowledgement, 'by' | 'comment' | 'at'>,
): void {
  if (isAcknowledged(incident)) return;
  const { severity, rises } = incident;
  const taken = { ...incident, acknowledgement: { at, by, comment, severity, rises } };
  // An inhibited alert is never notified by itself, not even when the inhibiting one ends.
  const isInhibited = suppressionByAlerts(state, incident, at).inhibited;
  const acknowledged = (last: LastNotified): LastNotified => ({ ...last, acknowledgedAt: at });
  keepIncident(state, isInhibited ? mapNotified(taken, acknowledged) : taken);
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

function incidentsSharingNotification(state: MonitorState, { account, rule }: AlertName): Incident[] {
  const alerts = state.alerts.of(account);
  const alert = alerts.get(rule);
  if (alert === undefined) return [];
  return [...alerts.values()]
    .filter((other) => other.rule !== rule && shareNotification(other, alert))
    .flatMap((other) => openIncidentOf(state, other) ?? []);
}

/** Removes an acknowledgement: reminders go on, and the time to escalation starts again. */
export function unacknowledge(
  state: MonitorState,
  order: AlertName & { readonly at: number },
): Refusal | null {
  const incident = openIncidentOf(state, order);
  if (incident === null) return noIncident(order);
  if (!isAcknowledged(incident))
    return refuse('not-found', `nobody has acknowledged rule "${order.rule}" for account "${order.account}"`);
  for (const open of [incident, ...incidentsSharingNotification(state, incident)]) {
    keepIncident(state, { ...open, acknowledgement: null, escalationSince: order.at });
    applyToSpending(state, open, false);
  }
  return null;
}

function openIncidentOf(state: MonitorState, { account, rule }: AlertName): Incident | null {
  const alert = state.alerts.get(account, rule);
  return (alert && incidentOf(state, alert)) ?? null;
}

function noIncident({ account, rule }: AlertName): Refusal {
  return refuse('not-found', `no incident of rule "${rule}" is open for account "${account}"`);
}

export function addSilence(state: MonitorState, order: SilenceOrder, now: number): Silence | Refusal {
  const { seen } = order;
  const changed = seen === undefined ? null : refuseChanged(state, { ...seen, seen });
  const refusal = changed ?? refuseSilence(state, order, now);
  if (refusal !== null) return refusal;
  const { match, startsAt, endsAt, comment, by: createdBy } = order;
  const id = `s-${state.random.id()}`;
  const silence = { id, match, startsAt, endsAt, createdAt: now, createdBy, comment };
  keepSilence(state, silence, now);
  return silence;
}

/** Null where the silence would be accepted. */
export function refuseSilence(
  state: MonitorState,
  { match, everything = false, startsAt, endsAt }: Omit<SilenceOrder, 'by' | 'comment'>,
  now: number,
): Refusal | null {
  if (!(endsAt > startsAt)) return refuseWindow('a silence must end after it starts');
  if (endsAt - startsAt > maxSilenceMs) return refuseWindow('a silence may last 366 days at most');
  if (endsAt <= now) return refuseWindow('this silence is already over');
  if (matchesEverything(match) !== everything)
    return refuse('invalid', whyNotMeant(everything), 'everything');
  return findUnknown(state, match);
}

function refuseWindow(why: string): Refusal {
  return refuse('invalid', why, 'window');
}

/** Everything is muted only on purpose: a matcher that lost its keys must not do it. */
function whyNotMeant(everything: boolean): string {
  return everything
    ? 'a silence of everything names nothing besides'
    : 'this would mute every alert of every account; if that is meant, say "everything" in so many words';
}

/** Unknown names in the matcher, which would mute nothing. Null when there are none. */
function findUnknown({ accounts, settings }: MonitorState, match: Matcher): Refusal | null {
  const account = match.account?.find((id) => !accounts.has(id) && !isSelfId(id));
  if (account !== undefined) return noSuch('account', account, accounts.keys());
  const rules = new Set<string>([...settings.rules.map(({ id }) => id), ...selfAlertTypes]);
  for (const { name } of settings.channels) rules.add(channelFailedRule(name));
  const rule = match.rule?.find((id) => !rules.has(id));
  return rule === undefined ? null : noSuch('rule', rule, rules);
}

function noSuch(about: 'account' | 'rule', typed: string, known: Iterable<string>): Refusal {
  const nearest = nearestWord(typed, known);
  const meant = nearest === null ? '' : `; did you mean "${nearest}"?`;
  return refuse('invalid', `there is no ${about} "${typed}"${meant}`, about);
}

export function expireSilence(state: MonitorState, id: string, now: number): Refusal | null {
  const silence = state.silences.get(id);
  if (silence === undefined) return refuse('not-found', `no silence has the id "${id}"`);
  // Until when it has muted stays as it is.
  if (silence.endsAt <= now) return refuse('not-found', `the silence "${id}" is over`);
  keepSilence(state, { ...silence, endsAt: now }, now);
  return null;
}

export function extendSilence(
  state: MonitorState,
  { id, byMs }: { readonly id: string; readonly byMs: number },
  now: number,
): Refusal | null {
  const silence = state.silences.get(id);
  if (silence === undefined || silence.endsAt <= now)
    return refuse('not-found', `no silence that is not over has the id "${id}"`);
  const endsAt = silence.endsAt + byMs;
  if (endsAt - silence.startsAt > maxSilenceMs) return refuseWindow('a silence may last 366 days at most');
  keepSilence(state, { ...silence, endsAt }, now);
  return null;
}

/** Executes what the command line left in the database, by the same checks as over HTTP; what does not apply is refused. */
export function applyOrder(state: MonitorState, order: DatabaseOrder, now: number): Refusal | null {
  const refusal = carryOut(state, order, now);
  if (refusal === null) recordAudit(state, describeOrder(order, now));
  return refusal;
}

function carryOut(state: MonitorState, order: DatabaseOrder, now: number): Refusal | null {
  if (order.kind === 'acknowledge') return acknowledge(state, order);
  if (order.kind === 'unacknowledge') return unacknowledge(state, order);
  if (order.kind === 'expire') return expireSilence(state, order.id, now);
  if (order.kind === 'cancel-expected') return cancelExpected(state, order);
  if (order.kind === 'expect-top-up') {
    const answer = expectTopUp(state, order, now);
    return 'refused' in answer ? answer : null;
  }
  const { silence } = order;
  const everything = matchesEverything(silence.match);
  const refusal = refuseSilence(state, { ...silence, everything }, now);
  if (refusal === null) keepSilence(state, silence, now);
  return refusal;
}

function keepSilence(state: MonitorState, silence: Silence, now: number): void {
  state.silences.set(silence.id, silence);
  reviewSilences(state, now);
}

const prefix = 'audit:';

/** Years of what a team does by hand; more is a script, whose oldest entries go first. */
const maxEntries = 5_000;

/** Entries older than the retention are removed. */
export function recordAudit(state: MonitorState, entry: AuditEntry): void {
  writeNote(state, `${prefix}${entry.at}:${state.random.id()}`, JSON.stringify(entry));
  const names = [...state.notes.keys()].filter((name) => name.startsWith(prefix)).toSorted(byAge);
  const keptSince = entry.at - state.settings.storage.retentionMs;
  for (const [index, name] of names.entries())
    if (index < names.length - maxEntries || atOf(name) < keptSince) state.notes.delete(name);
}

/** In [since, before), newest first. */
export function auditOf(
  { notes }: MonitorState,
  { since, before, limit }: { readonly since: number; readonly before: number; readonly limit: number },
): readonly AuditEntry[] {
  return [...notes.values()]
    .filter(({ name }) => name.startsWith(prefix) && atOf(name) >= since && atOf(name) < before)
    .toReversed()
    .toSorted((left, right) => byAge(right.name, left.name))
    .slice(0, limit)
    .map(({ value }) => JSON.parse(value) as AuditEntry);
}

function byAge(left: string, right: string): number {
  return atOf(left) - atOf(right);
}

function atOf(name: string): number {
  return Number(name.split(':')[1]);
}

function describeOrder(order: DatabaseOrder, at: number): AuditEntry {
  const common = {
    at,
    by: 'command line',
    from: null,
    account: null,
    rule: null,
    detail: '',
    action: order.kind,
  };
  const join = (...details: (string | undefined)[]): string => details.filter(Boolean).join(', ');
  switch (order.kind) {
    case 'acknowledge': {
      const { by, account, rule, comment: detail } = order;
      return { ...common, by, account, rule, detail };
    }
    case 'unacknowledge':
      return { ...common, account: order.account, rule: order.rule };
    case 'silence': {
      const { createdBy: by, comment, match, endsAt } = order.silence;
      return { ...common, by, detail: join(JSON.stringify(match), `until ${isoText(endsAt)}`, comment) };
    }
    case 'expect-top-up': {
      const { account, orderedBy, amountMicros, by, comment } = order;
      const until = by === undefined ? '' : `by ${isoText(by)}`;
      return { ...common, by: orderedBy, account, detail: join(formatMicros(amountMicros), until, comment) };
    }
    case 'cancel-expected':
      return { ...common, account: order.account, detail: order.id };
    case 'expire':
      return { ...common, action: 'expire-silence', detail: order.id };
  }
}
