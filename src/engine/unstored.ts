import {
  type Alert,
  alertKey,
  type Incident,
  isAcknowledged,
  isSelfId,
  type LastNotified,
  notifiedOfLittle,
  type Resolution,
} from '../domain/alert.ts';
import { kindsByIncident } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { inParts } from '../domain/parts.ts';
import type { StoredState, Unstored } from '../ports/store.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { batchReturned, batchStored, takeBatch } from './batch.ts';
import { keepIncident, resumeAlert } from './incidents.ts';
import { isUnsent, putNotification } from './queue.ts';
import type { Records } from './records.ts';
import { forEachNotified } from './silencing.ts';
import { factsOf, type MonitorState } from './state.ts';

/** The polls in one record: some hundred kilobytes. */
const pollsAtOnce = 2000;
/** The clocks of two machines may differ by this much: notifications within it may have arrived in either order. */
const togetherMs = 2000;

/** The work from memory of a daemon that lost the accounts: their owner stores the polls, and ends the incidents that people were notified of. */
export function takeUnstored(state: MonitorState, now: number): readonly Unstored[] {
  batchReturned(state);
  noteUntold(state, now);
  const polls: Unstored['polls'][number][] = [];
  const incidents = new Map<string, Incident>();
  const orders = [...state.acts.values()];
  for (let batch = takeBatch(state); batch !== null; batch = takeBatch(state)) {
    polls.push(...batch.polls);
    for (const incident of batch.incidents) incidents.set(incident.id, incident);
    batchStored(state, batch);
  }
  const notified = [...incidents.values()].filter((incident) => Object.keys(incident.notified).length > 0);
  const parts = [...inParts(polls, pollsAtOnce)].map((part) => ({
    ...{ at: now, polls: part },
    ...{ incidents: [], orders: [] },
  }));
  const isAll = notified.length === 0 && orders.length === 0;
  return isAll ? parts : [...parts, { at: now, polls: [], incidents: notified, orders }];
}

/** Corrects what was notified: not an end that waits, nor a beginning that nobody can have read. A message under way may arrive now. */
function noteUntold(state: MonitorState, now: number): void {
  for (const message of [...state.messages.values()]) {
    if (message.state !== 'pending') continue;
    const { id, channel } = message;
    const isUnderWay = state.underWay.has(id);
    for (const [incident, kinds] of kindsByIncident(message.items)) {
      const isEnd = kinds.includes('resolved');
      const first = ownOf(state.incidents.get(incident)?.notified, channel)?.firstMessage;
      const wasNeverSent = first === id && isUnsent(state, message);
      if (!isEnd && !isUnderWay && !wasNeverSent) continue;
      forEachNotified(state, { channel, items: [{ incident }] }, (_, last) => {
        if (wasNeverSent) return null;
        return isEnd ? { ...last, resolved: false } : { ...last, at: Math.max(last.at, now) };
      });
    }
  }
}

/** An incident that is known here too, changed for channels that the other daemon notified and that have not heard since how it is. */
export function sayAgain(known: Incident, told: Incident): Incident {
  if (known.event) return known;
  const isLeast = known.resolvedAt === null && known.severity === 'info' && !isAcknowledged(known);
  const isFalse = ({ resolved }: LastNotified): boolean =>
    known.resolvedAt === null ? told.resolvedAt !== null : !resolved;
  const notified = new Map(Object.entries(known.notified));
  let isSame = true;
  for (const [channel, last] of Object.entries(told.notified)) {
    const own = notified.get(channel);
    if (!isFalse(last) || (own !== undefined && own.at > last.at + togetherMs)) continue;
    isSame = false;
    // An incident of the least severity cannot be notified as worse: it is notified as new.
    if (isLeast) notified.delete(channel);
    else notified.set(channel, notifiedOfLittle(own ?? last));
  }
  return isSame ? known : { ...known, notified: Object.fromEntries(notified) };
}

/** Takes in what can be taken in. Returns the incidents that wait for what this daemon finds out itself. */
export function takeInUnstored(
  state: MonitorState,
  { at, polls, incidents }: Unstored,
  now: number,
): readonly Incident[] {
  // A poll that was taken in before waits already, or is in a batch of unknown end: added again, it would be stored twice.
  for (const each of polls)
    if (state.accounts.has(each.account) && !state.polls.has(each)) state.polls.add(each);
  return incidents.filter((incident) => {
    const known = state.incidents.get(incident.id);
    if (known !== undefined) {
      keepIncident(state, sayAgain(known, incident));
      return false;
    }
    const isOver = incident.event || incident.resolvedAt !== null;
    const resolution = isOver ? incident.resolution : endOf(state, incident, at);
    if (!isOver && resolution === null) return true;
    const resolvedAt = isOver ? incident.resolvedAt : Math.max(now, incident.firedAt);
    const numbers = isOver ? {} : presentNumbers(state, incident, now);
    state.incidents.set(incident.id, {
      ...incident,
      ...numbers,
      resolvedAt,
      resolution,
      flappingSince: null,
    });
    state.touched.add(incident.id);
    return false;
  });
}

/** Why the incident is over; null as long as its alert is not inactive by what this daemon has read since. */
function endOf(state: MonitorState, { account: id, rule }: Incident, at: number): Resolution | null {
  const account = state.accounts.get(id);
  if (account === undefined && !isSelfId(id)) return { kind: 'account-removed' };
  if (account !== undefined && !account.rules.some((each) => each.id === rule))
    return { kind: 'rule-removed' };
  const isRead =
    account === undefined || (account.poll.outcome === 'ok' && (account.poll.polledAt ?? 0) >= at);
  const isInactive = (state.alerts.get(id, rule)?.state ?? 'inactive') === 'inactive';
  return isRead && isInactive ? { kind: 'recovered' } : null;
}

/** The numbers of now: an end says how things are, not how they were when the other daemon looked last. */
function presentNumbers(state: MonitorState, { account: id, rule: ruleId, severity }: Incident, now: number) {
  const account = state.accounts.get(id);
  const rule = account?.rules.find((each) => each.id === ruleId);
  if (account === undefined || rule === undefined) return {};
  const kind = ruleKindOf(rule);
  const known = factsOf(account, now);
  const judged = kind.evaluate(rule, known, severity);
  if (judged.kind !== 'ok') return {};
  const { value, threshold } = judged;
  return { value, threshold, facts: kind.factsBehind(rule, known) };
}

/**
 * For an owner whose database was taken back to an earlier moment: every record that differs from memory goes into the next batch, whoever
 * stored it first. The next poll of an account stores what is known of it. To be called before the database is read; what is over by then stays.
 */
export function storeAgain(state: MonitorState): (stored: StoredState, now: number) => void {
  const held = new Set([...state.incidents.keys(), ...state.messages.keys()]);
  const isUnknown = <Row extends { readonly id: string }>(
    known: ReadonlyMap<string, Row>,
    rows: readonly Row[],
  ) => rows.filter(({ id }) => !held.has(id) && !known.has(id));
  return (stored, now) => {
    storeAlerts(state, stored);
    const incidents = isUnknown(state.incidents, stored.incidents);
    storeOthers(state.incidents, stored.incidents, ({ id }) => id);
    // Messages about these after that moment are lost, or came from whoever owned the accounts there: they are sent, perhaps twice.
    const open = takeInUnstored(state, { at: 0, polls: [], incidents, orders: [] }, now);
    for (const incident of open)
      keepIncident(
        state,
        resumeAlert(state, incident)
          ? incident
          : { ...incident, resolvedAt: now, resolution: { kind: 'recovered' } },
      );
    for (const message of isUnknown(state.messages, stored.messages))
      if (message.items.every(({ incident }) => state.incidents.has(incident)))
        putNotification(state, message);
      else state.messages.delete(message.id);
    storeOthers(state.messages, stored.messages, ({ id }) => id);
    storeOthers(state.silences, stored.silences, ({ id }) => id);
    storeOthers(state.backoffs, stored.backoffs, ({ group }) => group);
    const notes = Object.entries(stored.notes).map(([name, value]) => ({ name, value }));
    storeOthers(state.notes, notes, ({ name }) => name);
    for (const { name } of notes) if (!state.notes.has(name)) state.notes.delete(name);
  };
}

function storeAlerts({ alerts }: MonitorState, stored: StoredState): void {
  const known = new Map(stored.alerts.map((alert) => [alertKey(alert.account, alert.rule), toWrite(alert)]));
  for (const alert of alerts.values())
    if (!isSame(known.get(alertKey(alert.account, alert.rule)), toWrite(alert))) alerts.set(alert);
  for (const alert of stored.alerts)
    if (alerts.get(alert.account, alert.rule) === undefined) alerts.delete(alert);
}

/** The alert as far as it is compared: its newest numbers need no write. */
function toWrite({ value, threshold, facts, ...alert }: Alert) {
  return alert;
}

function storeOthers<Row>(records: Records<Row>, stored: readonly Row[], keyOf: (row: Row) => string): void {
  const known = new Map(stored.map((row) => [keyOf(row), row]));
  for (const [key, row] of records) if (!isSame(known.get(key), row)) records.set(key, row);
}

function isSame(stored: unknown, known: unknown): boolean {
  return JSON.stringify(stored) === JSON.stringify(known);
}
